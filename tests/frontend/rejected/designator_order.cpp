// expect: designator order|declaration order
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

History train(Model model, const Tensor &x) {
#ifdef RIGHT
  return model.fit(x, x, {.batch_size = 8, .epochs = 2});
#else
  return model.fit(x, x, {.epochs = 2, .batch_size = 8});
#endif
}
