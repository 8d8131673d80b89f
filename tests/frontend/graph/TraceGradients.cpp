// The gradients of a trace that replace their variables, and float8 in a loop that unscales its gradients.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/TraceGradients.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;

TEST_CASE("A gradient replaces its variable if the variable's updates do, and it comes from gradients() itself") {
  const Variable weight(Tensor::ones({2})),
      scale = detail::makeVariable(Tensor::ones({2}),
                                   {.name = "scale", .path = "scale", .update = detail::UpdateKind::overwrite});
  using Flags = std::vector<bool>;
  CHECK(detail::areReplacements({}).empty());
  runOnce(Run::compiled, {Tensor::ones({2})}, [&](const std::vector<Value> &v) {
    CHECK(detail::areReplacements({v[0]}) == Flags{false}); // no variable is known yet
    const Value loss = ops::sum(weight * 2.0 + scale * 3.0 + v[0]);
    const std::vector<Value> of = gradients(loss, std::vector<Variable>{scale, weight});
    const Value by = gradients(loss, std::vector<Value>{v[0]})[0];
    CHECK(detail::areReplacements({of[0], of[1], by, Value(), of[0] * 1.0, v[0]}) ==
          Flags{true, false, false, false, false, false});
    return std::vector<Value>{of[0], by};
  });
  CHECK(detail::areReplacements({Input({2})}) == Flags{false}); // outside of a function being traced
}

// policies 13.9
TEST_CASE("float8 under a loss scale has the bits of train_on_batch() in a loop that unscales") {
  const auto net = [] {
    set_random_seed(4);
    const Sequential model({Input({4}), layers::Dense(8, {.activation = "relu", .dtype = "float8_from_mixed_float16"}),
                            layers::Dense(1, {.dtype = "mixed_float16"})});
    model.compile({.optimizer = optimizers::LossScaleOptimizer(optimizers::SGD(0.05), {.initial_scale = 256.0}),
                   .loss = "mse",
                   .numerics = Numerics::strict});
    return model;
  };
  const Sequential whole = net(), looped = net();
  const Optimizer optimizer = looped.optimizer();
  const auto step = jit(
      [=](const Value &x, const Value &y) {
        const Value loss = Loss("mse")(y, looped(x, {.training = true}));
        const std::vector<Variable> variables = looped.trainable_variables();
        optimizer.apply(optimizer.unscale(gradients(optimizer.scale_loss(loss), variables)), variables,
                        {.unscaled = true});
      },
      {.numerics = Numerics::strict});
  for (int i = 0; i < 5; ++i) {
    const Tensor x = counted({6, 4}), y = Tensor::full({6, 1}, 0.5 * i);
    (void)whole.train_on_batch(x, y);
    step(x, y);
  }
  for (size_t i = 0; i < whole.variables().size(); ++i) {
    INFO(whole.variables()[i].path());
    CHECK(numbers(looped.variables()[i]) == numbers(whole.variables()[i]));
  }
  CHECK(optimizer.iterations() == 5);
}
