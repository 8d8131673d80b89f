// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

// CHECK-LABEL: func.func @reshape
// CHECK: halftone.reshape %{{.*}} : tensor<8x28x28xf32> to tensor<8x784xf32>
func.func @reshape(%0: tensor<8x28x28xf32>) {
  %1 = halftone.reshape %0 : tensor<8x28x28xf32> to tensor<8x784xf32>
  return
}
// CHECK-LABEL: func.func @broadcast
// CHECK: halftone.broadcast %{{.*}} {axes = array<i64: 1>} : tensor<4xf32> to tensor<8x4xf32>
func.func @broadcast(%0: tensor<4xf32>) {
  %1 = halftone.broadcast %0 {axes = array<i64: 1>} : tensor<4xf32> to tensor<8x4xf32>
  return
}
// CHECK-LABEL: func.func @transpose
// CHECK: halftone.transpose %{{.*}} {permutation = array<i64: 1, 0>} : tensor<8x4xf32> to tensor<4x8xf32>
func.func @transpose(%0: tensor<8x4xf32>) {
  %1 = halftone.transpose %0 {permutation = array<i64: 1, 0>} : tensor<8x4xf32> to tensor<4x8xf32>
  return
}
// CHECK-LABEL: func.func @pack
// CHECK: halftone.pack %{{.*}} : tensor<8x16xbf16> to tensor<8x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>
func.func @pack(%0: tensor<8x16xbf16>) {
  %1 = halftone.pack %0 : tensor<8x16xbf16> to tensor<8x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>
  return
}
