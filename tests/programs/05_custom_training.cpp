// A custom training step with loss scaling: traced once, compiled once; skipped steps remain on the device.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

int main() {
  PolicyScope mixed("mixed_float16");
  Sequential model({Input({784}), Dense(256, {.activation = "relu"}), Dense(10, {.dtype = "float32"})});
  auto cross_entropy = losses::SparseCategoricalCrossentropy({.from_logits = true});
  optimizers::LossScaleOptimizer optimizer(
      optimizers::AdamW(schedules::CosineDecay(1e-3, 10'000), {.weight_decay = 0.01, .clipnorm = 1.0}),
      {.initial_scale = 65536.0, .dynamic_growth_steps = 1000});

  auto step = jit([=](const Value &x, const Value &y) {
    Value logits = model(x, {.training = true});
    Value loss = cross_entropy(y, logits);
    auto variables = model.trainable_variables();
    auto grads = gradients(optimizer.scale_loss(loss), variables);
    optimizer.apply(grads, variables); // unscale, finite check, clip, update or skip, next scale: one plan
    Value correct = ops::equal(ops::argmax(logits), ops::cast(y, int64));
    return std::array{loss, ops::mean(ops::cast(correct, float32))};
  });

  Dataset data = Dataset(Tensor::ones({512, 784}), Tensor::zeros({512}, int32)).shuffle(512, 1).batch(64).prefetch(2);
  float last_loss = 0, last_accuracy = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const Batch &batch : data) {
      auto [loss, accuracy] = step(batch.x[0], batch.y[0]);
      last_loss = loss.item<float>();
      last_accuracy = accuracy.item<float>();
      if (!(last_loss < 1e9f))
        return 1;
    }
  auto state = optimizer.state();
  std::cout << "loss " << last_loss << ", accuracy " << last_accuracy << ", scale " << state.scale << ", skipped "
            << state.skipped_steps << ", last fault " << state.last_fault << "\n";
  return last_accuracy == 1 && state.good_steps + state.skipped_steps <= 16 ? 0 : 1;
}
