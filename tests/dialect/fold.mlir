// RUN: halftone-opt %s --canonicalize | FileCheck-22 %s

// CHECK-LABEL: func.func @reshape
// CHECK-SAME: %[[X:.*]]: tensor<2x6xf32>
// CHECK-NEXT: %[[Y:.*]] = halftone.reshape %[[X]] : tensor<2x6xf32> to tensor<4x3xf32>
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @reshape(%x: tensor<2x6xf32>) -> (tensor<2x6xf32>, tensor<4x3xf32>) {
  %0 = halftone.reshape %x : tensor<2x6xf32> to tensor<12xf32>
  %1 = halftone.reshape %0 : tensor<12xf32> to tensor<2x6xf32>
  %2 = halftone.reshape %0 : tensor<12xf32> to tensor<4x3xf32>
  return %1, %2 : tensor<2x6xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
// CHECK-NEXT: %[[Y:.*]] = halftone.broadcast %[[X]] {axes = array<i64: 2>} : tensor<2xf32> to tensor<4x3x2xf32>
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @broadcast(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<4x3x2xf32>) {
  %0 = halftone.broadcast %x {axes = array<i64: 0>} : tensor<2xf32> to tensor<2xf32>
  %1 = halftone.broadcast %0 {axes = array<i64: 1>} : tensor<2xf32> to tensor<3x2xf32>
  %2 = halftone.broadcast %1 {axes = array<i64: 1, 2>} : tensor<3x2xf32> to tensor<4x3x2xf32>
  return %0, %2 : tensor<2xf32>, tensor<4x3x2xf32>
}

// CHECK-LABEL: func.func @transpose
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[Y:.*]] = halftone.transpose %[[X]] {permutation = array<i64: 1, 2, 0>} : tensor<2x3x4xf32> to tensor<3x4x2xf32>
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @transpose(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3x4x2xf32>) {
  %0 = halftone.transpose %x {permutation = array<i64: 2, 0, 1>} : tensor<2x3x4xf32> to tensor<4x2x3xf32>
  %1 = halftone.transpose %0 {permutation = array<i64: 1, 2, 0>} : tensor<4x2x3xf32> to tensor<2x3x4xf32>
  %2 = halftone.transpose %0 {permutation = array<i64: 2, 0, 1>} : tensor<4x2x3xf32> to tensor<3x4x2xf32>
  return %1, %2 : tensor<2x3x4xf32>, tensor<3x4x2xf32>
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[A:.*]] = halftone.constant dense<1.000000e+00> : tensor<8x4xf16>
// CHECK-DAG: %[[B:.*]] = halftone.constant dense<{{\[}}[1, 2], [3, 4]]> : tensor<2x2xi32>
// CHECK: return %[[A]], %[[B]]
func.func @constants() -> (tensor<8x4xf16>, tensor<2x2xi32>) {
  %0 = halftone.constant dense<1.0> : tensor<f16>
  %1 = halftone.broadcast %0 {axes = array<i64>} : tensor<f16> to tensor<32xf16>
  %2 = halftone.reshape %1 : tensor<32xf16> to tensor<4x8xf16>
  %3 = halftone.transpose %2 {permutation = array<i64: 1, 0>} : tensor<4x8xf16> to tensor<8x4xf16>
  %4 = halftone.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %5 = halftone.reshape %4 : tensor<4xi32> to tensor<2x2xi32>
  return %3, %5 : tensor<8x4xf16>, tensor<2x2xi32>
}

// Rounding stays: nothing folds a cast of a float, nor a product, which a kernel may fuse into a sum.
// CHECK-LABEL: func.func @casts
// CHECK: halftone.cast {{.*}} : tensor<4xf32> to tensor<4xf16>
// CHECK: halftone.cast {{.*}} : tensor<4xf16> to tensor<4xf16>
// CHECK: halftone.cast {{.*}} : tensor<4xf16> to tensor<4xf32>
// CHECK: halftone.cast {{.*}} : tensor<4xf32> to tensor<4xf32>
// CHECK: halftone.mul
func.func @casts(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = halftone.cast %x : tensor<4xf32> to tensor<4xf16>
  %1 = halftone.cast %0 : tensor<4xf16> to tensor<4xf16>
  %2 = halftone.cast %1 : tensor<4xf16> to tensor<4xf32>
  %3 = halftone.cast %2 : tensor<4xf32> to tensor<4xf32>
  %4 = halftone.constant dense<3.0> : tensor<4xf32>
  %5 = halftone.mul %4, %4 : tensor<4xf32>
  return %3, %5 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @slice
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK-NEXT: %[[Y:.*]] = halftone.slice %[[X]] {start = array<i64: 1, 3>} : tensor<4x6xf32> to tensor<2x2xf32>
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @slice(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<2x2xf32>) {
  %0 = halftone.slice %x {start = array<i64: 0, 0>} : tensor<4x6xf32> to tensor<4x6xf32>
  %1 = halftone.slice %x {start = array<i64: 1, 1>} : tensor<4x6xf32> to tensor<3x4xf32>
  %2 = halftone.slice %1 {start = array<i64: 0, 2>} : tensor<3x4xf32> to tensor<2x2xf32>
  return %0, %2 : tensor<4x6xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @concat
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[E:.*]]: tensor<0xf32>
// CHECK-DAG: %[[C:.*]] = halftone.constant dense<1.000000e+00> : tensor<5xf32>
// CHECK-DAG: %[[Y:.*]] = halftone.concat %[[X]], %[[X]] {axis = 0 : i64} : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
// CHECK: return %[[X]], %[[C]], %[[Y]]
func.func @concat(%x: tensor<4xf32>, %e: tensor<0xf32>) -> (tensor<4xf32>, tensor<5xf32>, tensor<8xf32>) {
  %a = halftone.constant dense<1.0> : tensor<2xf32>
  %b = halftone.constant dense<1.0> : tensor<3xf32>
  %0 = halftone.concat %x {axis = 0 : i64} : tensor<4xf32> to tensor<4xf32>
  %1 = halftone.concat %a, %b {axis = 0 : i64} : tensor<2xf32>, tensor<3xf32> to tensor<5xf32>
  %2 = halftone.concat %x, %e, %x {axis = 0 : i64} : tensor<4xf32>, tensor<0xf32>, tensor<4xf32> to tensor<8xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<5xf32>, tensor<8xf32>
}
