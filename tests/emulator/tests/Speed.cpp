// A kernel long enough to show the emulator's rate in thread instructions a second of CPU time.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/tests/KernelRun.h"
#include <catch2/catch.hpp>
#include <ctime>
#include <fmt/format.h>

using namespace halftone::emulator;

TEST_CASE("A loop of loads, multiply-adds and stores computes its sums, and its rate is printed") {
  // Each thread adds up 32 products of two vectors, through global and shared memory.
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
  KernelRun run(1);
  constexpr uint32_t blocks = 48;
  uint64_t x = run.upload(std::vector<float>(256, 2)), y = run.empty(blocks * 1024);
  std::clock_t start = std::clock();
  run.run(ptx, {blocks, 1, 1}, {256, 1, 1}, 0, x, y);
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(run.download<float>(y, 1)[0] == 1 + 32 * 3);
  CHECK(run.counts.threadInstructions > 48 * 256 * 32 * 9);
  double rate = run.counts.threadInstructions / seconds;
  fmt::print("  {:.0f} million thread instructions a second\n", rate / 1e6);
}
