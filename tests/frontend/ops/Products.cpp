// Contractions: values compared with plain loops, dtypes, gradients, rejected calls.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include "tests/frontend/Slopes.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using List = std::vector<Value>;

static const Tensor a({1, 2, 3, 4, 5, 6}, {2, 3}), b({1, 0, 2, -1, 3, 1}, {3, 2}), v({1, -1, 2}, {3}), two({2}, {});
static const Tensor cube({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 3, 2});

TEST_CASE("dot contracts the last axis with the last but one") {
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {a, b, v, two, cube}, [](const List &x) {
      return List{ops::dot(x[0], x[1]), ops::dot(x[0], x[2]), ops::dot(x[2], x[2]),
                  ops::dot(x[0], x[3]), ops::dot(x[0], x[4]), ops::dot(x[2], x[1])};
    });
    CHECK(numbers(y[0]) == Row{14, 1, 32, 1});
    CHECK(numbers(y[1]) == Row{5, 11});
    CHECK(y[2].shape() == Shape());
    CHECK(numbers(y[2]) == Row{6});
    CHECK(numbers(y[3]) == Row{2, 4, 6, 8, 10, 12});
    CHECK(y[4].shape() == Shape({2, 2, 2})); // [i, n, j]: the sum over k of a[i, k] cube[n, k, j]
    CHECK(numbers(y[4]) == Row{16, 22, 52, 58, 34, 49, 124, 139});
    CHECK(numbers(y[5]) == Row{5, 3});
  }
}

TEST_CASE("tensordot contracts pairs of axes") {
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {a, b, cube, v}, [](const List &x) {
      return List{ops::tensordot(x[2], x[1]),
                  ops::tensordot(x[0], x[1], 1),
                  ops::tensordot(x[0], x[3], 0),
                  ops::tensordot(x[2], x[0], {0, 1}, {0, 1}),
                  ops::tensordot(x[2], x[0], {1, 0}, {-1, 0}),
                  ops::tensordot(x[2], x[0], 1, 1)};
    });
    CHECK(numbers(y[0]) == Row{18, 54});
    CHECK(numbers(y[1]) == Row{14, 1, 32, 1});
    CHECK(y[2].shape() == Shape({2, 3, 3}));
    CHECK(numbers(y[2]) == Row{1, -1, 2, 2, -2, 4, 3, -3, 6, 4, -4, 8, 5, -5, 10, 6, -6, 12});
    CHECK(numbers(y[3]) == Row{140, 161});
    CHECK(numbers(y[4]) == numbers(y[3]));
    CHECK(y[5].shape() == Shape({2, 2, 2}));
    CHECK(numbers(y[5]) == Row{16, 34, 22, 49, 52, 124, 58, 139});
  }
}

TEST_CASE("outer multiplies every pair of elements") {
  Tensor none_ = Tensor::zeros({0});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {a, v, two, none_}, [](const List &x) {
      return List{ops::outer(x[1], x[1]), ops::outer(x[0], x[2]), ops::outer(x[3], x[1])};
    });
    CHECK(numbers(y[0]) == Row{1, -1, 2, -1, 1, -2, 2, -2, 4});
    CHECK(y[1].shape() == Shape({6, 1}));
    CHECK(y[2].shape() == Shape({0, 3}));
  }
  CHECK(ops::outer(Input({3}), Input({2})).shape() == Shape({none, none}));
}

TEST_CASE("contractions of extent 0 give zeros") {
  Tensor x = Tensor::zeros({2, 0}), y = Tensor::zeros({0, 3});
  std::vector<Tensor> z = runOnce(Run::compiled, {x, y}, [](const List &each) {
    return List{ops::dot(each[0], each[1]), ops::tensordot(each[0], each[1], 1)};
  });
  CHECK(numbers(z[0]) == Row(6, 0));
  CHECK(numbers(z[1]) == Row(6, 0));
}

TEST_CASE("contractions give the promoted dtype, in which integers wrap") {
  const DType dtypes[] = {DType::bool_, int8, uint8, DType::int16, int32, int64, float16, bfloat16, float32};
  for (DType left : dtypes)
    for (DType right : dtypes) {
      INFO(name(left) << " by " << name(right));
      Tensor x = Tensor({1, 0, 1}, {3}).astype(left), y = Tensor({1, 1, 1}, {3}).astype(right);
      std::vector<Tensor> z = runOnce(Run::interpreted, {x, y}, [](const List &each) {
        return List{ops::dot(each[0], each[1]), ops::tensordot(each[0], each[1], 1), ops::outer(each[0], each[1])};
      });
      const DType expected = left == right ? left : result_type(left, right);
      for (const Tensor &each : z)
        CHECK(each.dtype() == expected);
      CHECK(numbers(z[0]) == Row{expected == DType::bool_ ? 1.0 : 2.0});
    }
  Tensor bytes(std::vector<int8_t>{100, 100}, {2}), words(std::vector<uint8_t>{200, 200}, {2});
  for (Run run : everyRun) {
    std::vector<Tensor> z = runOnce(run, {bytes, words}, [](const List &each) {
      return List{ops::dot(each[0], each[0]), ops::tensordot(each[1], each[1], 1)};
    });
    CHECK(numbers(z[0]) == Row{20000 - 78 * 256});
    CHECK(numbers(z[1]) == Row{80000 % 256});
  }
}

TEST_CASE("contractions have the gradients that central differences give") {
  CHECK(slopeError({a, b}, [](const List &x) { return ops::dot(x[0], x[1]); }) < 1e-6);
  CHECK(slopeError({a, cube}, [](const List &x) { return ops::dot(x[0], x[1]); }) < 1e-6);
  CHECK(slopeError({cube, a}, [](const List &x) { return ops::tensordot(x[0], x[1], {1, 0}, {1, 0}); }) < 1e-6);
  CHECK(slopeError({v, a}, [](const List &x) { return ops::tensordot(x[0], x[1], 0); }) < 1e-6);
  CHECK(slopeError({v, two}, [](const List &x) { return ops::outer(x[0], x[0]) * ops::dot(x[0], x[1]); }) < 1e-6);
}

TEST_CASE("contractions refuse extents that differ and axes that are not there") {
  const auto refusal = [](std::function<Value(const List &)> f) {
    return errorOf([&] { (void)runOnce(Run::interpreted, {a, cube}, [f](const List &x) { return List{f(x)}; }); });
  };
  CHECK_THAT(refusal([](const List &x) { return ops::dot(x[0], x[0]); }),
             Contains("ValueError: dot of (2, 3) and (2, 3): axes 1 and 0 differ in extent"));
  CHECK_THAT(refusal([](const List &x) { return ops::tensordot(x[1], x[0]); }),
             Contains("ValueError: tensordot of (2, 3, 2) and (2, 3): axes 1 and 0 differ in extent"));
  CHECK_THAT(refusal([](const List &x) { return ops::tensordot(x[0], x[1], 3); }),
             Contains("ValueError: tensordot of (2, 3) and (2, 3, 2) over 3 axes"));
  CHECK_THAT(refusal([](const List &x) { return ops::tensordot(x[0], x[1], -1); }), Contains("over -1 axes"));
  CHECK_THAT(refusal([](const List &x) { return ops::tensordot(x[0], x[1], {0, 1}, 0); }),
             Contains("ValueError: tensordot: 2 axes of one operand and 1 of the other; expected pairs"));
  CHECK_THAT(refusal([](const List &x) { return ops::tensordot(x[0], x[1], {0, 0}, {0, 1}); }),
             Contains("tensordot: an axis is given twice"));
  CHECK_THAT(refusal([](const List &x) { return ops::tensordot(x[0], x[1], 2, 0); }),
             Contains("tensordot: axis 2 is out of range for rank 2"));
}
