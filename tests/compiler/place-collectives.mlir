// RUN: halftone-opt %s --split-input-file --halftone-place-collectives | FileCheck-22 %s

// The sum begins as soon as its operand is made, and the launch that reads it comes last.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[G:.*]] = halftone.launch @k(%arg0)
// CHECK-NEXT: %[[S:.*]] = halftone.all_reduce sum(%[[G]]) {order = 0 : i64}
// CHECK-NEXT: %[[H:.*]] = halftone.launch @k(%[[G]])
// CHECK-NEXT: %[[T:.*]] = halftone.all_reduce sum(%[[H]]) {order = 1 : i64}
// CHECK-NEXT: %[[I:.*]] = halftone.launch @k(%[[H]])
// CHECK-NEXT: %[[U:.*]] = halftone.launch @k(%[[S]])
// CHECK-NEXT: %[[V:.*]] = halftone.launch @k(%[[T]])
// CHECK-NEXT: return %[[V]], %[[U]], %[[I]]
halftone.kernel loop @k (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%x: tensor<8xf32>):
  %0 = halftone.neg %x : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32> {halftone.name = "x"}) -> (tensor<8xf32> {halftone.name = "v"}, tensor<8xf32> {halftone.name = "u"}, tensor<8xf32> {halftone.name = "i"}) {
  %g = halftone.launch @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %h = halftone.launch @k(%g) : (tensor<8xf32>) -> tensor<8xf32>
  %t = halftone.all_reduce sum (%h) {order = 1 : i64} : tensor<8xf32>
  %s = halftone.all_reduce sum (%g) {order = 0 : i64} : tensor<8xf32>
  %u = halftone.launch @k(%s) : (tensor<8xf32>) -> tensor<8xf32>
  %v = halftone.launch @k(%t) : (tensor<8xf32>) -> tensor<8xf32>
  %i = halftone.launch @k(%h) : (tensor<8xf32>) -> tensor<8xf32>
  return %v, %u, %i : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
