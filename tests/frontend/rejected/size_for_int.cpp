// expect: narrowing|cannot be narrowed
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

History train(Model model, const Tensor &x, const std::vector<float> &rates) {
#ifdef RIGHT
  return model.fit(x, x, {.epochs = static_cast<int64_t>(rates.size())});
#else
  return model.fit(x, x, {.epochs = rates.size()});
#endif
}
