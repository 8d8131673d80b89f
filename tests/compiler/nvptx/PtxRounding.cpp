// The instructions that give the same bits on every GPU.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/PtxRounding.h"
#include <catch2/catch.hpp>

using namespace halftone::compiler;

TEST_CASE("Instructions on floats that name their rounding, or need none, have the same bits on every GPU") {
  for (const char *line : {"add.rn.f32 \t%r1, %r2, %r3;",
                           "@%p1 mul.rn.f16x2 %r1, %r2, %r3;",
                           "fma.rn.f64 %rd1, %rd2, %rd3, %rd4;",
                           "div.rn.f32 %r1, %r2, %r3;",
                           "sqrt.rn.f64 %rd1, %rd2;",
                           "rcp.rn.f32 %r1, %r2;",
                           "sub.rz.f32 %r1, %r2, %r3;",
                           "cvt.f32.f16 %r1, %rs1;",
                           "cvt.f64.f32 %rd1, %r1;",
                           "cvt.f32.bf16 %r1, %rs1;",
                           "cvt.rn.bf16x2.f32 %r1, %r2, %r3;",
                           "cvt.rn.f32.s32 %r1, %r2;",
                           "cvt.rzi.s32.f32 %r1, %r2;",
                           "cvt.rmi.f32.f32 %r1, %r2;",
                           "cvt.rn.satfinite.e4m3x2.f32 %rs1, %r1, %r2;",
                           "neg.f32 %r1, %r2;",
                           "abs.bf16x2 %r1, %r2;",
                           "copysign.f32 %r1, %r2, %r3;",
                           "max.NaN.f32 %r1, %r2, %r3;",
                           "min.f64 %rd1, %rd2, %rd3;",
                           "setp.nan.f32 %p1, %r1, %r1;",
                           "selp.f32 %r1, %r2, %r3, %p1;",
                           "mov.f32 %f1, 0f3F800000;",
                           "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
                           "add.s32 %r1, %r2, %r3;",
                           "mad.lo.s32 %r1, %r2, %r3, %r4;",
                           "atom.global.add.u32 %r1, [%rd1], %r2;",
                           "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1, %r2, %r3, %r4}, {%r5}, {%r6}, {%r7};",
                           ".reg .f32 %f<3>;",
                           "// add.f32 in a remark",
                           "$L__BB0_1:",
                           "bra.uni $L__BB0_1;"}) {
    INFO(line);
    CHECK(unroundedInstruction(line) == "");
  }
}

TEST_CASE("Instructions on floats whose bits PTX leaves open are found, wherever they stand") {
  for (const char *opcode : {"add.f32",
                             "sub.f64",
                             "mul.f16x2",
                             "add.bf16",
                             "fma.f32",
                             "mad.f32",
                             "mad.rn.f32",
                             "div.f32",
                             "div.full.f32",
                             "div.approx.f32",
                             "sqrt.approx.f32",
                             "rcp.approx.ftz.f64",
                             "rsqrt.approx.f32",
                             "ex2.approx.f32",
                             "ex2.approx.ftz.bf16x2",
                             "lg2.approx.f32",
                             "sin.approx.f32",
                             "cos.approx.f32",
                             "tanh.approx.f16",
                             "add.rn.ftz.f32",
                             "max.ftz.f32",
                             "setp.lt.ftz.f32",
                             "cvt.ftz.f32.f16",
                             "cvt.f32.s32",
                             "cvt.s32.f32",
                             "cvt.f16.f32",
                             "cvt.f32.f32",
                             "atom.global.add.f32",
                             "red.global.add.noftz.f16x2",
                             "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                             "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"}) {
    const std::string line = std::string(opcode) + " \t%a, %b, %c";
    INFO(line);
    CHECK(unroundedInstruction(line + ";\n") == line);
    CHECK(unroundedInstruction("\tadd.rn.f32 %r1, %r2, %r3;\n\t@!%p3 " + line + "; // remark\n") == "@!%p3 " + line);
    CHECK(unroundedInstruction("{ add.s32 %r1, %r2, %r3; " + line + "; }") == line);
  }
}
