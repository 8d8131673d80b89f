// Compares derivatives of whole functions with finite differences in float64. The interpreter runs both.
// SPDX-License-Identifier: Apache-2.0
#include "ScalarFunction.h"
#include <cmath>

using namespace halftone;
using namespace halftone::compiler::testing;
using dialect::TensorData;

namespace {

const std::string labels = "dense<[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]> : tensor<3x3xf64>";
/// %loss of the logits %z, computed as the losses compute it.
const std::string softmaxCrossEntropy = R"(
  %zmax = halftone.reduce max %z {axes = array<i64: 1>} : tensor<3x3xf64> -> tensor<3xf64>
  %fixed = halftone.stop_gradient %zmax : tensor<3xf64>
  %wide = halftone.broadcast %fixed {axes = array<i64: 0>} : tensor<3xf64> to tensor<3x3xf64>
  %centered = halftone.sub %z, %wide : tensor<3x3xf64>
  %powers = halftone.exp %centered : tensor<3x3xf64>
  %total = halftone.reduce sum %powers {axes = array<i64: 1>} : tensor<3x3xf64> -> tensor<3xf64>
  %log = halftone.log %total : tensor<3xf64>
  %logs = halftone.broadcast %log {axes = array<i64: 0>} : tensor<3xf64> to tensor<3x3xf64>
  %likely = halftone.sub %centered, %logs : tensor<3x3xf64>
  %labels = halftone.constant )" + labels +
                                        R"(
  %picked = halftone.mul %labels, %likely : tensor<3x3xf64>
  %all = halftone.reduce sum %picked {axes = array<i64: 0, 1>} : tensor<3x3xf64> -> tensor<f64>
  %loss = halftone.neg %all : tensor<f64>)";

/// x0 (3, 4) through x1, x2 (4 to 5), an activation from %h0 to %h, and x3, x4 (5 to 3).
std::string perceptron(const std::string &activation) {
  return R"(
  %xw = halftone.contract %x0, %x1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x4xf64>, tensor<4x5xf64>) -> tensor<3x5xf64>
  %bias0 = halftone.broadcast %x2 {axes = array<i64: 1>} : tensor<5xf64> to tensor<3x5xf64>
  %h0 = halftone.add %xw, %bias0 : tensor<3x5xf64>
  )" + activation +
         R"(
  %hw = halftone.contract %h, %x3 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x5xf64>, tensor<5x3xf64>) -> tensor<3x3xf64>
  %bias1 = halftone.broadcast %x4 {axes = array<i64: 1>} : tensor<3xf64> to tensor<3x3xf64>
  %z = halftone.add %hw, %bias1 : tensor<3x3xf64>)" +
         softmaxCrossEntropy;
}
const std::vector<std::string> perceptronShapes = {"3x4x", "4x5x", "5x", "5x3x", "3x"};

// clang-format off
const std::vector<ScalarFunction> functions = {
    {"relu MLP, softmax cross-entropy", perceptronShapes,
     perceptron("%h = halftone.relu %h0 : tensor<3x5xf64>")},
    {"maximum MLP", perceptronShapes,
     perceptron("%zero = halftone.constant dense<0.0> : tensor<3x5xf64>\n"
                "%h = halftone.maximum %h0, %zero : tensor<3x5xf64>")},
    {"products of rows and columns", {"3x4x"}, R"(
  %r = halftone.reduce prod %x0 {axes = array<i64: 1>} : tensor<3x4xf64> -> tensor<3xf64>
  %c = halftone.reduce prod %x0 {axes = array<i64: 0>} : tensor<3x4xf64> -> tensor<4xf64>
  %y = halftone.contract %r, %c : (tensor<3xf64>, tensor<4xf64>) -> tensor<3x4xf64>)" + squares("3x4x", ": 0, 1")},
    {"a gradient of a product in the loss", {"5x"}, R"(
  %p = halftone.reduce prod %x0 {axes = array<i64: 0>} : tensor<5xf64> -> tensor<f64>
  %y = halftone.gradient %p at (%x0 : tensor<5xf64>) : tensor<f64> -> tensor<5xf64>)" + squares("5x", ": 0")},
    {"tanh MLP", perceptronShapes, perceptron("%h = halftone.tanh %h0 : tensor<3x5xf64>")},
    {"logistic MLP", perceptronShapes, perceptron("%h = halftone.logistic %h0 : tensor<3x5xf64>")},
    {"gelu MLP", perceptronShapes, perceptron(R"(%scale = halftone.constant dense<0.7071067811865476> : tensor<3x5xf64>
  %half = halftone.constant dense<0.5> : tensor<3x5xf64>
  %scaled = halftone.mul %h0, %scale : tensor<3x5xf64>
  %erf = halftone.erf %scaled : tensor<3x5xf64>
  %halved = halftone.mul %h0, %half : tensor<3x5xf64>
  %other = halftone.mul %halved, %erf : tensor<3x5xf64>
  %h = halftone.add %halved, %other : tensor<3x5xf64>)")},
    {"shared weights", {"4x", "4x4x"}, R"(
  %h0 = halftone.contract %x0, %x1 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<4xf64>, tensor<4x4xf64>) -> tensor<4xf64>
  %h1 = halftone.tanh %h0 : tensor<4xf64>
  %h2 = halftone.contract %x1, %h1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %y = halftone.mul %h2, %x0 : tensor<4xf64>)" + squares("4x", ": 0")},
    {"batched contraction of several axes", {"2x3x4x5x", "5x2x4x6x"}, R"(
  %y = halftone.contract %x0, %x1 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 1>, lhs_contract = array<i64: 3, 2>, rhs_contract = array<i64: 0, 2>}
      : (tensor<2x3x4x5xf64>, tensor<5x2x4x6xf64>) -> tensor<2x3x6xf64>)" + squares("2x3x6x", ": 0, 1, 2")},
    {"outer product", {"3x", "4x"}, R"(
  %p = halftone.contract %x0, %x1 : (tensor<3xf64>, tensor<4xf64>) -> tensor<3x4xf64>
  %y = halftone.sin %p : tensor<3x4xf64>)" + squares("3x4x", ": 0, 1")},
    {"broadcasting", {"3x", "2x", ""}, R"(
  %b0 = halftone.broadcast %x0 {axes = array<i64: 1>} : tensor<3xf64> to tensor<2x3x4xf64>
  %b1 = halftone.broadcast %x1 {axes = array<i64: 0>} : tensor<2xf64> to tensor<2x3x4xf64>
  %b2 = halftone.broadcast %x2 {axes = array<i64>} : tensor<f64> to tensor<2x3x4xf64>
  %m = halftone.mul %b0, %b1 : tensor<2x3x4xf64>
  %y = halftone.div %m, %b2 : tensor<2x3x4xf64>)" + squares("2x3x4x", ": 0, 1, 2")},
    {"reshapes and transposes", {"2x3x4x"}, R"(
  %t = halftone.transpose %x0 {permutation = array<i64: 2, 0, 1>} : tensor<2x3x4xf64> to tensor<4x2x3xf64>
  %r = halftone.reshape %t : tensor<4x2x3xf64> to tensor<8x3xf64>
  %u = halftone.transpose %r {permutation = array<i64: 1, 0>} : tensor<8x3xf64> to tensor<3x8xf64>
  %s = halftone.reshape %u : tensor<3x8xf64> to tensor<24xf64>
  %v = halftone.reshape %x0 : tensor<2x3x4xf64> to tensor<24xf64>
  %e = halftone.exp %v : tensor<24xf64>
  %y = halftone.mul %s, %e : tensor<24xf64>)" + squares("24x", ": 0")},
    {"layer normalization", {"3x4x", "4x"}, R"(
  %n = halftone.constant dense<0.25> : tensor<3xf64>
  %eps = halftone.constant dense<0.001> : tensor<3xf64>
  %s = halftone.reduce sum %x0 {axes = array<i64: 1>} : tensor<3x4xf64> -> tensor<3xf64>
  %mean = halftone.mul %s, %n : tensor<3xf64>
  %means = halftone.broadcast %mean {axes = array<i64: 0>} : tensor<3xf64> to tensor<3x4xf64>
  %c = halftone.sub %x0, %means : tensor<3x4xf64>
  %c2 = halftone.mul %c, %c : tensor<3x4xf64>
  %v = halftone.reduce sum %c2 {axes = array<i64: 1>} : tensor<3x4xf64> -> tensor<3xf64>
  %var = halftone.mul %v, %n : tensor<3xf64>
  %ve = halftone.add %var, %eps : tensor<3xf64>
  %r = halftone.rsqrt %ve : tensor<3xf64>
  %rs = halftone.broadcast %r {axes = array<i64: 0>} : tensor<3xf64> to tensor<3x4xf64>
  %g = halftone.broadcast %x1 {axes = array<i64: 1>} : tensor<4xf64> to tensor<3x4xf64>
  %cr = halftone.mul %c, %rs : tensor<3x4xf64>
  %crg = halftone.mul %cr, %g : tensor<3x4xf64>
  %y = halftone.sin %crg : tensor<3x4xf64>)" + squares("3x4x", ": 0, 1")},
    {"largest and smallest of rows and columns", {"3x4x"}, R"(
  %hi = halftone.reduce max %x0 {axes = array<i64: 1>} : tensor<3x4xf64> -> tensor<3xf64>
  %lo = halftone.reduce min %x0 {axes = array<i64: 0>} : tensor<3x4xf64> -> tensor<4xf64>
  %y = halftone.contract %hi, %lo : (tensor<3xf64>, tensor<4xf64>) -> tensor<3x4xf64>)" + squares("3x4x", ": 0, 1")},
    {"elementwise functions", {"6x", "6x"}, R"(
  %a = halftone.abs %x0 : tensor<6xf64>
  %p = halftone.pow %a, %x1 : tensor<6xf64>
  %l = halftone.log1p %a : tensor<6xf64>
  %q = halftone.sqrt %a : tensor<6xf64>
  %m = halftone.expm1 %x1 : tensor<6xf64>
  %c = halftone.cos %x0 : tensor<6xf64>
  %d = halftone.div %l, %q : tensor<6xf64>
  %e = halftone.sub %p, %m : tensor<6xf64>
  %f = halftone.mul %d, %e : tensor<6xf64>
  %lt = halftone.compare lt %x0, %x1 : tensor<6xf64>
  %s = halftone.select %lt, %f, %c : tensor<6xf64>
  %mn = halftone.minimum %x0, %x1 : tensor<6xf64>
  %y = halftone.add %s, %mn : tensor<6xf64>)" + squares("6x", ": 0")},
    {"lookups, slices and concatenations", {"4x3x", "2x3x"}, R"(
  %i = halftone.constant dense<[[1, 1, 3], [9, -2, 1]]> : tensor<2x3xi32>
  %r = halftone.gather %x0, %i {axis = 0 : i64} : (tensor<4x3xf64>, tensor<2x3xi32>) -> tensor<2x3x3xf64>
  %b = halftone.broadcast %x1 {axes = array<i64: 0, 2>} : tensor<2x3xf64> to tensor<2x3x3xf64>
  %c = halftone.concat %r, %b, %r {axis = 2 : i64} : tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64> to tensor<2x3x9xf64>
  %t = halftone.tanh %c : tensor<2x3x9xf64>
  %s = halftone.slice %t {start = array<i64: 0, 1, 2>} : tensor<2x3x9xf64> to tensor<2x2x5xf64>
  %u = halftone.mul %s, %s : tensor<2x2x5xf64>
  %j = halftone.constant dense<[2, 0]> : tensor<2xi64>
  %y = halftone.scatter_add %j, %u {axis = 1 : i64} : (tensor<2xi64>, tensor<2x2x5xf64>) -> tensor<2x3x5xf64>)" + squares("2x3x5x", ": 0, 1, 2")},
    {"axes of one element", {"1x1x", "1x3x1x"}, R"(
  %t = halftone.transpose %x0 {permutation = array<i64: 1, 0>} : tensor<1x1xf64> to tensor<1x1xf64>
  %c = halftone.contract %t, %x0 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1x1xf64>, tensor<1x1xf64>) -> tensor<1x1xf64>
  %b = halftone.broadcast %c {axes = array<i64: 0, 2>} : tensor<1x1xf64> to tensor<1x3x1xf64>
  %u = halftone.transpose %x1 {permutation = array<i64: 2, 1, 0>} : tensor<1x3x1xf64> to tensor<1x3x1xf64>
  %m = halftone.mul %b, %u : tensor<1x3x1xf64>
  %s = halftone.reduce sum %m {axes = array<i64: 0, 2>} : tensor<1x3x1xf64> -> tensor<3xf64>
  %d = halftone.contract %s, %s {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>
  %y = halftone.concat %s, %s, %s {axis = 0 : i64} : tensor<3xf64>, tensor<3xf64>, tensor<3xf64> to tensor<9xf64>
  %y2 = halftone.mul %y, %y : tensor<9xf64>
  %l = halftone.reduce sum %y2 {axes = array<i64: 0>} : tensor<9xf64> -> tensor<f64>
  %loss = halftone.add %l, %d : tensor<f64>)"},
    {"axes of no element", {"0x3x", "3x"}, R"(
  %e = halftone.exp %x0 : tensor<0x3xf64>
  %c = halftone.contract %e, %x1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<0x3xf64>, tensor<3xf64>) -> tensor<0xf64>
  %b = halftone.broadcast %c {axes = array<i64: 0>} : tensor<0xf64> to tensor<0x3xf64>
  %m = halftone.mul %b, %e : tensor<0x3xf64>
  %s = halftone.reduce sum %m {axes = array<i64: 0>} : tensor<0x3xf64> -> tensor<3xf64>
  %y = halftone.add %s, %x1 : tensor<3xf64>)" + squares("3x", ": 0")},
    {"a gradient of running products in the loss", {"5x2x"}, R"(
  %p = halftone.cumsum %x0 {axis = 0 : i64, kind = #halftone<reduce_kind prod>} : tensor<5x2xf64> -> tensor<5x2xf64>
  %q = halftone.mul %p, %p : tensor<5x2xf64>
  %s = halftone.reduce sum %q {axes = array<i64: 0, 1>} : tensor<5x2xf64> -> tensor<f64>
  %y = halftone.gradient %s at (%x0 : tensor<5x2xf64>) : tensor<f64> -> tensor<5x2xf64>)" + squares("5x2x", ": 0, 1")},
    {"a gradient in the loss", {"3x", "3x"}, R"(
  %t = halftone.tanh %x0 : tensor<3xf64>
  %m = halftone.mul %t, %x1 : tensor<3xf64>
  %inner = halftone.reduce sum %m {axes = array<i64: 0>} : tensor<3xf64> -> tensor<f64>
  %y = halftone.gradient %inner at (%x0 : tensor<3xf64>) : tensor<f64> -> tensor<3xf64>)" + squares("3x", ": 0")},
};
// clang-format on

} // namespace

TEST_CASE("derivatives agree with finite differences") {
  for (const ScalarFunction &function : functions)
    checkDerivatives(function);
}

TEST_CASE("at ties the derivative is the declared one") {
  Differentiated module(R"(
func.func @main(%a: tensor<4xf64> {halftone.name = "a"}, %b: tensor<4xf64> {halftone.name = "b"})
    -> (tensor<4xf64> {halftone.name = "da"}, tensor<4xf64> {halftone.name = "db"}, tensor<4xf64> {halftone.name = "dr"}) {
  %m = halftone.maximum %a, %b : tensor<4xf64>
  %s = halftone.reduce sum %m {axes = array<i64: 0>} : tensor<4xf64> -> tensor<f64>
  %d:2 = halftone.gradient %s at (%a : tensor<4xf64>, %b : tensor<4xf64>) : tensor<f64> -> (tensor<4xf64>, tensor<4xf64>)
  %r = halftone.reduce max %a {axes = array<i64: 0>} : tensor<4xf64> -> tensor<f64>
  %dr = halftone.gradient %r at (%a : tensor<4xf64>) : tensor<f64> -> tensor<4xf64>
  return %d#0, %d#1, %dr : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
})");
  std::vector<TensorData> results = module.run({module.tensor({4}, {1, 2, 2, 0}), module.tensor({4}, {1, 3, 0, 0})});
  CHECK(results[0].low == std::vector<double>{0.5, 0, 1, 0.5}); // maximum: a tie shares the gradient
  CHECK(results[1].low == std::vector<double>{0.5, 1, 0, 0.5});
  CHECK(results[2].low == std::vector<double>{0, 0.5, 0.5, 0}); // reduce: tied elements share the gradient equally
}

TEST_CASE("the derivative of a running maximum goes to the first of equals, and to the first NaN") {
  Differentiated module(R"(
func.func @main(%a: tensor<4xf64> {halftone.name = "a"})
    -> (tensor<4xf64> {halftone.name = "da"}, tensor<4xf64> {halftone.name = "dr"}) {
  %m = halftone.cumsum %a {axis = 0 : i64, kind = #halftone<reduce_kind max>} : tensor<4xf64> -> tensor<4xf64>
  %s = halftone.reduce sum %m {axes = array<i64: 0>} : tensor<4xf64> -> tensor<f64>
  %d = halftone.gradient %s at (%a : tensor<4xf64>) : tensor<f64> -> tensor<4xf64>
  %r = halftone.cumsum %a {axis = 0 : i64, kind = #halftone<reduce_kind max>, reverse} : tensor<4xf64> -> tensor<4xf64>
  %t = halftone.reduce sum %r {axes = array<i64: 0>} : tensor<4xf64> -> tensor<f64>
  %e = halftone.gradient %t at (%a : tensor<4xf64>) : tensor<f64> -> tensor<4xf64>
  return %d, %e : tensor<4xf64>, tensor<4xf64>
})");
  std::vector<TensorData> results = module.run({module.tensor({4}, {2, 2, 1, 2})});
  CHECK(results[0].low == std::vector<double>{4, 0, 0, 0});
  CHECK(results[1].low == std::vector<double>{0, 0, 0, 4});
  results = module.run({module.tensor({4}, {2, NAN, NAN, 3})});
  CHECK(results[0].low == std::vector<double>{1, 3, 0, 0});
  CHECK(results[1].low == std::vector<double>{0, 0, 3, 1});
}

TEST_CASE("the derivative of a scatter goes to the last update, and in equal shares to equal extrema") {
  Differentiated module(R"(
func.func @main(%x: tensor<3xf64> {halftone.name = "x"}, %u: tensor<4xf64> {halftone.name = "u"})
    -> (tensor<3xf64> {halftone.name = "a"}, tensor<4xf64> {halftone.name = "b"}, tensor<3xf64> {halftone.name = "c"},
        tensor<4xf64> {halftone.name = "d"}) {
  %i = halftone.constant dense<[0, 0, 2, 7]> : tensor<4xi32>
  %w = halftone.constant dense<[1.0, 10.0, 12.0]> : tensor<3xf64>
  %s = halftone.scatter set %x, %i, %u {axis = 0 : i64} : (tensor<3xf64>, tensor<4xi32>, tensor<4xf64>) -> tensor<3xf64>
  %sw = halftone.mul %s, %w : tensor<3xf64>
  %st = halftone.reduce sum %sw {axes = array<i64: 0>} : tensor<3xf64> -> tensor<f64>
  %ds:2 = halftone.gradient %st at (%x : tensor<3xf64>, %u : tensor<4xf64>) : tensor<f64> -> (tensor<3xf64>, tensor<4xf64>)
  %m = halftone.scatter max %x, %i, %u {axis = 0 : i64} : (tensor<3xf64>, tensor<4xi32>, tensor<4xf64>) -> tensor<3xf64>
  %mw = halftone.mul %m, %w : tensor<3xf64>
  %mt = halftone.reduce sum %mw {axes = array<i64: 0>} : tensor<3xf64> -> tensor<f64>
  %dm:2 = halftone.gradient %mt at (%x : tensor<3xf64>, %u : tensor<4xf64>) : tensor<f64> -> (tensor<3xf64>, tensor<4xf64>)
  return %ds#0, %ds#1, %dm#0, %dm#1 : tensor<3xf64>, tensor<4xf64>, tensor<3xf64>, tensor<4xf64>
})");
  std::vector<TensorData> results = module.run({module.tensor({3}, {5, 1, 4}), module.tensor({4}, {5, 5, 4, 9})});
  CHECK(results[0].low == std::vector<double>{0, 10, 0});
  CHECK(results[1].low == std::vector<double>{0, 1, 12, 0});
  CHECK(results[2].low == std::vector<double>{1.0 / 3, 10, 6});
  CHECK(results[3].low == std::vector<double>{1.0 / 3, 1.0 / 3, 6, 0});
}

TEST_CASE("variables: state moves on, and the gradient is that at the entry") {
  Differentiated module(R"(
halftone.variable @w : tensor<2xf64>
func.func @main(%x: tensor<2xf64> {halftone.name = "x"})
    -> (tensor<f64> {halftone.name = "loss"}, tensor<2xf64> {halftone.name = "dw"}) {
  %loss = halftone.layer "net/shared" policy "float64" (%x) : (tensor<2xf64>) -> tensor<f64> {
  ^bb0(%a: tensor<2xf64>):
    %w0 = halftone.read @w : tensor<2xf64>
    %w1 = halftone.read @w : tensor<2xf64>
    %0 = halftone.mul %a, %w0 : tensor<2xf64>
    %1 = halftone.mul %0, %w1 : tensor<2xf64>
    %2 = halftone.reduce sum %1 {axes = array<i64: 0>} : tensor<2xf64> -> tensor<f64>
    halftone.yield %2 : tensor<f64>
  }
  %dw = halftone.gradient %loss of [@w] : tensor<f64> -> tensor<2xf64>
  %w = halftone.read @w : tensor<2xf64>
  %w1 = halftone.sub %w, %dw : tensor<2xf64>
  %ok = halftone.reduce_all all_finite (%dw) : tensor<2xf64>
  halftone.when %ok : () {
    halftone.assign @w, %w1 : tensor<2xf64>
  } else {
  }
  return %loss, %dw : tensor<f64>, tensor<2xf64>
})");
  module.variables.emplace("w", module.tensor({2}, {3, -1}));
  std::vector<TensorData> results = module.run({module.tensor({2}, {0.5, 2})});
  CHECK(results[0].low[0] == 0.5 * 9 + 2);
  CHECK(results[1].low == std::vector<double>{2 * 0.5 * 3, 2 * 2 * -1});
  CHECK(module.variables.at("w").low == std::vector<double>{0, 3});
  double infinity = std::numeric_limits<double>::infinity();
  results = module.run({module.tensor({2}, {infinity, 1})});
  CHECK(module.variables.at("w").low == std::vector<double>{0, 3}); // 0 * inf is NaN, so the check must skip the update
}
