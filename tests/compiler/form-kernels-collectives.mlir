// RUN: halftone-opt %s --stop-after=kernel | FileCheck-22 %s

// One kernel for both ops would make a value for one collective and read that of the other, which may come behind it.
// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = halftone.all_reduce max(%arg0) {order = 0 : i64}
// CHECK-NEXT: %[[M:.*]] = halftone.launch {{.*}}(%arg0, %arg1)
// CHECK-NEXT: %[[A:.*]] = halftone.all_reduce sum(%[[M]]) {order = 1 : i64}
// CHECK-NEXT: %[[B:.*]] = halftone.launch {{.*}}(%[[X]], %arg1)
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @main(%x: tensor<f32> {halftone.name = "x"}, %y: tensor<f32> {halftone.name = "y"}) -> (tensor<f32> {halftone.name = "a"}, tensor<f32> {halftone.name = "b"}) {
  %0 = halftone.mul %x, %y : tensor<f32>
  %1 = halftone.all_reduce sum (%0) : tensor<f32>
  %2 = halftone.all_reduce max (%x) : tensor<f32>
  %3 = halftone.sub %2, %y : tensor<f32>
  return %1, %3 : tensor<f32>, tensor<f32>
}
