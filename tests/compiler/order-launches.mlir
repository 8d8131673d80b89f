// RUN: halftone-opt %s --halftone-order-launches | FileCheck-22 %s

// Readers of the old %w go before the launch that makes the new one; also inside of `when`.
// CHECK-LABEL: func.func @main
// CHECK: %[[OLD:.*]] = halftone.launch @b(%arg1)
// CHECK: %[[NEW:.*]] = halftone.launch @a(%arg1)
// CHECK: %[[V:[0-9]+]]:2 = halftone.when
// CHECK: %[[INNER:.*]] = halftone.launch @b(%arg2)
// CHECK: %[[VNEW:.*]] = halftone.launch @a(%arg2)
// CHECK: halftone.yield %[[VNEW]], %[[INNER]]
// CHECK: return %[[OLD]], %[[V]]#1, %[[NEW]], %[[V]]#0
halftone.variable @w : tensor<8xf32>
halftone.variable @v : tensor<8xf32>
halftone.kernel loop @a (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%x: tensor<8xf32>):
  %0 = halftone.neg %x : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
halftone.kernel loop @b (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%x: tensor<8xf32>):
  %0 = halftone.exp %x : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
func.func @main(%p: tensor<i1> {halftone.name = "p"}, %w: tensor<8xf32> {halftone.variable = @w}, %v: tensor<8xf32> {halftone.variable = @v})
    -> (tensor<8xf32> {halftone.name = "old"}, tensor<8xf32> {halftone.name = "inner"}, tensor<8xf32> {halftone.variable = @w}, tensor<8xf32> {halftone.variable = @v}) {
  %0 = halftone.launch @a(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = halftone.launch @b(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %2:2 = halftone.when %p : (tensor<8xf32>, tensor<8xf32>) {
    %3 = halftone.launch @a(%v) : (tensor<8xf32>) -> tensor<8xf32>
    %4 = halftone.launch @b(%v) : (tensor<8xf32>) -> tensor<8xf32>
    halftone.yield %3, %4 : tensor<8xf32>, tensor<8xf32>
  } else {
    halftone.yield %v, %v : tensor<8xf32>, tensor<8xf32>
  }
  return %1, %2#1, %0, %2#0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
