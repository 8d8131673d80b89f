// expect: a metric's build must be callable as build\(MetricContext &\)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;

struct Share {
  Variable count{};
#ifdef RIGHT
  void build(MetricContext &context) { count = context.add_variable(); }
#else
  void build(BuildContext &context, const Shape &) { count = context.add_weight({}); }
#endif
  void update_state(const Value &, const Value &) const { count.assign_add(1); }
  Value result() const { return count; }
};

Metric metric() { return Share{}; }
