// Kernels long enough to measure the emulator: thread instructions and matrix products per second of CPU time.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/tests/KernelRun.h"
#include <catch2/catch.hpp>
#include <ctime>
#include <fmt/format.h>

using namespace halftone::emulator;

TEST_CASE("A loop of loads, multiply-adds and stores computes its sums, and its rate is printed") {
  // Each thread sums 32 products of two vectors, through global and shared memory.
  const std::string ptx = kernelPtx(".param .u64 x, .param .u64 y", R"(
.reg .pred %p; .reg .b32 %t, %i, %r<9>; .reg .f32 %f<9>; .reg .b64 %x, %y, %d<9>;
mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 256, %t; ld.param.u64 %x, [x]; ld.param.u64 %y, [y];
mul.wide.u32 %d0, %i, 4; add.s64 %y, %y, %d0; mul.wide.u32 %d1, %t, 4; add.s64 %x, %x, %d1;
shl.b32 %r1, %t, 2; mov.b32 %r2, s; add.u32 %r1, %r1, %r2; mov.f32 %f0, 0f3F800000; st.shared.f32 [%r1], %f0;
mov.b32 %r3, 0;
$loop: ld.global.f32 %f1, [%x]; ld.shared.f32 %f2, [%r1]; fma.rn.f32 %f0, %f1, %f2, %f0; mul.f32 %f3, %f1, 0f3F000000; max.f32 %f4, %f3, %f2;
add.f32 %f0, %f0, %f4; add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 32; @%p bra $loop;
st.global.f32 [%y], %f0; ret;)",
                                    ".shared .align 4 .b8 s[1024];");
  const bool countsAccesses = GENERATE(false, true);
  KernelRun run(1);
  if (countsAccesses)
    run.counts.accesses.emplace();
  constexpr uint32_t blocks = 48;
  uint64_t x = run.upload(std::vector<float>(256, 2)), y = run.empty(blocks * 1024);
  std::clock_t start = std::clock();
  run.run(ptx, {blocks, 1, 1}, {256, 1, 1}, 0, x, y);
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(run.download<float>(y, 1)[0] == 1 + 32 * 3);
  CHECK(run.counts.threadInstructions > 48 * 256 * 32 * 9);
  double rate = run.counts.threadInstructions / seconds;
  fmt::print("  {:.0f} million thread instructions a second{}\n", rate / 1e6,
             countsAccesses ? ", accesses counted" : "");
}

TEST_CASE("A loop of ldmatrix and mma.sync computes its sums, and its rate is printed") {
  // Each warp multiplies 16 x 16 ones by 16 x 32 ones, 64 times.
  std::string body = R"(
.reg .pred %p; .reg .b32 %t, %i, %r<20>; .reg .f32 %f<16>; .reg .b64 %y, %d;
ld.param.u64 %y, [y]; mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 128, %t; mul.wide.u32 %d, %i, 16; add.s64 %y, %y, %d;
shl.b32 %r0, %t, 4; mov.b32 %r1, s; add.u32 %r0, %r0, %r1; mov.b32 %r2, 0x3C003C00; st.shared.v4.b32 [%r0], {%r2, %r2, %r2, %r2};
mov.b32 %r3, 0; bar.sync 0;
)";
  std::string products;
  for (int place = 0; place < 16; ++place)
    body += fmt::format("mov.f32 %f{}, 0f00000000; ", place);
  for (int column = 0; column < 4; ++column) {
    const std::string own =
        fmt::format("{{%f{}, %f{}, %f{}, %f{}}}", 4 * column, 4 * column + 1, 4 * column + 2, 4 * column + 3);
    products += fmt::format("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {0}, {{%r4, %r5, %r6, %r7}}, "
                            "{{%r{1}, %r{2}}}, {0};\n",
                            own, 8 + 2 * (column % 2), 9 + 2 * (column % 2));
  }
  body += R"(
$loop: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r0]; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r0];
)" + products +
          R"(add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 64; @%p bra $loop;
st.global.v4.f32 [%y], {%f0, %f5, %f10, %f15}; ret;)";
  const bool countsAccesses = GENERATE(false, true);
  KernelRun run(1);
  if (countsAccesses)
    run.counts.accesses.emplace();
  constexpr uint32_t blocks = 16, warps = 4;
  uint64_t y = run.empty(blocks * warps * 32 * 16);
  std::clock_t start = std::clock();
  run.run(kernelPtx(".param .u64 y", body, ".shared .align 16 .b8 s[2048];"), {blocks, 1, 1}, {warps * 32, 1, 1}, 0, y);
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  for (float sum : run.download<float>(y, blocks * warps * 32 * 4))
    REQUIRE(sum == 64 * 16);
  constexpr double count = double(blocks) * warps * 64 * 4 * 16 * 8 * 16;
  fmt::print("  {:.2f} G products a second{}\n", count / seconds / 1e9, countsAccesses ? ", accesses counted" : "");
}
