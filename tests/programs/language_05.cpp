// grad() and value_and_grad(), jit() with numbers compiled in or passed, penalties and a metric in a custom loop.
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
using namespace halftone;
using namespace halftone::layers;

enum class Schedule { linear, cosine };

static void derivatives() {
  const auto f = [](const Value &x) { return ops::sum(ops::power(x, 3)); };
  const auto [y, slope] = jit(value_and_grad(f))(Tensor({1.0, 2.0}));
  const Tensor second = jit(grad([=](const Value &x) { return ops::sum(grad(f)(x)); }))(Tensor({1.0, 2.0}));
  check(y.item() == 9, "the value");
  check(near(slope, {3, 12}), "the gradient");
  check(near(second, {6, 12}), "the gradient of the gradient");
}

static void numbers() {
  int traces = 0;
  const auto noisy = jit([&traces](const Value &x, const Value &t, Schedule schedule, bool clip) -> Value {
    ++traces;
    const Value rate = schedule == Schedule::cosine ? ops::cos(t) : 1.0 - t; // C++ decides while the function is traced
    const Value z = rate * x + ops::sqrt(1 - rate * rate) * random::normal(x.shape());
    return clip ? ops::clip(z, -1, 1) : z;
  });
  Tensor x = Tensor::uniform({4, 8});
  x = noisy(x, 0.0, Schedule::cosine, true);
  const int once = traces;
  for (int k = 1; k < 10; ++k)
    x = noisy(x, 0.1 * k, Schedule::cosine, true); // a number for t: one program for all values
  check(traces == once, "one program for all numbers of t");
  double largest = 0;
  for (const float v : x.to_vector<float>())
    largest = std::max(largest, std::abs(static_cast<double>(v)));
  check(largest > 0 && largest <= 1, "clipped");
  (void)noisy(x, 0.5, Schedule::linear, false);
  check(traces == 2 * once, "another program for another schedule");
  const auto twice = jit<Value(const Value &)>([](auto v) { return v * 2; });
  check(near(twice(Tensor({1, 2})), {2, 4}), "a generic lambda whose types are named");
}

static void loop() {
  const Sequential model(
      {Input({8}), Dense(16, {.activation = activations::silu, .kernel_regularizer = "l2"}), Dense(3)});
  const losses::SparseCategoricalCrossentropy loss({.from_logits = true});
  const optimizers::Adam optimizer(1e-2);
  const metrics::SparseCategoricalAccuracy accuracy;
  const auto step = jit([=](const Value &inputs, const Value &labels) -> Value {
    const Value logits = model(inputs, {.training = true});
    Value total = loss(labels, logits);
    for (const Value &penalty : model.losses())
      total += penalty;
    optimizer.minimize(total, model.trainable_variables());
    accuracy.update_state(labels, logits);
    return total;
  });
  std::vector<double> totals;
  for (const Batch &batch : Dataset(Tensor::uniform({96, 8}), Tensor::randint({96}, 0, 3)).repeat(4).batch(32))
    totals.push_back(step(batch.x[0], batch.y[0]).item());
  check(totals.size() == 12, "three batches in each of four passes");
  check(totals.back() < totals.front(), "the loss with its penalties falls");
  check(accuracy.result() > 0 && accuracy.result() <= 1, "the accuracy of all batches");
}

int main() {
  set_random_seed(11);
  derivatives();
  numbers();
  loop();
  return wrong;
}
