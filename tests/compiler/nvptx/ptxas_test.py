# Kernels with a spill, a stack frame and calls, each of which ptxas.py must find, and kernels without a fault.
# SPDX-License-Identifier: Apache-2.0
"""usage: ptxas_test.py"""
import pathlib
import sys
import tempfile

import ptxas

HEAD = """// a kernel
.version 8.0
.target sm_80
.address_size 64
"""
# The body of a kernel computes %r2, the value that it stores, from %r1, its thread.
KERNEL = """.visible .entry kernel(.param .u64 result) .maxntid 256 {directive}
{{
  .reg .b32 %r<80>;
  .reg .f32 %f<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [result];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d1, %d1, %d2;
{body}
  st.global.u32 [%d1], %r2;
  ret;
}}
"""
CALL = "  ld.global.u64 %d2, [%d1];\n  div.u64 %d3, %d1, %d2;\n  cvt.u32.u64 %r2, %d3;"
# 64 values that are live at the same time.
MANY = "\n".join([f"  ld.volatile.global.u32 %r{i}, [%d1+{4 * i}];" for i in range(10, 74)] + ["  mov.u32 %r2, 0;"] +
                 [f"  mad.lo.u32 %r2, %r2, %r{i}, %r{i};" for i in range(73, 9, -1)])
LOCAL = """  .local .align 4 .b8 depot[64];
  mov.u64 %d2, depot;
  and.b32 %r3, %r1, 15;
  mul.wide.u32 %d3, %r3, 4;
  add.s64 %d3, %d2, %d3;
  st.local.u32 [depot+8], %r1;
  st.local.u32 [%d3], %r1;
  ld.local.u32 %r2, [depot+8];"""
SHUFFLE = "  shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;"
QUOTIENT = "  cvt.rn.f32.u32 %f1, %r1;\n  ld.global.f32 %f2, [%d1];\n  div.rn.f32 %f3, %f1, %f2;\n  mov.b32 %r2, %f3;"
# A kernel, the architecture, and a word from the message of each fault.
CASES = {"a sum": (KERNEL.format(directive="", body="  add.u32 %r2, %r1, 1;"), "sm_80", []),
         "a call": (KERNEL.format(directive="", body=CALL), "sm_90", ["whole: calls __cuda_sm20_div_u64", "relocatable: calls __cuda_sm20_div_u64"]),
         "spills": (KERNEL.format(directive=".maxnreg 32", body=MANY), "sm_80", ["of stack", "of spills"]),
         "a stack frame": (KERNEL.format(directive="", body=LOCAL), "sm_80", ["whole: 64 bytes of stack", "relocatable: 64 bytes of stack"]),
         "a shuffle before 9.0": (KERNEL.format(directive="", body=SHUFFLE), "sm_86", []),
         "a shuffle": (KERNEL.format(directive="", body=SHUFFLE), "sm_90", []),
         "a rounded quotient": (KERNEL.format(directive="", body=QUOTIENT), "sm_80", []),
         "no PTX": ("rubbish", "sm_80", ["fatal"])}


def main():
    program = ptxas.find_ptxas()
    if not program:
        print("skipped: ptxas is not installed")
        return ptxas.SKIPPED
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "kernel.ptx"
        for what, (text, architecture, expected) in CASES.items():
            file.write_text(HEAD + text)
            found = ptxas.faults(program, architecture, file)
            if bool(found) != bool(expected) or not all(any(word in line for line in found) for word in expected):
                failed += 1
                print(f"{what}: expected {expected}, found {found}")
        # The functions that the entry calls are read from the machine code: a shuffle is a call below 9.0, in
        # relocatable code only.
        file.write_text(HEAD + CASES["a shuffle"][0])
        calls = {(architecture, way): ptxas.assemble(program, architecture, way, file).calls
                 for architecture in ("sm_89", "sm_90") for way in ptxas.WAYS}
        if {key for key, names in calls.items() if names} != {("sm_89", "relocatable")}:
            failed += 1
            print(f"the calls of a shuffle are {calls}")
    print(f"{len(CASES) + 1} cases: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
