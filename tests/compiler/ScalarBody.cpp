// Compares each elementwise op of each dtype, compiled for each target, with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>

using halftone::testing::KernelHarness;

namespace {

const std::vector<std::string> exactFloat{"abs", "neg", "sign", "relu", "sqrt", "floor", "ceil", "round_even"};
const std::vector<std::string> otherFloat{"exp",  "expm1",    "log", "log1p", "rsqrt",
                                          "tanh", "logistic", "erf", "sin",   "cos"};
const std::vector<std::string> binary{"add", "sub", "mul", "div", "rem", "maximum", "minimum"};
const std::vector<std::string> bitwise{"and", "or", "xor"};
const std::vector<std::string> comparisons{"eq", "ne", "lt", "le", "gt", "ge"};
const std::vector<std::string> floats{"f32", "f16", "bf16", "f64"};
const std::vector<std::string> integers{"i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"};

/// A loop kernel of two operands of type n x element with one result per line. `lines` are pairs of op text and result
/// element.
class LoopText {
public:
  LoopText(int64_t n, std::string element) : n(n), element(std::move(element)) {}
  std::string type(const std::string &of) const { return "tensor<" + std::to_string(n) + "x" + of + ">"; }
  void unary(const std::string &op) { line("halftone." + op + " %a : " + type(element), element); }
  void binaryOp(const std::string &op) { line("halftone." + op + " %a, %b : " + type(element), element); }
  void compare(const std::string &predicate) {
    line("halftone.compare " + predicate + " %a, %b : " + type(element), "i1");
  }
  void line(const std::string &op, const std::string &result) {
    std::string name = "%r" + std::to_string(count++);
    body += "  " + name + " = " + op + "\n";
    names += (names.empty() ? "" : ", ") + name;
    types += (types.empty() ? "" : ", ") + type(result);
  }
  std::string text() const {
    std::string t = type(element), b = type("i1");
    return "halftone.kernel loop @k (" + t + ", " + t + ", " + b + ") -> (" + types + ") {\n^bb0(%a: " + t +
           ", %b: " + t + ", %p: " + b + "):\n" + body + "  halftone.yield " + names + " : " + types + "\n}\n";
  }

private:
  int64_t n;
  std::string element, body, names, types;
  int count = 0;
};

std::string exactText(int64_t n, const std::string &element) {
  LoopText text(n, element);
  for (const std::string &op : exactFloat)
    text.unary(op);
  for (const std::string &op : binary)
    text.binaryOp(op);
  for (const std::string &predicate : comparisons)
    text.compare(predicate);
  text.line("halftone.is_finite %a : " + text.type(element), "i1");
  text.line("halftone.select %p, %a, %b : " + text.type(element), element);
  for (const std::string &to : floats)
    text.line("halftone.cast %a : " + text.type(element) + " to " + text.type(to), to);
  for (const std::string &to : integers)
    text.line("halftone.cast %a : " + text.type(element) + " to " + text.type(to), to);
  text.line("halftone.cast %a : " + text.type(element) + " to " + text.type("i1"), "i1");
  text.line("halftone.cast %a : " + text.type(element) + " to " + text.type("f8E4M3FN"), "f8E4M3FN");
  text.line("halftone.cast %a : " + text.type(element) + " to " + text.type("f8E5M2"), "f8E5M2");
  text.line("halftone.cast %a {saturate = true} : " + text.type(element) + " to " + text.type("f8E4M3FN"), "f8E4M3FN");
  text.line("halftone.cast %a {saturate = true} : " + text.type(element) + " to " + text.type("f16"), "f16");
  return text.text();
}

std::string integerText(int64_t n, const std::string &element) {
  LoopText text(n, element);
  for (const char *op : {"abs", "neg", "sign", "relu", "not"})
    text.unary(op);
  for (const std::string &op : binary)
    text.binaryOp(op);
  text.binaryOp("pow");
  for (const std::string &op : bitwise)
    text.binaryOp(op);
  for (const char *op : {"shl", "shr"})
    text.binaryOp(op);
  for (const std::string &predicate : comparisons)
    text.compare(predicate);
  text.line("halftone.select %p, %a, %b : " + text.type(element), element);
  for (const std::string &to : floats)
    text.line("halftone.cast %a : " + text.type(element) + " to " + text.type(to), to);
  for (const std::string &to : integers)
    text.line("halftone.cast %a : " + text.type(element) + " to " + text.type(to), to);
  text.line("halftone.cast %a : " + text.type(element) + " to " + text.type("i1"), "i1");
  text.line("halftone.cast %a : " + text.type(element) + " to " + text.type("f8E5M2"), "f8E5M2");
  return text.text();
}

} // namespace

TEST_CASE("Exactly rounded float ops are bitwise in strict mode", "[kernels]") {
  auto target = GENERATE(from_range(halftone::testing::runnableTargets()));
  auto element = GENERATE(from_range(floats));
  CAPTURE(target, element);
  for (int64_t n : {67, 1, 5, 16, 130}) {
    KernelHarness kernel(exactText(n, element), target, true);
    CAPTURE(n);
    kernel.checkExact(kernel.operands(unsigned(n), true, n == 130 ? 300.0 : 2.0));
  }
}

TEST_CASE("Integer ops are bitwise", "[kernels]") {
  auto target = GENERATE(from_range(halftone::testing::runnableTargets()));
  auto element = GENERATE(from_range(integers));
  CAPTURE(target, element);
  for (int64_t n : {67, 1, 127}) {
    KernelHarness kernel(integerText(n, element), target, false);
    CAPTURE(n);
    kernel.checkExact(kernel.operands(unsigned(n), false));
  }
}

TEST_CASE("Bool ops are bitwise", "[kernels]") {
  auto target = GENERATE(from_range(halftone::testing::runnableTargets()));
  LoopText text(131, "i1");
  text.unary("not");
  for (const std::string &op : bitwise)
    text.binaryOp(op);
  text.compare("eq");
  text.compare("lt");
  text.line("halftone.select %p, %a, %b : " + text.type("i1"), "i1");
  for (const std::string &to : {"f32", "f16", "f64", "i8", "ui32", "i64"})
    text.line("halftone.cast %a : " + text.type("i1") + " to " + text.type(to), to);
  KernelHarness kernel(text.text(), target, true);
  kernel.checkExact(kernel.operands(7, false));
}

TEST_CASE("Transcendental ops stay within their bounds", "[kernels]") {
  auto target = GENERATE(from_range(halftone::testing::runnableTargets()));
  auto element = GENERATE(from_range(floats));
  CAPTURE(target, element);
  LoopText text(257, element);
  for (const std::string &op : otherFloat)
    text.unary(op);
  text.binaryOp("pow");
  KernelHarness kernel(text.text(), target, true);
  for (unsigned seed = 0; seed < 3; ++seed) {
    auto operands = kernel.operands(seed, seed == 0, seed == 2 ? 20.0 : 2.0);
    if (element == "f64") // within two ulp of f32, for angles below 2^20
      kernel.checkClose(operands, 0x1p-22, 0x1p20);
    else
      kernel.checkInside(operands);
  }
}

TEST_CASE("Sizes share the code of an elementwise kernel", "[kernels]") {
  KernelHarness small(exactText(3, "f16"), "host", false), large(exactText(100000, "f16"), "host", false);
  CHECK(small.linalgText() == large.linalgText());
  CHECK(large.description().grid > 1);
  CHECK(small.description().extents.size() == 3);
}
