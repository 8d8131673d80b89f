// Roundings to bf16: their bits with subnormal numbers anywhere, and the roundings that share a branch.
// SPDX-License-Identifier: Apache-2.0
#include "CompiledFunction.h"
#include "compiler/kernels/MathInstructions.h"
#include "compiler/kernels/Steps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "runtime/base/Half.h"
#include <bit>
#include <fmt/format.h>
#include <random>

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// Rounds `count` vectors of `lanes` f32 at a time.
std::string roundings(int64_t lanes, int64_t count) {
  const std::string shape = lanes > 1 ? fmt::format("vector<{}x$>", lanes) : "$";
  const auto type = [&](const std::string &element) {
    std::string text = shape;
    return text.replace(text.find('$'), 1, element);
  };
  std::string text = fmt::format(
      "func.func @kernel(%buffers: !llvm.ptr, %extents: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {{\n"
      "  %a = llvm.load %buffers : !llvm.ptr -> !llvm.ptr\n"
      "  %second = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
      "  %b = llvm.load %second : !llvm.ptr -> !llvm.ptr\n"
      "  %step = arith.constant {} : i64\n  scf.for %i = %begin to %end step %step : i64 {{\n"
      "    %from = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"
      "    %to = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i16\n",
      lanes * count);
  for (int64_t i = 0; i < count; ++i)
    text += fmt::format("    %p{0} = llvm.getelementptr %from[{1}] : (!llvm.ptr) -> !llvm.ptr, f32\n"
                        "    %x{0} = llvm.load %p{0} {{alignment = 4 : i64}} : !llvm.ptr -> {2}\n"
                        "    %y{0} = arith.truncf %x{0} : {2} to {3}\n",
                        i, i * lanes, type("f32"), type("bf16"));
  for (int64_t i = 0; i < count; ++i)
    text += fmt::format("    %q{0} = llvm.getelementptr %to[{1}] : (!llvm.ptr) -> !llvm.ptr, i16\n"
                        "    %z{0} = arith.bitcast %y{0} : {2} to {3}\n"
                        "    llvm.store %z{0}, %q{0} {{alignment = 2 : i64}} : {3}, !llvm.ptr\n",
                        i, i * lanes, type("bf16"), type("i16"));
  return text + "  }\n  return\n}";
}

/// What expand-roundings makes of a function with this body, which may read the vectors %0, %1, %2.
struct Expanded {
  int64_t branches = 0, roundings = 0;
  std::vector<std::string> cores;
};

Expanded expanded(const std::string &body, const MathTraits &math) {
  KernelContext context;
  auto module = parseSourceString<ModuleOp>(
      fmt::format("!v = vector<16xf32>\n!n = vector<16xbf16>\n"
                  "func.func @kernel(%0: !v, %1: !v, %2: !v, %p: !llvm.ptr, %flag: i1) {{\n{}  return\n}}",
                  body),
      ParserConfig(&context));
  INFO(body);
  REQUIRE(module);
  std::vector<Core> cores;
  expandRoundings(*module, math, cores);
  CHECK(succeeded(verify(*module)));
  Expanded result;
  module->walk([&](scf::IfOp branch) { result.branches += branch.getNumResults() > 0; });
  module->walk([&](arith::TruncFOp) { ++result.roundings; });
  for (const Core &core : cores)
    result.cores.push_back(core.symbol);
  return result;
}

std::string round(int number, const std::string &value) {
  return fmt::format("  %y{0} = arith.truncf {1} : !v to !n\n", number, value);
}
std::string store(int number) { return fmt::format("  llvm.store %y{}, %p : !n, !llvm.ptr\n", number); }
std::string core(int64_t count) { return fmt::format("halftone_core_rounds_{}x16xf32_to_bf16", count); }

using Symbols = std::vector<std::string>;

} // namespace

TEST_CASE("Roundings give the bits of bf16, whichever of their vectors holds subnormal numbers", "[storage]") {
  std::vector<float> x;
  for (uint32_t upper = 0; upper < 0x10000; ++upper)
    for (const uint32_t lower : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) // halfway, and the values next to it
      x.push_back(std::bit_cast<float>(upper << 16 | lower));
  std::mt19937 random(3);
  for (int vector = 0; vector < 4096; ++vector) { // a third of the vectors hold one subnormal number
    const unsigned lane = random() % 48;
    for (unsigned i = 0; i < 16; ++i)
      x.push_back(std::bit_cast<float>(uint32_t(random()) & (i == lane ? 0x807fffffU : 0xffffffffU)));
  }
  for (const std::string &target : targetsOfRoundings()) {
    const CpuTarget cpu = targetNamed(target);
    for (const auto &[lanes, count] : {std::pair<int64_t, int64_t>{cpu.vectorBytes / 4, 1},
                                       {cpu.vectorBytes / 4, 4},
                                       {cpu.vectorBytes / 4, 7},
                                       {1, 1},
                                       {4, 3},
                                       {8, 1},
                                       {16, 2}}) {
      const int64_t size = int64_t(x.size()) / (lanes * count) * (lanes * count);
      std::vector<uint16_t> y(x.size());
      void *buffers[] = {x.data(), y.data()};
      loadEmitted(roundings(lanes, count), cpu).function(buffers, nullptr, 0, size, nullptr);
      size_t wrong = 0;
      for (int64_t i = 0; i < size; ++i)
        wrong += y[size_t(i)] != Bfloat16::encode(x[size_t(i)]);
      CAPTURE(target, lanes, count);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("Roundings share a branch unless one depends on another", "[storage]") {
  const MathTraits math = targetNamed("sapphirerapids").math;
  const Expanded three =
      expanded(round(0, "%0") + round(1, "%1") + round(2, "%2") + store(0) + store(1) + store(2), math);
  CHECK(three.branches == 1);
  CHECK(three.roundings == 0);
  CHECK(three.cores == Symbols{core(3)});

  const auto bits = [](int number) {
    return fmt::format("  %b{0} = arith.bitcast %y{0} : !n to vector<16xi16>\n", number);
  };
  const auto storeBits = [](int number) {
    return fmt::format("  llvm.store %b{}, %p : vector<16xi16>, !llvm.ptr\n", number);
  };
  const Expanded results =
      expanded(round(0, "%0") + bits(0) + round(1, "%1") + bits(1) + storeBits(0) + storeBits(1), math);
  CHECK(results.branches == 1);
  CHECK(results.cores == Symbols{core(2)});
  CHECK(expanded(round(0, "%0") + bits(0) + storeBits(0) + round(1, "%1") + bits(1) + storeBits(1), math).branches ==
        2);

  // The store reads the first result before the second rounding.
  const Expanded stored = expanded(round(0, "%0") + store(0) + round(1, "%1") + store(1), math);
  CHECK(stored.branches == 2);
  CHECK(stored.cores == Symbols{core(1)}); // which both call
  const Expanded chained = expanded(round(0, "%0") + "  %w = arith.extf %y0 : !n to !v\n" + round(1, "%w"), math);
  CHECK(chained.branches == 2);

  std::string many;
  for (int i = 0; i < 6; ++i)
    many += round(i, fmt::format("%{}", i % 3));
  const Expanded six = expanded(many, math);
  CHECK(six.branches == 2);
  CHECK(six.cores == Symbols{core(4), core(2)});

  const std::string region = "  scf.if %flag {\n" + round(5, "%2") + store(5) + "  }\n";
  const Expanded apart = expanded(round(0, "%0") + region + round(1, "%1"), math);
  CHECK(apart.branches == 3); // before, in and after the region
}

TEST_CASE("Roundings without an instruction that flushes subnormal numbers have no branch", "[storage]") {
  const std::string body = round(0, "%0") + round(1, "%1") + store(0) + store(1);
  for (const char *target : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64-unknown-linux-gnu:neoverse-n1"}) {
    CAPTURE(target);
    const Expanded inIntegers = expanded(body, targetNamed(target).math);
    CHECK(inIntegers.branches == 0);
    CHECK(inIntegers.roundings == 0);
    CHECK(inIntegers.cores.empty());
  }
  const Expanded kept = expanded(body, {.convertsBf16 = true});
  CHECK(kept.roundings == 2);
  CHECK(kept.cores.empty());
  const Expanded narrower = expanded(
      "  %h = vector.extract_strided_slice %0 {offsets = [0], sizes = [8], strides = [1]} : !v to vector<8xf32>\n"
      "  %y = arith.truncf %h : vector<8xf32> to vector<8xbf16>\n",
      targetNamed("sapphirerapids").math);
  CHECK(narrower.branches == 0);
  CHECK(narrower.roundings == 0);
}
