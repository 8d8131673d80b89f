// RUN: halftone-opt %s --stop-after=linalg --target=x86-64-v3 | FileCheck-22 %s --check-prefix=LINALG
// RUN: halftone-opt %s --stop-after=plan --max-standalone-casts=0 --cast-ledger=%t.json | FileCheck-22 %s --check-prefix=PLAN
// RUN: FileCheck-22 %s --check-prefix=LEDGER --input-file=%t.json
// RUN: halftone-opt %s --stop-after=target --target=x86-64-v3 | FileCheck-22 %s --check-prefix=TARGET
// RUN: halftone-opt %s --stop-after=kernel -o %t.kernel.mlir

// A plan is there before its kernels have code: LLVM's code for this CPU refers to a table of contents, which no kernel has.
// RUN: halftone-opt %s --stop-after=plan --target=powerpc64le-unknown-linux-gnu | FileCheck-22 %s --check-prefix=PLAN
// RUN: not halftone-opt %s --stop-after=target --target=powerpc64le-unknown-linux-gnu 2>&1 | FileCheck-22 %s --check-prefix=NOCODE

// RUN: halftone-opt %t.kernel.mlir --start-from=kernel --stop-after=plan | FileCheck-22 %s --check-prefix=PLAN
// RUN: not halftone-opt %s --stop-after=plan --target=pdp-11 2>&1 | FileCheck-22 %s --check-prefix=PDP
// RUN: not halftone-opt %s --start-from=pure --stop-after=plan 2>&1 | FileCheck-22 %s --check-prefix=WRONG
// RUN: not halftone-opt %t.json --stop-after=plan 2>&1 | FileCheck-22 %s --check-prefix=GARBAGE

// Options for passes also hold for the late stages.
// RUN: halftone-opt %s --stop-after=plan --mlir-timing -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=TIMING
// RUN: halftone-opt %s --stop-after=linalg --mlir-print-ir-after-all -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=AFTER
// RUN: halftone-opt %s --stop-after=linalg --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=AFTERDUMP
// RUN: not halftone-opt %s --stop-after=plan --emit-bytecode 2>&1 | FileCheck-22 %s --check-prefix=BYTECODE
// RUN: not halftone-opt %s --stop-after=plan --halftone-simplify 2>&1 | FileCheck-22 %s --check-prefix=NAMED
// TIMING: FormKernelsPass
// TIMING: plan
// AFTER: IR Dump After {{.*}}OrderLaunches
// AFTERDUMP: halftone-form-kernels
// BYTECODE: halftone-opt: --emit-bytecode applies to modules, but --stop-after=plan prints text
// NAMED: halftone-opt: passes conflict with --stop-after

// LINALG: halftone.kind = "matmul"
// LINALG-SAME: halftone.schedule = #halftone_cpu.matmul<few_rows = true>
// LINALG: linalg.generic
// PLAN: feed 0 "x"
// PLAN: variable @w
// PLAN: net/dense
// LEDGER: "value":"layer input (8, 4)"
// TARGET: # {{[0-9a-f]+}}: {{[a-z]+}}_{{[0-9a-f]+}}, {{.}}
// TARGET: .globl
// TARGET: ymm
// NOCODE: error: kernel {{.*}}: code generation: the kernel would call .TOC.
// PDP: halftone-opt: --target: unknown target "pdp-11"
// WRONG: error: 'halftone.layer' op is not legal in stage pure
// GARBAGE: error:
halftone.variable @w : tensor<4x2xf32>
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"}) -> (tensor<8x2xf16> {halftone.name = "y"}) {
  %y = halftone.layer "net/dense" policy "mixed_float16" (%x) : (tensor<8x4xf32>) -> tensor<8x2xf16> {
  ^bb0(%a: tensor<8x4xf16>):
    %w = halftone.read @w : tensor<4x2xf16>
    %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf16>, tensor<4x2xf16>) -> tensor<8x2xf16>
    halftone.yield %0 : tensor<8x2xf16>
  }
  return %y : tensor<8x2xf16>
}
