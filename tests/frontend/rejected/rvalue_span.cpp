// expect: deleted (member )?function
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

float first(Model model, const Tensor &x) {
#ifdef RIGHT
  const Tensor predictions = model.predict(x);
  return predictions.span<float>()[0];
#else
  return model.predict(x).span<float>()[0];
#endif
}
