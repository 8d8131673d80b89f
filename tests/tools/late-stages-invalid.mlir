// -verify-diagnostics and -split-input-file also hold for errors of the late stages.
// RUN: halftone-opt %s -split-input-file --verify-diagnostics --start-from=kernel --stop-after=plan
// RUN: %exit 1 halftone-opt %s -split-input-file --start-from=kernel --stop-after=linalg 2>&1 | FileCheck-22 %s
// CHECK: error: expected a reduction's result to have the kept axes
// CHECK: expects a function @main

halftone.kernel row @k (tensor<4x6xf32>) -> tensor<4x6xf32> {
^bb0(%a: tensor<4x6xf32>):
  // expected-error@+1 {{expected a reduction's result to have the kept axes in a row kernel}}
  %0 = halftone.reduce sum %a {axes = array<i64: 1>} : tensor<4x6xf32> -> tensor<4xf32>
  %1 = halftone.reshape %0 : tensor<4xf32> to tensor<2x2xf32>
  %2 = halftone.transpose %1 {permutation = array<i64: 1, 0>} : tensor<2x2xf32> to tensor<2x2xf32>
  %3 = halftone.reshape %2 : tensor<2x2xf32> to tensor<4xf32>
  %4 = halftone.broadcast %3 {axes = array<i64: 0>} : tensor<4xf32> to tensor<4x6xf32>
  halftone.yield %4 : tensor<4x6xf32>
}
func.func @main(%a: tensor<4x6xf32> {halftone.name = "a"}) -> (tensor<4x6xf32> {halftone.name = "y"}) {
  %y = halftone.launch @k(%a) {site = ""} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// expected-error@below {{expects a function @main}}
module {
}
