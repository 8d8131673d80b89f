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
