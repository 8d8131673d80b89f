// RUN: halftone-opt %s --stop-after=kernel --max-standalone-casts=0 --cast-ledger=%t.json -o /dev/null
// RUN: FileCheck-22 %s --check-prefix=LEDGER --input-file=%t.json
// RUN: halftone-opt %s --max-standalone-casts=0 | FileCheck-22 %s --check-prefix=KERNEL
// RUN: halftone-opt %s --stop-after=kernel --numerics=strict | FileCheck-22 %s --check-prefix=STRICT
// RUN: not halftone-opt %s --stop-after=pure --cast-ledger=- 2>&1 | FileCheck-22 %s --check-prefix=EARLY
// RUN: not halftone-opt %s --stop-after=kernel --cast-ledger=%t/no/such/folder/file.json 2>&1 | FileCheck-22 %s --check-prefix=FOLDER
// RUN: not halftone-opt %s --start-from=pure --stop-after=kernel --max-standalone-casts=0 2>&1 | FileCheck-22 %s --check-prefix=STAGE
// RUN: not halftone-opt %t.missing.mlir 2>&1 | FileCheck-22 %s --check-prefix=MISSING
// RUN: halftone-opt --help | FileCheck-22 %s --check-prefix=HELP

// LEDGER: {"casts":[{"path":"net/dense","value":"layer input (8, 4)","from":"float32","to":"float16","kind":"rounding","fused":true,"bytes":0,"rule":"net/.*","location":"{{.*}}halftone-opt.mlir:
// LEDGER-SAME: "standalone":0
// KERNEL: halftone.kernel matmul
// KERNEL: halftone.launch
// STRICT: halftone.kernel loop
// STRICT-NEXT: ^bb0
// STRICT-NEXT: halftone.cast
// STRICT-NEXT: halftone.yield
// EARLY: ask about stage kernel, but --stop-after=pure
// FOLDER: No such file or directory
// STAGE: is not legal in stage pure
// MISSING: halftone-opt: {{.*}}cannot open input file
// HELP-DAG: --halftone-insert-casts
// HELP-DAG: --halftone-inline-layers
// HELP-DAG: --halftone-lift-variables
// HELP-DAG: --halftone-differentiate
// HELP-DAG: --halftone-simplify
// HELP-DAG: --halftone-verify-stage
// HELP-DAG: --halftone-stop-after=
// HELP-DAG: --halftone-start-from=
halftone.variable @w : tensor<4x2xf32>
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"}) -> (tensor<8x2xf16> {halftone.name = "y"}) {
  %y = halftone.layer "net/dense" policy "mixed_float16" (%x) {rule = "net/.*"} : (tensor<8x4xf32>) -> tensor<8x2xf16> {
  ^bb0(%a: tensor<8x4xf16>):
    %w = halftone.read @w : tensor<4x2xf16>
    %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf16>, tensor<4x2xf16>) -> tensor<8x2xf16>
    halftone.yield %0 : tensor<8x2xf16>
  }
  return %y : tensor<8x2xf16>
}
