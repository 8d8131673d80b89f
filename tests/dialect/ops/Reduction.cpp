// Compares gradients of reductions with finite differences; how ties share a gradient.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"

using namespace halftone::dialect::testing;

static std::string reduceMain(const std::string &kind, const std::string &axes, const std::string &result,
                              const std::string &x = "2x3xf64") {
  return "func.func @main(%x: tensor<" + x + ">) -> tensor<" + result + "> {\n%y = halftone.reduce " + kind +
         " %x {axes = array<i64" + axes + ">} : tensor<" + x + "> -> tensor<" + result + ">\nreturn %y : tensor<" +
         result + ">\n}";
}

TEST_CASE("gradients of reductions match differences") {
  auto x = reals("2x3xf64", {1.5, -2.25, 0.5, 4.0, 3.0, -1.0});
  for (const char *kind : {"sum", "max", "min", "prod"}) {
    INFO(kind);
    CHECK(gradientError(reduceMain(kind, ": 0", "3xf64"), {x}) < 1e-8);
    CHECK(gradientError(reduceMain(kind, ": 1", "2xf64"), {x}) < 1e-8);
    CHECK(gradientError(reduceMain(kind, ": 0, 1", "f64"), {x}) < 1e-8);
    CHECK(gradientError(reduceMain(kind, "", "2x3xf64"), {x}) < 1e-8);
  }
}

static std::vector<double> gradientOf(const std::string &kind, const std::string &type, const std::vector<double> &x) {
  auto module = parse("func.func @main(%x: tensor<4x" + type + ">) -> tensor<4x" + type + "> {\n" +
                      "%y = halftone.reduce " + kind + " %x {axes = array<i64: 0>} : tensor<4x" + type +
                      "> -> tensor<" + type + ">\nreturn %x : tensor<4x" + type + ">\n}");
  module->walk([&](halftone::dialect::ReduceOp op) {
    if (stringifyReduceKind(op.getKind()) != kind)
      return;
    auto *terminator = op->getBlock()->getTerminator();
    mlir::OpBuilder builder(terminator);
    llvm::SmallVector<mlir::Value> gradients;
    auto one = mlir::DenseElementsAttr::get(
        tensorType(type), mlir::Attribute(builder.getFloatAttr(tensorType(type).getElementType(), 1.0)));
    mlir::Value seed = halftone::dialect::ConstantOp::create(builder, op.getLoc(), tensorType(type), one);
    REQUIRE(mlir::succeeded(op.buildGradient(builder, seed, gradients)));
    terminator->setOperand(0, gradients[0]);
  });
  return run(*module, {reals("4x" + type, x)})[0].low;
}

TEST_CASE("ties of a maximum share its gradient equally") {
  CHECK(gradientOf("max", "f32", {2, 1, 2, 0}) == std::vector<double>{0.5, 0, 0.5, 0});
  CHECK(gradientOf("max", "f16", {3, 3, 3, 3}) == std::vector<double>{0.25, 0.25, 0.25, 0.25});
  double notANumber = std::nan("");
  for (double share : gradientOf("max", "bf16", {1, notANumber, 2, notANumber})) // as in Keras on JAX
    CHECK(std::isnan(share));
}

TEST_CASE("each factor of a product has the product of the others as its gradient, zeros included") {
  CHECK(gradientOf("prod", "f64", {2, 3, 5, 0.5}) == std::vector<double>{7.5, 5, 3, 30});
  CHECK(gradientOf("prod", "f32", {2, 0, 5, 3}) == std::vector<double>{0, 30, 0, 0});
  CHECK(gradientOf("prod", "f16", {2, 0, 0, 3}) == std::vector<double>{0, 0, 0, 0});
  CHECK(gradientOf("prod", "bf16", {0, 0, 0, 0}) == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("gradients of products match differences over every kind of axes") {
  std::vector<double> values;
  for (int i = 0; i < 30; ++i)
    values.push_back(1 + 0.5 * std::sin(i));
  const std::pair<const char *, const char *> forms[] = {{": 0", "3x5xf64"},  {": 1", "2x5xf64"},  {": 2", "2x3xf64"},
                                                         {": 0, 1", "5xf64"}, {": 0, 2", "3xf64"}, {": 1, 2", "2xf64"},
                                                         {": 0, 1, 2", "f64"}};
  for (auto [axes, result] : forms) {
    INFO(axes);
    CHECK(gradientError(reduceMain("prod", axes, result, "2x3x5xf64"), {reals("2x3x5xf64", values)}) < 1e-7);
  }
  CHECK(gradientError(reduceMain("prod", ": 0", "f64", "7xf64"), {reals("7xf64", {1, 2, 0, -3, 0.5, 1, 4})}) < 1e-7);
  CHECK(gradientError(reduceMain("prod", ": 0", "f64", "1xf64"), {reals("1xf64", {0})}) < 1e-8);
}

TEST_CASE("gradients of sums along an axis match differences in both directions") {
  auto x = reals("2x3xf64", {1.5, -2.25, 0.5, 4.0, 3.0, -1.0});
  for (const char *attributes : {"axis = 0 : i64", "axis = 1 : i64", "axis = 1 : i64, reverse"}) {
    INFO(attributes);
    CHECK(gradientError("func.func @main(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {\n%s = halftone.cumsum %x {" +
                            std::string(attributes) +
                            "} : tensor<2x3xf64> -> tensor<2x3xf64>\n%y = halftone.mul %s, %s : tensor<2x3xf64>\n"
                            "return %y : tensor<2x3xf64>\n}",
                        {x}) < 1e-8);
  }
}

static std::string cumulativeMain(const std::string &attributes, const std::string &type) {
  return "func.func @main(%x: tensor<" + type + ">) -> tensor<" + type + "> {\n%s = halftone.cumsum %x {" + attributes +
         "} : tensor<" + type + "> -> tensor<" + type + ">\n%y = halftone.mul %s, %s : tensor<" + type +
         ">\nreturn %y : tensor<" + type + ">\n}";
}

TEST_CASE("gradients of products along an axis match differences, also where elements are 0") {
  for (const char *direction : {"", ", reverse"})
    for (const char *type : {"1x3xf64", "2x3xf64", "5x3xf64", "8x3xf64"}) {
      CAPTURE(direction, type);
      std::vector<double> values;
      for (int64_t i = 0; i < tensorType(type).getNumElements(); ++i)
        values.push_back(i == 4 || i == 10 || i == 13 ? 0 : 1 + 0.5 * std::sin(double(i)));
      const std::string attributes = std::string("kind = #halftone<reduce_kind prod>") + direction;
      CHECK(gradientError(cumulativeMain("axis = 0 : i64, " + attributes, type), {reals(type, values)}) < 1e-7);
      CHECK(gradientError(cumulativeMain("axis = 1 : i64, " + attributes, type), {reals(type, values)}) < 1e-7);
    }
}

TEST_CASE("gradients of running maxima and minima match differences") {
  auto x = reals("2x4xf64", {1.5, 2.25, 0.5, 4.0, 3.0, -1.0, 7.0, 2.0});
  for (const char *kind : {"max", "min"})
    for (const char *attributes : {"axis = 0 : i64", "axis = 1 : i64", "axis = 1 : i64, reverse"}) {
      CAPTURE(kind, attributes);
      CHECK(gradientError(
                cumulativeMain(std::string(attributes) + ", kind = #halftone<reduce_kind " + kind + ">", "2x4xf64"),
                {x}) < 1e-8);
    }
}
