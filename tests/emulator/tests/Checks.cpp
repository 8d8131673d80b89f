// Each checker catches its fault, with kernel, line, block, thread and address, under every order.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/tests/KernelRun.h"
#include <catch2/catch.hpp>

using namespace halftone::emulator;
using Catch::Contains;

namespace {

const std::string parameters = ".param .u64 a, .param .u64 b";
/// %t: the thread, %c: the block, %a and %b: the parameters.
const std::string prologue =
    ".reg .pred %p<9>; .reg .b32 %t, %c, %r<20>; .reg .b64 %a, %b, %d<9>; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; "
    "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; mul.wide.u32 %d8, %t, 4;\n";

struct Shape {
  uint32_t blocks = 1;
  uint32_t threads = 64;
  uint64_t seed = 0;
};

/// The fault of a kernel with two buffers of 1024 bytes, `a` initialized and `b` not.
std::string faultOf(const std::string &body, Shape shape = {},
                    const std::string &outside = ".shared .align 16 .b8 s[512];") {
  KernelRun run(shape.seed);
  uint64_t a = run.upload(std::vector<uint32_t>(256, 1)), b = run.empty(1024);
  return run.fault(kernelPtx(parameters, prologue + body, outside), {shape.blocks, 1, 1}, {shape.threads, 1, 1}, 0, a,
                   b);
}

std::string faultInAnyOrder(const std::string &body, uint32_t blocks = 1, uint32_t threads = 64) {
  std::string last;
  for (uint64_t seed : {0, 1, 2, 3}) {
    last = faultOf(body, {blocks, threads, seed});
    CHECK_FALSE(last.empty());
  }
  return last;
}

} // namespace

TEST_CASE("A correct kernel has no fault") {
  CHECK(faultOf("add.s64 %d0, %a, %d8; add.s64 %d1, %b, %d8; ld.global.u32 %r0, [%d0]; st.global.u32 [%d1], %r0; ret;")
            .empty());
}

TEST_CASE("An access out of bounds names kernel, line, block, thread and the allocation") {
  std::string fault = faultOf("setp.ne.u32 %p1, %t, 9; @%p1 ret;\nld.global.u32 %r0, [%a+1024];\nret;", {2, 64, 0});
  CHECK_THAT(fault, Contains("kernel test, line 9 of its PTX, block (0, 0, 0), thread (9, 0, 0)"));
  CHECK_THAT(faultOf("trap; ret;", {1, 1, 7}), Contains("(seed 7)"));
  CHECK_THAT(fault, Contains("reads 4 bytes") && Contains("1024 bytes") && Contains("0 bytes behind the end"));
  CHECK_THAT(faultOf("st.global.u32 [%a+-4], %t; ret;", {1, 1, 0}), Contains("writes 4 bytes"));
  CHECK_THAT(faultOf("mov.b64 %d0, 0; ld.global.u32 %r0, [%d0]; ret;"), Contains("at 0x0"));
  CHECK_THAT(faultOf("st.shared.u32 [s+512], %t; ret;", {1, 1, 0}), Contains("shared memory at 0x600"));
  CHECK_THAT(faultOf("ld.param.u64 %a, [b+8]; ret;"), Contains("parameters"));
}

TEST_CASE("A misaligned access is a fault of its own kind") {
  KernelRun run;
  uint64_t a = run.upload(std::vector<uint32_t>(256, 1));
  try {
    run.run(kernelPtx(parameters, prologue + "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a+8]; ret;"), {1, 1, 1},
            {1, 1, 1}, 0, a, a);
    FAIL("no fault");
  } catch (const Fault &fault) {
    CHECK(fault.kind == FaultKind::MisalignedAddress);
    CHECK_THAT(fault.what(), Contains("aligned to 16"));
  }
}

TEST_CASE("Bytes that nothing has written may not be read") {
  CHECK_THAT(faultOf("ld.global.u32 %r0, [%b]; ret;"), Contains("nothing has written"));
  CHECK_THAT(faultOf("st.global.u8 [%b], %t; ld.global.u32 %r0, [%b]; ret;", {1, 1, 0}),
             Contains("nothing has written"));
  CHECK_THAT(faultOf("ld.shared.u32 %r0, [s]; ret;"), Contains("shared memory") && Contains("nothing has written"));
  KernelRun run;
  std::vector<uint32_t> host(4);
  CHECK_THROWS_WITH(run.memory.read(host.data(), run.empty(16), 16), Contains("copy to the host"));
}

TEST_CASE("Threads that use a word of shared memory without a barrier between them are caught in any order") {
  const std::string address = "cvt.u32.u64 %r1, %d8; mov.b32 %r2, s; add.u32 %r1, %r1, %r2; ";
  CHECK_THAT(faultInAnyOrder(address + "st.shared.u32 [%r1], %t; xor.b32 %r3, %r1, 4; ld.shared.u32 %r0, [%r3]; ret;"),
             Contains("expected a barrier"));
  CHECK_THAT(faultInAnyOrder("st.shared.u32 [s], %t; ret;"), Contains("has written"));
  // A read, then a write by another thread without a barrier.
  CHECK_THAT(
      faultInAnyOrder(address +
                      "st.shared.u32 [%r1], %t; bar.sync 0; ld.shared.u32 %r0, [s+8]; st.shared.u32 [%r1], %r0; ret;"),
      Contains("expected a barrier"));
  CHECK(faultOf(
            address +
            "st.shared.u32 [%r1], %t; bar.sync 0; ld.shared.u32 %r0, [s+8]; bar.sync 0; st.shared.u32 [%r1], %r0; ret;")
            .empty());
  CHECK(faultOf(address +
                "st.shared.u32 [%r1], %t; bar.warp.sync -1; xor.b32 %r3, %r1, 4; ld.shared.u32 %r0, [%r3]; ret;")
            .empty());
}

TEST_CASE(
    "Threads of a block that use a word of global memory without a barrier between them are caught in any order") {
  // %d1: the thread's own word of a, %d2: that of the neighbouring thread, %d3: that of the thread in the other warp.
  const std::string addresses =
      "add.s64 %d1, %a, %d8; xor.b64 %d2, %d8, 4; add.s64 %d2, %a, %d2; xor.b64 %d3, %d8, 128; "
      "add.s64 %d3, %a, %d3; st.global.u32 [%d1], %t; ";
  auto race = [&](const std::string &rest) {
    CHECK_THAT(faultInAnyOrder(addresses + rest), Contains("of global memory") && Contains("expected a barrier"));
  };
  race("ld.global.u32 %r0, [%d2]; ret;");
  race("ld.global.u32 %r0, [%d3]; ret;");
  race("st.global.u8 [%a+77], %t; ret;");
  race("ld.u32 %r0, [%d3]; ret;");
  // A read, then a write by another thread without a barrier.
  race("bar.sync 0; ld.global.u32 %r0, [%a+8]; st.global.u32 [%d1], %r0; ret;");
  // A warp barrier joins neither two warps nor lanes that it does not name.
  race("bar.warp.sync -1; ld.global.u32 %r0, [%d3]; ret;");
  race("and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bar.warp.sync 0x55555555; ld.global.u32 %r0, [%d2]; ret;");
  // The second barrier joins lanes 0 and 1, but lane 2 wrote after the first.
  race("and.b32 %r1, %t, 31; setp.lt.u32 %p1, %r1, 2; bar.warp.sync -1; @!%p1 st.global.u32 [%d1], 5; "
       "@%p1 bar.warp.sync 3; setp.eq.u32 %p2, %t, 0; @%p2 ld.global.u32 %r0, [%a+8]; ret;");
  auto isClean = [&](const std::string &rest) {
    for (uint64_t seed : {0, 1, 2, 3})
      CHECK(faultOf(addresses + rest, {1, 64, seed}) == "");
  };
  isClean("bar.sync 0; ld.global.u32 %r0, [%d3]; bar.sync 0; st.global.u32 [%d3], %r0; ret;");
  isClean("ld.global.u32 %r0, [%d1]; st.global.u32 [%d1], %r0; ret;");
  isClean("bar.warp.sync -1; ld.global.u32 %r0, [%d2]; bar.warp.sync -1; st.global.u32 [%d2], %r0; ret;");
  // All threads read the same word.
  isClean("ld.global.u32 %r0, [%a+900]; ret;");
  // Lanes in two halves, each with its own barrier.
  isClean("and.b32 %r1, %t, 16; setp.eq.u32 %p1, %r1, 0; @%p1 bar.warp.sync 0xffff; @!%p1 bar.warp.sync 0xffff0000; "
          "ld.global.u32 %r0, [%d2]; ret;");
  // Four lanes read a word, and one of them writes it after a barrier of the four.
  isClean("and.b32 %r1, %t, 31; setp.lt.u32 %p1, %r1, 4; and.b32 %r2, %t, 32; setp.ne.u32 %p2, %r2, 0; @%p2 ret; "
          "bar.warp.sync -1; @!%p1 ret; ld.global.u32 %r0, [%a+4]; bar.warp.sync 15; setp.eq.u32 %p2, %t, 3; "
          "@%p2 st.global.u32 [%a+4], %r0; ret;");
  // A lane learns about another lane through a third.
  isClean("and.b32 %r1, %t, 31; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 1; setp.lt.u32 %p3, %r1, 2; "
          "setp.eq.u32 %p4, %r1, 2; or.pred %p5, %p2, %p4; @%p3 bar.warp.sync 3; @%p5 bar.warp.sync 6; "
          "and.b32 %r2, %t, 0xffffffe0; mul.wide.u32 %d4, %r2, 4; add.s64 %d4, %a, %d4; "
          "@%p4 ld.global.u32 %r0, [%d4]; ret;");
}

TEST_CASE("Threads of a last warp with fewer than 32 lanes are ordered by its barrier") {
  const std::string body = "add.s64 %d1, %b, %d8; st.global.u32 [%d1], %t; bar.warp.sync -1; ld.global.u32 %r0, [%b]; "
                           "bar.warp.sync -1; setp.eq.u32 %p1, %t, 19; @%p1 st.global.u32 [%b], %r0; ret;";
  for (uint64_t seed : {0, 1, 2})
    CHECK(faultOf(body, {1, 20, seed}) == "");
}

TEST_CASE("Blocks and launches that follow each other are no race of threads") {
  KernelRun run(1);
  uint64_t a = run.upload(std::vector<uint32_t>(256, 1));
  const std::string write = prologue + "mul.wide.u32 %d0, %c, 4; add.s64 %d0, %a, %d0; st.global.u32 [%d0], %t; ret;";
  for (int i = 0; i < 3; ++i)
    CHECK(run.fault(kernelPtx(parameters, write), {4, 1, 1}, {1, 1, 1}, 0, a, a) == "");
}

TEST_CASE("A barrier that a thread does not reach is a fault with both lines") {
  std::string ended = faultInAnyOrder("setp.eq.u32 %p1, %t, 40; @%p1 ret;\nbar.sync 0;\nret;");
  CHECK_THAT(ended, Contains("thread 40 has ended at line 8") && Contains("at line 9"));
  std::string apart =
      faultInAnyOrder("setp.lt.u32 %p1, %t, 3; @%p1 bra $x;\nbar.sync 0; bra $y;\n$x: bar.sync 0;\n$y: ret;");
  CHECK_THAT(apart, Contains("stand at line 9") && Contains("stand at line 10"));
}

TEST_CASE("Warps that wait at different barriers are a deadlock") {
  CHECK_THAT(faultInAnyOrder("setp.lt.u32 %p1, %t, 32; @%p1 bra $x;\nbar.sync 1; bra $y;\n$x: bar.sync 0;\n$y: ret;"),
             Contains("barrier 1") && Contains("barrier 0"));
}

TEST_CASE("A shuffle that a named lane does not reach is a fault with both lines") {
  std::string fault = faultInAnyOrder(
      "setp.eq.u32 %p1, %t, 3; @%p1 bra $x;\nshfl.sync.idx.b32 %r0, %t, 0, 31, -1;\n$x: bar.warp.sync -1;\nret;", 1,
      32);
  CHECK_THAT(fault, Contains("line 9") && Contains("line 10") && Contains("all lanes that an instruction names"));
  CHECK_THAT(faultOf("setp.lt.u32 %p1, %t, 8; @%p1 shfl.sync.idx.b32 %r0, %t, 9, 31, 0xff; ret;", {1, 32, 0}),
             Contains("reads lane 9"));
  CHECK_THAT(faultOf("shfl.sync.idx.b32 %r0, %t, 0, 31, 0xff; ret;", {1, 32, 0}),
             Contains("expected a mask that names it"));
}

TEST_CASE("A block that uses bytes which another block writes is caught in any order of the blocks") {
  // Block c writes word c of b and reads word 0.
  const std::string own = "mul.wide.u32 %d0, %c, 4; add.s64 %d0, %b, %d0; st.global.u32 [%d0], %c; ";
  CHECK_THAT(
      faultInAnyOrder(
          "mul.wide.u32 %d0, %c, 4; add.s64 %d0, %a, %d0; ld.global.u32 %r0, [%a]; st.global.u32 [%d0], %r0; ret;", 4,
          1),
      Contains("in the same launch"));
  CHECK_THAT(faultInAnyOrder("st.global.u32 [%b], %c; ret;", 2, 1), Contains("do not depend on each other"));
  CHECK(faultOf(own + "ld.global.u32 %r0, [%d0]; ret;", {4, 1, 2}).empty());
  // Adjacent bytes of one word belong to different blocks.
  CHECK(faultOf("cvt.u64.u32 %d0, %c; add.s64 %d0, %b, %d0; st.global.u8 [%d0], %c; ret;", {8, 1, 1}).empty());
}

TEST_CASE("A trap stops the launch") { CHECK_THAT(faultOf("trap; ret;"), Contains("trap")); }

TEST_CASE("The next launch may read the bytes of all blocks") {
  KernelRun run(2);
  uint64_t a = run.upload(std::vector<uint32_t>(256, 1)), b = run.empty(1024);
  const std::string write = prologue + "mul.wide.u32 %d0, %c, 4; add.s64 %d0, %b, %d0; st.global.u32 [%d0], %c; ret;";
  const std::string read = prologue + "ld.global.u32 %r0, [%b+4]; ret;";
  CHECK(run.fault(kernelPtx(parameters, write), {4, 1, 1}, {1, 1, 1}, 0, a, b).empty());
  CHECK(run.fault(kernelPtx(parameters, read), {4, 1, 1}, {32, 1, 1}, 0, a, b).empty());
}

TEST_CASE("A copy to shared memory may be used once its thread has waited and a barrier has passed") {
  const std::string copy =
      "cvt.u32.u64 %r1, %d8; shl.b32 %r1, %r1, 2; mov.b32 %r2, ring; add.u32 %r1, %r1, %r2; and.b32 %r9, %t, 15; "
      "mul.wide.u32 %d0, %r9, 16; add.s64 %d0, %a, %d0;\ncp.async.cg.shared.global [%r1], [%d0], 16; "
      "cp.async.commit_group; ";
  const std::string ring = ".shared .align 16 .b8 ring[1024];";
  auto fault = [&](const std::string &rest) {
    std::string last = faultOf(copy + rest, {1, 64, 0}, ring), other = faultOf(copy + rest, {1, 64, 3}, ring);
    CHECK(last.empty() == other.empty());
    return last;
  };
  CHECK(fault("cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r0, [ring+16]; ret;").empty());
  CHECK_THAT(fault("bar.sync 0; ld.shared.u32 %r0, [ring+16]; ret;"), Contains("not waited for"));
  CHECK_THAT(fault("cp.async.wait_group 1; ld.shared.u32 %r0, [%r1]; ret;"), Contains("not waited for"));
  CHECK_THAT(fault("cp.async.wait_all; ld.shared.u32 %r0, [ring+16]; ret;"), Contains("barrier"));
  CHECK_THAT(fault("cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.wait_all; ret;"), Contains("not waited for"));
}

TEST_CASE("A copy with a short source fills the rest with zeros") {
  KernelRun run(1);
  uint64_t a = run.upload(std::vector<uint32_t>{1, 2, 3, 4}), b = run.empty(16);
  const std::string body = "mov.b32 %r1, ring; mov.b32 %r2, 6; cp.async.ca.shared.global [%r1], [%a], 8, %r2; "
                           "cp.async.ca.shared.global [%r1+8], [%a+8], 8, 0;\n"
                           "cp.async.wait_all; ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [ring]; st.global.v4.u32 [%b], "
                           "{%r3, %r4, %r5, %r6}; ret;";
  run.run(kernelPtx(parameters, prologue + body, ".shared .align 16 .b8 ring[16];"), {1, 1, 1}, {1, 1, 1}, 0, a, b);
  CHECK(run.download<uint32_t>(b, 4) == std::vector<uint32_t>{1, 2, 0, 0});
}
