// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

// CHECK-LABEL: func.func @main
// CHECK: halftone.all_reduce sum(%arg0, %arg1) : tensor<8x4xf32>, tensor<4xf32>
// CHECK: halftone.all_reduce max(%arg1) {order = 3 : i64} : tensor<4xf32>
// Nobody reads the results: the op stays, since every process runs it.
func.func @main(%a: tensor<8x4xf32>, %b: tensor<4xf32>) {
  %0:2 = halftone.all_reduce sum (%a, %b) : tensor<8x4xf32>, tensor<4xf32>
  %1 = halftone.all_reduce max (%b) {order = 3 : i64} : tensor<4xf32>
  return
}

// Process 1 of 2. The second value belongs to process 0.
// CHECK-LABEL: func.func @parts
// CHECK: %[[P:.*]]:2 = halftone.reduce_scatter(%arg0, %arg1) rank 1 borders [array<i64: 0, 16, 32>, array<i64: 0, 4, 4>] : tensor<8x4xf32>, tensor<4xf32>
// CHECK: halftone.all_gather(%[[P]]#0, %[[P]]#1) rank 1 borders [array<i64: 0, 16, 32>, array<i64: 0, 4, 4>] {order = 2 : i64} : tensor<16xf32>, tensor<0xf32>
// CHECK: return {{.*}} : tensor<32xf32>, tensor<4xf32>
func.func @parts(%a: tensor<8x4xf32>, %b: tensor<4xf32>) -> (tensor<32xf32>, tensor<4xf32>) {
  %0:2 = halftone.reduce_scatter (%a, %b) rank 1 borders [array<i64: 0, 16, 32>, array<i64: 0, 4, 4>] : tensor<8x4xf32>, tensor<4xf32>
  %1:2 = halftone.all_gather (%0#0, %0#1) rank 1 borders [array<i64: 0, 16, 32>, array<i64: 0, 4, 4>] {order = 2 : i64} : tensor<16xf32>, tensor<0xf32>
  return %1#0, %1#1 : tensor<32xf32>, tensor<4xf32>
}

// All elements are this process's: the values keep their shapes.
// CHECK-LABEL: func.func @all
// CHECK: return {{.*}} : tensor<8x4xf32>, tensor<8x4xf32>
func.func @all(%a: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = halftone.reduce_scatter (%a) rank 1 borders [array<i64: 0, 0, 32>] : tensor<8x4xf32>
  %1 = halftone.all_gather (%0) rank 1 borders [array<i64: 0, 0, 32>] : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: func.func @one
// CHECK: return {{.*}} : tensor<16xf32>
func.func @one(%a: tensor<8x4xf32>) -> tensor<16xf32> {
  %0 = halftone.reduce_scatter (%a) rank 0 borders [array<i64: 0, 16, 32>] : tensor<8x4xf32>
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: func.func @two
// CHECK: return {{.*}} : tensor<32xf32>
func.func @two(%a: tensor<16xf32>) -> tensor<32xf32> {
  %0 = halftone.all_gather (%a) rank 0 borders [array<i64: 0, 16, 32>] : tensor<16xf32>
  return %0 : tensor<32xf32>
}
