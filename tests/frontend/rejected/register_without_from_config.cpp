// expect: a metric that files hold needs static T from_config\(const Config &\)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;

struct Share {
  Variable count{};
  void build(MetricContext &context) { count = context.add_variable(); }
  void update_state(const Value &, const Value &) const { count.assign_add(1); }
  Value result() const { return count; }
#ifdef RIGHT
  static Share from_config(const Config &) { return {}; }
#endif
};

void registered() { register_metric<Share>("package"); }
