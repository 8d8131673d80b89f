// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

// CHECK: halftone.kernel loop @loop_0 (tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8xf32>):
// CHECK-NEXT: %[[N:.*]] = halftone.neg %[[A]] : tensor<8xf32>
// CHECK-NEXT: halftone.yield %[[N]] : tensor<8xf32>
halftone.kernel loop @loop_0 (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%a: tensor<8xf32>):
  %0 = halftone.neg %a : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}

// CHECK: halftone.kernel row @row_0 () -> (tensor<f32>, tensor<i1>) attributes {spec = #halftone.blocks<rows = 4>}
halftone.kernel row @row_0 () -> (tensor<f32>, tensor<i1>) attributes {spec = #halftone.blocks<rows = 4>} {
  %0 = halftone.constant dense<1.0> : tensor<f32>
  %1 = halftone.constant dense<true> : tensor<i1>
  %2 = halftone.constant dense<2.0> : tensor<8x3xf32>
  %3 = halftone.partial_reduce sum %2 {axes = array<i64: 0>, tile = array<i64: 4>} : tensor<8x3xf32> -> tensor<2x3xf32>
  halftone.yield %0, %1 : tensor<f32>, tensor<i1>
}

// CHECK: halftone.kernel matmul @matmul_0 (tensor<f32>)
halftone.kernel matmul @matmul_0 (tensor<f32>) -> () {
^bb0(%a: tensor<f32>):
}

// CHECK-LABEL: func.func @main
// CHECK: halftone.launch @loop_0(%{{.*}}) {site = "net/dense"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: halftone.launch @row_0() : () -> (tensor<f32>, tensor<i1>)
func.func @main(%0: tensor<8xf32>) {
  %1 = halftone.launch @loop_0(%0) {site = "net/dense"} : (tensor<8xf32>) -> tensor<8xf32>
  %2:2 = halftone.launch @row_0() : () -> (tensor<f32>, tensor<i1>)
  return
}
