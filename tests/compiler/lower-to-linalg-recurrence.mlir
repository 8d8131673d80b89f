// RUN: halftone-opt %s --halftone-lower-to-linalg | FileCheck-22 %s

// A recurrence is the generics of one step: the product of the carry, the slopes as pieces of a concat, and the results. The steps
// are a dim of stacks, and where they begin and how they go on are launch arguments.
// CHECK-LABEL: module @recurrence
// CHECK-SAME: halftone.extents = array<i64: 6, 32, 16, 16, 32, 8, 5, -1, 0, 16>, halftone.grid = 4 : i64
// CHECK: func.func @kernel
// CHECK-SAME: %[[A:arg10]]: tensor<?x?xf32>, %[[X:arg11]]: tensor<?x?x?xf32>, %[[W:arg12]]: tensor<?x?xf32>
// CHECK-SAME: halftone.carries = array<i64: 0, 0>, halftone.kind = "recurrence", halftone.lookup_arguments = 4 : i64, halftone.outer = 2 : i64, halftone.schedule = #halftone_cpu.recurrence}
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[W]] : tensor<?x?xf32>, tensor<?x?xf32>)
// CHECK-SAME: halftone.combine = ["sum"], halftone.dims = array<i64: 1, 2, 3>
// CHECK: %[[P:.*]]:3 = linalg.generic {{.*}} ins(%[[Z]], %[[X]] : tensor<?x?xf32>, tensor<?x?x?xf32>)
// CHECK-SAME: halftone.dims = array<i64: 0, 1, 2>
// CHECK: math.tanh
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, %arg8] [%arg1, %arg2] [1, 1]
// CHECK: %[[BOTH:.*]] = tensor.insert_slice %{{.*}} into %[[FIRST]][0, %arg9] [%arg1, %arg2] [1, 1]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[BOTH]] : tensor<?x?xf32>) outs(%{{.*}} : tensor<?x?x?xf32>)
// CHECK: return %{{.*}}, %[[Y]]
halftone.kernel recurrence @recurrence (tensor<32x16xf32>, tensor<6x32x16xf32>, tensor<16x16xf32>) -> (tensor<32x16xf32>, tensor<6x32x32xf32>) {
^bb0(%a: tensor<32x16xf32>, %xs: tensor<6x32x16xf32>, %w: tensor<16x16xf32>):
  %0:2 = halftone.scan (%a) over (%xs) {length = 6 : i64, reverse} : (tensor<32x16xf32>, tensor<6x32x16xf32>) -> (tensor<32x16xf32>, tensor<6x32x32xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<32x16xf32>, %x: tensor<32x16xf32>):
    %1 = halftone.contract %c, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %2 = halftone.add %1, %x : tensor<32x16xf32>
    %3 = halftone.tanh %2 : tensor<32x16xf32>
    %4 = halftone.concat %3, %2 {axis = 1 : i64} : tensor<32x16xf32>, tensor<32x16xf32> to tensor<32x32xf32>
    halftone.yield %3, %4 : tensor<32x16xf32>, tensor<32x32xf32>
  }
  halftone.yield %0#0, %0#1 : tensor<32x16xf32>, tensor<6x32x32xf32>
}
