// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

// CHECK-LABEL: func.func @window
// CHECK: halftone.window %{{.*}} {dilation = array<i64: 1>, hole = array<i64: 1>, low = array<i64: 1>, lowest, stride = array<i64: 2>} : tensor<8x28x4xf32> to tensor<8x14x3x4xf32>
func.func @window(%x: tensor<8x28x4xf32>) {
  %p = halftone.window %x {stride = array<i64: 2>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>, lowest}
      : tensor<8x28x4xf32> to tensor<8x14x3x4xf32>
  return
}
// CHECK-LABEL: func.func @diagonal
// CHECK: halftone.window %{{.*}} {diagonal, dilation = array<i64: -1>, hole = array<i64: 2>, low = array<i64: -1>, stride = array<i64: 1>} : tensor<8x14x3x4xi8> to tensor<8x28x3x4xi8>
func.func @diagonal(%x: tensor<8x14x3x4xi8>) {
  %p = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: -1>, low = array<i64: -1>, hole = array<i64: 2>, diagonal}
      : tensor<8x14x3x4xi8> to tensor<8x28x3x4xi8>
  return
}
// CHECK-LABEL: func.func @convolution
// CHECK: halftone.convolution %{{.*}}, %{{.*}} {dilation = array<i64: 1, 1>, hole = array<i64: 1, 1>, low = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<8x28x28x1x3xf16>, tensor<3x3x1x3x16xf16>) -> tensor<8x28x28x1x16xf16>
func.func @convolution(%x: tensor<8x28x28x1x3xf16>, %w: tensor<3x3x1x3x16xf16>) {
  %y = halftone.convolution %x, %w {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>}
      : (tensor<8x28x28x1x3xf16>, tensor<3x3x1x3x16xf16>) -> tensor<8x28x28x1x16xf16>
  return
}
