// RUN: halftone-opt %s --sccp --canonicalize | FileCheck-22 %s

// MLIR's analyses see both regions of a `when` and the values that leave them: both give 3, so the result is known.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<2xi32>
// CHECK: %[[C:.*]] = halftone.constant dense<4> : tensor<2xi32>
// CHECK: return %[[C]]
func.func @main(%p: tensor<i1>, %x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = halftone.when %p : (tensor<2xi32>) {
    %a = halftone.constant dense<3> : tensor<2xi32>
    halftone.yield %a : tensor<2xi32>
  } else {
    %b = halftone.constant dense<3> : tensor<2xi32>
    halftone.yield %b : tensor<2xi32>
  }
  %one = halftone.constant dense<1> : tensor<2xi32>
  %1 = halftone.add %0, %one : tensor<2xi32>
  return %1 : tensor<2xi32>
}

// Only the region that runs decides when the condition is known.
// CHECK-LABEL: func.func @known
// CHECK: %[[C:.*]] = halftone.constant dense<7> : tensor<i32>
// CHECK: return %[[C]]
func.func @known(%x: tensor<i32>) -> tensor<i32> {
  %false = halftone.constant dense<false> : tensor<i1>
  %0 = halftone.when %false : (tensor<i32>) {
    halftone.yield %x : tensor<i32>
  } else {
    %b = halftone.constant dense<7> : tensor<i32>
    halftone.yield %b : tensor<i32>
  }
  return %0 : tensor<i32>
}
