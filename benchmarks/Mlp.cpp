// The multilayer perceptron and its data.
// SPDX-License-Identifier: Apache-2.0
#include "Mlp.h"
#include <random>

namespace halftone::benchmarks {

Batch images(int64_t count, const Shape &image) {
  std::mt19937 random(7);
  std::vector<int64_t> extents = image.dims();
  extents.insert(extents.begin(), count);
  std::vector<float> pixels(static_cast<size_t>(count * image.elements()));
  for (float &pixel : pixels)
    pixel = static_cast<float>(random() >> 8) / 16777216.0f;
  std::vector<int32_t> labels(static_cast<size_t>(count));
  for (int32_t &label : labels)
    label = static_cast<int32_t>(random() % 10);
  return {Tensor(std::move(pixels), Shape(extents)), Tensor(std::move(labels), {count})};
}

Sequential mlp(const std::string &policy, const MlpArgs &args) {
  set_random_seed(1);
  set_dtype_policy(policy);
  std::vector<Layer> stack = {Input({args.inputs})};
  for (int64_t i = 0; i < args.hidden; ++i)
    stack.push_back(layers::Dense(args.units, {.activation = "relu"}));
  stack.push_back(layers::Dense(10));
  Sequential model(stack);
  set_dtype_policy("float32");
  model.compile({.optimizer = optimizers::Adam(args.learning_rate),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .auto_scale_loss = args.scale_loss});
  return model;
}

} // namespace halftone::benchmarks
