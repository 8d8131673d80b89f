// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

// CHECK-LABEL: func.func @slice
// CHECK: halftone.slice %{{.*}} {start = array<i64: 0, 2>} : tensor<8x10xf32> to tensor<8x4xf32>
func.func @slice(%0: tensor<8x10xf32>) {
  %1 = halftone.slice %0 {start = array<i64: 0, 2>} : tensor<8x10xf32> to tensor<8x4xf32>
  return
}
// CHECK-LABEL: func.func @concat
// CHECK: halftone.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<8x4xf32>, tensor<8x3xf32> to tensor<8x7xf32>
func.func @concat(%0: tensor<8x4xf32>, %1: tensor<8x3xf32>) {
  %2 = halftone.concat %0, %1 {axis = 1 : i64} : tensor<8x4xf32>, tensor<8x3xf32> to tensor<8x7xf32>
  return
}
// CHECK-LABEL: func.func @gather
// CHECK: halftone.gather %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<100x64xf32>, tensor<8x5xi32>) -> tensor<8x5x64xf32>
// CHECK: halftone.gather %{{.*}}, %{{.*}} {axis = 1 : i64, batch = 1 : i64} : (tensor<8x100xf32>, tensor<8x5xi32>) -> tensor<8x5xf32>
func.func @gather(%table: tensor<100x64xf32>, %ids: tensor<8x5xi32>, %x: tensor<8x100xf32>) {
  %rows = halftone.gather %table, %ids {axis = 0 : i64} : (tensor<100x64xf32>, tensor<8x5xi32>) -> tensor<8x5x64xf32>
  %best = halftone.gather %x, %ids {axis = 1 : i64, batch = 1 : i64} : (tensor<8x100xf32>, tensor<8x5xi32>) -> tensor<8x5xf32>
  return
}
// CHECK-LABEL: func.func @scatter_add
// CHECK: halftone.scatter_add %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<8x5xi32>, tensor<8x5x64xf16>) -> tensor<100x64xf32>
func.func @scatter_add(%ids: tensor<8x5xi32>, %updates: tensor<8x5x64xf16>) {
  %sums = halftone.scatter_add %ids, %updates {axis = 0 : i64} : (tensor<8x5xi32>, tensor<8x5x64xf16>) -> tensor<100x64xf32>
  return
}
// CHECK-LABEL: func.func @batches
// CHECK: halftone.gather %{{.*}}, %{{.*}} {axis = 2 : i64, batch = 1 : i64} : (tensor<8x3x10x2xf32>, tensor<8x5xi32>) -> tensor<8x3x5x2xf32>
// CHECK: halftone.scatter_add %{{.*}}, %{{.*}} {axis = 2 : i64, batch = 1 : i64} : (tensor<8x5xi32>, tensor<8x3x5x2xf32>) -> tensor<8x3x10x2xf32>
// CHECK: halftone.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<8x3x10x2xf32>, tensor<8x5xi32>)
func.func @batches(%x: tensor<8x3x10x2xf32>, %ids: tensor<8x5xi32>) {
  %rows = halftone.gather %x, %ids {axis = 2 : i64, batch = 1 : i64} : (tensor<8x3x10x2xf32>, tensor<8x5xi32>) -> tensor<8x3x5x2xf32>
  %sums = halftone.scatter_add %ids, %rows {axis = 2 : i64, batch = 1 : i64} : (tensor<8x5xi32>, tensor<8x3x5x2xf32>) -> tensor<8x3x10x2xf32>
  %none = halftone.gather %x, %ids {axis = 1 : i64, batch = 0 : i64} : (tensor<8x3x10x2xf32>, tensor<8x5xi32>) -> tensor<8x8x5x10x2xf32>
  return
}
// CHECK-LABEL: func.func @scatter
// CHECK: halftone.scatter set %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<100x64xf32>, tensor<5xi32>, tensor<5x64xf32>) -> tensor<100x64xf32>
// CHECK: halftone.scatter max %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64, batch = 1 : i64} : (tensor<8x3xui8>, tensor<8x2xi64>, tensor<8x2xui8>) -> tensor<8x3xui8>
func.func @scatter(%x: tensor<100x64xf32>, %ids: tensor<5xi32>, %rows: tensor<5x64xf32>, %u: tensor<8x3xui8>, %at: tensor<8x2xi64>, %v: tensor<8x2xui8>) {
  %y = halftone.scatter set %x, %ids, %rows {axis = 0 : i64} : (tensor<100x64xf32>, tensor<5xi32>, tensor<5x64xf32>) -> tensor<100x64xf32>
  %1 = halftone.scatter max %u, %at, %v {axis = 1 : i64, batch = 1 : i64} : (tensor<8x3xui8>, tensor<8x2xi64>, tensor<8x2xui8>) -> tensor<8x3xui8>
  return
}
