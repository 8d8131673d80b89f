// The PTX that the parser accepts, and the line and name in each error.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/PtxParser.h"
#include "tests/emulator/tests/KernelRun.h"
#include <catch2/catch.hpp>

using namespace halftone::emulator;
using Catch::Contains;

namespace {

std::string refusal(const std::string &ptx) {
  try {
    parsePtx(ptx);
  } catch (const PtxError &error) {
    return error.what();
  }
  return "";
}

std::string refusedBody(const std::string &body) { return refusal(kernelPtx(".param .u64 p", body)); }

} // namespace

TEST_CASE("A module holds its kernels with parameters, threads and shared memory laid out") {
  Module module = parsePtx(R"(// a comment
.version 8.0
.target sm_80, debug
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.const .align 4 .b8 table[8] = {1, 2, 0x3};
.global .align 4 .f32 one = 0f3F800000;
/* another
   comment */
.visible .entry first(.param .u64 .ptr .global .align 1 a, .param .u8 b, .param .align 8 .b8 c[12])
.maxntid 64, 2
.minnctapersm 1
{
  .reg .pred %p<2>;
  .reg .b64 %rd<2>;
  .shared .align 4 .b8 fixed[20];
  .loc 1 2 3
  mov.b64 %rd1, dynamic;
  { .reg .b32 t; mov.b32 t, 5; }
  .pragma "nounroll";
  ret;
}
.entry second() .reqntid 32 { ret; }
.section .debug_str { .b8 1, 2 }
)");
  REQUIRE(module.kernels.size() == 2);
  const Kernel &first = module.kernels[0];
  CHECK(first.name == "first");
  REQUIRE(first.parameters.size() == 3);
  CHECK(first.parameters[1].offset == 8);
  CHECK(first.parameters[2].offset == 16);
  CHECK(first.parameterBytes == 28);
  CHECK(first.maxThreads == std::array<uint32_t, 3>{64, 2, 1});
  CHECK(first.staticSharedBytes == 32); // 20 bytes, then the open array at a multiple of 16
  CHECK(module.kernels[1].requiredThreads == std::array<uint32_t, 3>{32, 1, 1});
  REQUIRE(module.variables.size() == 2);
  CHECK(module.variables[0].initial == std::vector<std::byte>{std::byte(1), std::byte(2), std::byte(3)});
  CHECK(module.variables[1].initial.size() == 4);
}

TEST_CASE("An unknown opcode is refused with its name and line") {
  CHECK(refusedBody("ret;\nfrobnicate.f32 %a;") ==
        "line 8: frobnicate.f32: the emulator does not know the opcode frobnicate");
  CHECK_THAT(refusedBody(".reg .b64 %a; atom.global.add.u32 %a, [%a], 1;"), Contains("refuses atomics"));
}

TEST_CASE("An unknown modifier is refused with its name") {
  CHECK_THAT(refusedBody(".reg .f32 %f; add.rz.f32 %f, %f, %f;"),
             Contains("line 7: add.rz.f32") && Contains("modifier .rz"));
  CHECK_THAT(refusedBody(".reg .f32 %f; sqrt.f16 %f, %f;"), Contains("expected .f32 or .f64"));
  CHECK_THAT(refusedBody(".reg .b32 %r; ld.local.b32 %r, [p];"), Contains("no local memory"));
}

TEST_CASE("Operands of another kind or width are refused") {
  CHECK_THAT(refusedBody(".reg .b64 %a; add.s32 %a, %a, %a;"), Contains("%a has 64 bits; expected 32"));
  CHECK_THAT(refusedBody("mov.b32 %x, 1;"), Contains("expected a declared register") && Contains("%x"));
  CHECK_THAT(refusedBody(".reg .b32 %r; mov.b32 %r, %y;"), Contains("%y is not declared"));
  CHECK_THAT(refusedBody(".reg .b32 %r; mov.b32 %tid.x, %r;"), Contains("can only be read"));
  CHECK_THAT(refusedBody(".reg .b32 %r; add.s32 %r, %r;"), Contains("2 operands; expected 3"));
  CHECK_THAT(refusedBody(".reg .b32 %r; ld.global.v2.b32 {%r, %r, %r}, [p];"), Contains("as many registers"));
  CHECK_THAT(refusedBody(".reg .f64 %d; mov.f64 %d, 0f00000000;"), Contains("0d and 16 digits"));
  CHECK_THAT(refusedBody(".reg .b32 %r; cvt.f16.f32 %r, %r;"), Contains("expected a rounding"));
}

TEST_CASE("Labels, registers and variables belong to their scope, and hide those around it") {
  // Two scopes with the same label, a branch out of a scope, and a branch to a label that an inner scope hides.
  const std::string body = R"(
.reg .b32 %r, %s; .reg .b64 %o; .reg .pred %p; .shared .align 4 .b32 word; ld.param.u64 %o, [out];
mov.b32 %r, 1; mov.b32 %s, 0; st.shared.b32 [word], 5;
{ .reg .b32 %r; mov.b32 %r, 10; bra $next; mov.b32 %r, 1000; $next: add.u32 %s, %s, %r; }
{ .reg .b32 %q; .shared .align 4 .b32 word; st.shared.b32 [word], 600; mov.b32 %q, 20; bra $next; mov.b32 %q, 1000;
  $next: add.u32 %s, %s, %q; { bra $next; add.u32 %s, %s, 1000; $next: } bra $end; add.u32 %s, %s, 1000; }
add.u32 %s, %s, 1000;
$end: ld.shared.b32 %r, [word]; add.u32 %s, %s, %r;
{ setp.ne.u32 %p, %s, 35; @%p bra $end2; add.u32 %s, %s, 100; $end2: }
$end2: st.global.b32 [%o], %s; ret;)";
  KernelRun run;
  uint64_t out = run.empty(4);
  run.run(kernelPtx(".param .u64 out", body, ".shared .align 4 .b32 word;"), {1, 1, 1}, {1, 1, 1}, 0, out);
  CHECK(run.download<uint32_t>(out, 1)[0] == 135);
  // The list of an indexed branch names labels of the list's scope.
  const std::string indexed = R"(
.reg .b32 %t, %s; .reg .b64 %o, %d; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 4; add.s64 %o, %o, %d;
{ $list: .branchtargets $a, $b; { $a: mov.b32 %s, 9; brx.idx %t, $list; } $a: mov.b32 %s, 1; bra $end; $b: mov.b32 %s, 2; }
$a: $end: st.global.b32 [%o], %s; ret;)";
  uint64_t two = run.empty(8);
  run.run(kernelPtx(".param .u64 out", indexed), {1, 1, 1}, {2, 1, 1}, 0, two);
  CHECK(run.download<uint32_t>(two, 2) == std::vector<uint32_t>{1, 2});
  CHECK_THAT(refusedBody("{ $in: ret; }\nbra $in;"), Contains("line 8") && Contains("$in"));
  CHECK_THAT(refusedBody("{ .reg .b32 %r; } mov.b32 %r, 1;"), Contains("%r"));
  CHECK_THAT(refusedBody("{ .shared .b32 w; } .reg .b64 %d; mov.b64 %d, w; $a: { $a: ret; } $a: ret;"),
             Contains("$a is declared twice"));
  CHECK_THAT(refusedBody(".reg .b32 %r<3>; .reg .b64 %r2;"), Contains("%r2 is declared twice"));
  CHECK_THAT(refusedBody(".reg .b32 w; .shared .b32 w;"), Contains("w is declared twice"));
  DeviceMemory memory(1 << 20);
  const std::string outside = "{ .shared .b32 w; } .reg .b64 %d; mov.b64 %d, w; ret;";
  CHECK_THROWS_WITH(LoadedModule(kernelPtx("", outside), memory), Contains("w is not declared"));
}

TEST_CASE("Broken text ends with an error, never with a crash") {
  CHECK_THAT(refusal(""), Contains("expected `.version`"));
  CHECK_THAT(refusal(".version 8.0 .target compute_80"), Contains("compute_80"));
  CHECK_THAT(refusal(".version 8.0 .target sm_80 .address_size 32"), Contains("64"));
  CHECK_THAT(refusedBody("bra $nowhere;"), Contains("$nowhere"));
  CHECK_THAT(refusedBody("$a: ret; $a: ret;"), Contains("declared twice"));
  CHECK_THAT(refusal(".version 8.0 .target sm_80 .address_size 64 .visible .func f() { ret; }"), Contains(".func"));
  std::string whole = kernelPtx(".param .u64 p", ".reg .b32 %r<3>; @%p bra $x; mov.b32 {%r1, %r2}, 0x1; $x: ret;",
                                ".const .b8 t[2] = {1, 2};");
  size_t kernel = whole.find(".visible"); // a module without kernels is complete
  for (size_t length = kernel + 1; length < whole.size() - 3; ++length)
    CHECK_FALSE(refusal(whole.substr(0, length)).empty());
}

TEST_CASE("A symbol that nothing declares is refused when the module is loaded") {
  DeviceMemory memory(1 << 20);
  std::string ptx = kernelPtx("", ".reg .b64 %a; mov.b64 %a, nothing; ret;");
  CHECK_THROWS_WITH(LoadedModule(ptx, memory), Contains("nothing is not declared"));
  CHECK_THROWS_WITH(LoadedModule(kernelPtx("", "ret;"), memory, 75), Contains("sm_80") && Contains("7.5"));
  CHECK(memory.used() == 0);
}
