// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

// CHECK: halftone.variable @w : tensor<4x8xf32> {path = "net/dense/kernel"}
halftone.variable @w : tensor<4x8xf32> {path = "net/dense/kernel", role = #halftone<role weight>}
// CHECK: halftone.variable @seed : tensor<2xui32>
// CHECK-SAME: autocast = false
// CHECK-SAME: role = #halftone<role seed>
// CHECK-SAME: trainable = false
// CHECK-SAME: update = #halftone<update assign>
halftone.variable @seed : tensor<2xui32>
    {role = #halftone<role seed>, trainable = false, autocast = false, update = #halftone<update assign>}

// CHECK-LABEL: func.func @main
// CHECK: halftone.read @w : tensor<4x8xf16>
// CHECK: halftone.read @seed : tensor<2xui32>
// CHECK: halftone.assign @w, %{{.*}} : tensor<4x8xf32>
func.func @main(%w1: tensor<4x8xf32>) {
  %w = halftone.read @w : tensor<4x8xf16>
  %s = halftone.read @seed : tensor<2xui32>
  halftone.assign @w, %w1 : tensor<4x8xf32>
  return
}

// CHECK-LABEL: halftone.shadow @w_bf16 of @w {
// CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<4x8xf32>):
// CHECK-NEXT: %[[C:.*]] = halftone.cast %[[V]]
// CHECK-NEXT: halftone.yield %[[C]] : tensor<4x8xbf16>
halftone.shadow @w_bf16 of @w {
^bb0(%v: tensor<4x8xf32>):
  %0 = halftone.cast %v {origin = "variable read"} : tensor<4x8xf32> to tensor<4x8xbf16>
  halftone.yield %0 : tensor<4x8xbf16>
}
