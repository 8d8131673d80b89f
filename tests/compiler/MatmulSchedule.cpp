// The schedules that CPUs choose, by the traits of a product, an attention or a grouped convolution.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulSchedule.h"
#include <catch2/catch.hpp>
#include <string>

using namespace halftone;
using namespace halftone::compiler;

namespace {

/// The schedule as text; "none" if there is none.
std::string scheduleOn(const std::string &target, const KernelTraits &traits) {
  auto cpu = CpuTarget::find(target);
  REQUIRE(cpu.isOk());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const ScheduleAttrInterface schedule = cpu->schedule(&context, traits);
  std::string text;
  if (!schedule)
    return "none";
  llvm::raw_string_ostream(text) << schedule;
  return text;
}

const MatmulTraits ofF32{.lhs = DType::float32,
                         .rhs = DType::float32,
                         .accumulator = DType::float32,
                         .rows = 64,
                         .columns = 128,
                         .depth = 64,
                         .lhsAlongDepth = true},
    ofBf16{.lhs = DType::bfloat16,
           .rhs = DType::bfloat16,
           .accumulator = DType::float32,
           .rows = 64,
           .columns = 128,
           .depth = 64,
           .lhsAlongDepth = true};

MatmulTraits ofWindow(MatmulTraits traits, int64_t channels) {
  traits.window = true;
  traits.windowChannels = traits.windowPitch = channels;
  traits.windowRun = 3 * channels, traits.windowLine = 14;
  return traits;
}

template <class Value> MatmulTraits changed(MatmulTraits traits, Value MatmulTraits::*field, Value value) {
  traits.*field = value;
  return traits;
}

constexpr const char *zen4 = "x86_64-unknown-linux-gnu:znver4", *neoverse = "aarch64-unknown-linux-gnu:neoverse-n1";

} // namespace

TEST_CASE("A matmul always has a schedule, which has the choices that do not follow from its form", "[targets]") {
  for (const char *target : {"x86-64-v2", "x86-64-v3", "x86-64-v4", neoverse, zen4, "sapphirerapids"})
    CHECK(scheduleOn(target, ofF32) == "#halftone_cpu.matmul");
  CHECK(scheduleOn(zen4, ofBf16) == "#halftone_cpu.matmul<product = vdpbf16ps, depth = even>");
  CHECK(scheduleOn(zen4, changed(ofBf16, &MatmulTraits::depth, int64_t(63))) ==
        "#halftone_cpu.matmul<product = vdpbf16ps>");
  CHECK(scheduleOn(zen4, changed(ofBf16, &MatmulTraits::numerics, Numerics::strict())) == "#halftone_cpu.matmul");
  CHECK(scheduleOn("sapphirerapids", ofBf16) == "#halftone_cpu.matmul<product = tdpbf16ps>");
  CHECK(scheduleOn(zen4, changed(ofF32, &MatmulTraits::rows, int64_t(16))) == "#halftone_cpu.matmul<few_rows = true>");
  CHECK(scheduleOn(zen4, changed(ofF32, &MatmulTraits::rows, int64_t(17))) == "#halftone_cpu.matmul");
  CHECK(scheduleOn(zen4, changed(ofF32, &MatmulTraits::vanishes, true)) == "#halftone_cpu.matmul<scales = true>");
  CHECK(scheduleOn("sapphirerapids", changed(ofBf16, &MatmulTraits::vanishes, true)) ==
        "#halftone_cpu.matmul<product = tdpbf16ps, scales = true>");
  CHECK(scheduleOn(zen4, changed(ofF32, &MatmulTraits::columns, int64_t(32))) == "#halftone_cpu.matmul<sums = tall>");
}

TEST_CASE("Two vectors of columns, and packed windows, are summed for many rows at a time", "[targets]") {
  const auto isTall = [](const char *target, MatmulTraits traits) {
    auto cpu = CpuTarget::find(target);
    REQUIRE(cpu.isOk());
    return sumsTall(*cpu, traits, chooseProduct(*cpu, traits));
  };
  const auto columns = [](int64_t count) {
    return MatmulTraits{DType::float32, DType::float32, DType::float32, 64, count};
  };
  CHECK(isTall("x86-64-v4", columns(32)));
  CHECK(!isTall("x86-64-v4", columns(64)));
  CHECK(!isTall("x86-64-v4", columns(16)));
  CHECK(!isTall("x86-64-v3", columns(32))); // sixteen registers only
  MatmulTraits window = columns(64);
  window.window = true;
  CHECK(!isTall("x86-64-v4", window)); // a gradient by the kernel
  window.lhsAlongDepth = true;
  CHECK(isTall("x86-64-v4", window));
}

TEST_CASE("Windows are read in the image where it has channels enough, and along positions where it has few",
          "[targets]") {
  CHECK(scheduleOn("x86-64-v4", ofWindow(ofF32, 16)) == "#halftone_cpu.matmul<window = image>");
  CHECK(scheduleOn("x86-64-v3", ofWindow(ofF32, 16)) == "#halftone_cpu.matmul<window = image>");
  CHECK(scheduleOn("x86-64-v2", ofWindow(ofF32, 16)) == "#halftone_cpu.matmul"); // no fused multiply-add
  CHECK(scheduleOn("x86-64-v4", changed(ofWindow(ofF32, 16), &MatmulTraits::numerics, Numerics::strict())) ==
        "#halftone_cpu.matmul<sums = tall>");
  CHECK(scheduleOn("x86-64-v4", ofWindow(ofF32, 8)) == "#halftone_cpu.matmul<sums = tall>");
  CHECK(scheduleOn("x86-64-v4", ofWindow(ofF32, 3)) == "#halftone_cpu.matmul<window = positions>");
  CHECK(scheduleOn(zen4, ofWindow(ofBf16, 16)) ==
        "#halftone_cpu.matmul<product = vdpbf16ps, window = image, depth = even>");
  CHECK(scheduleOn(zen4, ofWindow(ofBf16, 3)) == "#halftone_cpu.matmul<window = positions>");
}

TEST_CASE("Several dims of K in runs of whole vectors are one fact of the schedule, in pairs too", "[targets]") {
  MatmulTraits several = changed(ofBf16, &MatmulTraits::splitDepth, true);
  several.depthRun = 32;
  CHECK(scheduleOn(zen4, several) == "#halftone_cpu.matmul<product = vdpbf16ps, depth = runs>");
  several.depthRun = 16;
  CHECK(scheduleOn(zen4, several) == "#halftone_cpu.matmul<depth = runs>");
  several.depthRun = 8;
  CHECK(scheduleOn(zen4, several) == "#halftone_cpu.matmul");
  CHECK(scheduleOn("x86-64-v3", several) == "#halftone_cpu.matmul<depth = runs>");
}

TEST_CASE("Attention multiplies pairs where a matmul of its queries does, and takes few queries one at a time",
          "[targets]") {
  const AttentionTraits many{DType::bfloat16, 64, 80, 16, 8}, few{DType::bfloat16, 2, 300, 16, 8},
      wide{DType::float32, 64, 80, 16, 8};
  AttentionTraits gradient = few;
  gradient.isGradient = true;
  CHECK(scheduleOn(zen4, many) == "#halftone_cpu.attention<product = vdpbf16ps>");
  CHECK(scheduleOn("sapphirerapids", many) == "#halftone_cpu.attention<product = tdpbf16ps>");
  CHECK(scheduleOn("x86-64-v4", many) == "#halftone_cpu.attention");
  CHECK(scheduleOn(zen4, wide) == "#halftone_cpu.attention");
  CHECK(scheduleOn(zen4, few) == "#halftone_cpu.attention<few_queries = true>");
  CHECK(scheduleOn(zen4, gradient) == "#halftone_cpu.attention"); // with so few queries pairs do not pay
}

TEST_CASE("Lanes run along groups where whole groups fill a vector", "[targets]") {
  CHECK(scheduleOn("x86-64-v4", GroupedTraits{DType::float32, 2, 2, 3}) ==
        "#halftone_cpu.grouped<filters = 2, channels = 2, channel_dim = 3>");
  CHECK(scheduleOn("x86-64-v3", GroupedTraits{DType::float32, 8, 1, -1}) ==
        "#halftone_cpu.grouped<filters = 8, channels = 1>");
  CHECK(scheduleOn("x86-64-v3", GroupedTraits{DType::float32, 3, 1, -1}) == "none");
  CHECK(scheduleOn("x86-64-v3", GroupedTraits{DType::float32, 16, 1, -1}) == "none");
}
