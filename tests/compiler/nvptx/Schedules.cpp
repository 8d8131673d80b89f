// The schedules of GPUs as attributes: their text, what they reject, and the answers of their interface.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/Schedules.h"
#include "compiler/codegen/KernelCompiler.h"
#include "compiler/targets/nvptx/Schedules.h"
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/ScheduleTexts.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::compiler;
using dialect::KernelKind;
using halftone::testing::KernelHarness;
using halftone::testing::ScheduleTexts;

namespace {

constexpr const char *product = R"(
halftone.kernel matmul @k (tensor<24x64xbf16>, tensor<64x40xbf16>) -> tensor<24x40xf32> {
^bb0(%a: tensor<24x64xbf16>, %b: tensor<64x40xbf16>):
  %0 = halftone.contract %a, %b {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<24x64xbf16>, tensor<64x40xbf16>) -> tensor<24x40xf32>
  halftone.yield %0 : tensor<24x40xf32>
})";

constexpr const char *sums = R"(
halftone.kernel row @k (tensor<40x64xf32>) -> tensor<40xf32> {
^bb0(%x: tensor<40x64xf32>):
  %s = halftone.reduce sum %x {axes = array<i64: 1>} : tensor<40x64xf32> -> tensor<40xf32>
  halftone.yield %s : tensor<40xf32>
})";

constexpr const char *pieces = R"(
halftone.kernel row @k (tensor<40x64xf64>) -> (tensor<40xf64>, tensor<8x64xf64>) attributes {spec = #halftone.blocks<rows = 5>} {
^bb0(%x: tensor<40x64xf64>):
  %s = halftone.reduce sum %x {axes = array<i64: 1>} : tensor<40x64xf64> -> tensor<40xf64>
  %p = halftone.partial_reduce sum %x {axes = array<i64: 0>, tile = array<i64: 5>} : tensor<40x64xf64> -> tensor<8x64xf64>
  halftone.yield %s, %p : tensor<40xf64>, tensor<8x64xf64>
})";

constexpr const char *doubled = R"(
halftone.kernel loop @k (tensor<40xf32>) -> tensor<40xf32> {
^bb0(%x: tensor<40xf32>):
  %0 = halftone.add %x, %x : tensor<40xf32>
  halftone.yield %0 : tensor<40xf32>
})";

/// The error of compiling the kernel after `from` in its linalg form is replaced by `to`.
std::string refusal(const KernelHarness &kernel, const std::string &from, const std::string &to) {
  std::string text = kernel.linalgText();
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  const auto code = compileKernel(text.replace(at, from.size(), to), **Target::find("sm_80"));
  REQUIRE_FALSE(code.isOk());
  return code.status().message() + "\n" + code.status().diagnostics();
}

} // namespace

TEST_CASE("Schedules of GPUs are printed as they are read") {
  ScheduleTexts schedules;
  for (const char *text :
       {"#halftone_gpu.matmul<tile = [128, 64], divisors = [16, 16, 8]>",
        "#halftone_gpu.matmul<tile = [1, 12], divisors = []>",
        "#halftone_gpu.row<teams = 8, across = 32, vector = 4, steps = 2>",
        "#halftone_nvptx.mma<product = mma_m16n8k16_bf16, tile = [128, 128], divisors = [1, 2, 4]>"}) {
    INFO(text);
    const ScheduleAttrInterface schedule = schedules.read(text);
    REQUIRE(schedule);
    CHECK(ScheduleTexts::textOf(schedule) == text);
  }
}

TEST_CASE("Schedules of GPUs refuse tiles and teams that no block has") {
  ScheduleTexts schedules;
  const auto refuses = [&](const std::string &text, const std::string &expected) {
    CHECK_THAT(schedules.refusal(text), Catch::Contains(expected));
  };
  refuses("#halftone_gpu.matmul<tile = [128], divisors = [1]>",
          "#halftone_gpu.matmul: tile = [128]; expected the rows and columns of a tile, at least 1 of each");
  refuses("#halftone_gpu.matmul<tile = [0, 64], divisors = [1]>", "tile = [0, 64]; expected the rows and columns");
  refuses("#halftone_nvptx.mma<product = mma_m16n8k16_f16, tile = [64, 64, 64], divisors = []>",
          "#halftone_nvptx.mma: tile = [64, 64, 64]; expected the rows and columns");
  refuses("#halftone_gpu.matmul<tile = [64, 64], divisors = [16, 3]>",
          "divisors = [16, 3]; expected powers of two up to 16");
  refuses("#halftone_gpu.matmul<tile = [64, 64], divisors = [32]>", "divisors = [32]");
  refuses("#halftone_gpu.matmul<tile = [64, 64], divisors = [0]>", "divisors = [0]");
  refuses("#halftone_gpu.matmul<tile = [64, 64]>", "expected ','");
  refuses("#halftone_nvptx.mma<product = wgmma, tile = [64, 64], divisors = []>", "got: wgmma");
  const std::string ofThreads = "expected powers of two, teams of 32 threads or more, and at most 1024 threads";
  for (const char *sizes : {"teams = 3, across = 32", "teams = 8, across = 48", "teams = 8, across = 16",
                            "teams = 0, across = 32", "teams = 64, across = 32", "teams = 1, across = 2048",
                            "teams = 4611686018427387904, across = 4611686018427387904"})
    refuses(std::string("#halftone_gpu.row<") + sizes + ", vector = 4, steps = 1>", sizes + ("; " + ofThreads));
  for (const char *sizes :
       {"vector = 0, steps = 1", "vector = 3, steps = 1", "vector = 16, steps = 1", "vector = 2147483648, steps = 0",
        "vector = 1, steps = -1", "vector = 8, steps = 17", "vector = 1, steps = 9223372036854775807"})
    refuses(std::string("#halftone_gpu.row<teams = 1, across = 32, ") + sizes + ">",
            std::string("#halftone_gpu.row: ") + sizes +
                "; expected a power of two up to 8, and 0 or more steps with at most 128 elements in total");
  CHECK(schedules.read("#halftone_gpu.row<teams = 1, across = 32, vector = 8, steps = 16>"));
  refuses("#halftone_gpu.row<teams = 2, across = 32, vector = 1, steps = 0>",
          "teams = 2 with steps = 0; expected 1 team, which uses the block's scratch");
}

TEST_CASE("Schedules of GPUs say which kernels and numerics they are for") {
  struct Expected {
    const char *text, *strategy;
    std::vector<KernelKind> kinds;
    bool strict, stored;
  };
  const std::vector<KernelKind> matmul{KernelKind::matmul}, rows{KernelKind::row, KernelKind::finish};
  ScheduleTexts schedules;
  for (const Expected &each : {
           Expected{"#halftone_gpu.matmul<tile = [64, 64], divisors = []>", "multiply-add", matmul, true, false},
           Expected{"#halftone_gpu.row<teams = 8, across = 32, vector = 4, steps = 2>", "rows in registers", rows, true,
                    false},
           Expected{"#halftone_gpu.row<teams = 1, across = 512, vector = 4, steps = 0>", "rows in steps", rows, true,
                    false},
           Expected{"#halftone_nvptx.mma<product = mma_m16n8k16_bf16, tile = [64, 64], divisors = []>",
                    "mma.m16n8k16.bf16", matmul, false, true},
           Expected{"#halftone_nvptx.mma<product = mma_m16n8k16_f16, tile = [64, 64], divisors = []>",
                    "mma.m16n8k16.f16", matmul, false, true},
           Expected{"#halftone_nvptx.mma<product = mma_m16n8k32_s8, tile = [64, 64], divisors = []>", "mma.m16n8k32.s8",
                    matmul, true, true},
       }) {
    INFO(each.text);
    const ScheduleAttrInterface schedule = schedules.read(each.text);
    REQUIRE(schedule);
    CHECK(schedule.getStrategy() == each.strategy);
    for (uint32_t kind = 0; kind <= dialect::getMaxEnumValForKernelKind(); ++kind)
      CHECK(schedule.fitsKind(KernelKind(kind)) == llvm::is_contained(each.kinds, KernelKind(kind)));
    CHECK(schedule.supports(compiler::Numerics::fast()));
    CHECK(schedule.supports(compiler::Numerics::strict()) == each.strict);
    CHECK(schedule.takesStoredFactors() == each.stored);
  }
}

TEST_CASE("GPUs choose schedules of matmuls and rows, and none of other kernels") {
  CHECK(KernelHarness(product, "sm_80", false).schedule() ==
        "#halftone_nvptx.mma<product = mma_m16n8k16_bf16, tile = [32, 32], divisors = [8, 8, 16]>");
  CHECK(KernelHarness(product, "sm_80", true).schedule() ==
        "#halftone_gpu.matmul<tile = [32, 32], divisors = [8, 8, 16]>");
  CHECK(KernelHarness(sums, "sm_80", true).schedule() ==
        "#halftone_gpu.row<teams = 8, across = 32, vector = 4, steps = 1>");
  CHECK(KernelHarness(doubled, "sm_80", false).schedule().empty());
}

TEST_CASE("A GPU kernel whose schedule is not one of its form is refused") {
  const KernelHarness matmul(product, "sm_80", false), row(sums, "sm_80", false), loop(doubled, "sm_80", false);
  const std::string mma = matmul.schedule(), plain = "#halftone_gpu.matmul<tile = [32, 32], divisors = [8, 8, 16]>";
  const auto refused = [](const KernelHarness &kernel, const std::string &from, const std::string &to,
                          const std::string &expected) {
    CAPTURE(from, to);
    CHECK_THAT(refusal(kernel, from, to), Catch::Contains(expected));
  };
  refused(matmul, ", halftone.schedule = " + mma, "", "expected #halftone_gpu.matmul, got none");
  refused(matmul, mma, "#halftone_cpu.matmul", "expected #halftone_gpu.matmul, got #halftone_cpu.matmul");
  refused(matmul, mma, row.schedule(), "expected a schedule for kernels of kind matmul, got #halftone_gpu.row");
  refused(matmul, "[8, 8, 16]", "[8, 8]", "a schedule with 2 divisors; expected 3, one per dim");
  refused(matmul, "[32, 32]", "[32, 192]", "tiles of 32 x 192 are not supported");
  refused(matmul, "mma_m16n8k16_bf16", "mma_m16n8k16_f16",
          "mma.m16n8k16.f16 with factors of 'i16' in memory and sums of 'f32'; expected float16 and float32");
  refused(matmul, "mma_m16n8k16_bf16", "mma_m16n8k32_s8", "mma.m16n8k32.s8 with factors of 'i16' in memory");
  refused(matmul, "%5 = arith.extf %in :", "%wide = arith.extf %in : bf16 to f32\n%5 = arith.negf %wide : f32 //",
          "mma.m16n8k16.bf16 with factors of 'i16' in memory");
  refused(matmul, mma, plain.substr(0, plain.size() - 1) + ", colour = 1>", "cannot be parsed");
  refused(row, ", halftone.schedule = " + row.schedule(), "", "expected #halftone_gpu.row, got none");
  refused(row, row.schedule(), plain, "expected a schedule for kernels of kind row, got #halftone_gpu.matmul");
  const KernelHarness side(pieces, "sm_80", false);
  refused(side, side.schedule(), "#halftone_gpu.row<teams = 32, across = 32, vector = 8, steps = 1>",
          "the threads of a block exchange 65536 bytes in shared memory; expected at most 49152");
  refused(row, "halftone.outer = 1", "halftone.outer = 2",
          "a reduction of a row kernel reduces none of the row's axes");
  refused(row, "halftone.kind = ", "halftone.row_tile = array<i64: 8, 32, 4, 1>, halftone.kind = ",
          "attribute 'halftone.row_tile' is not known on the function of a kernel");
  refused(loop, "halftone.kind = ", "halftone.schedule = " + plain + ", halftone.kind = ",
          "expected a schedule for kernels of kind loop, got #halftone_gpu.matmul");
}
