// Compares gradients of slice, concat, gather and scatter with finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

namespace {

std::string squareOf(const std::string &op, const std::string &arguments, const std::string &to) {
  // Squares the result, so that the index of each cotangent matters.
  return "func.func @main(" + arguments + ") -> tensor<" + to + "> {\n" + op + "\n%y = halftone.mul %0, %0 : tensor<" +
         to + ">\nreturn %y : tensor<" + to + ">\n}";
}

TensorData counted(const std::string &type, double begin = 0.5, double step = 0.1) {
  std::vector<double> values;
  for (int64_t i = 0, e = tensorType(type).getNumElements(); i < e; ++i)
    values.push_back(begin + step * static_cast<double>(i));
  return reals(type, values);
}

} // namespace

TEST_CASE("gradients of slices and concatenations match differences") {
  CHECK(gradientError(squareOf("%0 = halftone.slice %a {start = array<i64: 1, 0, 2>} : tensor<4x3x5xf64> to "
                               "tensor<2x3x3xf64>",
                               "%a: tensor<4x3x5xf64>", "2x3x3xf64"),
                      {counted("4x3x5xf64")}) < 1e-8);
  CHECK(gradientError(squareOf("%0 = halftone.concat %a, %b, %a {axis = 1 : i64} : tensor<2x3xf64>, tensor<2x1xf64>, "
                               "tensor<2x3xf64> to tensor<2x7xf64>",
                               "%a: tensor<2x3xf64>, %b: tensor<2x1xf64>", "2x7xf64"),
                      {counted("2x3xf64"), counted("2x1xf64")}) < 1e-8);
}

TEST_CASE("gradients of lookups add up for equal indices") {
  const std::string indices = "%i = halftone.constant dense<[[1, 0], [1, 7]]> : tensor<2x2xi32>\n";
  CHECK(gradientError(squareOf(indices + "%0 = halftone.gather %a, %i {axis = 1 : i64} : (tensor<2x3x2xf64>, "
                                         "tensor<2x2xi32>) -> tensor<2x2x2x2xf64>",
                               "%a: tensor<2x3x2xf64>", "2x2x2x2xf64"),
                      {counted("2x3x2xf64")}) < 1e-8);
  CHECK(gradientError(squareOf(indices + "%0 = halftone.scatter_add %i, %a {axis = 0 : i64} : (tensor<2x2xi32>, "
                                         "tensor<2x2x3xf64>) -> tensor<4x3xf64>",
                               "%a: tensor<2x2x3xf64>", "4x3xf64"),
                      {counted("2x2x3xf64")}) < 1e-8);
}

TEST_CASE("gradients of lookups with batch axes match differences") {
  const std::string indices = "%i = halftone.constant dense<[[1, 1], [0, 7]]> : tensor<2x2xi32>\n";
  CHECK(gradientError(squareOf(indices + "%0 = halftone.gather %a, %i {axis = 2 : i64, batch = 1 : i64} : "
                                         "(tensor<2x3x4x2xf64>, tensor<2x2xi32>) -> tensor<2x3x2x2xf64>",
                               "%a: tensor<2x3x4x2xf64>", "2x3x2x2xf64"),
                      {counted("2x3x4x2xf64")}) < 1e-8);
  CHECK(gradientError(squareOf(indices + "%0 = halftone.scatter_add %i, %a {axis = 1 : i64, batch = 1 : i64} : "
                                         "(tensor<2x2xi32>, tensor<2x2x3xf64>) -> tensor<2x4x3xf64>",
                               "%a: tensor<2x2x3xf64>", "2x4x3xf64"),
                      {counted("2x2x3xf64")}) < 1e-8);
}

// All elements are different.
TEST_CASE("gradients of scatters match differences") {
  const std::string indices = "%i = halftone.constant dense<[2, 0, 2, 5, -1]> : tensor<5xi32>\n";
  for (const char *kind : {"set", "sum", "max", "min"}) {
    CAPTURE(kind);
    CHECK(gradientError(squareOf(indices + "%0 = halftone.scatter " + kind +
                                     " %a, %i, %b {axis = 1 : i64} : (tensor<2x4x3xf64>, tensor<5xi32>, "
                                     "tensor<2x5x3xf64>) -> tensor<2x4x3xf64>",
                                 "%a: tensor<2x4x3xf64>, %b: tensor<2x5x3xf64>", "2x4x3xf64"),
                        {counted("2x4x3xf64"), counted("2x5x3xf64", 0.93, 0.13717)}) < 1e-8);
    CHECK(gradientError(squareOf("%i = halftone.constant dense<[[1, 1, 0], [3, 2, 3]]> : tensor<2x3xi32>\n"
                                 "%0 = halftone.scatter " +
                                     std::string(kind) +
                                     " %a, %i, %b {axis = 1 : i64, batch = 1 : i64} : (tensor<2x3x2xf64>, "
                                     "tensor<2x3xi32>, tensor<2x3x2xf64>) -> tensor<2x3x2xf64>",
                                 "%a: tensor<2x3x2xf64>, %b: tensor<2x3x2xf64>", "2x3x2xf64"),
                        {counted("2x3x2xf64"), counted("2x3x2xf64", 0.93, 0.13717)}) < 1e-8);
  }
}
