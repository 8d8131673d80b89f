// Each op of kernel code at each type: it becomes PTX instructions, without a call and without an abort.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/PtxCode.h"
#include "compiler/codegen/Lowering.h"
#include "compiler/kernels/MathFunctions.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;

namespace {

/// A kernel whose arguments %a and %b have type `from`. Each line computes a value of type `to`, which it stores.
class Ops {
public:
  Ops(std::string from, std::string to, int64_t lanes) : from_(typeOf(from, lanes)), to_(typeOf(to, lanes)) {}

  /// `op` applied to %a, or to %a and %b.
  void add(const std::string &op, bool isBinary) {
    line(fmt::format("{} %a{} : {}", op, isBinary ? ", %b" : "", from_));
  }
  void convert(const std::string &op) { line(fmt::format("{} %a : {} to {}", op, from_, to_)); }
  void compare(const std::string &op, const std::string &predicate) {
    const std::string flag = next();
    body_ += fmt::format("  {} = {} {}, %a, %b : {}\n", flag, op, predicate, from_);
    line(fmt::format("arith.select {}, %a, %b : {}{}", flag, condition(), from_));
  }
  void line(const std::string &op) {
    const std::string value = next();
    body_ += fmt::format("  {} = {}\n  llvm.store volatile {}, %out : {}, !llvm.ptr<1>\n", value, op, value, to_);
  }
  std::string from() const { return from_; }

  StatusOr<std::string> ptx() const {
    const std::string text = fmt::format("llvm.func @test(%a: {0}, %b: {0}, %out: !llvm.ptr<1>) attributes "
                                         "{{nvvm.kernel}} {{\n{1}  llvm.return\n}}\n",
                                         from_, body_);
    KernelContext context;
    const DiagnosticText diagnostics(&context);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    if (!module)
      return diagnostics.failure("no module: " + text);
    auto target = NvptxTarget::find("sm_80");
    std::vector<Core> cores;
    return lowerToCode(*module, *target, **target->machine(), diagnostics, cores);
  }

private:
  static std::string typeOf(const std::string &element, int64_t lanes) {
    return lanes == 0 ? element : fmt::format("vector<{}x{}>", lanes, element);
  }
  std::string condition() const {
    const size_t x = from_.find('x');
    return x == from_.npos ? "" : from_.substr(0, x) + "xi1>, ";
  }
  std::string next() { return fmt::format("%v{}", count_++); }

  std::string from_, to_, body_;
  int count_ = 0;
};

void check(const Ops &ops) {
  const StatusOr<std::string> ptx = ops.ptx();
  if (!ptx.isOk())
    FAIL(ptx.status().message() << "\n" << ptx.status().diagnostics());
  CHECK_THAT(*ptx, Catch::Contains(".visible .entry test") && !Catch::Contains("call") && !Catch::Contains(".func"));
}

} // namespace

TEST_CASE("Every op on integers becomes PTX") {
  const int64_t lanes = GENERATE(0, 4);
  for (const char *type : {"i8", "i16", "i32", "i64"}) {
    Ops ops(type, type, lanes);
    for (const char *op : {"addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "andi", "ori", "xori", "shli",
                           "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui"})
      ops.add(fmt::format("arith.{}", op), true);
    for (const char *op : {"absi", "ctlz", "ctpop", "cttz"})
      ops.add(fmt::format("math.{}", op), false);
    for (const char *predicate : {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
      ops.compare("arith.cmpi", predicate);
    CAPTURE(type, lanes);
    check(ops);
  }
}

TEST_CASE("Every op on floats becomes PTX") {
  const int64_t lanes = GENERATE(0, 4);
  for (const char *type : {"f32", "f64"}) {
    Ops ops(type, type, lanes);
    for (const char *op : {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf",
                           "arith.maxnumf", "arith.minnumf", "arith.remf", "math.copysign", "math.powf", "math.atan2"})
      ops.add(op, true);
    for (const char *op :
         {"arith.negf", "math.absf", "math.ceil", "math.floor", "math.roundeven", "math.sqrt",  "math.trunc",
          "math.rsqrt", "math.exp",  "math.exp2", "math.expm1", "math.log",       "math.log2",  "math.log10",
          "math.log1p", "math.tanh", "math.erf",  "math.sin",   "math.cos",       "math.tan",   "math.sinh",
          "math.cosh",  "math.asin", "math.acos", "math.atan",  "math.asinh",     "math.acosh", "math.atanh"})
      if (mathFunction(op) || llvm::StringRef(op).starts_with("arith."))
        ops.add(op, false);
    ops.line(fmt::format("math.fma %a, %b, %a : {}", ops.from()));
    for (const char *predicate :
         {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"})
      ops.compare("arith.cmpf", predicate);
    CAPTURE(type, lanes);
    check(ops);
  }
}

TEST_CASE("Every conversion becomes PTX") {
  const int64_t lanes = GENERATE(0, 4);
  const std::vector<std::pair<const char *, int>> integers{{"i8", 8}, {"i16", 16}, {"i32", 32}, {"i64", 64}};
  const auto one = [&](const char *op, const char *from, const char *to) {
    CAPTURE(op, from, to, lanes);
    Ops ops(from, to, lanes);
    ops.convert(op);
    check(ops);
  };
  for (auto [from, bits] : integers) {
    for (auto [to, wide] : integers)
      if (wide > bits) {
        one("arith.extsi", from, to);
        one("arith.extui", from, to);
        one("arith.trunci", to, from);
      }
    for (const char *to : {"f32", "f64"}) {
      one("arith.sitofp", from, to);
      one("arith.uitofp", from, to);
      one("arith.fptosi", to, from);
      one("arith.fptoui", to, from);
    }
  }
  for (auto [from, to] : {std::pair("f16", "f32"), {"f32", "f64"}})
    one("arith.extf", from, to);
  for (auto [from, to] : {std::pair("f32", "f16"), {"f32", "bf16"}, {"f64", "f32"}})
    one("arith.truncf", from, to);
  for (auto [from, to] : {std::pair("f16", "i16"), {"i16", "bf16"}, {"i32", "f32"}, {"f64", "i64"}})
    one("arith.bitcast", from, to);
}

/// The PTX of a module of emitted code, or the error.
static StatusOr<std::string> ptxOf(const std::string &text) {
  KernelContext context;
  const DiagnosticText diagnostics(&context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  REQUIRE(module);
  auto target = NvptxTarget::find("sm_80");
  REQUIRE(target.isOk());
  std::vector<Core> cores;
  return lowerToCode(*module, *target, **target->machine(), diagnostics, cores);
}

TEST_CASE("An intrinsic of another target is an error that names it") {
  const std::string text = "llvm.func @test() attributes {nvvm.kernel} {\n"
                           "  llvm.call_intrinsic \"llvm.x86.sse.sfence\"() : () -> ()\n  llvm.return\n}\n";
  const StatusOr<std::string> ptx = ptxOf(text);
  REQUIRE_FALSE(ptx.isOk());
  CHECK_THAT(ptx.status().message(), Catch::Contains("llvm.x86.sse.sfence"));
}

TEST_CASE("A call in a GPU's kernel is an error that names the function") {
  const std::string text = "llvm.func @cosf(f32) -> f32\nllvm.func @test(%a: f32) attributes {nvvm.kernel} {\n"
                           "  %0 = llvm.call @cosf(%a) : (f32) -> f32\n  llvm.return\n}\n";
  const StatusOr<std::string> ptx = ptxOf(text);
  REQUIRE_FALSE(ptx.isOk());
  CHECK(ptx.status().kind() == ErrorKind::internal_error);
  CHECK_THAT(ptx.status().diagnostics(), Catch::Contains("llvm.call"));
}

TEST_CASE("An instruction of a strict kernel whose rounding is left to the driver is an error that names it") {
  const auto product = [](const std::string &attributes, const std::string &flags) {
    return "llvm.func @test(%a: f32, %b: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel" + attributes +
           "} {\n  %0 = arith.mulf %a, %b" + flags +
           " : f32\n  llvm.store %0, %out : f32, !llvm.ptr<1>\n  llvm.return\n}\n";
  };
  const std::string strict = ", passthrough = [\"halftone-strict\"]", mayFuse = " fastmath<contract>";
  const StatusOr<std::string> refused = ptxOf(product(strict, mayFuse));
  REQUIRE_FALSE(refused.isOk());
  CHECK(refused.status().kind() == ErrorKind::internal_error);
  CHECK_THAT(refused.status().message(),
             Catch::Contains("a strict kernel would contain \"mul.f32") &&
                 Catch::Contains("expected an instruction that is exact or specifies its rounding"));
  CHECK_THAT(ptxOf(product(strict, "")).valueOrThrow(), Catch::Contains("mul.rn.f32"));
  CHECK_THAT(ptxOf(product("", mayFuse)).valueOrThrow(), Catch::Contains("mul.f32"));
}
