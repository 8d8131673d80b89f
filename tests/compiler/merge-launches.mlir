// RUN: halftone-opt %s --halftone-merge-launches | FileCheck-22 %s

// @a and @c differ in extents alone and become neighbours; @d waits for both; the second @a waits for @d. In `when`
// too.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = halftone.launch @a(%arg1)
// CHECK-NEXT: %[[C:.*]] = halftone.launch @c(%arg2)
// CHECK-NEXT: %[[D:.*]] = halftone.launch @d(%[[A]], %[[C]])
// CHECK-NEXT: halftone.launch @a(%[[D]])
// CHECK: halftone.when
// CHECK-NEXT: halftone.launch @a
// CHECK-NEXT: halftone.launch @c
// CHECK-NEXT: halftone.launch @b
// CHECK-NEXT: halftone.yield
halftone.variable @w : tensor<8xf32>
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
halftone.kernel loop @c (tensor<4x2xf32>) -> tensor<4x2xf32> {
^bb0(%x: tensor<4x2xf32>):
  %0 = halftone.neg %x : tensor<4x2xf32>
  halftone.yield %0 : tensor<4x2xf32>
}
halftone.kernel loop @d (tensor<8xf32>, tensor<4x2xf32>) -> tensor<8xf32> {
^bb0(%x: tensor<8xf32>, %y: tensor<4x2xf32>):
  %0 = halftone.reshape %y : tensor<4x2xf32> to tensor<8xf32>
  %1 = halftone.add %x, %0 : tensor<8xf32>
  halftone.yield %1 : tensor<8xf32>
}
func.func @main(%p: tensor<i1> {halftone.name = "p"}, %x: tensor<8xf32> {halftone.name = "x"}, %y: tensor<4x2xf32> {halftone.name = "y"})
    -> (tensor<8xf32> {halftone.name = "r"}, tensor<8xf32> {halftone.name = "s"}, tensor<4x2xf32> {halftone.name = "t"}, tensor<8xf32> {halftone.name = "u"}) {
  %0 = halftone.launch @a(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = halftone.launch @c(%y) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = halftone.launch @d(%0, %1) : (tensor<8xf32>, tensor<4x2xf32>) -> tensor<8xf32>
  %3 = halftone.launch @a(%2) : (tensor<8xf32>) -> tensor<8xf32>
  %4:3 = halftone.when %p : (tensor<8xf32>, tensor<4x2xf32>, tensor<8xf32>) {
    %5 = halftone.launch @a(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %6 = halftone.launch @b(%5) : (tensor<8xf32>) -> tensor<8xf32>
    %7 = halftone.launch @c(%y) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    halftone.yield %5, %7, %6 : tensor<8xf32>, tensor<4x2xf32>, tensor<8xf32>
  } else {
    halftone.yield %x, %y, %x : tensor<8xf32>, tensor<4x2xf32>, tensor<8xf32>
  }
  return %3, %4#0, %4#1, %4#2 : tensor<8xf32>, tensor<8xf32>, tensor<4x2xf32>, tensor<8xf32>
}
