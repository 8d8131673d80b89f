// Derivatives of loops and branches: against finite differences, and bit by bit against the unrolled function.
// SPDX-License-Identifier: Apache-2.0
#include "ScalarFunction.h"
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler::testing;
using dialect::TensorData;

namespace {

const int64_t lengths[] = {0, 1, 2, 17};

/// One step of a recurrence. It computes %h1 and %o from %h and %x, and reads the weights %x2, %x3 and %x4.
const std::string step = R"(
  %xw = halftone.contract %x, %x2 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<4xf64>, tensor<4x3xf64>) -> tensor<3xf64>
  %hw = halftone.contract %h, %x3 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<3xf64>, tensor<3x3xf64>) -> tensor<3xf64>
  %z = halftone.add %xw, %hw : tensor<3xf64>
  %z1 = halftone.add %z, %x4 : tensor<3xf64>
  %h1 = halftone.tanh %z1 : tensor<3xf64>
  %o = halftone.mul %h1, %x4 : tensor<3xf64>)";

/// The loss as a function of the outputs %ys and the last state %l.
std::string lossOf(int64_t length, bool hasOutputs, bool hasLast) {
  std::string text = fmt::format(R"(
  %s0 = halftone.mul %ys, %ys : tensor<{0}x3xf64>
  %s1 = halftone.reduce sum %s0 {{axes = array<i64: 0, 1>}} : tensor<{0}x3xf64> -> tensor<f64>
  %e0 = halftone.exp %l : tensor<3xf64>
  %e1 = halftone.reduce sum %e0 {{axes = array<i64: 0>}} : tensor<3xf64> -> tensor<f64>
  )",
                                 length);
  if (hasOutputs && hasLast)
    return text + "%loss = halftone.add %s1, %e1 : tensor<f64>";
  return text + "%loss = halftone.neg " + (hasOutputs ? "%s1" : "%e1") + " : tensor<f64>";
}

ScalarFunction recurrence(int64_t length, bool isReverse, bool hasOutputs = true, bool hasLast = true) {
  return {fmt::format("{} steps{}{}{}", length, isReverse ? ", reverse" : "", hasOutputs ? ", outputs" : "",
                      hasLast ? ", last state" : ""),
          {"3x", fmt::format("{}x4x", length), "4x3x", "3x3x", "3x"},
          fmt::format(R"(
  %l, %ys = halftone.scan (%x0) over (%x1) {{length = {0} : i64{1}}} : (tensor<3xf64>, tensor<{0}x4xf64>) -> (tensor<3xf64>, tensor<{0}x3xf64>) {{
  ^bb0(%i: tensor<i32>, %h: tensor<3xf64>, %x: tensor<4xf64>):{2}
    halftone.yield %h1, %o : tensor<3xf64>, tensor<3xf64>
  }})",
                      length, isReverse ? ", reverse" : "", step) +
              lossOf(length, hasOutputs, hasLast)};
}

/// The same function with each step written out.
ScalarFunction unrolled(int64_t length, bool isReverse) {
  ScalarFunction function = recurrence(length, isReverse);
  std::string body, state = "%x0", outputs, types;
  std::vector<std::string> rows(length);
  for (int64_t count = 0; count < length; ++count) {
    const int64_t i = isReverse ? length - 1 - count : count;
    std::string text = fmt::format(
        "\n  %row = halftone.slice %x1 {{start = array<i64: {0}, 0>}} : tensor<{1}x4xf64> to tensor<1x4xf64>"
        "\n  %x = halftone.reshape %row : tensor<1x4xf64> to tensor<4xf64>{2}"
        "\n  %or = halftone.reshape %o : tensor<3xf64> to tensor<1x3xf64>",
        i, length, step);
    const auto rename = [&](const std::string &name, const std::string &to) {
      for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += to.size()) {
        const char next = text[at + name.size()];
        if (next == '_' || std::isalnum(static_cast<unsigned char>(next)))
          at += name.size() - to.size();
        else
          text.replace(at, name.size(), to);
      }
    };
    rename("%h", state);
    for (const char *name : {"%row", "%x", "%xw", "%hw", "%z", "%z1", "%h1", "%o", "%or"})
      rename(name, fmt::format("{}_{}", name, i));
    state = fmt::format("%h1_{}", i);
    rows[i] = fmt::format("%or_{}", i);
    body += text;
  }
  for (const std::string &row : rows) {
    outputs += (outputs.empty() ? "" : ", ") + row;
    types += std::string(types.empty() ? "" : ", ") + "tensor<1x3xf64>";
  }
  body += fmt::format(
      "\n  %ys = halftone.concat {} {{axis = 0 : i64}} : {} to tensor<{}x3xf64>"
      "\n  %zero = halftone.constant dense<-0.0> : tensor<3xf64>\n  %l = halftone.add {}, %zero : tensor<3xf64>",
      outputs, types, length, state);
  return {function.name, function.shapes, body + lossOf(length, true, true)};
}

} // namespace

TEST_CASE("derivatives of a scan agree with finite differences") {
  for (int64_t length : lengths)
    for (bool isReverse : {false, true}) {
      checkDerivatives(recurrence(length, isReverse));
      checkDerivatives(recurrence(length, isReverse, true, false));
      checkDerivatives(recurrence(length, isReverse, false, true));
    }
}

TEST_CASE("derivatives of a scan have the bits of those of the unrolled function") {
  for (int64_t length : {1, 2, 17})
    for (bool isReverse : {false, true}) {
      const std::vector<TensorData> loop = derivatives(recurrence(length, isReverse)),
                                    plain = derivatives(unrolled(length, isReverse));
      for (size_t i = 0; i < loop.size(); ++i) {
        INFO(length << " steps, result " << i);
        CHECK(loop[i].low == plain[i].low);
      }
    }
}

TEST_CASE("derivatives of derivatives of a scan agree with finite differences") {
  for (int64_t length : lengths) {
    ScalarFunction function = recurrence(length, length == 2);
    function.body.replace(function.body.rfind("%loss"), 5, "%inner");
    function.body += "\n  %y = halftone.gradient %inner at (%x3 : tensor<3x3xf64>) : tensor<f64> -> tensor<3x3xf64>" +
                     squares("3x3x", ": 0, 1");
    checkDerivatives(function);
  }
}

// clang-format off
TEST_CASE("derivatives flow through whatever a body holds") {
  const std::vector<ScalarFunction> functions = {
      {"an integer carry looks elements up", {"5x", "3x"}, R"(
  %two = halftone.constant dense<2> : tensor<i32>
  %five = halftone.constant dense<5> : tensor<i32>
  %0:2 = halftone.scan (%x1, %two) {length = 4 : i64} : (tensor<3xf64>, tensor<i32>) -> (tensor<3xf64>, tensor<i32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<3xf64>, %n: tensor<i32>):
    %e = halftone.gather %x0, %n {axis = 0 : i64} : (tensor<5xf64>, tensor<i32>) -> tensor<f64>
    %b = halftone.broadcast %e {axes = array<i64>} : tensor<f64> to tensor<3xf64>
    %m = halftone.mul %c, %b : tensor<3xf64>
    %s = halftone.sin %m : tensor<3xf64>
    %n1 = halftone.add %n, %two : tensor<i32>
    %n2 = halftone.rem %n1, %five : tensor<i32>
    halftone.yield %s, %n2 : tensor<3xf64>, tensor<i32>
  }
  %y = halftone.exp %0#0 : tensor<3xf64>)" + squares("3x", ": 0")},
      {"nested scans", {"2x3x", "3x", ""}, R"(
  %l, %ys = halftone.scan (%x1) over (%x0) {length = 2 : i64} : (tensor<3xf64>, tensor<2x3xf64>) -> (tensor<3xf64>, tensor<2x3xf64>) {
  ^bb0(%i: tensor<i32>, %c: tensor<3xf64>, %x: tensor<3xf64>):
    %d, %es = halftone.scan (%x2) over (%c) {length = 3 : i64, reverse} : (tensor<f64>, tensor<3xf64>) -> (tensor<f64>, tensor<3xf64>) {
    ^bb0(%j: tensor<i32>, %e: tensor<f64>, %ce: tensor<f64>):
      %0 = halftone.mul %e, %ce : tensor<f64>
      %1 = halftone.add %0, %x2 : tensor<f64>
      %2 = halftone.tanh %1 : tensor<f64>
      halftone.yield %2, %0 : tensor<f64>, tensor<f64>
    }
    %b = halftone.broadcast %d {axes = array<i64>} : tensor<f64> to tensor<3xf64>
    %p = halftone.mul %b, %x : tensor<3xf64>
    %q = halftone.add %p, %es : tensor<3xf64>
    halftone.yield %q, %p : tensor<3xf64>, tensor<3xf64>
  }
  %bl = halftone.broadcast %l {axes = array<i64: 1>} : tensor<3xf64> to tensor<2x3xf64>
  %y = halftone.mul %bl, %ys : tensor<2x3xf64>)" + squares("2x3x", ": 0, 1")},
      {"a branch in the body", {"6x2x", "2x", "2x2x"}, R"(
  %three = halftone.constant dense<3> : tensor<i32>
  %l = halftone.scan (%x1) over (%x0) {length = 6 : i64} : (tensor<2xf64>, tensor<6x2xf64>) -> tensor<2xf64> {
  ^bb0(%i: tensor<i32>, %c: tensor<2xf64>, %x: tensor<2xf64>):
    %p = halftone.compare lt %i, %three : tensor<i32>
    %0:2 = halftone.when %p : (tensor<2xf64>, tensor<2xf64>) {
      %1 = halftone.contract %c, %x2 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<2xf64>, tensor<2x2xf64>) -> tensor<2xf64>
      %2 = halftone.sin %1 : tensor<2xf64>
      %3 = halftone.mul %2, %1 : tensor<2xf64>
      halftone.yield %3, %x : tensor<2xf64>, tensor<2xf64>
    } else {
      %4 = halftone.mul %c, %x : tensor<2xf64>
      halftone.yield %4, %4 : tensor<2xf64>, tensor<2xf64>
    }
    %5 = halftone.add %0#0, %0#1 : tensor<2xf64>
    halftone.yield %5 : tensor<2xf64>
  }
  %y = halftone.neg %l : tensor<2xf64>)" + squares("2x", ": 0")},
      {"a custom gradient in the body, which is the true one", {"3x2x", "2x"}, R"(
  %l = halftone.scan (%x1) over (%x0) {length = 3 : i64} : (tensor<2xf64>, tensor<3x2xf64>) -> tensor<2xf64> {
  ^bb0(%i: tensor<i32>, %c: tensor<2xf64>, %x: tensor<2xf64>):
    %e = halftone.exp %c : tensor<2xf64>
    %f = halftone.custom_gradient %e at (%c : tensor<2xf64>) : tensor<2xf64> {
    ^bb0(%dy: tensor<2xf64>):
      %0 = halftone.mul %dy, %e : tensor<2xf64>
      halftone.yield %0 : tensor<2xf64>
    }
    %g = halftone.mul %f, %x : tensor<2xf64>
    halftone.yield %g : tensor<2xf64>
  }
  %y = halftone.neg %l : tensor<2xf64>)" + squares("2x", ": 0")},
      {"a carry that stands still, one that nobody reads, and a captured init", {"2x", "2x"}, R"(
  %0:3 = halftone.scan (%x0, %x1, %x1) {length = 3 : i64} : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  ^bb0(%i: tensor<i32>, %a: tensor<2xf64>, %b: tensor<2xf64>, %c: tensor<2xf64>):
    %1 = halftone.mul %a, %b : tensor<2xf64>
    %2 = halftone.mul %1, %x0 : tensor<2xf64>
    %3 = halftone.exp %c : tensor<2xf64>
    halftone.yield %2, %b, %3 : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
  }
  %y = halftone.mul %0#0, %0#1 : tensor<2xf64>)" + squares("2x", ": 0")},
      {"carries that change places, and slices of one value", {"2x", "2x"}, R"(
  %0:4 = halftone.scan (%x0, %x1) {length = 3 : i64} : (tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<3x2xf64>) {
  ^bb0(%i: tensor<i32>, %a: tensor<2xf64>, %b: tensor<2xf64>):
    %1 = halftone.mul %a, %b : tensor<2xf64>
    halftone.yield %b, %1, %1, %1 : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
  }
  %m = halftone.mul %0#2, %0#3 : tensor<3x2xf64>
  %r = halftone.reduce sum %m {axes = array<i64: 0>} : tensor<3x2xf64> -> tensor<2xf64>
  %y = halftone.add %r, %0#0 : tensor<2xf64>)" + squares("2x", ": 0")},
      {"a gradient in the body", {"2x", "3x2x"}, R"(
  %l = halftone.scan (%x0) over (%x1) {length = 3 : i64} : (tensor<2xf64>, tensor<3x2xf64>) -> tensor<2xf64> {
  ^bb0(%i: tensor<i32>, %w: tensor<2xf64>, %x: tensor<2xf64>):
    %p = halftone.mul %w, %x : tensor<2xf64>
    %t = halftone.tanh %p : tensor<2xf64>
    %s = halftone.reduce sum %t {axes = array<i64: 0>} : tensor<2xf64> -> tensor<f64>
    %d = halftone.gradient %s at (%w : tensor<2xf64>) : tensor<f64> -> tensor<2xf64>
    %w1 = halftone.sub %w, %d : tensor<2xf64>
    halftone.yield %w1 : tensor<2xf64>
  }
  %y = halftone.neg %l : tensor<2xf64>)" + squares("2x", ": 0")},
      {"branches", {"2x", "2x2x", ""}, R"(
  %zero = halftone.constant dense<0.0> : tensor<f64>
  %p = halftone.compare lt %x2, %zero : tensor<f64>
  %q = halftone.not %p : tensor<i1>
  %0:2 = halftone.when %p : (tensor<2xf64>, tensor<2xf64>) {
    %1 = halftone.contract %x0, %x1 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<2xf64>, tensor<2x2xf64>) -> tensor<2xf64>
    %2 = halftone.tanh %1 : tensor<2xf64>
    halftone.yield %2, %x0 : tensor<2xf64>, tensor<2xf64>
  } else {
    %3 = halftone.when %q : (tensor<2xf64>) {
      %4 = halftone.exp %x0 : tensor<2xf64>
      halftone.yield %4 : tensor<2xf64>
    } else {
      halftone.yield %x0 : tensor<2xf64>
    }
    %5 = halftone.scan (%3) {length = 2 : i64} : (tensor<2xf64>) -> tensor<2xf64> {
    ^bb0(%i: tensor<i32>, %c: tensor<2xf64>):
      %6 = halftone.sin %c : tensor<2xf64>
      %7 = halftone.mul %6, %x0 : tensor<2xf64>
      halftone.yield %7 : tensor<2xf64>
    }
    %b = halftone.broadcast %x2 {axes = array<i64>} : tensor<f64> to tensor<2xf64>
    halftone.yield %5, %b : tensor<2xf64>, tensor<2xf64>
  }
  %y = halftone.mul %0#0, %0#1 : tensor<2xf64>)" + squares("2x", ": 0")},
  };
  for (ScalarFunction function : functions) {
    checkDerivatives(function);
    // The branches not taken, and a gradient of the gradient.
    if (size_t at = function.body.find("compare lt"); at != std::string::npos) {
      function.body.replace(at, 10, "compare ge");
      checkDerivatives(function);
    }
    function.body.replace(function.body.rfind("%loss"), 5, "%inner");
    function.body += "\n  %g = halftone.gradient %inner at (%x1 : tensor<" + function.shapes[1] + "f64>) : tensor<f64> -> tensor<" + function.shapes[1] + "f64>\n";
    std::string axes;
    for (size_t i = 0; i < size_t(std::count(function.shapes[1].begin(), function.shapes[1].end(), 'x')); ++i)
      axes += (i ? ", " : ": ") + std::to_string(i);
    std::string loss = squares(function.shapes[1], axes);
    for (size_t at = 0; (at = loss.find("%y", at)) != std::string::npos; ++at)
      loss.replace(at, 2, loss[at + 2] == '2' ? "%k" : "%g");
    function.body += loss;
    function.name += ", twice";
    checkDerivatives(function);
  }
}
// clang-format on
