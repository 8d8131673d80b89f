// TensorFlow 2.0's names.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <halftone/Legacy.h>
using namespace halftone;

int main() {
  legacy::Policy mixed("mixed_float16");
  legacy::Policy fixed("mixed_float16", 128.0);
  legacy::Policy unscaled("mixed_float16", std::nullopt);
  legacy::Policy dynamic("float16", legacy::DynamicLossScale({.increment_period = 1000}));
  legacy::Policy infer("infer_with_float32_vars");
  bool inferred = !infer.compute_dtype() && infer.should_cast_variables();
  layers::Dense dense(10, {.dtype = mixed});
  legacy::set_policy("mixed_float16");
  legacy::set_policy(std::nullopt);
  return inferred && fixed.loss_scale()->update(true) && unscaled.repr().empty() && dynamic.name().empty() &&
         dense.name().empty();
}
