// Compares gradients of contractions with finite differences, over every arrangement of axes.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"

using namespace halftone::dialect::testing;

static std::vector<double> ramp(int64_t count, double step) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::sin(step * static_cast<double>(i + 1)));
  return values;
}

static double contractError(const std::string &lhs, const std::string &rhs, const std::string &axes,
                            const std::string &result) {
  std::string text = "func.func @main(%a: tensor<" + lhs + ">, %b: tensor<" + rhs + ">) -> tensor<" + result +
                     "> {\n%y = halftone.contract %a, %b {" + axes + "} : (tensor<" + lhs + ">, tensor<" + rhs +
                     ">) -> tensor<" + result + ">\nreturn %y : tensor<" + result + ">\n}";
  auto a = tensorType(lhs), b = tensorType(rhs);
  return gradientError(text, {reals(lhs, ramp(a.getNumElements(), 0.7)), reals(rhs, ramp(b.getNumElements(), 1.3))});
}

TEST_CASE("gradients of contractions match differences") {
  CHECK(contractError("3x4xf64", "4x2xf64", "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>", "3x2xf64") <
        1e-8);
  CHECK(contractError("3x4xf64", "2x4xf64", "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>", "3x2xf64") <
        1e-8);
  CHECK(contractError("4x3xf64", "2x4xf64", "lhs_contract = array<i64: 0>, rhs_contract = array<i64: 1>", "3x2xf64") <
        1e-8);
  CHECK(contractError("3xf64", "2xf64", "", "3x2xf64") < 1e-8);
  CHECK(contractError("3xf64", "3xf64", "lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>", "f64") < 1e-8);
}

TEST_CASE("gradients of batched contractions match differences") {
  CHECK(contractError("2x3x4xf64", "2x4x5xf64",
                      "lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, "
                      "rhs_contract = array<i64: 1>",
                      "2x3x5xf64") < 1e-8);
  CHECK(contractError("4x2x3xf64", "5x4x2xf64",
                      "lhs_batch = array<i64: 1>, rhs_batch = array<i64: 2>, lhs_contract = array<i64: 0>, "
                      "rhs_contract = array<i64: 1>",
                      "2x3x5xf64") < 1e-8);
}

TEST_CASE("gradients of contractions over crossed axes match differences") {
  CHECK(contractError("2x3x4xf64", "4x5x2xf64", "lhs_contract = array<i64: 0, 2>, rhs_contract = array<i64: 2, 0>",
                      "3x5xf64") < 1e-8);
  CHECK(contractError("2x3x4xf64", "3x5x2xf64", "lhs_contract = array<i64: 1, 0>, rhs_contract = array<i64: 0, 2>",
                      "4x5xf64") < 1e-8);
  CHECK(contractError("2x3x2x3xf64", "3x2x2xf64",
                      "lhs_batch = array<i64: 2, 1>, rhs_batch = array<i64: 1, 0>, lhs_contract = array<i64: 0>, "
                      "rhs_contract = array<i64: 2>",
                      "2x3x3xf64") < 1e-8);
}

TEST_CASE("the gradient of a narrow contraction has the operands' dtype") {
  auto module = parse(R"(func.func @main(%a: tensor<3x4xf16>, %b: tensor<4x2xf16>) -> tensor<3x2xf32> {
    %y = halftone.contract %a, %b {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<3x4xf16>, tensor<4x2xf16>) -> tensor<3x2xf32>
    return %y : tensor<3x2xf32>
  })");
  module->walk([&](halftone::dialect::ContractOp op) {
    mlir::OpBuilder builder(op->getBlock()->getTerminator());
    llvm::SmallVector<mlir::Value> gradients;
    if (op.getResult().getType() != tensorType("3x2xf32"))
      return;
    REQUIRE(mlir::succeeded(op.buildGradient(builder, op->getResults(), gradients)));
    CHECK(gradients[0].getType() == tensorType("3x4xf16"));
    CHECK(gradients[1].getType() == tensorType("4x2xf16"));
  });
}
