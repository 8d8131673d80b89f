// PTX versions and targets: each instruction has its minimum, as in NVIDIA's assembler.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Requirements.h"
#include "tests/TemporaryFolder.h"
#include "tests/emulator/tests/DriverLibrary.h"
#include "tests/emulator/tests/KernelRun.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fmt/format.h>

using namespace halftone::emulator;
using Catch::Contains;

namespace {

struct Sample {
  const char *instruction;
  uint32_t version,
      target; ///< the minimum; sm_75 also represents older targets, and 6.3 older versions
};

constexpr Sample samples[] = {
    {"abs.bf16 %h0, %h1;", 70, 80},
    {"abs.f16 %h0, %h1;", 65, 75},
    {"activemask.b32 %r0;", 63, 75},
    {"add.f16 %h0, %h1, %h2;", 63, 75},
    {"add.rn.bf16 %h0, %h1, %h2;", 78, 90},
    {"bar.cta.sync 0;", 78, 75},
    {"bar.warp.sync -1;", 63, 75},
    {"barrier.sync 0;", 63, 75},
    {"copysign.f32 %f0, %f1, %f2;", 63, 75},
    {"cp.async.cg.shared.global [%r1], [%d1], 16;", 70, 80},
    {"cp.async.cg.shared.global.L2::128B [%r1], [%d1], 16;", 74, 80},
    {"cp.async.wait_all;", 70, 80},
    {"cvt.f32.bf16 %f0, %h1;", 71, 80},
    {"cvt.f32.f16 %f0, %h1;", 63, 75},
    {"cvt.f64.bf16 %g0, %h1;", 78, 90},
    {"cvt.rn.bf16.f32 %h0, %f1;", 70, 80},
    {"cvt.rn.bf16.s32 %h0, %r1;", 78, 90},
    {"cvt.rn.bf16x2.f32 %r0, %f1, %f2;", 70, 80},
    {"cvt.rn.f16.f32 %h0, %f1;", 63, 75},
    {"cvt.rn.f16x2.f32 %r0, %f1, %f2;", 70, 80},
    {"cvt.rn.relu.f16.f32 %h0, %f1;", 70, 80},
    {"cvt.rna.tf32.f32 %r0, %f1;", 70, 80},
    {"cvt.rzi.s32.bf16 %r0, %h1;", 78, 90},
    {"cvta.param.u64 %d0, a;", 77, 75},
    {"cvta.shared.u64 %d0, %d1;", 63, 75},
    {"fence.acq_rel.gpu;", 63, 75},
    {"fma.rn.bf16 %h0, %h1, %h2, %h3;", 70, 80},
    {"fma.rn.f16 %h0, %h1, %h2, %h3;", 63, 75},
    {"fma.rn.relu.f16 %h0, %h1, %h2, %h3;", 70, 80},
    {"ld.acquire.gpu.global.b32 %r0, [%d0];", 63, 75},
    {"ld.global.L1::no_allocate.b32 %r0, [%d0];", 74, 75},
    {"ld.global.L2::128B.b32 %r0, [%d0];", 74, 75},
    {"ld.global.L2::256B.b32 %r0, [%d0];", 74, 80},
    {"ld.global.nc.b32 %r0, [%d0];", 63, 75},
    {"ld.shared::cta.b32 %r0, [%r1];", 78, 75},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r4];", 65, 75},
    {"ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r0, %r1, %r2, %r3}, [%r4];", 78, 75},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x80;", 63, 75},
    {"max.NaN.bf16x2 %r0, %r1, %r2;", 70, 80},
    {"max.NaN.f32 %f0, %f1, %f2;", 70, 80},
    {"max.f32 %f0, %f1, %f2;", 63, 75},
    {"membar.gl;", 63, 75},
    {"min.f16x2 %r0, %r1, %r2;", 70, 80},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, "
     "{%f0, %f1, %f2, %f3};",
     70, 80},
    {"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r6, %r7, %r8, %r9}, {%r0, %r1}, {%r2}, {%r6, %r7, %r8, %r9};",
     70, 80},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%r6, %r7, %r8, %r9}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, "
     "{%r6, %r7, %r8, %r9};",
     70, 80},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {%f0, %f1, %f2, "
     "%f3};",
     70, 80},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {%f0, %f1, %f2, "
     "%f3};",
     70, 80},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {%f0, %f1, %f2, %f3};",
     65, 75},
    {"mul.bf16x2 %r0, %r1, %r2;", 78, 90},
    {"neg.bf16 %h0, %h1;", 70, 80},
    {"neg.f16x2 %r0, %r1;", 63, 75},
    {"prefetch.global.L2 [%d0];", 63, 75},
    {"redux.sync.add.s32 %r0, %r1, -1;", 70, 80},
    {"setp.lt.bf16 %p0, %h0, %h1;", 78, 90},
    {"setp.lt.f16x2 %p0|%p1, %r0, %r1;", 63, 75},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 63, 75},
    {"shfl.sync.idx.b32 %r0, %r1, 0, 31, -1;", 63, 75},
    {"st.global.L1::evict_last.b32 [%d0], %r0;", 74, 75},
    {"st.release.cta.global.b32 [%d0], %r0;", 63, 75},
    {"st.shared::cta.b32 [%r1], %r0;", 78, 75},
    {"sub.bf16x2 %r0, %r1, %r2;", 78, 90},
    {"tanh.approx.f32 %f0, %f1;", 70, 75},
    {"vote.sync.ballot.b32 %r0, %p0, -1;", 63, 75},
};
constexpr uint32_t versions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80};
constexpr uint32_t targets[] = {75, 80, 86, 89, 90};

/// The predecessor of `value` in an ascending list; 0 at its start.
template <size_t count> uint32_t before(const uint32_t (&values)[count], uint32_t value) {
  uint32_t found = 0;
  for (uint32_t each : values)
    if (each < value)
      found = each;
  return found;
}

std::string moduleOf(const std::string &instruction, uint32_t version, uint32_t target) {
  return fmt::format(".version {}\n.target sm_{}\n.address_size 64\n.visible .entry test(.param .u64 a) {{\n.reg .pred "
                     "%p<4>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %d<8>; .reg .f64 "
                     "%g<4>;\n{}\nret; }}\n",
                     versionText(version), target, instruction);
}

std::string refusalToLoad(const std::string &ptx) {
  try {
    DeviceMemory memory(1 << 20);
    LoadedModule module(ptx, memory, 90);
  } catch (const PtxError &error) {
    return error.what();
  }
  return "";
}

/// Modules around a sample's minimum version and target, and whether the sample permits each.
struct Case {
  std::string ptx;
  bool isAllowed;
};
std::vector<Case> casesOf(const Sample &sample) {
  const uint32_t version = std::max(sample.version, versionForTarget(sample.target));
  std::vector<Case> made{{moduleOf(sample.instruction, version, sample.target), true},
                         {moduleOf(sample.instruction, 80, 90), true}};
  if (const uint32_t older = before(versions, sample.version); older >= versionForTarget(sample.target))
    made.push_back({moduleOf(sample.instruction, older, sample.target), false});
  if (const uint32_t older = before(targets, sample.target))
    made.push_back({moduleOf(sample.instruction, 80, older), false});
  return made;
}

std::string findPtxas() {
  for (const char *file : {"/usr/bin/ptxas", "/usr/local/cuda/bin/ptxas"})
    if (std::ifstream(file))
      return file;
  return "";
}

} // namespace

TEST_CASE("An instruction is refused under a version or a target that does not have it") {
  for (const Sample &sample : samples)
    for (const Case &each : casesOf(sample)) {
      INFO(each.ptx);
      const std::string said = refusalToLoad(each.ptx);
      CHECK(said.empty() == each.isAllowed);
      if (!each.isAllowed)
        CHECK_THAT(said, Contains("line 6") && Contains("expected at least"));
    }
}

TEST_CASE("NVIDIA's assembler has the same versions and targets") {
  const std::string ptxas = findPtxas();
  if (ptxas.empty()) {
    WARN("skipped: ptxas is not installed");
    return;
  }
  halftone::TemporaryFolder folder;
  const std::string file = folder / "kernel.ptx";
  for (const Sample &sample : samples)
    for (const Case &each : casesOf(sample)) {
      INFO(each.ptx);
      folder.write("kernel.ptx", each.ptx);
      const int result = std::system((ptxas + " -O0 -arch=sm_90 " + file + " -o /dev/null > /dev/null 2>&1").c_str());
      CHECK((result == 0) == each.isAllowed);
    }
}

TEST_CASE("A target is refused under a version that does not know it") {
  CHECK_THAT(refusalToLoad(".version 7.0 .target sm_90 .address_size 64"),
             Contains("sm_90") && Contains("at least 7.8"));
  CHECK(refusalToLoad(".version 7.8 .target sm_90 .address_size 64") == "");
  CHECK_THAT(refusalToLoad(".version 6.3 .target sm_80 .address_size 64"), Contains("at least 7.0"));
  CHECK_THAT(refusalToLoad(".version 8 .target sm_80 .address_size 64"), Contains("the version `8`"));
}

TEST_CASE("A driver refuses a version that is newer than its own with an error of its own") {
  const auto load = [](const std::string &driverVersion, const std::string &version) {
    DriverLibrary driver({{"HALFTONE_EMULATOR_DRIVER", driverVersion}});
    const std::string ptx =
        ".version " + version + "\n.target sm_80\n.address_size 64\n.visible .entry test() { ret; }";
    char log[256] = "";
    int options[] = {int(JitOption::ErrorLogBuffer), int(JitOption::ErrorLogBufferSizeBytes)};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log))}, *module = nullptr;
    int result = driver.call("cuModuleLoadDataEx", &module, static_cast<const void *>(ptx.c_str()), 2u,
                             static_cast<int *>(options), static_cast<void **>(values));
    if (result)
      CHECK_THAT(log, Contains("the driver takes versions up to"));
    return static_cast<Result>(result);
  };
  CHECK(load("12000", "8.0") == Result::Success);
  CHECK(load("12000", "8.1") == Result::UnsupportedPtxVersion);
  CHECK(load("11080", "8.0") == Result::UnsupportedPtxVersion);
  CHECK(load("12060", "8.5") == Result::Success);
  CHECK(load("12060", "8.6") == Result::UnsupportedPtxVersion);
  CHECK(load("13000", "9.0") == Result::Success);
}
