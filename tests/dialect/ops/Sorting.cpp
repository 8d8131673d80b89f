// Compares gradients of sorted elements with finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"
#include <fmt/format.h>

using namespace halftone::dialect::testing;

TEST_CASE("the gradient of a sorted element goes to its place") {
  const auto x = reals("2x3x2xf64", {1.5, -2.25, 0.5, 4.0, 3.0, -1.0, 7.5, 2.5, -3.5, 0.25, 9.0, -6.0});
  const std::pair<const char *, const char *> forms[] = {{"axis = 0 : i64", "2x3x2"},
                                                         {"axis = 1 : i64", "2x3x2"},
                                                         {"axis = 1 : i64, descending", "2x1x2"},
                                                         {"axis = 2 : i64", "2x3x1"}};
  for (auto [attributes, shape] : forms) {
    INFO(attributes);
    CHECK(gradientError(
              fmt::format(
                  "func.func @main(%x: tensor<2x3x2xf64>) -> tensor<{1}xf64> {{\n%v, %i = halftone.sort %x {{{0}}} : "
                  "tensor<2x3x2xf64> -> tensor<{1}xf64>, tensor<{1}xi32>\n%y = halftone.mul %v, %v : "
                  "tensor<{1}xf64>\nreturn %y : tensor<{1}xf64>\n}}",
                  attributes, shape),
              {x}) < 1e-7);
  }
}
