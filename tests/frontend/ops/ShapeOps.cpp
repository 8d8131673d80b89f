// concatenate, take, slice and cumsum: values, dtypes, errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include "tests/frontend/Slopes.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;

TEST_CASE("concatenate joins along any axis and promotes") {
  Tensor a({1, 2, 3, 4}, {2, 2}), b({5, 6}, {2, 1}), c(std::vector<int32_t>{7, 8}, {1, 2});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {a, b, c}, [](const std::vector<Value> &v) {
      return std::vector<Value>{ops::concatenate({v[0], v[1], v[0]}), ops::concatenate({v[0], v[2]}, 0),
                                ops::concatenate({v[2], v[2]}, -2), ops::concatenate(v[0], 1)};
    });
    CHECK(numbers(y[0]) == Row{1, 2, 5, 1, 2, 3, 4, 6, 3, 4});
    CHECK(numbers(y[1]) == Row{1, 2, 3, 4, 7, 8});
    CHECK(y[1].dtype() == float32);
    CHECK(numbers(y[2]) == Row{7, 8, 7, 8});
    CHECK(y[2].dtype() == int32);
    CHECK(numbers(y[3]) == numbers(a));
  }
  auto joined = [](const Tensor &x, const Tensor &y, int64_t axis) {
    return errorOf([&] {
      (void)runOnce(Run::interpreted, {x, y}, [&](const std::vector<Value> &v) {
        return std::vector<Value>{ops::concatenate({v[0], v[1]}, axis)};
      });
    });
  };
  CHECK_THAT(joined(a, b, 0), Contains("ValueError") && Contains("(2, 2)") && Contains("(2, 1)"));
  CHECK_THAT(joined(a, Tensor::ones({2, 2, 1}), 0), Contains("(2, 2, 1)"));
  CHECK_THAT(joined(a, b, 2), Contains("axis 2 is out of range for rank 2"));
  CHECK_THAT(errorOf([] { (void)ops::concatenate(Values()); }), Contains("at least one input"));
}

// Keras with JAX wraps -1 and gives NaN for out-of-range indices: see docs/policies.md, "Differences from Keras".
TEST_CASE("take reads slices by number, and clamps") {
  Tensor x({0, 1, 2, 3, 4, 5}, {3, 2}), i(std::vector<int32_t>{2, 0, -1, 9}, {2, 2}),
      byte(std::vector<uint8_t>{1}, {1});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {x, i, byte}, [](const std::vector<Value> &v) {
      return std::vector<Value>{ops::take(v[0], v[1]), ops::take(v[0], v[2], -1),
                                ops::take(v[0], ops::cast(v[2], DType::uint64), 1)};
    });
    CHECK(y[0].shape() == Shape{2, 2, 2});
    CHECK(numbers(y[0]) == Row{4, 5, 0, 1, 0, 1, 4, 5});
    CHECK(y[1].shape() == Shape{3, 1});
    CHECK(numbers(y[1]) == Row{1, 3, 5});
    CHECK(numbers(y[2]) == Row{1, 3, 5});
  }
  auto taken = [&](const Tensor &indices, int64_t axis) {
    return errorOf([&] {
      (void)runOnce(Run::interpreted, {x, indices},
                    [&](const std::vector<Value> &v) { return std::vector<Value>{ops::take(v[0], v[1], axis)}; });
    });
  };
  CHECK_THAT(taken(x, 0), Contains("TypeError") && Contains("integer indices, got float32"));
  CHECK_THAT(taken(i, 2), Contains("axis 2 is out of range for rank 2"));
}

TEST_CASE("slice takes a part, to the end where it says none") {
  Tensor x = Tensor({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 4});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {x}, [](const std::vector<Value> &v) {
      return std::vector<Value>{ops::slice(v[0], {1, 1}, {2, 2}), ops::slice(v[0], {2, 0}, {none, none}),
                                ops::slice(v[0], {0, 0}, {3, 4})};
    });
    CHECK(numbers(y[0]) == Row{5, 6, 9, 10});
    CHECK(numbers(y[1]) == Row{8, 9, 10, 11});
    CHECK(numbers(y[2]) == numbers(x));
  }
  auto cut = [&](const Shape &start, const Shape &shape) {
    return errorOf([&] {
      (void)runOnce(Run::interpreted, {x},
                    [&](const std::vector<Value> &v) { return std::vector<Value>{ops::slice(v[0], start, shape)}; });
    });
  };
  for (auto [start, shape] : {std::pair(Shape{2, 1}, Shape{2, 2}), std::pair(Shape{0}, Shape{1, 1}),
                              std::pair(Shape{4, 0}, Shape{none, 1}), std::pair(Shape{-1, 0}, Shape{1, 1})})
    CHECK_THAT(cut(start, shape), Contains("does not lie within shape (3, 4)"));
}

TEST_CASE("cumsum adds up along an axis, or through the flattened tensor") {
  Tensor x({1, 2, 3, 4, 5, 6}, {2, 3}), number({3}, {}), empty = Tensor::zeros({2, 0});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {x, number, empty}, [](const std::vector<Value> &v) {
      return std::vector<Value>{ops::cumsum(v[0]), ops::cumsum(v[0], 0), ops::cumsum(v[0], -1),
                                ops::cumsum(v[1]), ops::cumsum(v[2]),    ops::cumsum(v[2], 1)};
    });
    CHECK(numbers(y[0]) == Row{1, 3, 6, 10, 15, 21});
    CHECK(y[0].shape() == Shape({6}));
    CHECK(numbers(y[1]) == Row{1, 2, 3, 5, 7, 9});
    CHECK(numbers(y[2]) == Row{1, 3, 6, 4, 9, 15});
    CHECK(y[3].shape() == Shape({1}));
    CHECK(numbers(y[3]) == Row{3});
    CHECK(y[4].shape() == Shape({0}));
    CHECK(y[5].shape() == Shape({2, 0}));
  }
  CHECK_THAT(errorOf([&] {
               (void)runOnce(Run::interpreted, {x},
                             [](const std::vector<Value> &v) { return std::vector<Value>{ops::cumsum(v[0], 2)}; });
             }),
             Contains("ValueError: cumsum: axis 2 is out of range for rank 2"));
  CHECK(ops::cumsum(Input({3}), 1).shape() == Shape({none, 3}));
  CHECK(ops::cumsum(Input({3})).shape() == Shape({none}));
}

TEST_CASE("cumsum keeps the dtype: integers wrap, bools count, float16 adds in float32") {
  Tensor bytes(std::vector<int8_t>{100, 100, -3}, {3}), bools = Tensor({1, 0, 1}, {3}).astype(DType::bool_);
  Tensor halves = Tensor::full({4000}, 1, float16), x({1.5, 2}, {2});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {bytes, bools, halves, x}, [](const std::vector<Value> &v) {
      return std::vector<Value>{ops::cumsum(v[0]), ops::cumsum(v[1]), ops::cumsum(v[2]), ops::cumsum(v[3], {}, int32),
                                ops::cumsum(v[1], 0, DType::bool_)};
    });
    CHECK(y[0].dtype() == int8);
    CHECK(numbers(y[0]) == Row{100, -56, -59});
    CHECK(y[1].dtype() == int32);
    CHECK(numbers(y[1]) == Row{1, 1, 2});
    CHECK(y[2].dtype() == float16);
    CHECK(numbers(y[2]).back() == 4000); // above 2048, float16 cannot represent odd numbers
    CHECK(numbers(y[2])[2050] == 2052);  // 2051 is a midpoint
    CHECK(numbers(y[3]) == Row{1, 3});
    CHECK(y[4].dtype() == int32);
  }
}

TEST_CASE("the gradient of cumsum adds up from the other end") {
  Tensor x({0.5, -1, 2, 3, 0.25, -2}, {2, 3});
  for (std::optional<int64_t> axis : {std::optional<int64_t>(), std::optional<int64_t>(0), std::optional<int64_t>(1)})
    CHECK(slopeError({x}, [axis](const std::vector<Value> &v) { return ops::cumsum(v[0], axis); }) < 1e-6);
  // Also for a gradient.
  CHECK(slopeError({x}, [](const std::vector<Value> &v) {
          Value y = ops::cumsum(v[0], 1);
          return gradients(ops::sum(y * y * y), v)[0];
        }) < 1e-5);
}

TEST_CASE(
    "Twenty pieces are unstacked and stacked again in every dtype, and the gradient of each piece is in its place") {
  constexpr int64_t pieces = 20;
  for (const DType dtype : {DType::bool_, DType::uint8, DType::int8, DType::int16, DType::uint32, DType::int32,
                            DType::int64, DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    std::vector<double> elements;
    for (int64_t i = 0; i < 3 * pieces; ++i)
      elements.push_back(dtype == DType::bool_ ? static_cast<double>(i % 3 == 0) : static_cast<double>(i));
    const Tensor x = Tensor(elements, {3, pieces}).astype(dtype);
    for (const Run run : everyRun) {
      INFO(name(dtype));
      const std::vector<Tensor> y = runOnce(run, {x}, [&](const std::vector<Value> &v) {
        return std::vector<Value>{ops::stack(ops::unstack(v[0], {}, 1), 1)};
      });
      CHECK(numbers(y[0]) == elements);
      if (!is_float(dtype))
        continue;
      const std::vector<Tensor> slopes = runOnce(run, {x}, [&](const std::vector<Value> &v) {
        Value loss;
        const std::vector<Value> cut = ops::unstack(v[0], {}, 1);
        for (int64_t i = 0; i < pieces; ++i) {
          const Value term = ops::sum(cut[static_cast<size_t>(i)] * static_cast<double>(i - 5));
          loss = loss.defined() ? loss + term : term;
        }
        for (const Value &part : ops::split(v[0], {5, 12}, 1))
          loss = loss + ops::sum(part) * 2.0;
        return std::vector<Value>{gradients(loss, std::vector<Value>{v[0]})[0]};
      });
      for (int64_t i = 0; i < 3 * pieces; ++i)
        CHECK(numbers(slopes[0])[static_cast<size_t>(i)] == static_cast<double>(i % pieces - 5 + 2));
    }
  }
}
