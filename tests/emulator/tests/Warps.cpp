// Divergence, barriers, shuffles, votes and reductions, in several orders.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/tests/KernelRun.h"
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

using namespace halftone::emulator;

namespace {

const std::string outParameter = ".param .u64 out";
/// %t: the thread, %i: its index in the grid, %o: the address of its word of `out`.
const std::string prologue =
    ".reg .pred %p<9>; .reg .b32 %t, %i, %n, %r<20>; .reg .f32 %f<9>; .reg .b64 %o, %d<9>;\n"
    "mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, %n, %t;\n"
    "ld.param.u64 %o, [out]; mad.wide.u32 %o, %i, 4, %o;\n";
const std::string storeResult = "st.global.u32 [%o], %r0; ret;";

std::vector<uint32_t> runFor(const std::string &body, uint32_t threads, uint64_t seed, uint32_t blocks = 1,
                             const std::string &outside = "", uint32_t sharedBytes = 0) {
  KernelRun run(seed);
  uint64_t out = run.empty(uint64_t(threads) * blocks * 4);
  run.run(kernelPtx(outParameter, prologue + body, outside), {blocks, 1, 1}, {threads, 1, 1}, sharedBytes, out);
  return run.download<uint32_t>(out, threads * blocks);
}

} // namespace

TEST_CASE("Lanes that branch apart come to their own results, in any order") {
  // r0 = t / 8 == 1 ? 100 + t : (t odd ? 200 : 300) + t, by nested branches.
  const std::string body =
      "shr.u32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 1; @%p1 bra $a; and.b32 %r2, %t, 1; setp.eq.u32 %p2, %r2, 1;\n"
      "@%p2 bra $b; add.u32 %r0, %t, 300; bra.uni $end; $b: add.u32 %r0, %t, 200; bra $end; $a: add.u32 %r0, %t, 100;\n"
      "$end: " +
      storeResult;
  for (uint64_t seed : {0, 1, 2, 3}) {
    auto results = runFor(body, 70, seed, 3);
    for (uint32_t i = 0; i < results.size(); ++i) {
      uint32_t t = i % 70;
      CHECK(results[i] == t + (t / 8 == 1 ? 100 : t % 2 ? 200 : 300));
    }
  }
}

TEST_CASE("An indexed branch sends each lane to its own target") {
  const std::string body =
      "and.b32 %r1, %t, 3; setp.lt.u32 %p1, %t, 30; mov.b32 %r0, 9;\n$list: .branchtargets $a, $b, $a, $c;\n"
      "@%p1 brx.idx %r1, $list; bra $end; $a: mov.b32 %r0, 1; bra $end; $b: mov.b32 %r0, 2; bra $end; $c: mov.b32 %r0, "
      "3;\n"
      "$end: " +
      storeResult;
  for (uint64_t seed : {0, 1, 2}) {
    auto results = runFor(body, 32, seed);
    for (uint32_t t = 0; t < 32; ++t)
      CHECK(results[t] == (t >= 30 ? 9 : t % 4 == 1 ? 2 : t % 4 == 3 ? 3 : 1));
  }
}

TEST_CASE("Loops with different trip counts end lane by lane") {
  const std::string body =
      "mov.b32 %r0, 0; mov.b32 %r1, 0; $loop: setp.gt.u32 %p1, %r1, %t; @%p1 bra $end; add.u32 %r0, %r0, %r1;\n"
      "add.u32 %r1, %r1, 1; bra $loop; $end: " +
      storeResult;
  for (uint64_t seed : {0, 5}) {
    auto results = runFor(body, 40, seed);
    for (uint32_t t = 0; t < 40; ++t)
      CHECK(results[t] == t * (t + 1) / 2);
  }
}

TEST_CASE("A guard leaves the registers of the other lanes alone") {
  auto results = runFor(
      "mov.b32 %r0, 5; setp.lt.u32 %p1, %t, 3; @%p1 mov.b32 %r0, 7; @!%p1 add.u32 %r0, %r0, 1; " + storeResult, 32, 0);
  for (uint32_t t = 0; t < 32; ++t)
    CHECK(results[t] == (t < 3 ? 7 : 6));
}

TEST_CASE("A register that nothing has written holds other numbers in each lane, warp and launch") {
  for (uint64_t seed : {0, 1}) {
    KernelRun run(seed);
    std::set<uint32_t> values;
    for (int launch = 0; launch < 2; ++launch) {
      uint64_t out = run.empty(256);
      run.run(kernelPtx(outParameter, prologue + "@%p3 add.u32 %r0, %r0, 0; " + storeResult), {1, 1, 1}, {64, 1, 1}, 0,
              out);
      for (uint32_t value : run.download<uint32_t>(out, 64))
        values.insert(value);
    }
    CHECK(values.size() > 120);
  }
  // The same seed gives the same numbers, and another seed other numbers; predicates are random too.
  CHECK(runFor(storeResult, 64, 1) == runFor(storeResult, 64, 1));
  CHECK(runFor(storeResult, 64, 1) != runFor(storeResult, 64, 2));
  auto predicates = runFor("selp.b32 %r0, 1, 0, %p5; " + storeResult, 256, 3);
  CHECK(std::set<uint32_t>(predicates.begin(), predicates.end()).size() == 2);
  // Constants, addresses and special registers are defined from the start.
  CHECK(runFor("{ .reg .b32 %late; add.u32 %r0, %t, 7; }" + storeResult, 64, 5)[63] == 70);
}

TEST_CASE("A block sums through shared memory, in any order of its warps") {
  const std::string body =
      "shl.b32 %r1, %t, 2; mov.b32 %r2, sums; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %t; mov.b32 %r3, 128;\n"
      "$loop: bar.sync 0; setp.ge.u32 %p1, %t, %r3; @%p1 bra $skip; shl.b32 %r4, %r3, 2; add.u32 %r4, %r1, %r4;\n"
      "ld.shared.u32 %r5, [%r4]; ld.shared.u32 %r6, [%r1]; add.u32 %r5, %r5, %r6; st.shared.u32 [%r1], %r5;\n"
      "$skip: shr.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra $loop; bar.sync 0; ld.shared.u32 %r0, [sums]; " +
      storeResult;
  for (uint64_t seed : {0, 1, 2, 3, 4}) {
    auto results = runFor(body, 256, seed, 4, ".shared .align 4 .b8 sums[1024];");
    for (uint32_t result : results)
      CHECK(result == 255 * 256 / 2);
  }
}

TEST_CASE("Shuffles read the lanes that their kind, distance and segment name") {
  auto shuffle = [](const std::string &operation) {
    return runFor("shfl.sync." + operation + ", -1; " + storeResult, 32, 1);
  };
  auto down = shuffle("down.b32 %r0|%p1, %t, 4, 31"), up = shuffle("up.b32 %r0, %t, 3, 0"),
       bfly = shuffle("bfly.b32 %r0, %t, 16, 31"), broadcast = shuffle("idx.b32 %r0, %t, 5, 31"),
       segments = shuffle("down.b32 %r0, %t, 2, 0x181f");
  for (uint32_t t = 0; t < 32; ++t) {
    CHECK(down[t] == (t + 4 < 32 ? t + 4 : t));
    CHECK(up[t] == (t >= 3 ? t - 3 : t));
    CHECK(bfly[t] == (t ^ 16));
    CHECK(broadcast[t] == 5);
    CHECK(segments[t] == (t % 8 + 2 < 8 ? t + 2 : t)); // segments of 8 lanes
  }
}

TEST_CASE("Votes and reductions join the lanes that a mask names") {
  auto ballot = runFor("setp.lt.u32 %p1, %t, 5; vote.sync.ballot.b32 %r0, %p1, -1; " + storeResult, 32, 0);
  CHECK(ballot[9] == 31);
  auto negated = runFor("setp.lt.u32 %p1, %t, 5; vote.sync.ballot.b32 %r0, !%p1, -1; " + storeResult, 32, 0);
  CHECK(negated[9] == ~31u);
  auto half =
      runFor("setp.lt.u32 %p1, %t, 16; mov.b32 %r0, 0; @%p1 redux.sync.add.s32 %r0, %t, 0xffff; " + storeResult, 32, 3);
  for (uint32_t t = 0; t < 32; ++t)
    CHECK(half[t] == (t < 16 ? 120u : 0u));
  auto least = runFor("sub.s32 %r1, %t, 7; redux.sync.min.s32 %r0, %r1, -1; " + storeResult, 32, 0);
  CHECK(int32_t(least[3]) == -7);
  auto active = runFor("setp.lt.u32 %p1, %t, 3; mov.b32 %r0, 0; @%p1 activemask.b32 %r0; " + storeResult, 32, 0);
  CHECK(active[1] == 7);
  auto all = runFor("setp.lt.u32 %p1, %t, 32; vote.sync.all.pred %p2, %p1, -1; selp.b32 %r0, 1, 0, %p2; " + storeResult,
                    20, 0);
  CHECK(all[19] == 1);
}

TEST_CASE("Lanes that branched apart wait for each other at a shuffle") {
  const std::string body = "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra $even; add.u32 %r2, %t, 50; bra "
                           "$join; $even: add.u32 %r2, %t, 10;\n"
                           "$join: shfl.sync.idx.b32 %r0, %r2, 1, 31, -1; " +
                           storeResult;
  for (uint64_t seed : {0, 1, 2, 3, 4, 5})
    for (uint32_t result : runFor(body, 32, seed))
      CHECK(result == 51);
}

TEST_CASE("Generic addresses reach shared, parameter and global memory") {
  const std::string body =
      "mov.b64 %d0, word; cvta.shared.u64 %d1, %d0; st.u32 [%d1], 77; ld.u32 %r0, [%d1]; cvta.to.shared.u64 %d2, %d1;\n"
      "ld.shared.u32 %r1, [%d2]; add.u32 %r0, %r0, %r1; mov.b64 %d3, out; cvta.param.u64 %d3, %d3; ld.u64 %d4, [%d3];\n"
      "st.u32 [%d4], %r0; ret;";
  CHECK(runFor(body, 1, 0, 1, ".shared .b32 word;")[0] == 154);
}

TEST_CASE("Constants and initialised variables can be read at once, and only variables written") {
  const std::string outside = ".const .align 4 .b32 table[4] = {10, 20, 30, 40};\n.global .align 4 .b32 counter = 5;";
  const std::string body = "and.b32 %r1, %t, 3; mul.wide.u32 %d0, %r1, 4; mov.b64 %d1, table; add.s64 %d0, %d0, %d1; "
                           "ld.const.b32 %r0, [%d0];\n"
                           "ld.global.b32 %r2, [counter]; add.u32 %r0, %r0, %r2; " +
                           storeResult;
  auto results = runFor(body, 8, 0, 1, outside);
  CHECK(results == std::vector<uint32_t>{15, 25, 35, 45, 15, 25, 35, 45});
  CHECK_THROWS_WITH(runFor("mov.b64 %d0, table; st.global.b32 [%d0], 1; ret;", 1, 0, 1, outside),
                    Catch::Contains("a constant"));
}

TEST_CASE("Vectors move whole and registers split and join") {
  const std::string body =
      "st.shared.v4.b32 [words], {%t, 2, 3, 4}; ld.shared.v2.b64 {%d0, %d1}, [words]; mov.b64 {%r1, %r2}, %d1;\n"
      "mov.b64 {_, %r3}, %d0; add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3; " +
      storeResult;
  CHECK(runFor(body, 1, 0, 1, ".shared .align 16 .b8 words[16];")[0] == 9);
}

TEST_CASE("Blocks of three dims number their threads along x first") {
  KernelRun run(3);
  uint64_t out = run.empty(4 * 24 * 2);
  const std::string body =
      ".reg .b32 %r<9>; .reg .b64 %d; mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mad.lo.u32 %r1, "
      "%r2, 3, %r1;\n"
      "mad.lo.u32 %r0, %r1, 4, %r0; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r0, %r3, 24, %r0; ld.param.u64 %d, [out];\n"
      "mad.wide.u32 %d, %r0, 4, %d; st.global.u32 [%d], %r0; ret;";
  run.run(kernelPtx(outParameter, body), {1, 2, 1}, {4, 3, 2}, 0, out);
  auto results = run.download<uint32_t>(out, 48);
  for (uint32_t i = 0; i < 48; ++i)
    CHECK(results[i] == i);
}
