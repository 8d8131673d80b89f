// Compares gradients of the elementwise ops with finite differences; their rules at ties and edge cases.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"
#include "dialect/Gradient.h"

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

static std::string unaryMain(const std::string &op) {
  return "func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {\n%y = halftone." + op +
         " %x : tensor<4xf64>\nreturn %y : tensor<4xf64>\n}";
}
static std::string binaryMain(const std::string &op) {
  return "func.func @main(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<4xf64> {\n%y = halftone." + op +
         " %a, %b : tensor<4xf64>\nreturn %y : tensor<4xf64>\n}";
}

TEST_CASE("gradients of unary ops match differences") {
  for (const char *op : {"abs", "neg", "relu", "exp", "expm1", "tanh", "logistic", "erf", "sin", "cos", "exp2", "sinh",
                         "cosh", "asinh", "atan", "cbrt"}) {
    INFO(op);
    CHECK(gradientError(unaryMain(op), {reals("4xf64", {-1.7, -0.3, 0.4, 2.1})}) < 1e-8);
  }
  for (const char *op : {"log", "log2", "log10", "log1p", "sqrt", "rsqrt"}) {
    INFO(op);
    CHECK(gradientError(unaryMain(op), {reals("4xf64", {0.2, 0.9, 1.5, 7.0})}) < 1e-8);
  }
  for (const char *op : {"tan", "asin", "acos", "atanh"}) {
    INFO(op);
    CHECK(gradientError(unaryMain(op), {reals("4xf64", {-0.8, -0.1, 0.3, 0.7})}) < 1e-8);
  }
  CHECK(gradientError(unaryMain("tan"), {reals("4xf64", {2.0, -2.5, 4.0, 0.0})}) < 1e-7);
  CHECK(gradientError(unaryMain("acosh"), {reals("4xf64", {1.2, 1.9, 3.5, 70.0})}) < 1e-8);
}

TEST_CASE("gradients of binary ops match differences") {
  for (const char *op : {"add", "sub", "mul", "div", "rem", "maximum", "minimum"}) {
    INFO(op);
    CHECK(gradientError(binaryMain(op),
                        {reals("4xf64", {-1.7, 5.3, 0.4, -7.2}), reals("4xf64", {0.9, -2.0, 1.3, 1.1})}) < 1e-8);
  }
  CHECK(gradientError(binaryMain("atan2"),
                      {reals("4xf64", {-1.7, 5.3, 0.4, -7.2}), reals("4xf64", {0.9, -2.0, 1.3, -1.1})}) < 1e-8);
  CHECK(gradientError(binaryMain("pow"),
                      {reals("4xf64", {0.3, 1.7, 2.5, 4.0}), reals("4xf64", {2.0, -1.5, 0.5, 3.0})}) < 1e-8);
}

// The gradients of the single op in `text` for a cotangent of ones, which is built next to the op.
static std::vector<TensorData> gradientsIn(const std::string &text, const std::vector<TensorData> &feeds) {
  auto module = parse(text);
  mlir::Operation *primal = nullptr;
  module->walk([&](GradientOpInterface found) { primal = found; });
  REQUIRE(primal);
  mlir::OpBuilder builder(primal->getBlock()->getTerminator());
  auto ones = mlir::DenseElementsAttr::get(tensorType("4xf64"), 1.0);
  mlir::Value seed = ConstantOp::create(builder, primal->getLoc(), tensorType("4xf64"), ones);
  llvm::SmallVector<mlir::Value> gradients;
  REQUIRE(mlir::succeeded(mlir::cast<GradientOpInterface>(primal).buildGradient(builder, seed, gradients)));
  std::vector<TensorData> results;
  for (mlir::Value gradient : gradients) {
    primal->getBlock()->getTerminator()->setOperand(0, gradient);
    results.push_back(run(*module, feeds)[0]);
  }
  return results;
}
static std::vector<TensorData> gradientsOf(const std::string &op, const TensorData &a, const TensorData &b) {
  return gradientsIn(binaryMain(op), {a, b});
}
static TensorData gradientsOf(const std::string &op, const TensorData &x) { return gradientsIn(unaryMain(op), {x})[0]; }

TEST_CASE("a tie of maximum and minimum shares its gradient, and NaN has none") {
  double notANumber = std::nan("");
  TensorData a = reals("4xf64", {1, notANumber, 2, 3}), b = reals("4xf64", {1, 1, notANumber, 4});
  auto maximum = gradientsOf("maximum", a, b);
  CHECK(maximum[0].low == std::vector<double>{0.5, 0, 0, 0});
  CHECK(maximum[1].low == std::vector<double>{0.5, 0, 0, 1});
  auto minimum = gradientsOf("minimum", a, b);
  CHECK(minimum[0].low == std::vector<double>{0.5, 0, 0, 1});
  CHECK(minimum[1].low == std::vector<double>{0.5, 0, 0, 0});
}

TEST_CASE("the slope of relu is 0 at 0") {
  auto slopes = gradientsOf("relu", reals("4xf64", {0, -0.0, 1e-300, -1}));
  CHECK(slopes.low == std::vector<double>{0, 0, 1, 0});
}

TEST_CASE("outside of a function's domain its gradient is NaN, and at the edge infinite") {
  const double inf = INFINITY;
  for (const char *op : {"asin", "acos"}) {
    INFO(op);
    auto slopes = gradientsOf(op, reals("4xf64", {1, -1, 1.5, -7}));
    CHECK(std::fabs(slopes.low[0]) == inf);
    CHECK(slopes.low[0] == slopes.low[1]);
    CHECK(std::isnan(slopes.low[2]));
    CHECK(std::isnan(slopes.low[3]));
  }
  auto acosh = gradientsOf("acosh", reals("4xf64", {1, 0.5, -3, inf}));
  CHECK(acosh.low[0] == inf);
  CHECK(std::isnan(acosh.low[1]));
  CHECK(std::isnan(acosh.low[2]));
  CHECK(acosh.low[3] == 0);
  CHECK(gradientsOf("cbrt", reals("4xf64", {0, -0.0, 8, inf})).low[0] == inf);
  CHECK(gradientsOf("atanh", reals("4xf64", {1, -1, 0, 0.5})).low[1] == inf);
}

TEST_CASE("the gradient of atan2 neither overflows nor underflows") {
  auto gradients = gradientsOf("atan2", reals("4xf64", {1e200, 1e-200, 0, 0}), reals("4xf64", {1e200, 1e-200, 4, 0}));
  CHECK(gradients[0].low[0] == Approx(5e-201));
  CHECK(gradients[0].low[1] == Approx(5e199));
  CHECK(gradients[0].low[2] == 0.25);
  CHECK(std::isnan(gradients[0].low[3]));
  CHECK(gradients[1].low[0] == Approx(-5e-201));
  CHECK(gradients[1].low[2] == 0);
}

TEST_CASE("the gradient of pow is finite at zero and below") {
  auto gradients = gradientsOf("pow", reals("4xf64", {0, -2, 0, -3}), reals("4xf64", {0, 3, 2, 0}));
  CHECK(gradients[0].low == std::vector<double>{0, 12, 0, 0});
  CHECK(gradients[1].low == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("select sends its gradient to the operand that it chose") {
  std::string text = R"(func.func @main(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<4xf64> {
    %p = halftone.compare lt %a, %b : tensor<4xf64>
    %y = halftone.select %p, %a, %b : tensor<4xf64>
    return %y : tensor<4xf64>
  })";
  CHECK(gradientError(text, {reals("4xf64", {1, 2, 3, 4}), reals("4xf64", {2, 1, 5, -4})}) < 1e-8);
}

TEST_CASE("nothing flows through roundings, signs and integers") {
  auto module = parse(R"(func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
    %0 = halftone.sign %x : tensor<4xf32>
    %1 = halftone.floor %x : tensor<4xf32>
    %2 = halftone.ceil %x : tensor<4xf32>
    %3 = halftone.round_even %x : tensor<4xf32>
    %4 = halftone.mul %i, %i : tensor<4xi32>
    %5 = halftone.cast %i : tensor<4xi32> to tensor<4xf32>
    %6 = halftone.maximum %i, %i : tensor<4xi32>
    %7 = halftone.abs %i : tensor<4xi32>
    %8 = halftone.relu %i : tensor<4xi32>
    %9 = halftone.pow %i, %i : tensor<4xi32>
    return %x : tensor<4xf32>
  })");
  int count = 0;
  module->walk([&](GradientOpInterface op) {
    mlir::OpBuilder builder(op->getBlock()->getTerminator());
    llvm::SmallVector<mlir::Value> gradients;
    REQUIRE(mlir::succeeded(op.buildGradient(builder, op->getResult(0), gradients)));
    REQUIRE(gradients.size() == op->getNumOperands());
    for (mlir::Value gradient : gradients)
      CHECK_FALSE(gradient);
    ++count;
  });
  CHECK(count == 10);
}

TEST_CASE("isConstantToGradient knows the ops that carry no derivative") {
  auto module = parse(R"(func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
    %0 = halftone.stop_gradient %x : tensor<4xf32>
    %1 = halftone.compare lt %x, %x : tensor<4xf32>
    %2 = halftone.is_finite %x : tensor<4xf32>
    %3 = halftone.constant dense<1.0> : tensor<4xf32>
    %4 = halftone.cast %x : tensor<4xf32> to tensor<4xi32>
    %5 = halftone.cast %i : tensor<4xi32> to tensor<4xf32>
    %6 = halftone.arg_reduce max %x {axis = 0 : i64} : tensor<4xf32> -> tensor<i32>
    %7 = halftone.reduce_all all_finite (%x) : tensor<4xf32>
    %8 = halftone.reduce_all sum_of_squares (%x) {carries} : tensor<4xf32>
    %9 = halftone.neg %x {carries} : tensor<4xf32>
    return %x : tensor<4xf32>
  })");
  module->walk([&](mlir::Operation *op) {
    if (mlir::isa<HalftoneDialect>(op->getDialect()))
      CHECK(isConstantToGradient(op) == !op->hasAttr("carries"));
  });
}
