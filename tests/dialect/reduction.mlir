// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

// CHECK-LABEL: func.func @reduce
// CHECK: halftone.reduce sum %{{.*}} {axes = array<i64: 0>} : tensor<8x4xf16> -> tensor<4xf32>
func.func @reduce(%0: tensor<8x4xf16>) {
  %1 = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<8x4xf16> -> tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @kinds
// CHECK: halftone.reduce max {{.*}} -> tensor<f16>
// CHECK: halftone.reduce min {{.*}} -> tensor<i32>
// CHECK: halftone.reduce prod {{.*}}axes = array<i64>{{.*}} -> tensor<8x4xf32>
// CHECK: halftone.reduce and {{.*}} -> tensor<i1>
// CHECK: halftone.reduce or {{.*}} -> tensor<i32>
func.func @kinds(%f: tensor<8x4xf16>, %i: tensor<8xi32>, %b: tensor<8xi1>) {
  %0 = halftone.reduce max %f {axes = array<i64: 0, 1>} : tensor<8x4xf16> -> tensor<f16>
  %1 = halftone.reduce min %i {axes = array<i64: 0>} : tensor<8xi32> -> tensor<i32>
  %2 = halftone.reduce prod %f {axes = array<i64>} : tensor<8x4xf16> -> tensor<8x4xf32>
  %3 = halftone.reduce and %b {axes = array<i64: 0>} : tensor<8xi1> -> tensor<i1>
  %4 = halftone.reduce or %i {axes = array<i64: 0>} : tensor<8xi32> -> tensor<i32>
  return
}
// CHECK-LABEL: func.func @partial_reduce
// CHECK: halftone.partial_reduce sum %{{.*}} {axes = array<i64: 0>, tile = array<i64: 64>} : tensor<128x4xf32> -> tensor<2x4xf32>
func.func @partial_reduce(%0: tensor<128x4xf32>) {
  %p = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 64>} : tensor<128x4xf32> -> tensor<2x4xf32>
  return
}
// CHECK-LABEL: func.func @arg_reduce
// CHECK: halftone.arg_reduce max %{{.*}} {axis = 1 : i64} : tensor<8x10xf32> -> tensor<8xi32>
func.func @arg_reduce(%0: tensor<8x10xf32>) {
  %1 = halftone.arg_reduce max %0 {axis = 1 : i64} : tensor<8x10xf32> -> tensor<8xi32>
  return
}
// CHECK-LABEL: func.func @reduce_all
// CHECK-SAME: -> (tensor<i1>, tensor<f32>, tensor<f64>)
// CHECK: halftone.reduce_all all_finite(%{{.*}}, %{{.*}}) : tensor<4xf32>, tensor<8x4xf16>
// CHECK: halftone.reduce_all max_abs()
// CHECK: halftone.reduce_all sum_of_squares(%{{.*}}) : tensor<2xf64>
func.func @reduce_all(%g0: tensor<4xf32>, %g1: tensor<8x4xf16>, %d: tensor<2xf64>) -> (tensor<i1>, tensor<f32>, tensor<f64>) {
  %ok = halftone.reduce_all all_finite (%g0, %g1) : tensor<4xf32>, tensor<8x4xf16>
  %zero = halftone.reduce_all max_abs ()
  %norm = halftone.reduce_all sum_of_squares (%d) : tensor<2xf64>
  return %ok, %zero, %norm : tensor<i1>, tensor<f32>, tensor<f64>
}
// CHECK-LABEL: func.func @cumsum
// CHECK: halftone.cumsum %{{.*}} {axis = 1 : i64} : tensor<8x4xf16> -> tensor<8x4xf32>
// CHECK: halftone.cumsum %{{.*}} {axis = 1 : i64, kind = #halftone<reduce_kind max>, reverse} : tensor<8x4xf16> -> tensor<8x4xf16>
// CHECK: halftone.cumsum %{{.*}} {axis = 0 : i64, reverse} : tensor<3xui8> -> tensor<3xui8>
// CHECK: halftone.cumsum %{{.*}} {axis = 0 : i64, kind = #halftone<reduce_kind max>, reverse} : tensor<3xui8> -> tensor<3xui8>
// CHECK: halftone.cumsum %{{.*}} {axis = 1 : i64} : tensor<8x4xf16> -> tensor<8x4xf16>
func.func @cumsum(%0: tensor<8x4xf16>, %u: tensor<3xui8>) {
  %1 = halftone.cumsum %0 {axis = 1 : i64} : tensor<8x4xf16> -> tensor<8x4xf32>
  %2 = halftone.cumsum %0 {axis = 1 : i64, kind = #halftone<reduce_kind max>, reverse} : tensor<8x4xf16> -> tensor<8x4xf16>
  %3 = halftone.cumsum %u {axis = 0 : i64, reverse} : tensor<3xui8> -> tensor<3xui8>
  %4 = halftone.cumsum %u {axis = 0 : i64, reverse, kind = #halftone<reduce_kind max>} : tensor<3xui8> -> tensor<3xui8>
  %5 = halftone.cumsum %0 {axis = 1 : i64, kind = #halftone<reduce_kind sum>} : tensor<8x4xf16> -> tensor<8x4xf16>
  return
}
