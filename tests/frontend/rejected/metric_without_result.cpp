// expect: a metric needs update_state\(const Value &y_true, const Value &y_pred\)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;

struct Share {
  Variable count{};
  void build(MetricContext &context) { count = context.add_variable(); }
  void update_state(const Value &, const Value &) const { count.assign_add(1); }
#ifdef RIGHT
  Value result() const { return count; }
#else
  double result() const { return 1.0; }
#endif
};

void compiled(const Model &model) { model.compile({.metrics = {"mae", Share{}}}); }
