// Compares random tensors of the host with the draws of graphs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

static Tensor drawn(std::function<Value()> f, Numerics numerics = Numerics::fast) {
  return jit(std::move(f), {.numerics = numerics})();
}

TEST_CASE("Uniform tensors and integers have the elements of the graph's draws with their seed, in both numerics") {
  const Shape shape{3, 1367}; // not a multiple of four
  for (const Numerics numerics : {Numerics::fast, Numerics::strict}) {
    for (const DType dtype : {float32, float64, float16, bfloat16})
      for (const auto &[low, high] :
           std::vector<std::pair<double, double>>{{0, 1}, {-1, 1}, {0.1, 0.7}, {-3, 5}, {1, 1.5}, {-3e4, 3e4}}) {
        INFO(name(dtype) << " from " << low << " to " << high);
        const Tensor graph = drawn(
            [=, low = low, high = high] {
              return random::uniform(shape, {.minval = low, .maxval = high, .dtype = dtype, .seed = 9});
            },
            numerics);
        CHECK(numbers(graph) ==
              numbers(Tensor::uniform(shape, {.minval = low, .maxval = high, .dtype = dtype, .seed = 9})));
      }
    struct Range {
      int64_t low, high;
      DType dtype;
    };
    for (const auto &[low, high, dtype] : std::vector<Range>{{0, 6, int32},
                                                             {-128, 128, int8},
                                                             {0, 65537, uint32},
                                                             {-5, int64_t{3} << 30, int64},
                                                             {INT64_MIN, INT64_MAX, int64},
                                                             {0, INT64_MAX, uint64}}) {
      INFO(name(dtype) << " below " << high);
      const Tensor graph =
          drawn([=, low = low, high = high,
                 dtype = dtype] { return random::randint(shape, low, high, {.dtype = dtype, .seed = 3}); },
                numerics);
      const Tensor host = Tensor::randint(shape, low, high, {.dtype = dtype, .seed = 3});
      CHECK(host.dtype() == dtype);
      CHECK(graph.astype(int64).to_vector<int64_t>() == host.astype(int64).to_vector<int64_t>());
    }
  }
}

TEST_CASE("Normal tensors are the graph's draws but for the last bits of logarithm and cosine") {
  for (const DType dtype : {float32, float64, bfloat16}) {
    INFO(name(dtype));
    const NormalTensorArgs args{.mean = 1.0, .stddev = 0.5, .dtype = dtype, .seed = 11};
    const Tensor host = Tensor::normal({65536}, args);
    const Tensor graph =
        drawn([=] { return random::normal({65536}, {.mean = 1.0, .stddev = 0.5, .dtype = dtype, .seed = 11}); },
              Numerics::strict);
    CHECK(host.dtype() == dtype);
    const double step = dtype == float64 ? 0x1p-50 : dtype == float32 ? 0x1p-21 : 0x1p-6;
    const std::vector<double> a = numbers(host), b = numbers(graph);
    double largest = 0;
    for (size_t i = 0; i < a.size(); ++i)
      largest = std::max(largest, std::abs(a[i] - b[i]));
    CHECK(largest <= step);
  }
}

TEST_CASE("Random tensors without a seed follow set_random_seed") {
  set_random_seed(6);
  const std::vector<double> first = numbers(Tensor::normal({5})), second = numbers(Tensor::normal({5}));
  CHECK(first != second);
  set_random_seed(6);
  CHECK(numbers(Tensor::normal({5})) == first);
  CHECK(numbers(Tensor::normal({5})) == second);
  CHECK(numbers(Tensor::uniform({5}, {.seed = 2})) == numbers(Tensor::uniform({5}, {.seed = 2})));
  CHECK(Tensor::normal({0, 3}).shape() == Shape{0, 3});
  CHECK(Tensor::uniform({}).shape() == Shape());
  CHECK(Tensor::randint({}, 4, 5).item<int32_t>() == 4);
}

TEST_CASE("Wrong arguments of random tensors are refused as those of the graph's draws") {
  CHECK_THAT(errorOf([] { (void)Tensor::normal({2}, {.dtype = int8}); }),
             Contains("ValueError: `Tensor::normal` requires a floating point `dtype`"));
  CHECK_THAT(errorOf([] { (void)Tensor::uniform({none}); }), Contains("ValueError") && Contains("(None,)"));
  CHECK_THAT(errorOf([] { (void)Tensor::uniform({2}, {.minval = 1, .maxval = 0}); }), Contains("ValueError"));
  CHECK_THAT(errorOf([] { (void)Tensor::randint({2}, 0, 0); }), Contains("ValueError") && Contains("minval=0"));
  CHECK_THAT(errorOf([] { (void)Tensor::randint({2}, 0, 200, {.dtype = int8}); }), Contains("that int8 can represent"));
  CHECK_THAT(errorOf([] { (void)Tensor::normal({2}, {.seed = -1}); }), Contains("ValueError") && Contains("seed=-1"));
}
