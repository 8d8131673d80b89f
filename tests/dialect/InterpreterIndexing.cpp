// The semantics of slice, concat, gather and scatter.
// SPDX-License-Identifier: Apache-2.0
#include "Modules.h"

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

using Row = std::vector<double>;
using Ints = std::vector<int64_t>;

TEST_CASE("slices and concatenations move elements") {
  TensorData x = reals("2x3xf16", {1, 2, 3, 4, 5, 6}), y = reals("2x1xf16", {-0.0, 8});
  CHECK(
      evaluate("%y = halftone.slice %0 {start = array<i64: 0, 1>} : tensor<2x3xf16> to tensor<2x2xf16>", "2x2xf16", {x})
          .low == Row{2, 3, 5, 6});
  CHECK(
      evaluate("%y = halftone.slice %0 {start = array<i64: 1, 0>} : tensor<2x3xf16> to tensor<1x3xf16>", "1x3xf16", {x})
          .low == Row{4, 5, 6});
  TensorData joined = evaluate("%y = halftone.concat %0, %1 {axis = 1 : i64} : tensor<2x3xf16>, tensor<2x1xf16> to "
                               "tensor<2x4xf16>",
                               "2x4xf16", {x, y});
  CHECK(joined.low == Row{1, 2, 3, 0, 4, 5, 6, 8});
  CHECK(sameBits(joined.low[3], -0.0));
  TensorData bools = wholes("2xi1", {1, 0});
  CHECK(evaluate("%y = halftone.concat %0, %0 {axis = 0 : i64} : tensor<2xi1>, tensor<2xi1> to tensor<4xi1>", "4xi1",
                 {bools})
            .integers == Ints{1, 0, 1, 0});
}

TEST_CASE("indices that name no slice clamp") {
  TensorData x = reals("3x2xf32", {1, 2, 3, 4, 5, 6}), i = wholes("4xi32", {2, -1, 100, 1});
  CHECK(evaluate("%y = halftone.gather %0, %1 {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>",
                 "4x2xf32", {x, i})
            .low == Row{5, 6, 1, 2, 5, 6, 3, 4});
  CHECK(evaluate("%y = halftone.gather %0, %1 {axis = 1 : i64} : (tensor<3x2xf32>, tensor<i64>) -> tensor<3xf32>",
                 "3xf32", {x, wholes("i64", {1})})
            .low == Row{2, 4, 6});
  CHECK(evaluate("%y = halftone.scatter_add %1, %0 {axis = 0 : i64} : (tensor<4xi32>, tensor<4xf32>) -> tensor<3xf32>",
                 "3xf32", {reals("4xf32", {1, 2, 4, 8}), i})
            .low == Row{2, 8, 5});
}

TEST_CASE("scatter_add adds narrow floats in f32 and rounds once") {
  TensorData ones = reals("4xf16", {2048, 1, 1, 1}), same = wholes("4xi32", {0, 0, 0, 0});
  CHECK(evaluate("%y = halftone.scatter_add %1, %0 {axis = 0 : i64} : (tensor<4xi32>, tensor<4xf16>) -> tensor<2xf16>",
                 "2xf16", {ones, same})
            .low == Row{2052, 0}); // 2051 is a midpoint, rounded to even; rounding after each sum would give 2048
  CHECK(evaluate("%y = halftone.scatter_add %1, %0 {axis = 0 : i64} : (tensor<4xi32>, tensor<4xf16>) -> tensor<2xf32>",
                 "2xf32", {ones, same})
            .low == Row{2051, 0});
  CHECK(evaluate("%y = halftone.scatter_add %1, %0 {axis = 0 : i64} : (tensor<4xi32>, tensor<4xui8>) -> tensor<2xui8>",
                 "2xui8", {wholes("4xui8", {200, 50, 5, 3}), same})
            .integers == Ints{2, 0});
}

TEST_CASE("an index of several possible values gives an interval over every slice that it may name") {
  TensorData i = wholes("1xi32", {0});
  i.upper = {1};
  TensorData rows = evaluate("%y = halftone.gather %0, %1 {axis = 0 : i64} : (tensor<3xf32>, tensor<1xi32>) -> "
                             "tensor<1xf32>",
                             "1xf32", {reals("3xf32", {1, 5, 9}), i}, true);
  CHECK(rows.low == Row{1});
  CHECK(rows.high == Row{5});
  TensorData sums = evaluate("%y = halftone.scatter_add %1, %0 {axis = 0 : i64} : (tensor<1xi32>, tensor<1xf32>) -> "
                             "tensor<3xf32>",
                             "3xf32", {reals("1xf32", {4}), i}, true);
  CHECK(sums.low[2] == 0);
  CHECK(sums.high[2] == 0);
  CHECK(sums.low[1] <= 0);
  CHECK(sums.high[1] >= 4);
}

TEST_CASE("Indices at a place of the batch axes name slices at that place") {
  TensorData x = reals("2x3xf32", {1, 2, 3, 4, 5, 6}), i = wholes("2x2xi32", {2, -1, 0, 7});
  const std::string attributes = "{axis = 1 : i64, batch = 1 : i64}";
  CHECK(
      evaluate("%y = halftone.gather %0, %1 " + attributes + " : (tensor<2x3xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>",
               "2x2xf32", {x, i})
          .low == Row{3, 1, 4, 6});
  CHECK(evaluate("%y = halftone.scatter_add %1, %0 " + attributes +
                     " : (tensor<2x2xi32>, tensor<2x2xf32>) -> tensor<2x3xf32>",
                 "2x3xf32", {reals("2x2xf32", {1, 2, 4, 8}), i})
            .low == Row{2, 0, 1, 4, 0, 8});
  // One axis between the batch axes and the gathered axis, and one after it.
  TensorData cube = reals("2x2x2x2xf32", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(evaluate("%y = halftone.gather %0, %1 {axis = 2 : i64, batch = 1 : i64} : (tensor<2x2x2x2xf32>, "
                 "tensor<2x1xi32>) -> tensor<2x2x1x2xf32>",
                 "2x2x1x2xf32", {cube, wholes("2x1xi32", {1, 0})})
            .low == Row{2, 3, 6, 7, 8, 9, 12, 13});
}

static TensorData scattered(const std::string &kind, const std::string &type, const TensorData &x,
                            const TensorData &indices, const TensorData &updates, bool intervals = false) {
  const std::string element = type.substr(type.rfind('x') + 1), count = std::to_string(indices.size());
  return evaluate("%y = halftone.scatter " + kind + " %0, %1, %2 {axis = 0 : i64} : (tensor<" + type + ">, tensor<" +
                      count + "xi32>, tensor<" + count + "x" + element + ">) -> tensor<" + type + ">",
                  type, {x, indices, updates}, intervals);
}

TEST_CASE("scatter combines x with updates in order, and leaves out indices that name no slice") {
  const TensorData x = reals("3xf32", {1, 2, 3}), i = wholes("5xi32", {2, 0, 2, -1, 3}),
                   u = reals("5xf32", {10, -4, 7, 100, 100});
  CHECK(scattered("set", "3xf32", x, i, u).low == Row{-4, 2, 7});
  CHECK(scattered("sum", "3xf32", x, i, u).low == Row{-3, 2, 20});
  CHECK(scattered("max", "3xf32", x, i, u).low == Row{1, 2, 10});
  CHECK(scattered("min", "3xf32", x, i, u).low == Row{-4, 2, 3});
  CHECK(scattered("prod", "3xf32", x, i, u).low == Row{-4, 2, 210});
  CHECK(scattered("max", "3xui8", wholes("3xui8", {1, 200, 3}), i, wholes("5xui8", {5, 255, 9, 255, 255})).integers ==
        Ints{255, 200, 9});
  CHECK(scattered("prod", "3xi8", wholes("3xi8", {1, 2, 3}), i, wholes("5xi8", {50, 4, 2, 9, 9})).integers ==
        Ints{4, 2, 44});
  const TensorData ones = reals("5xf16", {1, 1, 1, 1, 1}), same = wholes("5xi32", {0, 0, 0, 0, 0});
  CHECK(scattered("sum", "1xf16", reals("1xf16", {2048}), same, ones).low == Row{2052}); // 2053 rounds to even
}

TEST_CASE("the interval of a scatter holds what each possible index would give") {
  TensorData i = wholes("1xi32", {0});
  i.upper = {1};
  const TensorData x = reals("3xf32", {1, 2, 3}), u = reals("1xf32", {9});
  TensorData set = scattered("set", "3xf32", x, i, u, true);
  CHECK(set.low == Row{1, 2, 3});
  CHECK(set.high == Row{9, 9, 3});
  TensorData most = scattered("max", "3xf32", x, i, u, true);
  CHECK((most.low[0] <= 1 && most.high[0] >= 9 && most.high[2] < 4));
  i.integers = {-1};
  i.upper = {0};
  set = scattered("set", "3xf32", x, i, u, true);
  CHECK((set.low == Row{1, 2, 3} && set.high == Row{9, 2, 3})); // the index may be out of bounds
}
