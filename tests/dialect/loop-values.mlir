// RUN: halftone-opt %s --sccp --canonicalize | FileCheck-22 %s

// MLIR's analyses see that a carry takes its init and the value of the step before, and nothing of slices and stacks.
// CHECK-LABEL: func.func @main
// CHECK: %[[FIVE:.*]] = halftone.constant dense<5> : tensor<i32>
// CHECK: %[[S:.*]]:3 = halftone.scan
// CHECK: return %[[FIVE]], %[[S]]#1, %[[S]]#2
func.func @main(%xs: tensor<3xi32>) -> (tensor<i32>, tensor<i32>, tensor<3xi32>) {
  %five = halftone.constant dense<5> : tensor<i32>
  %0:3 = halftone.scan (%five, %five) over (%xs) {length = 3 : i64}
      : (tensor<i32>, tensor<i32>, tensor<3xi32>) -> (tensor<i32>, tensor<i32>, tensor<3xi32>) {
  ^bb0(%i: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>, %x: tensor<i32>):
    %1 = halftone.add %b, %x : tensor<i32>
    halftone.yield %a, %1, %a : tensor<i32>, tensor<i32>, tensor<i32>
  }
  return %0#0, %0#1, %0#2 : tensor<i32>, tensor<i32>, tensor<3xi32>
}

// CHECK-LABEL: func.func @while
// CHECK: %[[W:.*]]:2 = halftone.while
// CHECK: return %[[W]]#0, %[[W]]#1
func.func @while(%p: tensor<i1>) -> (tensor<i32>, tensor<i1>) {
  %five = halftone.constant dense<5> : tensor<i32>
  %0:2 = halftone.while (%five, %p) : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i1>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i1>):
    halftone.yield %b : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<i32>, %b: tensor<i1>):
    %1 = halftone.not %b : tensor<i1>
    halftone.yield %i, %1 : tensor<i32>, tensor<i1>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<i1>
}
