// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

// CHECK-LABEL: func.func @cast
// CHECK: halftone.cast %{{.*}} {origin = "layer input"} : tensor<4xf32> to tensor<4xf16>
func.func @cast(%0: tensor<4xf32>) {
  %1 = halftone.cast %0 {origin = "layer input"} : tensor<4xf32> to tensor<4xf16>
  return
}
// CHECK-LABEL: func.func @casts
// CHECK: halftone.cast %{{.*}} {kind = #halftone<cast_kind storage>, saturate = true} : tensor<4xf32> to tensor<4xf8E4M3FN>
// CHECK: halftone.cast %{{.*}} : tensor<4xf8E4M3FN> to tensor<4xf8E5M2>
// CHECK: halftone.cast %{{.*}} : tensor<4xf32> to tensor<4xf32>
// CHECK: halftone.cast %{{.*}} : tensor<4xi1> to tensor<4xui16>
func.func @casts(%x: tensor<4xf32>, %i: tensor<4xi1>) {
  %0 = halftone.cast %x {kind = #halftone<cast_kind storage>, saturate = true} : tensor<4xf32> to tensor<4xf8E4M3FN>
  %1 = halftone.cast %0 : tensor<4xf8E4M3FN> to tensor<4xf8E5M2>
  %2 = halftone.cast %x : tensor<4xf32> to tensor<4xf32>
  %3 = halftone.cast %i : tensor<4xi1> to tensor<4xui16>
  return
}
// CHECK-LABEL: func.func @constant
// CHECK: halftone.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK: halftone.constant dense<[1, 255]> : tensor<2xui8>
// CHECK: halftone.constant dense<true> : tensor<i1>
func.func @constant() {
  %0 = halftone.constant dense<0.5> : tensor<4xf32>
  %1 = halftone.constant dense<[1, 255]> : tensor<2xui8>
  %2 = halftone.constant dense<true> : tensor<i1>
  return
}
// CHECK-LABEL: func.func @iota
// CHECK: halftone.iota {axis = 1 : i64} : tensor<8x10xi32>
func.func @iota() {
  %0 = halftone.iota {axis = 1 : i64} : tensor<8x10xi32>
  return
}
// CHECK-LABEL: func.func @random_bits
// CHECK: halftone.random_bits %{{.*}} : tensor<2xui32> -> tensor<8x10xui32>
func.func @random_bits(%key: tensor<2xui32>) {
  %0 = halftone.random_bits %key : tensor<2xui32> -> tensor<8x10xui32>
  return
}
