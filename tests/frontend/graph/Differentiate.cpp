// grad, value_and_grad and gradient: compositions, shared operands, variables, layers; and rejected calls.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Differentiate.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

Tensor scalar(double value) { return Tensor::full({}, value, float64); }
template <class F> double at(F f, double x) { return numbers(jit(std::move(f))(scalar(x))).at(0); }
Value quartic(const Value &x) { return x * x * x * x; }

} // namespace

TEST_CASE("grad of a grad differentiates as often as it is written") {
  CHECK(at(quartic, 3) == 81);
  CHECK(at(grad(quartic), 3) == 108);
  CHECK(at(grad(grad(quartic)), 3) == 108); // 12 x^2
  CHECK(at(grad(grad(grad(quartic))), 3) == 72);
  CHECK(at(grad(grad(grad(grad(quartic)))), 3) == 24);
  CHECK(at(grad(grad(grad(grad(grad(quartic))))), 3) == 0);
  CHECK(at(grad(grad([](const Value &x) { return ops::exp(2.0 * x); })), 0) == 4);
  CHECK(std::abs(at(grad(grad([](const Value &x) { return ops::sin(x) * x; })), 1) - (2 * std::cos(1) - std::sin(1))) <
        1e-12);
}

TEST_CASE("value_and_grad gives both") {
  const auto both = jit([](const Value &x) {
    const auto [y, slope] = value_and_grad(quartic)(x);
    return std::array<Value, 2>{y, slope};
  })(scalar(2));
  CHECK(numbers(both[0])[0] == 16);
  CHECK(numbers(both[1])[0] == 32);
}

TEST_CASE("Only what a function does with its argument counts, and outer derivatives see the rest") {
  const auto captured = [](const Value &x) { return grad([=](const Value &a) { return a * x * x; })(x); };
  CHECK(at(captured, 3) == 9);                                                 // x^2
  CHECK(at([=](const Value &x) { return gradient(captured(x), x); }, 3) == 6); // 2 x
  CHECK(at(
            [](const Value &x) {
              const Value y = 2.0 * x;
              return grad([=](const Value &a) { return a * a * y; })(y); // 2 y^2, not 3 y^2
            },
            3) == 72);
  CHECK(at(grad([](const Value &x) { return grad(quartic)(x) * x; }), 2) == 16 * 8); // gradient of 4 x^4
  CHECK(at([](const Value &x) { return gradient(x * x * x, x); }, 3) == 27);
  CHECK(at(
            [](const Value &x) {
              const Value y = x * x;
              return gradient(y * x, y);
            },
            3) == 3);
}

TEST_CASE("The gradient of a function that ignores its argument is zero") {
  const Tensor x = Tensor::ones({2, 3});
  const std::vector<double> zeros(6, 0.0);
  CHECK(numbers(jit(grad([](const Value &) { return ops::full({}, 2.0); }))(x)) == zeros);
  CHECK(numbers(jit(grad([](const Value &v) { return ops::sum(ops::stop_gradient(v)); }))(x)) == zeros);
  CHECK(numbers(jit(grad([](const Value &v) { return ops::sum(ops::floor(v)); }))(x)) == zeros);
}

TEST_CASE("grad is by the first of several arguments, in its dtype and shape") {
  const auto f = [](const Value &x, const Values &others, int times) {
    Value y = ops::sum(x * others[0] + others[1]);
    for (int i = 0; i < times; ++i)
      y = 2.0 * y;
    return y;
  };
  const Tensor x = Tensor::ones({2}), w = Tensor::of<float>({3, 4}, {2});
  CHECK(numbers(jit(grad(f))(x, {w, w}, 3)) == std::vector<double>{24, 32});
  const Tensor half = jit(grad([](const Value &v) { return ops::sum(v * v); }))(Tensor::full({1, 2}, 3, bfloat16));
  CHECK(half.dtype() == bfloat16);
  CHECK(half.shape() == Shape{1, 2});
  CHECK(numbers(half) == std::vector<double>{6, 6});
  CHECK(jit(grad([](const Value &v) { return ops::sum(v); }))(Tensor::ones({0, 4})).shape() == Shape{0, 4});
}

TEST_CASE("Functions with variables, layers, draws and custom gradients are differentiated") {
  const Variable w(Tensor::full({}, 3.0, float64), {.name = "w"});
  const auto f = [=](const Value &x) { return x * x * w; };
  CHECK(at(grad(f), 2) == 12);
  CHECK(at(
            [=](const Value &x) {
              const Value slope = grad(f)(x); // 2 x w
              return gradient(slope * slope, w);
            },
            2) == 8 * 4 * 3);
  const layers::Dense dense(3, {.activation = "tanh", .kernel_initializer = "ones"});
  const auto net = [=](const Value &x) { return ops::sum(dense(x)); };
  const Tensor x = Tensor::full({1, 2}, 0.1);
  const double expected = 3 * (1 - std::pow(std::tanh(0.2), 2));
  CHECK(near(numbers(jit(grad(net))(x)), {expected, expected}, 1e-6));
  const Tensor penalty = jit([=](const Value &v) {
    const Value slope = grad(net)(v);
    return gradient(ops::sum(slope * slope), dense.trainable_variables()[0]);
  })(x);
  CHECK(penalty.shape() == Shape{2, 3});
  const auto squared = ops::custom_gradient([](const Values &v) -> ops::WithGradient {
    const Value a = v[0];
    return {a * a, [a](const Value &upstream) -> Values { return {upstream * a * 10.0}; }};
  });
  CHECK(at(grad([=](const Value &v) { return squared({v}); }), 3) == 30);
  CHECK(at(grad(grad([=](const Value &v) { return squared({v}); })), 3) == 10);
  const Tensor mask =
      jit(grad([](const Value &v) { return ops::sum(random::dropout(v, 0.5, {.seed = 4})); }))(Tensor::ones({64}));
  for (const double each : numbers(mask))
    CHECK((each == 0 || each == 2));
}

TEST_CASE("A derivative needs a float scalar, floats to differentiate by, and a trace; errors name the line") {
  const auto error = [](auto f, const Tensor &x) {
    try {
      (void)jit(f)(x);
    } catch (const Error &e) {
      CHECK_THAT(std::string(e.where().file), Contains("Differentiate.cpp"));
      return std::string(name(e.kind())) + ": " + e.message();
    }
    return std::string();
  };
  const Tensor two = Tensor::ones({2}), whole = Tensor::ones({2}, int32);
  CHECK_THAT(error(grad([](const Value &x) { return x * x; }), two),
             Contains("ValueError: gradients need a scalar loss"));
  CHECK_THAT(error(grad([](const Value &x) { return ops::sum(x); }), whole), Contains("TypeError"));
  CHECK_THAT(error(grad([](const Value &x) { return ops::sum(ops::cast(x, float32)); }), whole),
             Contains("TypeError: no gradient with respect to a Value of dtype int32"));
  CHECK_THAT(error([](const Value &x) { return gradient(ops::sum(x), Value()); }, two), Contains("ValueError"));
  CHECK_THAT(error([](const Value &x) { return gradient(ops::sum(x), Variable()); }, two),
             Contains("ValueError") && Contains("was not created"));
  CHECK_THAT(error([](const Value &x) { return gradient(x, x); }, two), Contains("scalar loss"));
  CHECK_THAT(errorOf([] { (void)gradient(Value(), Value()); }), Contains("RuntimeError: gradient() is for functions"));
  CHECK_THAT(errorOf([] { (void)grad(quartic)(layers::Input({})); }),
             Contains("RuntimeError") && Contains("jit(grad(f))"));
}
