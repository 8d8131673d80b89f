// Variables that users make: their facts, reads under autocast, updates in traced functions, and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

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
  CHECK_THAT(errorOf([] { Variable variable{Tensor()}; }), Contains("ValueError: a Variable needs a first value"));
}
