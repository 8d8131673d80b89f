// The interpreter's sort: order, ties, NaN, and interval results.
// SPDX-License-Identifier: Apache-2.0
#include "Modules.h"
#include <fmt/format.h>

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

namespace {

using Row = std::vector<double>;
using Ints = std::vector<int64_t>;

struct Sorted {
  TensorData values, indices;
};

/// The results of `halftone.sort` with these attributes, each of shape `shape` and its element type.
Sorted sorted(const std::string &attributes, const TensorData &x, const std::string &shape, bool intervals = false) {
  std::string type, element;
  llvm::raw_string_ostream(type) << x.type;
  llvm::raw_string_ostream(element) << x.type.getElementType();
  const auto result = [&](const std::string &name, const std::string &of) {
    const std::string values = "tensor<" + shape + "x" + element + ">", indices = "tensor<" + shape + "xi32>";
    return fmt::format("func.func @main(%x: {0}) -> {1} {{\n%v, %i = halftone.sort %x {{{2}}} : {0} -> {3}, {4}\n"
                       "return %{5} : {1}\n}}",
                       type, of, attributes, values, indices, name);
  };
  return {run(*parse(result("v", "tensor<" + shape + "x" + element + ">")), {x}, intervals)[0],
          run(*parse(result("i", "tensor<" + shape + "xi32>")), {x}, intervals)[0]};
}

} // namespace

TEST_CASE("sort orders rows along any axis, in every dtype, and equal elements keep their order") {
  for (const std::string type : {"f16", "bf16", "f32", "f64"}) {
    const TensorData x = reals("2x3x" + type, {3, 1, 3, -2, 5, -6});
    const Sorted rows = sorted("axis = 1 : i64", x, "2x3");
    CHECK(rows.values.low == Row{1, 3, 3, -6, -2, 5});
    CHECK(rows.indices.integers == Ints{1, 0, 2, 2, 0, 1});
    const Sorted columns = sorted("axis = 0 : i64, descending", x, "1x3");
    CHECK(columns.values.low == Row{3, 5, 3});
    CHECK(columns.indices.integers == Ints{0, 1, 0});
  }
  const Sorted bytes = sorted("axis = 0 : i64", wholes("4xui8", {200, 3, 255, 3}), "4");
  CHECK(bytes.values.integers == Ints{3, 3, 200, 255});
  CHECK(bytes.indices.integers == Ints{1, 3, 0, 2});
  const Sorted most = sorted("axis = 0 : i64, descending", wholes("3xui64", {5, -1, INT64_MAX}), "2");
  CHECK(most.values.integers == Ints{-1, INT64_MAX});
  CHECK(sorted("axis = 0 : i64", wholes("3xi64", {5, INT64_MIN, -1}), "3").indices.integers == Ints{1, 2, 0});
  CHECK(sorted("axis = 0 : i64, descending", wholes("4xi1", {0, 1, 0, 1}), "4").indices.integers == Ints{1, 3, 0, 2});
  CHECK(sorted("axis = 0 : i64", reals("0xf32", {}), "0").values.low.empty());
  CHECK(sorted("axis = 0 : i64", reals("1xf32", {2}), "1").indices.integers == Ints{0});
}

TEST_CASE("NaN are above all values, and zeros are equal whatever their sign") {
  const TensorData x = reals("7xf32", {0.0, -0.0, NAN, -INFINITY, 0.0, -NAN, INFINITY});
  const Sorted up = sorted("axis = 0 : i64", x, "7"), down = sorted("axis = 0 : i64, descending", x, "7");
  CHECK(up.indices.integers == Ints{3, 0, 1, 4, 6, 2, 5});
  CHECK(down.indices.integers == Ints{2, 5, 6, 0, 1, 4, 3});
  CHECK(sameBits(up.values.low[1], 0.0));
  CHECK(sameBits(up.values.low[2], -0.0));
  CHECK(std::isnan(up.values.low[6]));
}

TEST_CASE("intervals of a sort hold what any numbers within the operand's give") {
  const TensorData x = interval("4xf32", {1, 2, 0, 9}, {3, 4, 0, 9});
  const Sorted up = sorted("axis = 0 : i64", x, "4", true);
  CHECK(up.values.low == Row{0, 1, 2, 9});
  CHECK(up.values.high == Row{0, 3, 4, 9});
  CHECK(up.indices.integers == Ints{2, 0, 0, 3});
  CHECK(up.indices.upper == Ints{2, 1, 1, 3});
  const Sorted down = sorted("axis = 0 : i64, descending", x, "2", true);
  CHECK(down.values.low == Row{9, 2});
  CHECK(down.values.high == Row{9, 4});
  CHECK(down.indices.upper == Ints{3, 1});
  // A float that may be NaN may be at either end, and the last of the two elements may be anything.
  const Sorted any = sorted("axis = 0 : i64", interval("2xf32", {-INFINITY, 1}, {NAN, 1}), "2", true);
  CHECK(any.values.low == Row{-INFINITY, -INFINITY});
  CHECK(any.values.high[0] == 1);
  CHECK(std::isnan(any.values.high[1]));
  CHECK(any.indices.integers == Ints{0, 0});
  CHECK(any.indices.upper == Ints{1, 1});
}

TEST_CASE("equal points keep their order in intervals too") {
  const Sorted up = sorted("axis = 0 : i64", interval("3xf32", {1, 1, 1}, {1, 1, 2}), "3", true);
  CHECK(up.indices.integers == Ints{0, 1, 2});
  CHECK((up.indices.upper.empty() || up.indices.upper == Ints{0, 1, 2}));
}
