// expect: nodiscard|ignoring return
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

Value scale(const optimizers::LossScaleOptimizer &optimizer, const Value &loss) {
#ifdef RIGHT
  return optimizer.scale_loss(loss);
#else
  optimizer.scale_loss(loss);
  return loss;
#endif
}
