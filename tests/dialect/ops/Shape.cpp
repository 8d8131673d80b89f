// Compares gradients of the shape ops with finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"

using namespace halftone::dialect::testing;

static double shapeError(const std::string &op, const std::string &attributes, const std::string &from,
                         const std::string &to) {
  // Squares the result, so that the index of each cotangent matters.
  std::string text = "func.func @main(%x: tensor<" + from + ">) -> tensor<" + to + "> {\n%0 = halftone." + op + " %x " +
                     attributes + " : tensor<" + from + "> to tensor<" + to + ">\n%y = halftone.mul %0, %0 : tensor<" +
                     to + ">\nreturn %y : tensor<" + to + ">\n}";
  std::vector<double> values;
  for (int64_t i = 0, e = tensorType(from).getNumElements(); i < e; ++i)
    values.push_back(0.5 + 0.1 * static_cast<double>(i));
  return gradientError(text, {reals(from, values)});
}

TEST_CASE("gradients of shape ops match differences") {
  CHECK(shapeError("reshape", "", "2x6xf64", "3x4xf64") < 1e-8);
  CHECK(shapeError("transpose", "{permutation = array<i64: 2, 0, 1>}", "2x3x4xf64", "4x2x3xf64") < 1e-8);
  CHECK(shapeError("broadcast", "{axes = array<i64: 1>}", "3xf64", "2x3x2xf64") < 1e-8);
  CHECK(shapeError("broadcast", "{axes = array<i64>}", "f64", "2x3xf64") < 1e-8);
  CHECK(shapeError("broadcast", "{axes = array<i64: 0, 1>}", "2x3xf64", "2x3xf64") < 1e-8);
}
