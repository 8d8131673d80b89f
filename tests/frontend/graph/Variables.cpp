// Variables that users create: their properties, reads under autocast, updates in traced functions, and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("A Variable of one's own counts the runs of a traced function") {
  const Variable runs(Tensor::zeros({}, int32), {.trainable = false, .name = "runs"});
  CHECK(runs.name() == "runs");
  CHECK_FALSE(runs.trainable());
  CHECK(runs.dtype() == int32);
  auto step = jit([=](const Value &x) {
    runs.assign(runs + 1.0);
    return x * runs;
  });
  CHECK(step(Tensor::of<int32_t>({5}, {1})).item<int32_t>() == 5);
  CHECK(step(Tensor::of<int32_t>({5}, {1})).item<int32_t>() == 10);
  CHECK(runs.value().item<int32_t>() == 2);
}

TEST_CASE("A Variable of one's own has a gradient, and an optimizer trains it") {
  const Variable x(Tensor::of<float>({3, -1}, {2}));
  CHECK(x.trainable());
  CHECK(x.name().starts_with("variable"));
  const optimizers::SGD optimizer(0.25);
  auto step = jit([=]() {
    const Value loss = ops::sum(ops::square(Value(x)));
    optimizer.apply(gradients(loss, std::vector<Variable>{x}), {x});
    return loss;
  });
  CHECK(step().item<float>() == 10.0f);
  CHECK(numbers(x) == std::vector<double>{1.5, -0.5});
}

TEST_CASE("A Variable of one's own keeps a copy, and is read in the dtype of an autocast scope if it takes part") {
  Tensor first = Tensor::of<float>({1.00390625f}, {1}); // bfloat16 rounds it to 1
  const Variable rounded(first), exact(first, {.autocast = false});
  first.mutable_span<float>()[0] = 7.0f;
  CHECK(numbers(rounded) == std::vector<double>{1.00390625});
  auto read = jit([=]() {
    const AutocastScope scope(bfloat16);
    return Values{Value(rounded), Value(exact)};
  });
  const Tensors both = read();
  CHECK(both[0].dtype() == bfloat16);
  CHECK(numbers(both[0]) == std::vector<double>{1.0});
  CHECK(both[1].dtype() == float32);
  CHECK(numbers(both[1]) == std::vector<double>{1.00390625});
}

TEST_CASE("A Variable needs a first value") {
  CHECK_THAT(errorOf([] { Variable variable{Tensor()}; }), Contains("ValueError: a Variable needs an initial value"));
}

namespace {
float numberIn(const Variable &variable) { return variable.value().to_vector<float>()[0]; }
/// The derivative of a loss of one variable, in a function that first calls `before`.
float slopeBehind(const Variable &w, const std::function<void(const Value &)> &before,
                  const std::function<Value()> &loss) {
  const auto step = jit([=](const Value &x) -> Value {
    before(x);
    return gradients(loss(), std::vector<Variable>{w})[0];
  });
  return step(Tensor({5}, {1})).to_vector<float>()[0];
}
} // namespace

TEST_CASE("a derivative is taken at the values that the loss read, whatever the function has assigned before") {
  const Variable w(Tensor({1}, {1})), v(Tensor({2}, {1}));
  const auto square = [w] { return ops::sum(ops::square(w)); };
  CHECK(slopeBehind(w, [w](const Value &) { w.assign(w * 3.0); }, square) == 6);
  CHECK(slopeBehind(w, [w](const Value &x) { w.assign(x); }, square) == 10);
  CHECK(slopeBehind(w, [w, v](const Value &) { w.assign(Value(v)); }, square) == 4);
  CHECK(slopeBehind(v, [w, v](const Value &) { w.assign(v * 3.0); }, square) == 0); // no gradient flows through it
  w.assign(Tensor({1}, {1}));
  Value old; // 1 here; then w is 4: d(1 * 4^2) / dw = 16 + 2 * 4
  const auto keep = [w, &old](const Value &) { old = w, w.assign(w * 4.0); };
  CHECK(slopeBehind(w, keep, [w, &old] { return ops::sum(old * ops::square(w)); }) == 24);
}

TEST_CASE("two players that one function updates in turn end where two functions bring them") {
  const auto optimizer = GENERATE(0, 1, 2, 3);
  CAPTURE(optimizer);
  const auto made = [&]() -> Optimizer {
    switch (optimizer) {
    case 0:
      return optimizers::Adam(0.1);
    case 1:
      return optimizers::LossScaleOptimizer(optimizers::SGD(0.1));
    case 2:
      return optimizers::SGD(0.1, {.gradient_accumulation_steps = 2});
    default:
      return optimizers::LossScaleOptimizer(optimizers::Adam(0.1, {.gradient_accumulation_steps = 3}));
    }
  };
  const auto train = [&](bool isOne) {
    const Variable critic(Tensor({1}, {1})), generator(Tensor({2}, {1}));
    const Optimizer first = made(), second = made();
    const auto updateCritic = [=] { first.minimize(ops::sum(ops::square(critic * generator - 1.0)), {critic}); };
    const auto updateGenerator = [=] { second.minimize(ops::sum(ops::square(critic * generator + 1.0)), {generator}); };
    const auto both = jit([=](const Value &x) -> Value { return updateCritic(), updateGenerator(), x; });
    const auto one = jit([=](const Value &x) -> Value { return updateCritic(), x; });
    const auto other = jit([=](const Value &x) -> Value { return updateGenerator(), x; });
    const Tensor x({0}, {1});
    for (int step = 0; step < 20; ++step)
      if (isOne)
        (void)both(x);
      else
        (void)one(x), (void)other(x);
    return std::pair(numberIn(critic), numberIn(generator));
  };
  const auto together = train(true);
  CHECK(together == train(false));
  CHECK(together != std::pair(1.0f, 2.0f));
}

TEST_CASE("a target network takes the weights of another in the step that runs both") {
  const char *policy = GENERATE("float32", "mixed_bfloat16", "mixed_float16");
  CAPTURE(policy);
  set_random_seed(3);
  const layers::Dense target(4, {.dtype = policy}), online(4, {.dtype = policy});
  const Tensor x = Tensor::ones({2, 4});
  const std::vector<float> wanted = online(x).astype(float32).to_vector<float>();
  const auto step = jit([=](const Value &x) -> Value {
    const Value y = ops::cast(target(x) + online(x) * 0.0, float32);
    for (size_t i = 0; i < online.variables().size(); ++i)
      target.variables()[i].assign(Value(online.variables()[i]));
    return y;
  });
  const std::vector<float> before = step(x).to_vector<float>(), after = step(x).to_vector<float>();
  CHECK(before != after);
  CHECK(after == wanted);
}

TEST_CASE("a weight that is read in one dtype by autocast and by a cast keeps its old value for both") {
  std::vector<float> start(16);
  std::iota(start.begin(), start.end(), 1.0f);
  const auto run = [&](bool readsAgain) {
    const Variable w(Tensor(std::span<const float>(start), {4, 4}));
    const auto step = jit([=](const Value &x) -> Value {
      const Value old = w;
      const Value narrow = [&] {
        const AutocastScope scope(bfloat16);
        return Value(w);
      }();
      const Value next = old - ops::cast(ops::sum(ops::matmul(x, narrow)), float32);
      w.assign(next);
      const Value again = readsAgain ? ops::cast(old, bfloat16) : narrow;
      return ops::cast(ops::matmul(ops::cast(ops::max(next, 1, true), bfloat16) * x, again), float32);
    });
    return step(Tensor::ones({4, 4}).astype(bfloat16)).to_vector<float>();
  };
  const std::vector<float> once = run(false);
  CHECK(once.front() == -15120.0f);
  CHECK(run(true) == once);
}

TEST_CASE("assign takes numbers, and assign_add and assign_sub read the variable without autocast") {
  const Variable total(Tensor::of<float>({1, 2}, {2})), count(Tensor::zeros({}, int32), {.trainable = false});
  const auto step = jit([=](const Value &x) {
    const AutocastScope scope(float16);
    total.assign_add(x);
    total.assign_sub(0.5);
    count.assign_add(1);
    return ops::cast(total, float32);
  });
  step(Tensor::of<float>({2000000, 1}, {2})); // not representable in float16
  CHECK(numbers(total) == std::vector<double>{2000000.5, 2.5});
  CHECK(numbers(count) == std::vector<double>{1});
  const auto reset = jit([=](const Value &x) {
    total.assign(3);
    count.assign(7.9);
    return x;
  });
  reset(Tensor::zeros({1}));
  CHECK(numbers(total) == std::vector<double>{3, 3});
  CHECK(numbers(count) == std::vector<double>{7});
  const Variable small(Tensor::zeros({2}, uint8), {.trainable = false, .name = "small"});
  const auto refused = jit([=](const Value &x) {
    small.assign(300);
    return x;
  });
  CHECK_THAT(errorOf([&] { (void)refused(Tensor::zeros({1})); }),
             Contains("ValueError") && Contains("uint8 cannot represent 300"));
  CHECK_THAT(errorOf([&] { small.assign_add(1); }),
             Contains("RuntimeError: Variable 'small' was assigned a Value outside of a function being traced"));
}
