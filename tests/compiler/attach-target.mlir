// RUN: halftone-opt %s --halftone-attach-target | FileCheck-22 %s --check-prefix=DEFAULT
// DEFAULT: module attributes {halftone.target = "host"} {
// RUN: halftone-opt %s "--halftone-attach-target=target=sm_80 numerics=strict" -o %t.mlir
// RUN: FileCheck-22 %s --check-prefix=BOTH --input-file=%t.mlir
// BOTH: module attributes {halftone.numerics = "strict", halftone.target = "sm_80"} {

// An option replaces an attribute, and an attribute whose option is not given stays. Fast numerics have no attribute.
// RUN: halftone-opt %t.mlir --halftone-attach-target=target=x86-64-v2 | FileCheck-22 %s --check-prefix=CPU
// CPU: module attributes {halftone.numerics = "strict", halftone.target = "x86-64-v2"} {
// RUN: halftone-opt %t.mlir --halftone-attach-target=numerics=fast -o %t.fast.mlir
// RUN: FileCheck-22 %s --check-prefix=FAST --input-file=%t.fast.mlir
// FAST: module attributes {halftone.target = "sm_80"} {

// Passes take the target from their option, else from the module, else they have a default; sums are split on GPUs alone,
// and not in strict numerics.
// RUN: halftone-opt %s --halftone-choose-layouts | FileCheck-22 %s --check-prefix=WHOLE
// RUN: halftone-opt %t.fast.mlir --halftone-choose-layouts | FileCheck-22 %s --check-prefix=SPLIT
// RUN: halftone-opt %t.fast.mlir --halftone-choose-layouts=target=x86-64-v3 | FileCheck-22 %s --check-prefix=WHOLE
// RUN: halftone-opt %t.fast.mlir --halftone-choose-layouts=strict=true | FileCheck-22 %s --check-prefix=WHOLE
// RUN: halftone-opt %t.mlir --halftone-choose-layouts | FileCheck-22 %s --check-prefix=WHOLE
// RUN: halftone-opt %t.mlir --halftone-choose-layouts=strict=false | FileCheck-22 %s --check-prefix=WHOLE
// WHOLE-NOT: halftone.reduce
// SPLIT: halftone.reduce sum

// A pipeline's text may have options that say nothing.
// RUN: halftone-opt %t.fast.mlir --halftone-choose-layouts --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck-22 %s --check-prefix=TEXT
// TEXT: halftone-choose-layouts{strict=false target=}
// RUN: halftone-opt %t.fast.mlir "--pass-pipeline=builtin.module(halftone-choose-layouts{strict=false target=})" | FileCheck-22 %s --check-prefix=SPLIT
// RUN: not halftone-opt %s --halftone-attach-target=numerics=exact 2>&1 | FileCheck-22 %s --check-prefix=EXACT
// EXACT: error: halftone-attach-target: expected numerics to be fast or strict, but got "exact"
// RUN: not halftone-opt %s --halftone-attach-target=target=toaster 2>&1 | FileCheck-22 %s --check-prefix=TOASTER
// TOASTER: error: unknown target "toaster"

// Bytecode keeps the attributes.
// RUN: halftone-opt %t.fast.mlir --emit-bytecode -o %t.mlirbc
// RUN: halftone-opt %t.mlirbc --halftone-choose-layouts | FileCheck-22 %s --check-prefix=SPLIT

// This pass may set them, and no pass may change them behind it.
// RUN: halftone-opt %s --check-passes --halftone-attach-target=target=sm_80 --halftone-normalize --halftone-choose-layouts -o /dev/null

// The stock pipeline attaches the target on the way to stage kernel, and a module in stage kernel is compiled for its own.
// RUN: halftone-opt %s --start-from=pure --stop-after=pure | FileCheck-22 %s --check-prefix=PURE
// PURE: module {
// RUN: halftone-opt %s --start-from=pure --stop-after=kernel --target=sm_80 --numerics=strict -o %t.kernel.mlir
// RUN: FileCheck-22 %s --check-prefix=BOTH --input-file=%t.kernel.mlir
// RUN: halftone-opt %t.mlir --start-from=pure --stop-after=kernel | FileCheck-22 %s --check-prefix=BOTH
// RUN: halftone-opt %t.kernel.mlir --halftone-lower-to-linalg | FileCheck-22 %s --check-prefix=LINALG
// LINALG: halftone.numerics = "strict"
// RUN: halftone-opt %t.kernel.mlir --start-from=kernel --stop-after=target | FileCheck-22 %s --check-prefix=PTX
// PTX: .target sm_80
// RUN: halftone-opt %t.kernel.mlir --start-from=kernel --stop-after=target --target=x86_64-unknown-linux-gnu:znver4 | FileCheck-22 %s --check-prefix=ASM
// ASM-NOT: .target sm_80
// ASM: .text

// halftone-run: an option replaces an attribute too; an attribute whose option is not given is kept.
// RUN: halftone-run emit %t.kernel.mlir --stage kernel | FileCheck-22 %s --check-prefix=BOTH
// RUN: halftone-run emit %t.mlir --stage kernel | FileCheck-22 %s --check-prefix=BOTH
// RUN: halftone-run emit %t.mlir --stage kernel --target x86-64-v2 | FileCheck-22 %s --check-prefix=CPU
// RUN: halftone-run emit %t.mlir --stage kernel --numerics fast | FileCheck-22 %s --check-prefix=FAST
// RUN: halftone-run emit %t.mlir --stage linalg | FileCheck-22 %s --check-prefix=LINALG
// RUN: halftone-run emit %t.mlir --no-cache | FileCheck-22 %s --check-prefix=PTX
// RUN: halftone-run emit %t.mlir --no-cache --target host | FileCheck-22 %s --check-prefix=ASM
// RUN: halftone-run emit %s --stage kernel | FileCheck-22 %s --check-prefix=DEFAULT

// Code of the module's target must run on the device, if it runs. compare is strict unless the module says otherwise.
// RUN: not halftone-run compare %t.kernel.mlir --no-cache 2>&1 | FileCheck-22 %s --check-prefix=DEVICE
// DEVICE: attribute 'halftone.target': {{.*}}; --target selects another one
// RUN: halftone-run predict %t.kernel.mlir --device interpreter --input x=random --input w=random --quiet
// RUN: halftone-run compare %t.kernel.mlir --no-cache --target host | FileCheck-22 %s --check-prefix=STRICT
// RUN: halftone-run compare %s --no-cache | FileCheck-22 %s --check-prefix=STRICT
// RUN: halftone-run compare %t.kernel.mlir --no-cache --target host --numerics fast | FileCheck-22 %s --check-prefix=LOOSE
// RUN: sed "s/^func.func @main/module attributes {halftone.numerics = \"fast\"} { func.func @main/; s/^}$/}}/" %s > %t.loose.mlir
// RUN: halftone-run compare %t.loose.mlir --no-cache | FileCheck-22 %s --check-prefix=LOOSE
// STRICT: agrees {{bit for bit|within strict numerics}}
// LOOSE: agrees {{bit for bit|within fast numerics}}

// Schedules of all targets are read wherever modules are, and the attributes stay.
// RUN: halftone-opt %t.kernel.mlir --halftone-lower-to-linalg -o %t.linalg.mlir
// RUN: halftone-opt %t.linalg.mlir --emit-bytecode -o %t.linalg.mlirbc
// RUN: halftone-opt %t.linalg.mlirbc | diff - %t.linalg.mlir
// RUN: halftone-reduce %t.linalg.mlirbc --command "grep schedule %%s" --says "halftone_gpu.matmul" | FileCheck-22 %s --check-prefix=SCHEDULE
// SCHEDULE: halftone.schedule = #halftone_gpu.matmul<

func.func @main(%x: tensor<8x1024xf32> {halftone.name = "x"}, %w: tensor<1024x4xf32> {halftone.name = "w"})
    -> (tensor<8x4xf32> {halftone.name = "y"}) {
  %y = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<8x1024xf32>, tensor<1024x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
