// expect: ignoring return value of.*(unscale|nodiscard)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;

void step(const Optimizer &optimizer, const Value &loss, const std::vector<Variable> &variables) {
  std::vector<Value> all = gradients(optimizer.scale_loss(loss), variables);
#ifdef RIGHT
  all = optimizer.unscale(all);
#else
  optimizer.unscale(all); // the gradients remain scaled
#endif
  optimizer.apply(all, variables, {.unscaled = true});
}
