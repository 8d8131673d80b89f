// zeros, ones, full, constants, arange, linspace, eye, tril and triu: values, dtypes and errors as in Keras.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include "tests/frontend/Slopes.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using List = std::vector<Value>;

static std::vector<Tensor> made(Run run, std::function<List()> body) {
  return runOnce(run, {}, [body](const List &) { return body(); });
}
static std::string refusal(std::function<Value()> body) {
  return errorOf([&] { (void)made(Run::interpreted, [&] { return List{body()}; }); });
}

TEST_CASE("arange ascends by its step up to, not including, the stop") {
  for (Run run : everyRun) {
    std::vector<Tensor> y = made(run, [] {
      return List{ops::arange(4),
                  ops::arange(2, 5),
                  ops::arange(5, 2, -1),
                  ops::arange(5, 2),
                  ops::arange(0, 1, 0.25),
                  ops::arange(0, 7, 3),
                  ops::arange(3, {}, {}, bfloat16),
                  ops::arange(0, 1, 0.1, int32),
                  ops::arange(5, 2, -1, uint8),
                  ops::arange(0, 128, 127, int8),
                  ops::arange(2.5),
                  ops::arange(0),
                  ops::arange(4294967290.0, 4294967296.0, 5, DType::uint32),
                  ops::arange(0, 0.5, 0.125, float64)};
    });
    const Row expected[] = {{0, 1, 2, 3},
                            {2, 3, 4},
                            {5, 4, 3},
                            {},
                            {0, 0.25, 0.5, 0.75},
                            {0, 3, 6},
                            {0, 1, 2},
                            Row(10, 0),
                            {5, 4, 3},
                            {0, 127},
                            {0, 1, 2},
                            {},
                            {4294967290, 4294967295},
                            {0, 0.125, 0.25, 0.375}};
    const DType dtypes[] = {int32, int32, int32, int32,   float32, int32,         bfloat16,
                            int32, uint8, int8,  float32, int32,   DType::uint32, float64};
    for (size_t i = 0; i < y.size(); ++i) {
      INFO(i);
      CHECK(numbers(y[i]) == expected[i]);
      CHECK(y[i].dtype() == dtypes[i]);
    }
  }
  CHECK_THAT(refusal([] { return ops::arange(0, 3, 0); }), Contains("ValueError: arange: step must not be 0"));
  CHECK_THAT(refusal([] { return ops::arange(HUGE_VAL); }),
             Contains("ValueError: arange from 0 to inf by 1 has too many elements"));
  CHECK_THAT(refusal([] { return ops::arange(0, 300, 100, int8); }),
             Contains("ValueError: arange: int8 cannot represent 200"));
  CHECK_THAT(refusal([] { return ops::arange(2, {}, {}, DType::bool_); }),
             Contains("TypeError: arange returns numbers"));
}

TEST_CASE("linspace divides a range, and its last value is the stop exactly") {
  for (Run run : everyRun) {
    std::vector<Tensor> y = made(run, [] {
      return List{ops::linspace(0, 1, 5),
                  ops::linspace(0, -3, 4, false),
                  ops::linspace(0, 10, 5, true, int32),
                  ops::linspace(-1, 1, 6, true, int32),
                  ops::linspace(3, 4, 1),
                  ops::linspace(0, 1, 0),
                  ops::linspace(0, 1, 4, true, float16),
                  ops::linspace(0.1, 0.7),
                  ops::linspace(0, 1, 1, false)};
    });
    CHECK(numbers(y[0]) == Row{0, 0.25, 0.5, 0.75, 1});
    CHECK(numbers(y[1]) == Row{0, -0.75, -1.5, -2.25});
    CHECK(numbers(y[2]) == Row{0, 2, 5, 7, 10});
    CHECK(numbers(y[3]) == Row{-1, -1, -1, 0, 0, 1});
    CHECK(y[3].dtype() == int32);
    CHECK(numbers(y[4]) == Row{3});
    CHECK(numbers(y[5]) == Row{});
    CHECK(near(numbers(y[6]), {0, 0.3333, 0.6665, 1}, 1e-4));
    CHECK(y[6].dtype() == float16);
    CHECK(y[7].shape() == Shape({50}));
    CHECK(numbers(y[7]).back() == double(0.7f));
    CHECK(near({numbers(y[7])[10]}, {0.1 + 0.6 * 10 / 49}));
    CHECK(numbers(y[8]) == Row{0});
  }
  CHECK_THAT(refusal([] { return ops::linspace(0, 1, -1); }),
             Contains("ValueError: linspace: num must not be negative, got -1"));
  CHECK_THAT(refusal([] { return ops::linspace(-1, 1, 3, true, uint8); }),
             Contains("linspace: uint8 cannot represent -1"));
}

TEST_CASE("eye has ones on one diagonal") {
  for (Run run : everyRun) {
    std::vector<Tensor> y = made(run, [] {
      return List{ops::eye(2),
                  ops::eye(2, 4, -1),
                  ops::eye(3, 2, 1, int8),
                  ops::eye(0),
                  ops::eye(2, 2, 1000000000000),
                  ops::eye(1, {}, 0, DType::bool_)};
    });
    CHECK(numbers(y[0]) == Row{1, 0, 0, 1});
    CHECK(y[0].dtype() == float32);
    CHECK(numbers(y[1]) == Row{0, 0, 0, 0, 1, 0, 0, 0});
    CHECK(y[2].shape() == Shape({3, 2}));
    CHECK(numbers(y[2]) == Row{0, 1, 0, 0, 0, 0});
    CHECK(y[2].dtype() == int8);
    CHECK(y[3].shape() == Shape({0, 0}));
    CHECK(numbers(y[4]) == Row(4, 0));
    CHECK(numbers(y[5]) == Row{1});
  }
  CHECK_THAT(refusal([] { return ops::eye(-1); }), Contains("ValueError: eye: extents must not be negative"));
}

TEST_CASE("tril and triu keep one side of a diagonal of each matrix") {
  Tensor x({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 2, 3});
  Tensor bools = Tensor({1, 1, 1, 1}, {2, 2}).astype(DType::bool_), row({1, 2}, {2});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {x, bools}, [](const List &v) {
      return List{ops::tril(v[0]), ops::triu(v[0], 1), ops::tril(v[0], -2), ops::triu(v[1])};
    });
    CHECK(numbers(y[0]) == Row{1, 0, 0, 4, 5, 0, 7, 0, 0, 10, 11, 0});
    CHECK(numbers(y[1]) == Row{0, 2, 3, 0, 0, 6, 0, 8, 9, 0, 0, 12});
    CHECK(numbers(y[2]) == Row(12, 0));
    CHECK(numbers(y[3]) == Row{1, 1, 0, 1});
    CHECK(y[3].dtype() == DType::bool_);
  }
  CHECK(slopeError({x}, [](const List &v) { return ops::tril(v[0], 1) * ops::triu(v[0]); }) < 1e-6);
  CHECK(ops::tril(Input({2, 3})).shape() == Shape({none, 2, 3}));
  CHECK_THAT(
      errorOf([&] { (void)runOnce(Run::interpreted, {row}, [](const List &v) { return List{ops::tril(v[0])}; }); }),
      Contains("ValueError: tril of shape (2,); expected at least two axes"));
}

TEST_CASE("zeros, ones and full have the dtype that is given, else floatx, or that of the value") {
  for (Run run : everyRun) {
    const std::vector<Tensor> y = made(run, [] {
      return List{ops::zeros({2}),
                  ops::ones({1, 2}, int8),
                  ops::full({2}, 3),
                  ops::full({2}, 2.5),
                  ops::full({}, true),
                  ops::full({2}, 2.5, float16),
                  ops::full({2, 2}, ops::arange(2)),
                  ops::full({0}, ops::ones({1}, int8))};
    });
    const Row expected[] = {{0, 0}, {1, 1}, {3, 3}, {2.5, 2.5}, {1}, {2.5, 2.5}, {0, 1, 0, 1}, {}};
    const DType dtypes[] = {float32, int8, int32, float32, bool_, float16, int32, int8};
    REQUIRE(y.size() == std::size(expected));
    for (size_t i = 0; i < y.size(); ++i) {
      CHECK(numbers(y[i]) == expected[i]);
      CHECK(y[i].dtype() == dtypes[i]);
    }
  }
  CHECK_THAT(refusal([] { return ops::zeros({none, 2}); }),
             Contains("ValueError: zeros of shape (None, 2)") && Contains("zeros_like(x)"));
  CHECK_THAT(refusal([] { return ops::full({2}, 300, uint8); }), Contains("full: uint8 cannot represent 300"));
}

TEST_CASE("Outside of a function being traced a Value without operands is a constant of a functional model") {
  const layers::Input x({3}, {.name = "x"});
  const Tensor data({1, 2, 3}, {3}), large = counted({5000});
  const Value weights = constant(data), table = constant(large);
  const_cast<float *>(data.span<float>().data())[0] = 50; // the constant has copied its elements
  const Value scaled = x * weights + ops::arange(3) + ops::full({3}, 0.5);
  const Model model({x},
                    {scaled + ops::sum(ops::eye(2)), ops::where(scaled > ops::zeros({3}), 1, ops::ones({3}, int32)),
                     scaled * ops::sum(table * ops::zeros({5000}))});
  CHECK(model.layers().size() == 1);
  const Tensors y = model.predict_all(Tensor::ones({2, 3}), {.verbose = 0});
  CHECK(numbers(y[0]) == Row{3.5, 5.5, 7.5, 3.5, 5.5, 7.5});
  CHECK(numbers(y[1]) == Row(6, 1));
  CHECK(numbers(y[2]) == Row(6, 0));
  CHECK_THAT(errorOf([] { (void)ops::ones({none}); }), Contains("ones of shape (None,)"));
  const auto mixed = jit([weights](const Value &v) -> Value { return v + weights; });
  CHECK_THAT(errorOf([&] { (void)mixed(Tensor::ones({3})); }), Contains("symbolic Value of another graph"));
}
