// Several modules in one file go through the late stages one by one. The text of stage linalg is a file of such
// modules: it parses
// again, with and without locations, and gives the same text.
// RUN: halftone-opt %s -split-input-file --stop-after=linalg > %t.linalg.mlir
// RUN: FileCheck-22 %s --input-file=%t.linalg.mlir
// RUN: halftone-opt %t.linalg.mlir -split-input-file > %t.again.mlir
// RUN: halftone-opt %t.again.mlir -split-input-file | diff %t.again.mlir -
// RUN: halftone-opt %s -split-input-file --stop-after=linalg --mlir-print-debuginfo > %t.located.mlir
// RUN: halftone-opt %t.located.mlir -split-input-file | diff %t.again.mlir -
// RUN: halftone-opt %s -split-input-file --stop-after=plan | FileCheck-22 %s --check-prefix=PLAN
// RUN: not halftone-opt %s --stop-after=plan 2>&1 | FileCheck-22 %s --check-prefix=WHOLE

// CHECK: // {{[0-9a-f]+}}: matmul_
// CHECK: func.func @kernel
// CHECK: {{//}} -----
// CHECK: // {{[0-9a-f]+}}: row_
// CHECK: {{//}} -----
// CHECK: // {{[0-9a-f]+}}: loop_
// CHECK: halftone.kind = "loop"
// PLAN: feed 0 "x"
// PLAN: {{//}} -----
// PLAN: feed 0 "z"
// WHOLE: error: redefinition of symbol named 'main'
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"}, %w: tensor<4x6xf32> {halftone.name = "w"}) -> (tensor<8x6xf32> {halftone.name = "y"}, tensor<8xf32> {halftone.name = "m"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = halftone.reduce max %x {axes = array<i64: 1>} : tensor<8x4xf32> -> tensor<8xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8xf32>
}

// -----

func.func @main(%z: tensor<8xf32> {halftone.name = "z"}) -> (tensor<8xf32> {halftone.name = "y"}) {
  %0 = halftone.tanh %z : tensor<8xf32>
  return %0 : tensor<8xf32>
}
