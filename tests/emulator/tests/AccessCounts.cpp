// Wavefronts and sectors of accesses with known conflicts.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/AccessCounts.h"
#include "tests/emulator/tests/AccessTable.h"
#include "tests/emulator/tests/KernelRun.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone::emulator;

namespace {

/// The table rows of a kernel launch of one warp. Before `body`, %t is the thread, %s the address of 16 KiB of shared
/// memory and %g that of global memory; both are zeros.
std::vector<AccessRow> rowsOf(const std::string &body, uint64_t seed = 0) {
  const std::string ptx = kernelPtx(".param .u64 memory", R"(
.reg .pred %p<4>; .reg .b16 %h<9>; .reg .b32 %t, %s, %r<20>; .reg .b64 %g, %d<9>;
mov.u32 %t, %tid.x; mov.b32 %s, tile; ld.param.u64 %g, [memory]; mov.b32 %r0, 0; mov.b64 %d0, 0;
)" + body + "\nret;",
                                    ".shared .align 128 .b8 tile[16384];");
  KernelRun run(seed);
  run.counts.accesses.emplace();
  run.run(ptx, {1, 1, 1}, {32, 1, 1}, 0, run.upload(std::vector<char>(1 << 16)));
  return readAccessTable(run.counts.accesses->table());
}

AccessRow rowOf(const std::string &body, const std::string &kind, uint64_t seed = 0) {
  std::vector<AccessRow> rows = rowsOf(body, seed);
  std::erase_if(rows, [&](const AccessRow &row) { return row.kind != kind; });
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kernel == "test");
  return rows[0];
}

struct Expected {
  uint64_t units, ideal;
};
void check(const AccessRow &row, Expected expected) {
  CHECK(row.requests == 1);
  CHECK(row.units == expected.units);
  CHECK(row.ideal == expected.ideal);
}

/// Lane t stores at offset `stride` * t of shared memory.
std::string sharedStore(const std::string &type, int stride) {
  const std::string value = type.starts_with("v4")   ? "{%r0, %r0, %r0, %r0}"
                            : type.starts_with("v2") ? "{%r0, %r0}"
                            : type == "b64"          ? "%d0"
                                                     : "%r0";
  return fmt::format("mad.lo.u32 %r1, %t, {}, %s; st.shared.{} [%r1], {};", stride, type, value);
}

} // namespace

TEST_CASE("Words at a stride share the banks that the stride leaves") {
  for (const auto &[stride, units] :
       {std::pair<int, uint64_t>{1, 1}, {2, 2}, {4, 4}, {8, 8}, {32, 32}, {33, 1}, {3, 1}, {34, 2}}) {
    CAPTURE(stride);
    check(rowOf(sharedStore("b32", 4 * stride), "st.shared"), {units, 1});
  }
}

TEST_CASE("Bytes and halves of one word are one access of its bank") {
  check(rowOf(sharedStore("b8", 1), "st.shared"), {1, 1});
  check(rowOf(sharedStore("b16", 2), "st.shared"), {1, 1});
  check(rowOf(sharedStore("b8", 4), "st.shared"), {1, 1});
  check(rowOf(sharedStore("b16", 8), "st.shared"), {2, 1});
}

TEST_CASE("Accesses of 64 bits are served by halves of a warp, those of 128 bits by quarters") {
  for (const char *type : {"b64", "v2.b32"}) {
    check(rowOf(sharedStore(type, 8), "st.shared"), {2, 2});
    check(rowOf(sharedStore(type, 16), "st.shared"), {4, 2});
    check(rowOf(sharedStore(type, 128), "st.shared"), {32, 2});
    check(rowOf(sharedStore(type, 136), "st.shared"), {2, 2});
  }
  check(rowOf(sharedStore("v4.b32", 16), "st.shared"), {4, 4});
  check(rowOf(sharedStore("v4.b32", 32), "st.shared"), {8, 4});
  check(rowOf(sharedStore("v4.b32", 128), "st.shared"), {32, 4});
  check(rowOf(sharedStore("v4.b32", 144), "st.shared"), {4, 4});
}

TEST_CASE("Lanes that read the same word share one wavefront") {
  const std::string clear = "mov.b32 %r2, 0; $clear: add.u32 %r3, %s, %r2; st.shared.b32 [%r3], %r0; add.u32 %r2, "
                            "%r2, 4; setp.lt.u32 %p0, %r2, 16384; @%p0 bra $clear; ";
  // A single thread clears the memory, so that there is no race.
  const std::string alone = "setp.ne.u32 %p1, %t, 0; @%p1 bra $read; " + clear + "$read: bar.sync 0; ";
  check(rowOf(alone + "ld.shared.b32 %r5, [%s];", "ld.shared"), {1, 1});
  check(rowOf(alone + "ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%s];", "ld.shared"), {4, 4});
  // Lanes t and t + 16 access the same word.
  check(rowOf(alone + "and.b32 %r4, %t, 15; mad.lo.u32 %r4, %r4, 4, %s; ld.shared.b32 %r5, [%r4];", "ld.shared"),
        {1, 1});
  // Two words of bank 0.
  check(rowOf(alone + "and.b32 %r4, %t, 1; mad.lo.u32 %r4, %r4, 128, %s; ld.shared.b32 %r5, [%r4];", "ld.shared"),
        {2, 1});
}

TEST_CASE("Lanes whose guard does not hold have no part in a request") {
  const AccessRow some =
      rowOf("setp.lt.u32 %p0, %t, 5; mad.lo.u32 %r1, %t, 128, %s; @%p0 st.shared.b32 [%r1], %r0;", "st.shared");
  check(some, {5, 1});
  // One lane of each quarter of the warp is active.
  check(rowOf("and.b32 %r2, %t, 7; setp.eq.u32 %p0, %r2, 0; mad.lo.u32 %r1, %t, 128, %s; @%p0 st.shared.v4.b32 [%r1], "
              "{%r0, "
              "%r0, %r0, %r0};",
              "st.shared"),
        {4, 4});
  CHECK(rowsOf("setp.gt.u32 %p0, %t, 99; @%p0 st.shared.b32 [%s], %r0;").empty());
}

TEST_CASE("Generic addresses count where they point") {
  check(rowOf("cvta.shared.u64 %d1, tile; mad.wide.u32 %d2, %t, 8, %d1; st.b32 [%d2], %r0;", "st.shared"), {2, 1});
  check(rowOf("mad.wide.u32 %d2, %t, 8, %g; st.b32 [%d2], %r0;", "st.global"), {8, 4});
  CHECK(rowsOf("ld.param.u64 %d1, [memory];").empty());
}

TEST_CASE("Rows of an ldmatrix conflict unless padding or a permutation keeps them apart") {
  const auto load = [](const std::string &address, const std::string &which = "x4",
                       const std::string &to = "%r5, %r6, %r7, %r8") {
    // Each thread clears 512 bytes.
    return "mad.lo.u32 %r1, %t, 512, %s; mov.b32 %r2, 0; $clear: st.shared.v4.b32 [%r1], {%r0, %r0, %r0, %r0}; add.u32 "
           "%r1, "
           "%r1, 16; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 32; @%p0 bra $clear; bar.sync 0;\n" +
           address + " ldmatrix.sync.aligned.m8n8." + which + ".shared.b16 {" + to + "}, [%r4];";
  };
  check(rowOf(load("mad.lo.u32 %r4, %t, 16, %s;"), "ldmatrix"), {4, 4});
  check(rowOf(load("mad.lo.u32 %r4, %t, 128, %s;"), "ldmatrix"), {32, 4});
  check(rowOf(load("mad.lo.u32 %r4, %t, 64, %s;"), "ldmatrix"), {16, 4});
  check(rowOf(load("mad.lo.u32 %r4, %t, 144, %s;"), "ldmatrix"), {4, 4}); // 16 bytes of padding
  check(rowOf(load("mad.lo.u32 %r4, %t, 80, %s;"), "ldmatrix"), {4, 4});
  // Rows of 128 bytes whose 16-byte chunks are permuted by the row.
  check(rowOf(load("and.b32 %r3, %t, 7; shl.b32 %r3, %r3, 4; mad.lo.u32 %r4, %t, 128, %s; add.u32 %r4, %r4, %r3;"),
              "ldmatrix"),
        {4, 4});
  check(rowOf(load("mad.lo.u32 %r4, %t, 128, %s;", "x2", "%r5, %r6"), "ldmatrix"), {16, 2});
}

TEST_CASE("cp.async counts the wavefronts that it writes and the sectors that it reads") {
  const auto copy = [](int bytes, int to, int from, const std::string &given = "") {
    return fmt::format("mad.lo.u32 %r1, %t, {}, %s; mad.wide.u32 %d1, %t, {}, %g; setp.lt.u32 %p0, %t, 8; "
                       "selp.b32 %r2, 16, 0, %p0; cp.async.ca.shared.global [%r1], [%d1], {}{}; cp.async.wait_all;",
                       to, from, bytes, given);
  };
  const auto both = [](const std::string &body, Expected shared, Expected global) {
    check(rowOf(body, "cp.async"), shared);
    check(rowOf(body, "cp.async.global"), global);
  };
  both(copy(16, 16, 16), {4, 4}, {16, 16});
  both(copy(16, 128, 16), {32, 4}, {16, 16});
  both(copy(16, 144, 32), {4, 4}, {32, 16});
  both(copy(4, 4, 4), {1, 1}, {4, 4});
  both(copy(4, 8, 64), {2, 1}, {32, 4});
  // Lanes from 8 on copy no bytes from the source.
  both(copy(16, 16, 16, ", %r2"), {4, 4}, {4, 4});
}

TEST_CASE("Sectors of 32 bytes count once, however many lanes need them") {
  const auto load = [](const std::string &type, const std::string &registers, int stride, int offset = 0) {
    return fmt::format("mad.wide.u32 %d1, %t, {}, %g; ld.global.{} {}, [%d1+{}];", stride, type, registers, offset);
  };
  check(rowOf(load("b32", "%r5", 4), "ld.global"), {4, 4});
  check(rowOf(load("b32", "%r5", 4, 4), "ld.global"), {5, 4}); // the row begins within a sector
  check(rowOf(load("b32", "%r5", 8), "ld.global"), {8, 4});
  check(rowOf(load("b32", "%r5", 32), "ld.global"), {32, 4});
  check(rowOf(load("b32", "%r5", 128), "ld.global"), {32, 4});
  check(rowOf(load("b32", "%r5", 0), "ld.global"), {1, 1});
  check(rowOf(load("b16", "%h5", 2), "ld.global"), {2, 2});
  check(rowOf(load("v4.b32", "{%r5, %r6, %r7, %r8}", 16), "ld.global"), {16, 16});
  check(rowOf(load("v4.b32", "{%r5, %r6, %r7, %r8}", 32), "ld.global"), {32, 16});
  check(rowOf(load("v4.b32", "{%r5, %r6, %r7, %r8}", 16, 16), "ld.global"), {17, 16});
  check(rowOf("mad.wide.u32 %d1, %t, 68, %g; st.global.b32 [%d1], %r0;", "st.global"), {32, 4});
}

TEST_CASE("Counts add up over turns, blocks and orders, and over no launch that is not asked") {
  const std::string loop =
      "mov.b32 %r2, 0; mad.lo.u32 %r1, %t, 8, %s; $loop: st.shared.b32 [%r1], %r0; add.u32 %r2, %r2, 1; "
      "setp.lt.u32 %p0, %r2, 10; @%p0 bra $loop;";
  for (uint64_t seed : {0, 1, 2}) {
    const AccessRow row = rowOf(loop, "st.shared", seed);
    CHECK(row.requests == 10);
    CHECK(row.units == 20);
    CHECK(row.ideal == 10);
    CHECK(row.ratio() == 2);
  }
  KernelRun run;
  run.run(kernelPtx(".param .u64 y", ".reg .b64 %y; .reg .b32 %r; ld.param.u64 %y, [y]; mov.b32 %r, 0; "
                                     "st.global.b32 [%y], %r; ret;"),
          {1, 1, 1}, {1, 1, 1}, 0, run.empty(64));
  CHECK_FALSE(run.counts.accesses.has_value());
}
