// Text on which MLIR's parser would crash, and tensors that fit in no memory: one error in every tool.
// RUN: rm -rf %t && mkdir %t
// RUN: sed -e 's/array<i64: 0>/array<index: 0>/' %s > %t/index.mlir
// RUN: %exit 1 halftone-opt %t/index.mlir 2>&1 | FileCheck-22 %s --check-prefix=INDEX
// RUN: %exit 3 halftone-run predict %t/index.mlir --input x=random 2>&1 | FileCheck-22 %s --check-prefix=INDEX
// RUN: %exit 3 halftone-policy resolve %t/index.mlir 2>&1 | FileCheck-22 %s --check-prefix=INDEX
// INDEX: an array of index; expected i1, i8, i16, i32, i64, f32 or f64, as in array<i64: 1>
// INDEX-NOT: {{(Stack dump|error|Error)}}

// Text that nests too deeply: in the module, and in a file of dialects.
// RUN: %python -c "print('module attributes {a.b = ' + '[' * 9000 + ']' * 9000 + '} {}')" > %t/deep.mlir
// RUN: %python -c "print('module {' * 5000 + '}' * 5000)" > %t/modules.mlir
// RUN: %exit 1 halftone-opt %t/deep.mlir --allow-unregistered-dialect 2>&1 | FileCheck-22 %s --check-prefix=DEEP
// RUN: %exit 1 halftone-opt %t/modules.mlir 2>&1 | FileCheck-22 %s --check-prefix=DEEP
// RUN: %exit 1 halftone-opt --irdl-file=%t/modules.mlir %s 2>&1 | FileCheck-22 %s --check-prefix=DEEP
// RUN: %exit 3 halftone-run predict %t/modules.mlir --input x=random 2>&1 | FileCheck-22 %s --check-prefix=DEEP
// RUN: %exit 3 halftone-policy resolve %t/deep.mlir 2>&1 | FileCheck-22 %s --check-prefix=DEEP
// DEEP: text that nests more than 1000 levels deep; expected fewer nested brackets, operators and aliases
// DEEP-NOT: {{(Stack dump|error|Error)}}

// RUN: sed -e 's/8x4x/7x9223372036854775807x/g; s/<4xf32>/<9223372036854775807xf32>/g' %s > %t/size.mlir
// RUN: %exit 1 halftone-opt %t/size.mlir --stop-after=kernel > %t/said 2>&1
// RUN: FileCheck-22 %s --check-prefix=SIZE --input-file=%t/said
// RUN: %exit 1 halftone-opt %t/size.mlir --stop-after=plan 2>&1 | FileCheck-22 %s --check-prefix=SIZE
// RUN: %exit 3 halftone-run compare %t/size.mlir 2>&1 | FileCheck-22 %s --check-prefix=SIZE
// RUN: %exit 3 halftone-run emit %t/size.mlir --stage cast 2>&1 | FileCheck-22 %s --check-prefix=SIZE
// SIZE: a tensor of type 7x9223372036854775807xf32 is too large
// SIZE-NOT: {{(too large|Stack dump)}}

// A value inside of the program, and in a later stage one of a kernel.
// RUN: %exit 1 halftone-opt %s --stop-after=kernel -o %t/kernel.mlir --halftone-simplify
// RUN: halftone-opt %s --stop-after=kernel -o %t/kernel.mlir
// RUN: sed -e 's/8x4x/4294967296x4294967296x/g; s/<4xf32>/<4294967296xf32>/g' %t/kernel.mlir > %t/kernels.mlir
// RUN: %exit 1 halftone-opt %t/kernels.mlir --start-from=kernel --stop-after=plan 2>&1 | FileCheck-22 %s --check-prefix=KERNELS
// RUN: %exit 3 halftone-run predict %t/kernels.mlir --input x=random 2>&1 | FileCheck-22 %s --check-prefix=KERNELS
// KERNELS: a tensor of type 4294967296x4294967296xf32 is too large
// KERNELS-NOT: too large
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %0 = halftone.maximum %x, %x : tensor<8x4xf32>
  %y = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<8x4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
