// Random products on six CPUs: each plan is legal, and each legal row of the table occurs in some plan.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulPlan.h"
#include "compiler/codegen/Lowering.h"
#include "compiler/kernels/Steps.h"
#include "mlir/Parser/Parser.h"
#include "tests/compiler/KernelHarness.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <random>
#include <set>

using namespace halftone;
using namespace halftone::compiler;
using halftone::testing::KernelHarness;

namespace {

struct Found {
  int multiply;
  bool groups;
  int a, b;
  auto operator<=>(const Found &) const = default;
  std::string str() const { return fmt::format("Multiply {}, groups {}, ReadA {}, ReadB {}", multiply, groups, a, b); }
};

class Draw {
public:
  explicit Draw(unsigned seed) : random(seed) {}
  size_t below(size_t count) { return random() % count; }
  bool coin() { return below(2) == 0; }
  template <class Value> Value of(std::initializer_list<Value> values) {
    return *(values.begin() + below(values.size()));
  }

private:
  std::mt19937 random;
};

std::string kernelOf(const std::string &a, const std::string &b, const std::string &y, const std::string &body) {
  return fmt::format(
      "halftone.kernel matmul @k ({0}, {1}) -> ({2})\n    attributes {{spec = #halftone.blocks<tile = [24, 64]>}} {{\n"
      "^bb0(%x: {0}, %w: {1}):\n{3}  halftone.yield %y : {2}\n}}\n",
      a, b, y, body);
}

/// A product of matrices in any layout. The right operand of pairs or fours may be packed in panels, or both operands
/// cast.
std::string matrices(Draw &draw) {
  const std::string element = draw.of({"f32", "f64", "bf16", "bf16", "bf16", "f16", "i8"});
  const std::string result = element == "f64" ? "f64" : element == "i8" ? "i32" : "f32";
  const int64_t m = draw.of({1, 16, 40}), n = draw.of({3, 16, 48, 70}), k = draw.of({5, 64, 68});
  const bool aTurned = draw.coin(), bTurned = draw.coin(), batched = draw.coin() && draw.coin();
  const int64_t group = element == "bf16" ? 2 : element == "i8" ? 4 : 1;
  const bool panels = !batched && group > 1 && n % 16 == 0 && k % group == 0 && draw.coin();
  const bool casts = !panels && element == "bf16" && draw.coin();
  const auto tensor = [&](bool turned, int64_t rows, int64_t columns, const std::string &of) {
    return fmt::format("tensor<{}{}x{}x{}>", batched ? "2x" : "", turned ? columns : rows, turned ? rows : columns, of);
  };
  const std::string layout =
      panels ? fmt::format("{}, #halftone.panels<depth = {}, columns = 16, group = {}>", element, int(bTurned), group)
             : element;
  const std::string a = tensor(aTurned, m, k, element), b = tensor(bTurned, k, n, layout),
                    y = tensor(false, m, n, result);
  const std::string wideA = tensor(aTurned, m, k, "f32"), wideB = tensor(bTurned, k, n, "f32");
  std::string body;
  if (casts)
    body = fmt::format("  %xn = halftone.cast %x {{origin = \"layer input\"}} : {} to {}\n"
                       "  %wn = halftone.cast %w {{origin = \"variable read\"}} : {} to {}\n",
                       wideA, a, wideB, b);
  body += fmt::format(
      "  %y = halftone.contract {0}, {1} {{{2}lhs_contract = array<i64: {3}>, rhs_contract = array<i64: {4}>}}\n"
      "      : ({5}, {6}) -> {7}\n",
      casts ? "%xn" : "%x", casts ? "%wn" : "%w",
      batched ? "lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, " : "", int(batched) + int(!aTurned),
      int(batched) + int(bTurned), a, b, y);
  return kernelOf(casts ? wideA : a, casts ? wideB : b, y, body);
}

struct Convolution {
  int64_t examples, height, width, channels, filters;
};

/// A convolution, or its gradient by the kernel, with 3 x 3 taps and this base dilation along each axis.
std::string window(const Convolution &of, const std::string &element, const std::string &baseDilations, bool byKernel) {
  const std::string result = element == "i8" ? "i32" : "f32";
  const std::string image =
                        fmt::format("tensor<{}x{}x{}x{}x{}>", of.examples, of.height + 2,
                                    baseDilations == "1, 1" ? of.width + 2 : (of.width + 3) / 2, of.channels, element),
                    window = fmt::format("tensor<{}x{}x{}x3x3x{}x{}>", of.examples, of.height, of.width, of.channels,
                                         element);
  const std::string places = fmt::format("tensor<{}x{}x{}x{}x", of.examples, of.height, of.width, of.filters),
                    taps = fmt::format("tensor<3x3x{}x{}x", of.channels, of.filters);
  const std::string b = (byKernel ? places : taps) + element + ">", y = (byKernel ? taps : places) + result + ">";
  return kernelOf(
      image, b, y,
      fmt::format(
          "  %0 = halftone.window %x {{stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, "
          "hole = array<i64: {5}>}} : {0} to {1}\n"
          "  %y = halftone.contract %0, %w {{lhs_contract = array<i64: {2}>, rhs_contract = array<i64: 0, 1, 2>}}\n"
          "      : ({1}, {3}) -> {4}\n",
          image, window, byKernel ? "0, 1, 2" : "3, 4, 5", b, y, baseDilations));
}

std::string windows(Draw &draw) {
  const std::string element = draw.of({"f32", "f32", "bf16", "bf16", "i8"});
  const int64_t examples = draw.of({1, 2}), height = draw.of({1, 2, 6}), width = draw.of({3, 8, 8}),
                channels = draw.of({3, 16, 16}), filters = draw.of({20, 70});
  return window({examples, height, width, channels, filters}, element, "1, 1", draw.coin());
}

/// The plan of the kernel's code on a CPU, or nothing if the CPU rejects panels, which it would not request.
std::optional<Found> planned(const std::string &text, const CpuTarget &cpu, bool strict) {
  const KernelHarness kernel(text, cpu.name, strict);
  KernelContext context;
  const DiagnosticText diagnostics(&context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kernel.linalgText(), &context);
  REQUIRE(module);
  mlir::func::FuncOp function = *module->getOps<mlir::func::FuncOp>().begin();
  REQUIRE(succeeded(legalizeStorage(function, cpu.math)));
  auto source = KernelSource::read(function);
  REQUIRE(succeeded(source));
  const auto plan = MatmulPlan::of(*source, cpu);
  if (failed(plan)) {
    CHECK_THAT(diagnostics.failure("").diagnostics(),
               Catch::Contains("panels of ") && Catch::Contains("are not supported"));
    return std::nullopt;
  }
  CHECK(MatmulPlan::isLegal(plan->multiply, plan->groupSize > 1, plan->a, plan->b));
  return Found{int(plan->multiply), plan->groupSize > 1, int(plan->a), int(plan->b)};
}

} // namespace

TEST_CASE("The plan of each product is legal, and each legal one is some product's", "[kernels]") {
  std::vector<CpuTarget> targets;
  for (const char *name : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86_64-unknown-linux-gnu:znver4", "sapphirerapids",
                           "aarch64-unknown-linux-gnu:neoverse-n1"}) {
    auto cpu = CpuTarget::find(name);
    REQUIRE(cpu.isOk());
    targets.push_back(*cpu);
  }
  const CpuTarget &pairs = targets[3]; // the target with most kinds of plans
  std::set<Found> found;
  constexpr int products = 500;
  int refused = 0;
  for (unsigned seed = 0; seed < products; ++seed) {
    Draw draw(seed);
    const std::string text = draw.coin() ? windows(draw) : matrices(draw);
    const bool strict = draw.of({false, false, false, true});
    const CpuTarget &cpu = draw.coin() ? pairs : targets[draw.below(targets.size())];
    CAPTURE(seed, cpu.name, strict, text);
    if (const auto plan = planned(text, cpu, strict))
      found.insert(*plan);
    else
      ++refused;
  }
  CHECK(refused > 0);
  CHECK(refused < products / 20);
  for (const Multiply multiply : {Multiply::registers, Multiply::dots, Multiply::amxTiles, Multiply::imageLines})
    for (const bool groups : {false, true})
      for (const ReadA a : {ReadA::inPlace, ReadA::pairsInPlace, ReadA::packedRows, ReadA::packedColumns,
                            ReadA::packedPanels, ReadA::image})
        for (const ReadB b : {ReadB::inPlace, ReadB::packedStrip, ReadB::packedTile}) {
          const Found each{int(multiply), groups, int(a), int(b)};
          INFO(each.str());
          CHECK(MatmulPlan::isLegal(multiply, groups, a, b) == found.contains(each));
        }
}

TEST_CASE("A schedule that a product's form contradicts is refused", "[kernels]") {
  const std::string zen4 = "x86_64-unknown-linux-gnu:znver4";
  const auto refuses = [](const std::string &text, const std::string &target, const std::string &parameters,
                          const std::string &expected) {
    INFO(text << parameters);
    const KernelHarness kernel(text, target, false);
    CHECK_THAT(kernel.refusalOf("#halftone_cpu.matmul<" + parameters + ">"), Catch::Contains(expected));
  };
  const auto product = [](const std::string &a, const std::string &b, const std::string &y,
                          const std::string &lhsContract, const std::string &rhsContract) {
    return kernelOf(a, b, y,
                    fmt::format("  %y = halftone.contract %x, %w {{lhs_contract = array<i64: {}>, rhs_contract = "
                                "array<i64: {}>}} : ({}, {}) -> {}\n",
                                lhsContract, rhsContract, a, b, y));
  };
  const auto plain = [&](const std::string &element, const std::string &result) {
    return product("tensor<40x64x" + element + ">", "tensor<64x48x" + element + ">", "tensor<40x48x" + result + ">",
                   "1", "0");
  };
  const std::string f32 = plain("f32", "f32");
  for (const char *read : {"image", "positions"}) {
    refuses(f32, "x86-64-v4", fmt::format("window = {}", read),
            fmt::format("window = {} for a kernel whose left operand is not a window; expected window = rows", read));
    refuses(
        window({2, 6, 8, 16, 20}, "f32", "1, 2", false), "x86-64-v4", fmt::format("window = {}", read),
        fmt::format("window = {} for a window with base dilation or a stride below 1; expected window = rows", read));
  }
  refuses(window({2, 6, 8, 16, 20}, "bf16", "1, 1", false), zen4, "product = vdpbf16ps, window = image",
          "reading a window of 'i16' directly from the image is not supported");
  refuses(f32, "x86-64-v4", "product = vdpbf16ps", "vdpbf16ps is not a product that this CPU supports");
  refuses(f32, zen4, "product = vdpbf16ps", "vdpbf16ps with factors of 'f32' in memory; expected bf16 in f32");
  refuses(plain("f16", "f32"), zen4, "product = vdpbf16ps", "vdpbf16ps with factors of 'i16' in memory");
  refuses(f32, zen4, "product = vpdpbusd", "vpdpbusd with factors of 'f32' in memory; expected i8 in i32");
  refuses(product("tensor<40x8x8xi8>", "tensor<8x48x8xi8>", "tensor<40x48xi32>", "1, 2", "0, 2"), zen4,
          "product = vpdpbusd", "vpdpbusd with several K dims; expected one");
  refuses(product("tensor<64x40xi8>", "tensor<64x48xi8>", "tensor<40x48xi32>", "0", "0"), zen4, "product = vpdpbusd",
          "product vpdpbusd with the left operand packed as [k][row] and the right operand packed by tiles is not "
          "supported");
}
