// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s
// CHECK-LABEL: func.func @sort
// CHECK: halftone.sort %{{.*}} {axis = 1 : i64} : tensor<8x10xf16> -> tensor<8x10xf16>, tensor<8x10xi32>
// CHECK: halftone.sort %{{.*}} {axis = 1 : i64, descending} : tensor<8x10xf16> -> tensor<8x3xf16>, tensor<8x3xi32>
// CHECK: halftone.sort %{{.*}} {axis = 0 : i64} : tensor<3xi1> -> tensor<0xi1>, tensor<0xi32>
func.func @sort(%0: tensor<8x10xf16>, %b: tensor<3xi1>) {
  %1:2 = halftone.sort %0 {axis = 1 : i64} : tensor<8x10xf16> -> tensor<8x10xf16>, tensor<8x10xi32>
  %2:2 = halftone.sort %0 {axis = 1 : i64, descending} : tensor<8x10xf16> -> tensor<8x3xf16>, tensor<8x3xi32>
  %3:2 = halftone.sort %b {axis = 0 : i64} : tensor<3xi1> -> tensor<0xi1>, tensor<0xi32>
  return
}
