// The cores of math functions and of roundings: their symbols, their code for several CPUs, and the bits of roundings.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/MathCores.h"
#include "CompiledFunction.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "runtime/base/Half.h"
#include <bit>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// The core of `op` on values of `type`.
Core coreOf(StringRef op, StringRef type, bool binary = false) {
  KernelContext context;
  const std::string text = fmt::format("func.func @f(%x: {0}) -> {0} {{\n  %y = {1} %x{2} : {0}\n  return %y : {0}\n}}",
                                       type.str(), op.str(), binary ? ", %x" : "");
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  REQUIRE(module);
  return mathCore(&module->getBody()->front().getRegion(0).front().front());
}

/// Rounds `count` vectors of `lanes` f32 at a time, by the core.
Loaded loadRounding(int64_t lanes, int64_t count, const CpuTarget &cpu) {
  const Core core = roundingCore(lanes, count);
  std::string types, results, values, code;
  for (int64_t i = 0; i < count; ++i) {
    types += fmt::format("{}vector<{}xf32>", i ? ", " : "", lanes);
    results += fmt::format("{}vector<{}xi16>", i ? ", " : "", lanes);
    values += fmt::format("{}%x{}", i ? ", " : "", i);
    code += fmt::format("    %p{0} = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"
                        "    %q{0} = llvm.getelementptr %p{0}[{1}] : (!llvm.ptr) -> !llvm.ptr, f32\n"
                        "    %x{0} = llvm.load %q{0} {{alignment = 4 : i64}} : !llvm.ptr -> vector<{2}xf32>\n",
                        i, i * lanes, lanes);
  }
  code += fmt::format("    %r:{} = func.call @{}({}) : ({}) -> ({})\n", count, core.symbol, values, types, results);
  for (int64_t i = 0; i < count; ++i)
    code += fmt::format("    %s{0} = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i16\n"
                        "    %t{0} = llvm.getelementptr %s{0}[{1}] : (!llvm.ptr) -> !llvm.ptr, i16\n"
                        "    llvm.store %r#{0}, %t{0} {{alignment = 2 : i64}} : vector<{2}xi16>, !llvm.ptr\n",
                        i, i * lanes, lanes);
  return loadEmitted(
      fmt::format(
          "func.func private @{}({}) -> ({})\n"
          "func.func @kernel(%buffers: !llvm.ptr, %extents: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) "
          "{{\n"
          "  %a = llvm.load %buffers : !llvm.ptr -> !llvm.ptr\n"
          "  %second = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
          "  %b = llvm.load %second : !llvm.ptr -> !llvm.ptr\n"
          "  %step = arith.constant {} : i64\n  scf.for %i = %begin to %end step %step : i64 {{\n{}  }}\n  return\n}}",
          core.symbol, types, results, lanes * count, code),
      cpu, {core});
}

} // namespace

TEST_CASE("The symbol of a math core names the function, the type and the lanes", "[math]") {
  CHECK(coreOf("math.sin", "vector<16xf32>").symbol == "halftone_core_sin_16xf32");
  CHECK(coreOf("math.sin", "vector<8xf64>").symbol == "halftone_core_sin_8xf64");
  CHECK(coreOf("math.cos", "f32").symbol == "halftone_core_cos_f32");
  CHECK(coreOf("math.powf", "vector<4xf32>", true).symbol == "halftone_core_powf_4xf32");
  CHECK(coreOf("arith.remf", "f64", true).symbol == "halftone_core_remf_f64");
  CHECK(coreOf("math.sin", "vector<16xf32>").method == "sin of 16 lanes");
  CHECK(roundingCore(16, 3).symbol == "halftone_core_rounds_3x16xf32_to_bf16");
  CHECK(roundingCore(16, 3).method == "48 lanes in integers");
}

TEST_CASE("Math cores are compiled for CPUs of several kinds and use no other core", "[math]") {
  for (const char *name : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids", "x86_64-unknown-linux-gnu:znver4",
                           "aarch64-unknown-linux-gnu:neoverse-n1", "riscv64-unknown-linux-gnu"}) {
    const CpuTarget cpu = targetNamed(name);
    const int64_t lanes = std::max<int64_t>(cpu.vectorBytes / 4, 1);
    for (const Core &core : {coreOf("math.sin", fmt::format("vector<{}xf32>", lanes)), coreOf("math.tanh", "f64"),
                             roundingCore(lanes, 1), roundingCore(lanes, 4)}) {
      CAPTURE(name, core.symbol);
      auto code = KernelCompiler(cpu).compile(core);
      INFO(describe(code.status()));
      REQUIRE(code.isOk());
      CHECK(code->isCore());
      CHECK(code->symbol == core.symbol);
      CHECK(code->uses.empty());
    }
  }
}

TEST_CASE("The core of roundings gives the bits of bf16 for each exponent and each way to round", "[math]") {
  std::vector<float> x;
  for (uint32_t upper = 0; upper < 0x10000; ++upper)
    for (const uint32_t lower : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) // halfway, and the values next to it
      x.push_back(std::bit_cast<float>(upper << 16 | lower));
  for (const std::string &target : targetsOfRoundings())
    for (const int64_t count : {1, 2, 3, 4}) {
      const CpuTarget cpu = targetNamed(target);
      const int64_t lanes = cpu.vectorBytes / 4, size = int64_t(x.size()) / (lanes * count) * (lanes * count);
      const Loaded code = loadRounding(lanes, count, cpu);
      std::vector<uint16_t> y(x.size());
      void *buffers[] = {x.data(), y.data()};
      code.function(buffers, nullptr, 0, size, nullptr);
      size_t wrong = 0;
      for (int64_t i = 0; i < size; ++i)
        wrong += y[size_t(i)] != Bfloat16::encode(x[size_t(i)]);
      CAPTURE(target, count);
      CHECK(wrong == 0);
    }
}
