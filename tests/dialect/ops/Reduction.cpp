// Gradients of reductions against differences, and how ties share.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"

using namespace halftone::dialect::testing;

static std::string reduceMain(const std::string &kind, const std::string &axes, const std::string &result) {
  return "func.func @main(%x: tensor<2x3xf64>) -> tensor<" + result + "> {\n%y = halftone.reduce " + kind +
         " %x {axes = array<i64" + axes + ">} : tensor<2x3xf64> -> tensor<" + result + ">\nreturn %y : tensor<" +
         result + ">\n}";
}

TEST_CASE("gradients of reductions match differences") {
  auto x = reals("2x3xf64", {1.5, -2.25, 0.5, 4.0, 3.0, -1.0});
  for (const char *kind : {"sum", "max", "min"}) {
    INFO(kind);
    CHECK(gradientError(reduceMain(kind, ": 0", "3xf64"), {x}) < 1e-8);
    CHECK(gradientError(reduceMain(kind, ": 1", "2xf64"), {x}) < 1e-8);
    CHECK(gradientError(reduceMain(kind, ": 0, 1", "f64"), {x}) < 1e-8);
    CHECK(gradientError(reduceMain(kind, "", "2x3xf64"), {x}) < 1e-8);
  }
}

static std::vector<double> maxGradient(const std::string &type, const std::vector<double> &x) {
  auto module = parse("func.func @main(%x: tensor<4x" + type + ">) -> tensor<4x" + type + "> {\n" +
                      "%y = halftone.reduce max %x {axes = array<i64: 0>} : tensor<4x" + type + "> -> tensor<" + type +
                      ">\nreturn %x : tensor<4x" + type + ">\n}");
  module->walk([&](halftone::dialect::ReduceOp op) {
    if (op.getKind() != halftone::dialect::ReduceKind::max)
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
  CHECK(maxGradient("f32", {2, 1, 2, 0}) == std::vector<double>{0.5, 0, 0.5, 0});
  CHECK(maxGradient("f16", {3, 3, 3, 3}) == std::vector<double>{0.25, 0.25, 0.25, 0.25});
  double notANumber = std::nan("");
  CHECK(maxGradient("bf16", {1, notANumber, 2, notANumber}) == std::vector<double>{0, 0.5, 0, 0.5});
}

TEST_CASE("a product has no gradient, and says so") {
  auto module = parse(reduceMain("prod", ": 0", "3xf64"));
  Diagnostics diagnostics;
  module->walk([&](halftone::dialect::ReduceOp op) {
    mlir::OpBuilder builder(op->getBlock()->getTerminator());
    llvm::SmallVector<mlir::Value> gradients;
    CHECK(mlir::failed(op.buildGradient(builder, op->getResults(), gradients)));
  });
  CHECK(diagnostics.messages.find("prod has no gradient") != std::string::npos);
}
