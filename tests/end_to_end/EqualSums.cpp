// Sums of many equal numbers, whose rounding errors do not cancel: in ops, losses, gradients and statistics.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;

namespace {

/// The largest relative error of the numbers in `result`, all of which should be `expected`.
double errorOf(const Tensor &result, double expected) {
  double worst = 0;
  for (double number : numbers(result))
    worst = std::max(worst, std::abs(number / expected - 1));
  return worst;
}

/// The error bound for a sum of equal float32 numbers.
constexpr double maxError = 4e-6;
const double tenth = 0.1f;

} // namespace

/// Sums along rows and columns, over some axes and over all axes.
static void checkSums(int64_t n) {
  CAPTURE(n);
  struct Sum {
    Shape shape;
    Axes axes;
  };
  for (const Sum &sum : std::vector<Sum>{{{n}, {0}},
                                         {{1, n}, 1},
                                         {{3, n / 3}, 1},
                                         {{n, 1}, 0},
                                         {{n / 2, 2}, 0},
                                         {{n / 37, 37}, 0},
                                         {{2, n / 4, 5}, 1},
                                         {{10, n / 50, 5}, {0, 1}},
                                         {{n / 200, 5, 40}, {0, 2}},
                                         {{n / 500, 5, 5, 20}, {0, 1, 2}}}) {
    CAPTURE(sum.shape.str());
    const Tensor x = Tensor::full(sum.shape, tenth);
    const auto statistics = jit([&](const Value &v) -> Values {
      return {ops::sum(v, sum.axes), ops::mean(v, sum.axes), ops::mean(ops::square(v), sum.axes)};
    });
    const Tensors results = statistics(x);
    const double count = static_cast<double>(x.size()) / static_cast<double>(results[0].size());
    CHECK(errorOf(results[0], tenth * count) < maxError);
    CHECK(errorOf(results[1], tenth) < maxError);
    CHECK(errorOf(results[2], tenth * tenth) < maxError);
  }
}

TEST_CASE("Sums of equal numbers keep their digits") { checkSums(GENERATE(1000, 10000, 1000000)); }

/// Run by scripts/prove/long-sums; it takes 2 GiB.
TEST_CASE("Sums of up to 10^8 equal numbers keep their digits", "[.]") { checkSums(GENERATE(10000000, 100000000)); }

TEST_CASE("The error of a sum of equal numbers grows with the logarithm of their count") {
  const auto sum = jit([](const Value &v) -> Value { return ops::sum(v, 1); });
  for (int64_t n = 1 << 10, levels = 1; n <= 1 << 24; n <<= 2, levels += 2) {
    CAPTURE(n);
    CHECK(errorOf(sum(Tensor::full({1, n}, tenth)), tenth * static_cast<double>(n)) <
          3e-7 + 6e-8 * static_cast<double>(levels));
  }
}

TEST_CASE("A softmax over many equal entries sums to 1, in its gradient too") {
  const int64_t n = 300000;
  const Tensor x = Tensor::full({2, n}, 0.3);
  const auto f = jit([](const Value &v) -> Values {
    const Value weighted = ops::sum(ops::softmax(v) * 0.7f);
    return {ops::softmax(v), ops::log_softmax(v), gradients(weighted, {v})[0]};
  });
  const Tensors results = f(x);
  CHECK(errorOf(results[0], 1.0 / n) < maxError);
  CHECK(errorOf(results[1], -std::log(double(n))) < maxError);
  for (double slope : numbers(results[2]))
    REQUIRE(std::abs(slope) < maxError / n);
}

TEST_CASE("A loss of equal errors, and the gradient of a bias, keep their digits") {
  const int64_t n = 100000;
  Sequential model({Input({1}), Dense(3, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = optimizers::SGD(1.0), .loss = "mean_squared_error"});
  const Tensor x = Tensor::zeros({n, 1}), y = Tensor::full({n, 3}, tenth);
  const double loss = model.train_on_batch(x, y)["loss"];
  CHECK(std::abs(loss / (tenth * tenth) - 1) < maxError);
  CHECK(errorOf(model.get_weights()[1], 2 * tenth / 3) < maxError);
}

TEST_CASE("BatchNormalization has the variance of many rows that lie far from their mean") {
  for (const char *policy : {"float32", "mixed_bfloat16", "float64"})
    for (int64_t n : {2, 4096, 100000}) {
      CAPTURE(policy, n);
      BatchNormalization layer({.momentum = 0.0, .dtype = policy});
      std::vector<float> rows(static_cast<size_t>(2 * n));
      for (size_t i = 0; i < rows.size(); ++i)
        rows[i] = i / 2 % 2 ? 500 : -500;
      (void)layer(Tensor(rows, {n, 2}), {.training = true});
      CHECK(errorOf(layer.get_weights()[3], 250000) < maxError);
    }
}

TEST_CASE("A mean of rows of large equal numbers is that number") {
  std::vector<float> rows;
  for (int i = 0; i < 500000; ++i)
    rows.insert(rows.end(), {0.1f, -100.1f});
  const auto meanOfRows = jit([](const Value &v) -> Value { return ops::mean(v, 0); });
  const std::vector<double> mean = numbers(meanOfRows(Tensor(rows, {500000, 2})));
  CHECK(mean[0] == Approx(0.1f).epsilon(maxError));
  CHECK(mean[1] == Approx(-100.1f).epsilon(maxError));
}
