// Compares gradients of attention with finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "../Modules.h"
#include <fmt/format.h>
#include <random>

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

namespace {

TensorData random(const std::string &type, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<double> values(static_cast<size_t>(tensorType(type).getNumElements()));
  for (double &value : values)
    value = std::uniform_real_distribution<double>(-1, 1)(generator);
  return reals(type, values);
}

/// Attention of 2 x 3 queries and 2 x 4 keys, with n query heads and m key heads, h = 3 and e = 2.
struct Form {
  int64_t n, m;
  std::string bias;       // its type, or ""
  std::string mask;       // its elements as a constant of 1x1x3x4, or ""
  std::string attributes; // other attributes than the scale
};

/// A module that returns both results in one vector. Also gives the types of its feeds.
std::string moduleOf(const Form &form, std::vector<std::string> &types) {
  types = {fmt::format("2x3x{}x3xf64", form.n), fmt::format("2x4x{}x3xf64", form.m),
           fmt::format("2x4x{}x2xf64", form.m)};
  std::string operands = "%q, %k, %v", arguments, operandTypes, constants;
  if (!form.bias.empty()) {
    operands += " bias %bias";
    types.push_back(form.bias);
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const char *names[] = {"q", "k", "v", "bias"};
    arguments +=
        fmt::format("{}%{}: tensor<{}> {{halftone.name = \"{}\"}}", i ? ", " : "", names[i], types[i], names[i]);
    operandTypes += fmt::format("{}tensor<{}>", i ? ", " : "", types[i]);
  }
  if (!form.mask.empty()) {
    operands += " mask %mask";
    operandTypes += ", tensor<1x1x3x4xi1>";
    constants += fmt::format("  %mask = halftone.constant dense<{}> : tensor<1x1x3x4xi1>\n", form.mask);
  }
  if (form.attributes.find("rate") != std::string::npos) {
    operands += " key %key";
    operandTypes += ", tensor<2xui32>";
    constants += "  %key = halftone.constant dense<[3, 5]> : tensor<2xui32>\n";
  }
  const std::string out = fmt::format("2x3x{}x2xf64", form.n), lse = fmt::format("2x{}x3xf64", form.n);
  const int64_t outs = 12 * form.n, sums = 6 * form.n;
  return fmt::format(
      "func.func @main({}) -> (tensor<{}xf64> {{halftone.name = \"y\"}}) {{\n{}"
      "  %out, %lse = halftone.attention {} {{scale = 0.7 : f64{}}} : ({}) -> (tensor<{}>, tensor<{}>)\n"
      "  %0 = halftone.reshape %out : tensor<{}> to tensor<{}xf64>\n"
      "  %1 = halftone.reshape %lse : tensor<{}> to tensor<{}xf64>\n"
      "  %y = halftone.concat %0, %1 {{axis = 0 : i64}} : tensor<{}xf64>, tensor<{}xf64> to tensor<{}xf64>\n"
      "  return %y : tensor<{}xf64>\n}}",
      arguments, outs + sums, constants, operands, form.attributes, operandTypes, out, lse, out, outs, lse, sums, outs,
      sums, outs + sums, outs + sums);
}

} // namespace

TEST_CASE("The gradients of attention agree with finite differences, also those of its bias and from its lse") {
  const std::string mask = "[[[[true, false, true, true], [true, true, false, false], [false, true, true, true]]]]";
  const std::vector<Form> forms = {{2, 2, "", "", ""},
                                   {2, 1, "", "", ", causal"},
                                   {4, 2, "2x1x3x4xf64", "", ""},
                                   {2, 2, "1x2x1x4xf64", mask, ""},
                                   {3, 1, "1x1x1x1xf64", mask, ", causal"},
                                   {2, 2, "2x2x3x1xf64", "", ", rate = 0.5 : f64"},
                                   {4, 2, "", mask, ", rate = 0.25 : f64"}};
  for (const Form &form : forms) {
    std::vector<std::string> types;
    const std::string text = moduleOf(form, types);
    std::vector<TensorData> feeds;
    for (const std::string &type : types)
      feeds.push_back(random(type, static_cast<unsigned>(feeds.size()) + 1));
    INFO(text);
    CHECK(gradientError(text, feeds) < 1e-6);
  }
}

TEST_CASE("The gradient of a query that sees no key goes to the values alone, in equal parts") {
  const std::string text =
      R"(func.func @main(%q: tensor<1x2x1x2xf64> {halftone.name = "q"}, %k: tensor<1x3x1x2xf64> {halftone.name = "k"},
    %v: tensor<1x3x1x1xf64> {halftone.name = "v"}) -> (tensor<1x2x1x1xf64> {halftone.name = "y"}) {
  %mask = halftone.constant dense<[[[[false, false, false], [true, true, true]]]]> : tensor<1x1x2x3xi1>
  %y, %lse = halftone.attention %q, %k, %v mask %mask {scale = 1.0 : f64}
      : (tensor<1x2x1x2xf64>, tensor<1x3x1x2xf64>, tensor<1x3x1x1xf64>, tensor<1x1x2x3xi1>) -> (tensor<1x2x1x1xf64>, tensor<1x1x2xf64>)
  return %y : tensor<1x2x1x1xf64>
})";
  CHECK(gradientError(text, {random("1x2x1x2xf64", 1), random("1x3x1x2xf64", 2), random("1x3x1x1xf64", 3)}) < 1e-6);
}

TEST_CASE("A bias that hides all keys from a query by -1e9 leaves it a gradient in equal parts") {
  const std::string text =
      R"(func.func @main(%q: tensor<1x1x1x1xf32> {halftone.name = "q"}, %v: tensor<1x4x1x1xf32> {halftone.name = "v"},
    %dy: tensor<1x1x1x1xf32> {halftone.name = "dy"}) -> (tensor<1x4x1x1xf32> {halftone.name = "dv"}) {
  %bias = halftone.constant dense<-1.0e9> : tensor<1x1x1x1xf32>
  %y, %lse = halftone.attention %q, %v, %v bias %bias {scale = 1.0 : f64}
      : (tensor<1x1x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1xf32>)
  return %v : tensor<1x4x1x1xf32>
})";
  auto module = parse(text);
  AttentionOp op;
  module->walk([&](AttentionOp each) { op = each; });
  mlir::Block &block = *op->getBlock();
  mlir::OpBuilder builder(block.getTerminator());
  llvm::SmallVector<mlir::Value> gradients, cotangents{block.getArgument(2), mlir::Value()};
  REQUIRE(succeeded(op.buildGradient(builder, cotangents, gradients)));
  block.getTerminator()->setOperand(0, gradients[2]);
  const auto results =
      run(*module, {reals("1x1x1x1xf32", {0.5}), reals("1x4x1x1xf32", {1, 2, 3, 4}), reals("1x1x1x1xf32", {2})});
  CHECK(results[0].low == std::vector<double>{0.5, 0.5, 0.5, 0.5});
}
