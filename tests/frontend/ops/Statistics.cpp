// Statistics: values, dtypes, gradients, rejected calls. Numbers and dtypes are Keras's.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include "tests/frontend/Slopes.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using List = std::vector<Value>;

static constexpr double inf = std::numeric_limits<double>::infinity();
static const float notANumber = NAN;

TEST_CASE("var and std are those of the whole population, over any axes") {
  Tensor x({1, 2, 3, 4, 6, 9}, {2, 3}), one({5}, {1}), number({7}, {}), none_ = Tensor::zeros({0}),
                                                                        far({1, HUGE_VALF}, {2});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {x, one, number, none_, far}, [](const List &v) {
      return List{ops::var(v[0], 1),
                  ops::var(v[0]),
                  ops::std(v[0], {-2}, true),
                  ops::std(v[0], {0, 1}, true),
                  ops::var(v[1]),
                  ops::std(v[2]),
                  ops::var(v[3]),
                  ops::var(v[4]),
                  ops::std(v[0], -1)};
    });
    CHECK(near(numbers(y[0]), {2.0 / 3, 38.0 / 9}));
    CHECK(near(numbers(y[1]), {7.1388889}));
    CHECK(y[2].shape() == Shape({1, 3}));
    CHECK(near(numbers(y[2]), {1.5, 2, 3}));
    CHECK(y[3].shape() == Shape({1, 1}));
    CHECK(near(numbers(y[3]), {2.6718699}));
    CHECK(numbers(y[4]) == Row{0});
    CHECK(numbers(y[5]) == Row{0});
    CHECK(std::isnan(numbers(y[6])[0]));
    CHECK(std::isnan(numbers(y[7])[0]));
    CHECK(near(numbers(y[8]), {0.8164966, 2.0548047}));
  }
}

TEST_CASE("statistics of narrow floats neither overflow nor round on the way") {
  Tensor x = Tensor({60000, 60000, 59968, 60032}, {4}).astype(float16), w = Tensor::full({4}, 60000, float16);
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {x, w}, [](const List &v) {
      return List{ops::var(v[0]), ops::std(v[0]), ops::logsumexp(v[0]), ops::average(v[0], {}, v[1])};
    });
    CHECK(numbers(y[0]) == Row{512});
    CHECK(numbers(y[1]) == Row{22.625});
    CHECK(numbers(y[2]) == Row{60032});
    CHECK(numbers(y[3]) == Row{60000});
    for (const Tensor &each : y)
      CHECK(each.dtype() == float16);
  }
}

TEST_CASE("logsumexp takes infinite, large and missing elements") {
  const auto of = [](Run run, const std::vector<float> &row) {
    Tensor x(row, {int64_t(row.size())});
    return numbers(runOnce(run, {x}, [](const List &v) { return List{ops::logsumexp(v[0])}; })[0])[0];
  };
  for (Run run : everyRun) {
    CHECK(near({of(run, {1000, 1000})}, {1000.6931472}, 1e-7));
    CHECK(near({of(run, {0, 1, 2})}, {2.4076059}));
    CHECK(of(run, {-HUGE_VALF, -HUGE_VALF}) == -inf);
    CHECK(of(run, {}) == -inf);
    CHECK(of(run, {HUGE_VALF, 1}) == inf);
    CHECK(of(run, {HUGE_VALF, -HUGE_VALF}) == inf);
    CHECK(std::isnan(of(run, {notANumber, 1})));
    Tensor x({0, 1, 2, 3}, {2, 2}), number({3}, {});
    std::vector<Tensor> y = runOnce(run, {x, number}, [](const List &v) {
      return List{ops::logsumexp(v[0], 0, true), ops::logsumexp(v[0], -1), ops::logsumexp(v[1]), ops::logsumexp(v[0])};
    });
    CHECK(y[0].shape() == Shape({1, 2}));
    CHECK(near(numbers(y[0]), {2.126928, 3.126928}));
    CHECK(near(numbers(y[1]), {1.3132617, 3.3132617}));
    CHECK(near(numbers(y[2]), {3}));
    CHECK(y[3].shape() == Shape());
    CHECK(near(numbers(y[3]), {3.4401897}));
  }
}

TEST_CASE("average weighs elements, or slices along one axis") {
  Tensor x({1, 2, 3, 4, 5, 6}, {2, 3}), whole({1, 0, 1, 2, 0, 0}, {2, 3}), columns({1, 1, 2}, {3}), rows({3, 1}, {2});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {x, whole, columns, rows}, [](const List &v) {
      return List{ops::average(v[0]),
                  ops::average(v[0], 0),
                  ops::average(v[0], {}, v[1]),
                  ops::average(v[0], 1, v[1]),
                  ops::average(v[0], -1, v[2]),
                  ops::average(v[0], 0, v[3]),
                  ops::average(v[0], 0, v[3] * 0.0),
                  ops::average(v[0], {0, 1}, v[1])};
    });
    CHECK(near(numbers(y[0]), {3.5}));
    CHECK(near(numbers(y[1]), {2.5, 3.5, 4.5}));
    CHECK(near(numbers(y[2]), {3}));
    CHECK(near(numbers(y[3]), {2, 4}));
    CHECK(near(numbers(y[4]), {2.25, 5.25}));
    CHECK(near(numbers(y[5]), {1.75, 2.75, 3.75}));
    CHECK(std::isnan(numbers(y[6])[0]));
    CHECK(near(numbers(y[7]), {3}));
  }
  const auto refused = [&](const Axes &axis) {
    return errorOf([&] {
      (void)runOnce(Run::interpreted, {x, columns},
                    [&](const List &v) { return List{ops::average(v[0], axis, v[1])}; });
    });
  };
  CHECK_THAT(refused({}), Contains("ValueError: average: weights of shape (3,) for x of shape (2, 3) need one axis"));
  CHECK_THAT(refused(0), Contains("ValueError: average: weights of shape (3,) do not fit axis 0 of shape (2, 3)"));
  CHECK_THAT(refused(2), Contains("average: axis 2 is out of range for rank 2"));
}

TEST_CASE("any, all and count_nonzero ask whether elements differ from 0, and NaN does") {
  Tensor x({0, -0.0f, notANumber, 0.25, 0, 0}, {3, 2}), none_ = Tensor::zeros({0, 2}), number({-3}, {});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {x, none_, number}, [](const List &v) {
      return List{ops::any(v[0], 1),       ops::all(v[0], 1), ops::count_nonzero(v[0], 1),
                  ops::any(v[1]),          ops::all(v[1]),    ops::count_nonzero(v[1]),
                  ops::any(v[0], 0, true), ops::all(v[2]),    ops::count_nonzero(v[0])};
    });
    CHECK(numbers(y[0]) == Row{0, 1, 0});
    CHECK(numbers(y[1]) == Row{0, 1, 0});
    CHECK(numbers(y[2]) == Row{0, 2, 0});
    CHECK(numbers(y[3]) == Row{0});
    CHECK(numbers(y[4]) == Row{1});
    CHECK(numbers(y[5]) == Row{0});
    CHECK(y[6].shape() == Shape({1, 2}));
    CHECK(numbers(y[6]) == Row{1, 1});
    CHECK(numbers(y[7]) == Row{1});
    CHECK(numbers(y[8]) == Row{2});
  }
}

TEST_CASE("statistics of each dtype have Keras's dtype") {
  for (DType dtype : {DType::bool_, int8, uint8, DType::int16, DType::uint16, int32, DType::uint32, int64, float16,
                      bfloat16, float32, float64}) {
    INFO(name(dtype));
    Tensor x = Tensor({1, 0, 1}, {3}).astype(dtype);
    std::vector<Tensor> y = runOnce(Run::compiled, {x}, [](const List &v) {
      return List{ops::var(v[0]),           ops::std(v[0]), ops::logsumexp(v[0]), ops::average(v[0]),
                  ops::count_nonzero(v[0]), ops::any(v[0]), ops::all(v[0]),       ops::average(v[0], {}, v[0])};
    });
    const DType real = is_float(dtype) ? dtype : float32;
    const DType expected[] = {real, real, real, real, int32, DType::bool_, DType::bool_, real};
    for (size_t i = 0; i < y.size(); ++i)
      CHECK(y[i].dtype() == expected[i]);
    CHECK(near(numbers(y[0]), {2.0 / 9}, 0.005));
    CHECK(numbers(y[4]) == Row{2});
  }
  Tensor half = Tensor({1, 2}, {2}).astype(float16), brain = Tensor({3, 1}, {2}).astype(bfloat16),
         byte(std::vector<int8_t>{1, 3}, {2});
  std::vector<Tensor> y = runOnce(Run::compiled, {half, brain, byte}, [](const List &v) {
    return List{ops::average(v[0], {}, v[1]), ops::average(v[0], {}, v[2]), ops::average(v[2], {}, v[1])};
  });
  CHECK(y[0].dtype() == float32);
  CHECK(numbers(y[0]) == Row{1.25});
  CHECK(y[1].dtype() == float16);
  CHECK(y[2].dtype() == bfloat16);
}

TEST_CASE("statistics have the gradients that central differences give") {
  Tensor x({0.5, -1, 2, 3, 0.25, -2}, {2, 3}), w({1, 2, 0.5, 3, 1, 1}, {2, 3}), along({1, 2, 0.5}, {3});
  const auto error = [&](std::function<Value(const Value &)> f) {
    return slopeError({x}, [f](const List &v) { return f(v[0]); });
  };
  CHECK(error([](const Value &v) { return ops::var(v, 1); }) < 1e-6);
  CHECK(error([](const Value &v) { return ops::std(v); }) < 1e-6);
  CHECK(error([](const Value &v) { return ops::std(v, 0, true); }) < 1e-6);
  CHECK(error([](const Value &v) { return ops::logsumexp(v, 0); }) < 1e-6);
  CHECK(error([](const Value &v) { return ops::squared_difference(v, 0.5 * v); }) < 1e-6);
  CHECK(slopeError({x, w}, [](const List &v) { return ops::average(v[0], 1, v[1]); }) < 1e-6);
  CHECK(slopeError({x, along}, [](const List &v) { return ops::average(v[0], 1, v[1]); }) < 1e-6);
}

TEST_CASE("squared_difference broadcasts and promotes as subtract does") {
  Tensor x(std::vector<int8_t>{1, -4}, {2, 1}), y({0.5, 2}, {2});
  std::vector<Tensor> z = runOnce(Run::compiled, {x, y}, [](const List &v) {
    return List{ops::squared_difference(v[0], v[1]), ops::squared_difference(v[0], v[0])};
  });
  CHECK(z[0].dtype() == float32);
  CHECK(numbers(z[0]) == Row{0.25, 1, 20.25, 36});
  CHECK(z[1].dtype() == int8);
}

TEST_CASE("statistics of a batch of unknown extent keep it unknown, or reduce it") {
  Value x = Input({3}), w = Input({3});
  CHECK(ops::var(x, 0).shape() == Shape({3}));
  CHECK(ops::std(x, 1).shape() == Shape({none}));
  CHECK(ops::logsumexp(x, -1, true).shape() == Shape({none, 1}));
  CHECK(ops::average(x, 1, w).shape() == Shape({none}));
  CHECK(ops::any(x, 0, true).shape() == Shape({1, 3}));
  CHECK(ops::count_nonzero(x).shape() == Shape());
}
