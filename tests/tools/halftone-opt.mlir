// RUN: halftone-opt %s --stop-after=kernel --max-standalone-casts=0 --cast-ledger=%t.json -o /dev/null
// RUN: FileCheck-22 %s --check-prefix=LEDGER --input-file=%t.json
// RUN: halftone-opt %s --max-standalone-casts=0 | FileCheck-22 %s --check-prefix=KERNEL
// RUN: halftone-opt %s --stop-after=kernel --numerics=strict | FileCheck-22 %s --check-prefix=STRICT
// RUN: not halftone-opt %s --stop-after=pure --cast-ledger=- 2>&1 | FileCheck-22 %s --check-prefix=EARLY
// RUN: not halftone-opt %s --stop-after=kernel --cast-ledger=%t/no/such/folder/file.json 2>&1 | FileCheck-22 %s --check-prefix=FOLDER
// RUN: not halftone-opt %s --start-from=pure --stop-after=kernel --max-standalone-casts=0 2>&1 | FileCheck-22 %s --check-prefix=STAGE
// RUN: not halftone-opt %t.missing.mlir 2>&1 | FileCheck-22 %s --check-prefix=MISSING
// RUN: halftone-opt --help | FileCheck-22 %s --check-prefix=HELP --implicit-check-not=stop-before --implicit-check-not=-vectorize
// RUN: halftone-opt --help-hidden | FileCheck-22 %s --check-prefix=HIDDEN
// RUN: halftone-opt --version | FileCheck-22 %s --check-prefix=VERSION
// RUN: halftone-opt --list-passes | FileCheck-22 %s --check-prefix=LIST
// RUN: halftone-opt %s --stop-after=cast --mlir-print-debuginfo | FileCheck-22 %s --check-prefix=LOCATIONS

// Each option has its effect, or is refused beside the stock pipeline.
// RUN: halftone-opt %s --stop-after=cast --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=DUMP
// RUN: halftone-opt %s --stop-after=cast --mlir-print-ir-after-all -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=AFTER
// RUN: halftone-opt %s --stop-after=cast --mlir-timing -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=TIMING
// RUN: %exit 1 halftone-opt %s --stop-after=cast --halftone-simplify 2>&1 | FileCheck-22 %s --check-prefix=NAMED
// RUN: %exit 1 halftone-opt %s --stop-after=plan --pass-pipeline="builtin.module(halftone-simplify)" 2>&1 | FileCheck-22 %s --check-prefix=PIPELINE
// RUN: %exit 1 halftone-opt %s --max-standalone-casts=2 --cse 2>&1 | FileCheck-22 %s --check-prefix=NAMED
// RUN: %exit 1 halftone-opt %s --stop-after=cast --run-reproducer 2>&1 | FileCheck-22 %s --check-prefix=REPRODUCER
// RUN: %exit 1 halftone-opt %s --max-standalone-casts=-1 2>&1 | FileCheck-22 %s --check-prefix=MINUS
// RUN: %exit 1 halftone-opt %s --stop-after=plan --max-standalone-casts=-9223372036854775808 2>&1 | FileCheck-22 %s --check-prefix=LEAST
// RUN: %exit 1 halftone-opt %s --max-standalone-casts=99999999999999999999 2>&1 | FileCheck-22 %s --check-prefix=TWENTY
// RUN: %exit 1 halftone-opt %s --stop-after=kernel --target=pdp-11 2>&1 | FileCheck-22 %s --check-prefix=PDP
// RUN: %exit 1 halftone-opt %s --cast-ledger=%t.json -split-input-file 2>&1 | FileCheck-22 %s --check-prefix=SPLIT
// RUN: %exit 1 halftone-opt %s --explain-fusion --stop-after=plan 2>&1 | FileCheck-22 %s --check-prefix=EXPLAINPLAN
// RUN: %exit 1 halftone-opt %s --explain-fusion --start-from=kernel 2>&1 | FileCheck-22 %s --check-prefix=EXPLAINKERNEL
// RUN: %exit 1 halftone-opt %s --explain-fusion --emit-bytecode 2>&1 | FileCheck-22 %s --check-prefix=EXPLAINBYTES
// RUN: %exit 1 halftone-opt %s --explain-fusion --cse 2>&1 | FileCheck-22 %s --check-prefix=NAMED

// RUN: %exit 1 halftone-opt %s -o /dev/null -o %t.mlir 2>&1 | FileCheck-22 %s --check-prefix=TWICE
// RUN: %exit 1 halftone-opt %s --stop-after=kernel --stop-after=cast 2>&1 | FileCheck-22 %s --check-prefix=TWICESTOP
// RUN: %exit 1 halftone-opt %s --target=host --target=host --stop-after=kernel 2>&1 | FileCheck-22 %s --check-prefix=TWICETARGET
// RUN: %exit 1 halftone-opt %s --check-passes --check-passes 2>&1 | FileCheck-22 %s --check-prefix=TWICECHECK
// RUN: %exit 1 halftone-opt %s --halftone-insert-casts --numerics=strict 2>&1 | FileCheck-22 %s --check-prefix=UNREAD
// RUN: %exit 1 halftone-opt %s --halftone-insert-casts --target=sm_80 2>&1 | FileCheck-22 %s --check-prefix=UNREADTARGET
// RUN: %exit 1 halftone-opt %s --load-pass-plugin=%t.absent.so 2>&1 | FileCheck-22 %s --check-prefix=PLUGIN
// RUN: %exit 1 halftone-opt %s --load-pass-plugin=%s 2>&1 | FileCheck-22 %s --check-prefix=PLUGIN
// RUN: %exit 1 halftone-opt %s --load-dialect-plugin=%t.absent.so 2>&1 | FileCheck-22 %s --check-prefix=DIALECT
// RUN: %exit 1 halftone-opt %s --log-actions-to=%t.none/file 2>&1 | FileCheck-22 %s --check-prefix=ACTIONS
// RUN: %exit 1 halftone-opt %s --log-actions-to %t.none/file 2>&1 | FileCheck-22 %s --check-prefix=ACTIONS
// RUN: %exit 1 halftone-opt %s --mlir-generate-reproducer=%t.none/file 2>&1 | FileCheck-22 %s --check-prefix=GENERATE
// RUN: %exit 1 halftone-opt %s --mlir-generate-reproducer=/ 2>&1 | FileCheck-22 %s --check-prefix=GENERATEFOLDER

// RUN: %exit 1 halftone-opt %s --mlir-print-ir-tree-dir=/dev/null/x --mlir-print-ir-after-all 2>&1 | FileCheck-22 %s --check-prefix=TREE

// TREE: halftone-opt: --mlir-print-ir-tree-dir=/dev/null/x: cannot write into the folder: Not a directory
// TWICE: halftone-opt: -o is given more than once
// TWICESTOP: halftone-opt: --stop-after is given more than once
// TWICETARGET: halftone-opt: --target is given more than once
// TWICECHECK: halftone-opt: --check-passes is given more than once
// UNREAD: halftone-opt: --numerics applies to the stock pipeline; expected --stop-after
// UNREADTARGET: halftone-opt: --target applies to the stock pipeline; expected --stop-after
// PLUGIN: halftone-opt: --load-pass-plugin={{.+}}: {{.+}}
// DIALECT: halftone-opt: --load-dialect-plugin={{.+}}: {{.+}}
// ACTIONS: halftone-opt: --log-actions-to={{.*}}/file: cannot write {{.*}}/file: No such file or directory
// GENERATE: halftone-opt: --mlir-generate-reproducer={{.*}}/file: cannot write {{.*}}/file: No such file or directory
// GENERATEFOLDER: halftone-opt: --mlir-generate-reproducer=/: cannot write /: Is a directory
// HIDDEN-DAG: stop-before
// HIDDEN-DAG: --stop-after=
// VERSION: halftone-opt {{[0-9]+\.[0-9]+\.[0-9]+}} (LLVM 22
// LIST: halftone-form-kernels
// LOCATIONS: loc("net/dense"
// DUMP: halftone-insert-casts
// AFTER: IR Dump After {{.*}}InsertCasts
// TIMING: Total Execution Time
// NAMED: halftone-opt: passes conflict with --stop-after, --start-from, --explain-fusion and cast reports, which run the stock pipeline; expected one of them
// PIPELINE: halftone-opt: --pass-pipeline conflicts with --stop-after
// REPRODUCER: halftone-opt: --run-reproducer conflicts with --stop-after
// MINUS: halftone-opt: --max-standalone-casts=-1: expected a number of casts
// LEAST: halftone-opt: --max-standalone-casts=-9223372036854775808: expected a number of casts
// TWENTY: max-standalone-casts option: '99999999999999999999' value invalid
// PDP: halftone-opt: --target: unknown target "pdp-11"
// SPLIT: halftone-opt: --cast-ledger holds the casts of one module; expected no -split-input-file with it
// EXPLAINPLAN: halftone-opt: --explain-fusion reports on stage kernel, but --stop-after=plan
// EXPLAINKERNEL: halftone-opt: --explain-fusion reports on kernel formation, but --start-from=kernel comes after it
// EXPLAINBYTES: halftone-opt: --explain-fusion prints comments; expected no --emit-bytecode with it

// LEDGER: {"casts":[{"path":"net/dense","value":"layer input (8, 4)","from":"float32","to":"float16","kind":"rounding","fused":true,"bytes":0,"rule":"net/.*","location":"{{.*}}halftone-opt.mlir:
// LEDGER-SAME: "standalone":0
// KERNEL: halftone.kernel matmul
// KERNEL: halftone.launch
// STRICT: halftone.kernel loop
// STRICT-NEXT: ^bb0
// STRICT-NEXT: halftone.cast
// STRICT-NEXT: halftone.yield
// EARLY: report on stage kernel, but --stop-after=pure
// FOLDER: No such file or directory
// STAGE: is not legal in stage pure
// MISSING: halftone-opt: cannot read {{.*}}missing.mlir: No such file or directory
// HELP-DAG: --halftone-insert-casts
// HELP-DAG: --halftone-inline-layers
// HELP-DAG: --halftone-lift-variables
// HELP-DAG: --halftone-differentiate
// HELP-DAG: --halftone-simplify
// HELP-DAG: --halftone-verify-stage
// HELP-DAG: --stop-after=
// HELP-DAG: --start-from=
// HELP-DAG: --max-standalone-casts=
// HELP-DAG: --split-input-file
// HELP-DAG: Exit codes: 0 done
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
