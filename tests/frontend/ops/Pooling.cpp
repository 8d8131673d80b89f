// Pooling on Values, and functions with custom gradients.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include "tests/frontend/Slopes.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using List = std::vector<Value>;

static const Tensor line({3, 1, 4, 1, 5, 9, 2}, {1, 7, 1});

TEST_CASE("max_pool gives the largest element of each window, average_pool the mean of those inside") {
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {line}, [](const List &v) {
      return List{ops::max_pool(v[0], {2}), ops::max_pool(v[0], {3}, {.strides = {{2}}, .padding = "same"}),
                  ops::average_pool(v[0], {2}), ops::average_pool(v[0], {3}, {.strides = {{2}}, .padding = "same"})};
    });
    CHECK(numbers(y[0]) == Row{3, 4, 9});
    CHECK(numbers(y[1]) == Row{3, 4, 9, 9});
    CHECK(numbers(y[2]) == Row{2, 2.5, 7});
    CHECK(numbers(y[3]) == Row{2, 2, 5, 5.5});
  }
}

TEST_CASE("Places outside of the image lose every comparison, and NaN wins") {
  const Tensor x({-5, -7, NAN, -INFINITY}, {1, 4, 1}), whole({-3, -4, -100}, {1, 3, 1});
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {x, whole}, [](const List &v) {
      return List{ops::max_pool(v[0], {3}, {.strides = {{1}}, .padding = "same"}),
                  ops::max_pool(ops::cast(v[1], int8), {2}, {.padding = "same"})};
    });
    CHECK(numbers(y[0])[0] == -5);
    for (size_t i = 1; i < 4; ++i)
      CHECK(std::isnan(numbers(y[0])[i]));
    CHECK(y[1].dtype() == int8);
    CHECK(numbers(y[1]) == Row{-3, -100});
  }
}

TEST_CASE("The gradient of max_pool goes to the first of equals, and adds up where windows overlap") {
  const Tensor x({2, 7, 7, 1, 7, 0}, {1, 6, 1});
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {x}, [](const List &v) {
      const Value pooled = ops::max_pool(v[0], {3}, {.strides = {{1}}});
      return gradients(ops::sum(pooled), {v[0]});
    });
    CHECK(numbers(y[0]) == Row{0, 2, 1, 0, 1, 0});
  }
}

TEST_CASE("Gradients of pools agree with differences") {
  Row values;
  for (int i = 0; i < 2 * 5 * 6 * 3; ++i)
    values.push_back(std::sin(i * 1.7) * 3 + i * 0.01);
  const Tensor x = Tensor(values, {2, 5, 6, 3}).astype(float64);
  for (const Padding padding : {Padding::valid, Padding::same})
    for (int64_t stride : {1, 2, 3}) {
      const ops::PoolArgs args{.strides = {{stride}}, .padding = padding};
      CHECK(slopeError({x}, [&](const List &v) { return ops::max_pool(v[0], {3, 2}, args); }) < 1e-5);
      CHECK(slopeError({x}, [&](const List &v) { return ops::average_pool(v[0], {3, 2}, args); }) < 1e-5);
    }
}

TEST_CASE("Gradients of max_pool with long strides and with many taps agree with differences") {
  Row values;
  for (int i = 0; i < 1 * 10 * 11 * 1; ++i)
    values.push_back(std::sin(i * 1.7) * 3 + i * 0.01);
  const Tensor x = Tensor(values, {1, 10, 11, 1}).astype(float64);
  struct Pool {
    int64_t size, stride;
    Padding padding;
  };
  for (const auto &[size, stride, padding] :
       {Pool{2, 7, Padding::valid}, {2, 7, Padding::same}, {10, 9, Padding::same}, {8, 1 << 30, Padding::valid}}) {
    INFO(Choice<Padding>(padding).word() << " " << size << " " << stride);
    const ops::PoolArgs args{.strides = {{stride}}, .padding = padding};
    CHECK(slopeError({x}, [&, size = size](const List &v) { return ops::max_pool(v[0], {size}, args); }) < 1e-5);
  }
}

TEST_CASE(
    "The gradient of max_pool has as many ops for the longest strides as for strides of 3, and few for 10,000 taps") {
  const auto ops = [](int size, int stride) {
    const Sequential model({Input({120, 120, 1}), layers::MaxPooling2D(size, {.strides = Integers(stride)})});
    const std::string text = model.ir(Stage::graph);
    return std::ranges::count(text, '\n');
  };
  CHECK(ops(2, std::numeric_limits<int>::max()) <= ops(2, 3) + 1); // and zeros for elements that no window covers
  CHECK(ops(2, 100) <= ops(2, 3) + 1);
  CHECK(ops(100, 19) < 200);
}

TEST_CASE("Narrow floats are averaged in float32 and rounded once") {
  const Tensor x = Tensor({60000, 60000, 4, 2}, {1, 4, 1});
  for (Run run : everyRun) {
    const std::vector<Tensor> y =
        runOnce(run, {x}, [](const List &v) { return List{ops::average_pool(ops::cast(v[0], float16), {2})}; });
    CHECK(y[0].dtype() == float16);
    CHECK(numbers(y[0]) == Row{60000, 3});
  }
}

TEST_CASE("A window of more than 256 taps keeps its winners in wider integers") {
  Row values(600, 0.0);
  values[299] = 1;
  values[599] = 2;
  const Tensor x(values, {1, 600, 1});
  for (Run run : everyRun) {
    const std::vector<Tensor> y =
        runOnce(run, {x}, [](const List &v) { return gradients(ops::sum(ops::max_pool(v[0], {300})), {v[0]}); });
    Row expected(600, 0.0);
    expected[299] = expected[599] = 1;
    CHECK(numbers(y[0]) == expected);
  }
}

TEST_CASE("custom_gradient gives the cotangents that its function computes") {
  const Tensor x({1, 2, 3}, {3});
  const auto doubled = ops::custom_gradient([](const Values &v) {
    const Value a = v[0];
    return ops::WithGradient{ops::square(a), [a](const Value &upstream) { return Values(upstream * 10.0 * a); }};
  });
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {x}, [&](const List &v) {
      const Value first = gradients(ops::sum(doubled(v[0])), {v[0]})[0];
      return List{doubled(v[0]), first, gradients(ops::sum(first), {v[0]})[0]};
    });
    CHECK(numbers(y[0]) == Row{1, 4, 9});
    CHECK(numbers(y[1]) == Row{10, 20, 30});
    CHECK(numbers(y[2]) == Row{10, 10, 10});
  }
}

TEST_CASE("Nothing flows through the value of custom_gradient, so it may have no gradient itself") {
  const Tensor x({0.3, 1.8}, {2});
  const auto straight = ops::custom_gradient([](const Values &v) {
    return ops::WithGradient{ops::cast(ops::cast(v[0], int32), float32),
                             [](const Value &upstream) { return Values(upstream); }};
  });
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {x}, [&](const List &v) {
      return List{straight(v[0]), gradients(ops::sum(straight(v[0]) * v[0]), {v[0]})[0]};
    });
    CHECK(numbers(y[0]) == Row{0, 1});
    CHECK(y[1].shape() == Shape({2}));
    CHECK(numbers(y[1])[0] == Approx(0.3));
    CHECK(numbers(y[1])[1] == Approx(2.8));
  }
}

TEST_CASE("A cotangent of another shape, or one too few, is refused") {
  const auto refused = [](std::function<Values(const Value &)> gradient, const char *expected) {
    const auto f = ops::custom_gradient([&](const Values &v) { return ops::WithGradient{v[0] + v[1], gradient}; });
    CHECK_THROWS_WITH(runOnce(Run::interpreted, {Tensor({1, 2}, {2}), Tensor({1, 2}, {2})},
                              [&](const List &v) { return List{f({v[0], v[1]})}; }),
                      Contains(expected));
  };
  refused([](const Value &upstream) { return Values(upstream); }, "1 cotangents for 2 arguments; expected one each");
  refused([](const Value &upstream) { return Values{upstream, ops::sum(upstream)}; },
          "the cotangent of argument 1 has shape (); expected (2,)");
  refused(nullptr, "the function returned no gradient");
}
