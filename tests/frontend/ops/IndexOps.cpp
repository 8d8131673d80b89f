// Gathers, updates, searches, pads and grids with indices that are Values: cases that ops.jsonl lacks, and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using layers::Input;
using Row = std::vector<double>;

namespace {

Tensor whole(const std::vector<int32_t> &values, const Shape &shape) { return Tensor(values, shape); }

std::vector<Tensor> of(Run run, const std::vector<Tensor> &feeds,
                       const std::function<std::vector<Value>(const std::vector<Value> &)> &f) {
  return runOnce(run, feeds, f);
}
std::string refusal(const std::vector<Tensor> &feeds, const std::function<Value(const std::vector<Value> &)> &f) {
  return errorOf([&] {
    (void)runOnce(Run::interpreted, feeds, [&](const std::vector<Value> &v) { return std::vector<Value>{f(v)}; });
  });
}

const Tensor twelve({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 4});

} // namespace

TEST_CASE("A box begins at numbers, at scalars among them, or at a vector, and is moved into the tensor") {
  const Tensor at = whole({-1}, {}), start = whole({9, -3}, {2}), box({20, 21, 22, 23}, {2, 2});
  for (Run run : everyRun) {
    const std::vector<Tensor> y = of(run, {twelve, at, start, box}, [](const std::vector<Value> &v) {
      const Value y = ops::slice_update(v[0], {v[1], 0}, v[3]);
      const Value loss = ops::sum(ops::square(ops::slice(v[0], v[2], {2, 2})) * v[3]);
      const Value other = ops::sum(ops::square(ops::slice_update(v[0], v[2], v[3])));
      return std::vector<Value>{ops::slice(v[0], {v[1], 1}, {2, 2}),
                                ops::slice(v[0], v[2], {1, 4}),
                                y,
                                ops::slice_update(v[0], {1, 99}, v[3]),
                                ops::slice_update(v[0], {0, 0}, v[0]),
                                gradient(loss, v[0]),
                                gradient(other, v[0]),
                                gradient(other, v[3])};
    });
    CHECK(numbers(y[0]) == Row{5, 6, 9, 10});
    CHECK(numbers(y[1]) == Row{8, 9, 10, 11});
    CHECK(numbers(y[2]) == Row{0, 1, 2, 3, 20, 21, 6, 7, 22, 23, 10, 11});
    CHECK(numbers(y[3]) == Row{0, 1, 2, 3, 4, 5, 20, 21, 8, 9, 22, 23});
    CHECK(numbers(y[4]) == numbers(twelve));
    CHECK(numbers(y[5]) == Row{0, 0, 0, 0, 0, 200, 252, 0, 0, 396, 460, 0});
    CHECK(numbers(y[6]) == Row{0, 2, 4, 6, 8, 0, 0, 14, 16, 0, 0, 22});
    CHECK(numbers(y[7]) == Row{40, 42, 44, 46});
  }
}

TEST_CASE("A box of three axes is one lookup among those that it does not fill") {
  const Tensor x({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}, {2, 4, 3});
  const Tensor start = whole({1, 2, 0}, {3}), box({-1, -2, -3, -4, -5, -6}, {1, 2, 3});
  for (Run run : everyRun) {
    const std::vector<Tensor> y = of(run, {x, start, box}, [](const std::vector<Value> &v) {
      return std::vector<Value>{ops::slice(v[0], v[1], {1, 2, 3}), ops::slice_update(v[0], v[1], v[2]),
                                ops::slice(v[0], v[1], {2, 2, 2}), ops::slice(v[0], v[1], {0, 2, 2})};
    });
    CHECK(numbers(y[0]) == Row{18, 19, 20, 21, 22, 23});
    CHECK(numbers(y[1]) == Row{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, -1, -2, -3, -4, -5, -6});
    CHECK(numbers(y[2]) == Row{6, 7, 9, 10, 18, 19, 21, 22});
    CHECK(y[3].shape() == Shape({0, 2, 2}));
  }
}

TEST_CASE("x.at(indices) sets the last of equal rows, adds all, and leaves out indices outside") {
  const Tensor at = whole({0, -1, 0, 3, -4}, {5}), rows({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {5, 2});
  const Tensor x({0, 10, 20, 30, 40, 50}, {3, 2}), truth = Tensor({1, 0, 0}, {3}).astype(bool_);
  for (Run run : everyRun) {
    const std::vector<Tensor> y = of(run, {x, at, rows, truth}, [](const std::vector<Value> &v) {
      const Value set = v[0].at(v[1]).set(v[2]);
      return std::vector<Value>{set,
                                v[0].at(v[1]).add(v[2]),
                                v[0].at(v[1]).set(-1),
                                v[0].at(v[1]).add(ops::slice(v[2], {0, 0}, {1, 2})),
                                v[3].at(v[1]).add(true),
                                gradient(ops::sum(ops::square(set)), v[2])};
    });
    CHECK(numbers(y[0]) == Row{5, 6, 20, 30, 3, 4});
    CHECK(numbers(y[1]) == Row{6, 18, 20, 30, 43, 54});
    CHECK(numbers(y[2]) == Row{-1, -1, 20, 30, -1, -1});
    CHECK(numbers(y[3]) == Row{2, 14, 20, 30, 41, 52});
    CHECK(numbers(y[4]) == Row{1, 0, 1});
    CHECK(numbers(y[5]) == Row{0, 0, 6, 8, 10, 12, 0, 0, 0, 0});
  }
}

TEST_CASE("Sums of updates in narrow floats round once") {
  const Tensor ones = Tensor::ones({5}).astype(float16), at = whole({0, 0, 0, 0, 0}, {5});
  const Tensor x = Tensor({2048, 0}, {2}).astype(float16);
  for (Run run : everyRun) {
    const std::vector<Tensor> y = of(run, {x, at, ones}, [](const std::vector<Value> &v) {
      return std::vector<Value>{ops::scatter_update(v[0], ops::expand_dims(v[1], -1), v[2], "add"),
                                ops::segment_sum(v[2] * 512.0, v[1], 1), ops::bincount(v[1], v[2] * 512.0, 1)};
    });
    CHECK(numbers(y[0]) == Row{2052, 0}); // 2053 is a tie
    CHECK(numbers(y[1]) == Row{2560});
    CHECK(y[2].dtype() == float16);
    CHECK(numbers(y[2]) == Row{2560});
  }
}

TEST_CASE("Counts of rows have bins of their own, and weights keep their dtype") {
  const Tensor x = whole({0, 2, 2, 1, -5, 9}, {2, 3});
  for (Run run : everyRun) {
    const std::vector<Tensor> y = of(run, {x}, [](const std::vector<Value> &v) {
      return std::vector<Value>{ops::bincount(v[0], 3), ops::bincount(v[0], v[0], 3)};
    });
    CHECK(y[0].dtype() == int32);
    CHECK(numbers(y[0]) == Row{1, 0, 2, 1, 1, 0});
    CHECK(numbers(y[1]) == Row{0, 0, 4, -5, 1, 0});
  }
}

TEST_CASE("The shapes of lookups, updates and arrangements of symbolic Values have None where their inputs have it") {
  const Input x({4, 3}), at({2}, {.dtype = int32}), v({});
  CHECK(ops::take_along_axis(x, ops::expand_dims(at, -1), 1).shape() == Shape({none, 2, 3}));
  CHECK(ops::slice(x, {0, 1, 0}, {none, 2, 3}).shape() == Shape({none, 2, 3}));
  CHECK(ops::cumprod(x, 1).shape() == Shape({none, 4, 3}));
  CHECK(ops::searchsorted(ops::arange(5), at).shape() == Shape({none, 2}));
  CHECK(ops::diagonal(x, 0, 1, 2).shape() == Shape({none, 3}));
  CHECK(ops::pad(x, {{0, 0}, {1, 2}, {0, 3}}, {.mode = "edge"}).shape() == Shape({none, 7, 6}));
  const std::vector<Value> grids = ops::meshgrid({v, v});
  CHECK(grids.size() == 2);
  CHECK(grids[0].shape() == Shape({none, none}));
}

TEST_CASE("Lookups and updates refuse indices that are no integers, and shapes that do not fit") {
  const Tensor i = whole({0, 1}, {2}), x({1, 2, 3, 4}, {2, 2});
  const std::vector<Tensor> both{x, i};
  using V = const std::vector<Value> &;
  CHECK_THAT(refusal(both, [](V v) { return ops::take_along_axis(v[0], v[1], 1); }),
             Contains("x of shape (2, 2) and indices of shape (2,); expected the same rank"));
  CHECK_THAT(refusal(both, [](V v) { return ops::take_along_axis(v[0], v[0], 1); }),
             Contains("take_along_axis needs integer indices, got float32"));
  CHECK_THAT(refusal(both, [](V v) { return ops::take_along_axis(v[0], v[0], {}); }), Contains("expected a vector"));
  CHECK_THAT(refusal(both, [](V v) { return ops::slice(v[0], v[1], {3, 1}); }),
             Contains("a box of shape (3, 1) does not fit in shape (2, 2)"));
  CHECK_THAT(refusal(both, [](V v) { return ops::slice(v[0], ops::arange(3), {1, 1}); }),
             Contains("a start of shape (3,) for shape (2, 2); expected an index for each axis"));
  CHECK_THAT(refusal(both, [](V v) { return ops::slice(v[0], {v[1], 0}, {1, 1}); }),
             Contains("a start of shape (2,) among others; expected a scalar"));
  CHECK_THAT(refusal(both, [](V v) { return ops::slice(v[0], {1.5, 0}, {1, 1}); }), Contains("with a fraction"));
  CHECK_THAT(refusal(both, [](V v) { return ops::slice_update(v[0], v[1], ops::cast(v[1], float32)); }),
             Contains("a box of shape (2,)"));
  CHECK_THAT(refusal(both, [](V v) { return ops::slice_update(v[0], v[1], ops::cast(v[0], int32)); }),
             Contains("slice_update of float32 by updates in int32; expected the same dtype"));
  CHECK_THAT(refusal(both, [](V v) { return ops::scatter_update(v[0], v[1], v[0]); }),
             Contains("indices of shape (2,); expected (number of updates, n)"));
  CHECK_THAT(refusal(both, [](V v) { return ops::scatter_update(v[0], ops::zeros({1, 3}, int32), v[0]); }),
             Contains("expected (..., n) with an index for each of the first n axes"));
  CHECK_THAT(refusal(both, [](V v) { return ops::scatter(v[1], ops::cast(v[1], bool_), {4}); }),
             Contains("scatter takes numbers, got bool"));
  CHECK_THAT(refusal(both, [](V v) { return ops::segment_sum(v[0], v[0], 3); }), Contains("should be a vector"));
  CHECK_THAT(refusal(both, [](V v) { return ops::segment_max(v[0], ops::arange(3), 3); }),
             Contains("should have the same leading dimension, got (3,) and (2, 2)"));
  CHECK_THAT(refusal(both, [](V v) { return ops::segment_max(v[0], v[1], -1); }), Contains("must not be negative"));
}

TEST_CASE("The derivative of a product of a segment is the product of the others, whatever is 0") {
  const auto f = jit([](const Value &data, const Value &ids, const Value &weights) {
    return gradient(ops::sum(ops::segment_prod(data, ids, 5) * weights), data);
  });
  const Tensor data({2, -3, 0, 4, 0, 0, 5, 7}), ids(std::vector<int32_t>{0, 0, 1, 1, 2, 2, -1, 4});
  CHECK(f(data, ids, Tensor({1, 2, 3, 4, 0.5})).to_vector<float>() == std::vector<float>{-3, 2, 8, 0, 0, 0, 0, 0.5f});
  const auto both = jit([](const Value &x, const Value &updates) {
    const Value y = ops::scatter_update(x, constant(Tensor(std::vector<int32_t>{0, 2, 2, 9}, {4, 1})), updates, "mul");
    return Values(gradients(ops::sum(y), {x, updates}));
  });
  const Tensors found = both(Tensor({2, 3, 4}), Tensor({5, 0, 6, 7}));
  CHECK(found[0].to_vector<float>() == std::vector<float>{5, 1, 0});
  CHECK(found[1].to_vector<float>() == std::vector<float>{2, 24, 0, 0});
}

TEST_CASE("Searches, counts, pads and grids refuse what they cannot take") {
  const Tensor x({1, 2, 3, 4}, {2, 2});
  using V = const std::vector<Value> &;
  CHECK_THAT(refusal({x}, [](V v) { return ops::searchsorted(v[0], v[0]); }), Contains("only supports 1-D"));
  CHECK_THAT(refusal({x}, [](V v) { return ops::bincount(v[0], 3); }), Contains("bincount needs integer indices"));
  CHECK_THAT(refusal({x}, [](V v) { return ops::bincount(ops::cast(v[0], int32), 0); }),
             Contains("the number of bins, must be positive, got 0"));
  CHECK_THAT(refusal({x}, [](V v) { return ops::bincount(ops::arange(3), v[0], 2); }), Contains("which differ"));
  CHECK_THAT(refusal({x}, [](V v) { return ops::pad(v[0], {{1, 1}, {1, 1}, {1, 1}}); }),
             Contains("3 widths for shape (2, 2)"));
  CHECK_THAT(refusal({x}, [](V v) { return ops::pad(v[0], -1); }), Contains("must not be negative, got -1"));
  CHECK_THAT(refusal({x}, [](V v) { return ops::pad(v[0], 1, {.mode = "edge", .constant_values = 2}); }),
             Contains("`constant_values` can only be provided when `mode == 'constant'`"));
  CHECK_THAT(refusal({x}, [](V v) { return ops::pad(ops::slice(v[0], {0, 0}, {0, 2}), 1, {.mode = "reflect"}); }),
             Contains("can't extend empty axis 0"));
  CHECK_THAT(refusal({x}, [](V v) { return ops::diagonal(v[0], 0, 1, 1); }), Contains("cannot be the same"));
  CHECK_THAT(refusal({x}, [](V v) { return ops::meshgrid({v[0]})[0]; }), Contains("expected vectors"));
}
