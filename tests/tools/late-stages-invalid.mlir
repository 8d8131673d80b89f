// -verify-diagnostics and -split-input-file also hold for errors of the late stages.
// RUN: halftone-opt %s -split-input-file --verify-diagnostics --start-from=kernel --stop-after=plan
// RUN: %exit 1 halftone-opt %s -split-input-file --start-from=kernel --stop-after=linalg 2>&1 | FileCheck-22 %s
// CHECK: error: expected the contraction's result at the kernel's axes
// CHECK: expects a function @main

halftone.kernel matmul @k (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<8x4xf32> {
^bb0(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>):
  // expected-error@+1 {{expected the contraction's result at the kernel's axes in a matmul kernel}}
  %0 = halftone.contract %a, %b {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %1 = halftone.transpose %0 {permutation = array<i64: 1, 0>} : tensor<4x8xf32> to tensor<8x4xf32>
  halftone.yield %1 : tensor<8x4xf32>
}
func.func @main(%a: tensor<4x6xf32> {halftone.name = "a"}, %b: tensor<6x8xf32> {halftone.name = "b"}) -> (tensor<8x4xf32> {halftone.name = "y"}) {
  %y = halftone.launch @k(%a, %b) {site = ""} : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// expected-error@below {{expects a function @main}}
module {
}
