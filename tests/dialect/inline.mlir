// RUN: halftone-opt %s --inline | FileCheck-22 %s
// RUN: halftone-opt %s --inline | halftone-opt --stop-after=kernel | FileCheck-22 %s --check-prefix=KERNEL

// Private helpers of @main are inlined where they are called, in a layer and in a `when` too; none of them remains.
// CHECK-LABEL: func.func @main
// CHECK-NOT: call
// CHECK: halftone.layer "net/dense"
// CHECK: halftone.read @w
// CHECK: halftone.when
// CHECK: halftone.neg
// CHECK-NOT: func.func
// KERNEL: halftone.launch
halftone.variable @w : tensor<4xf32>

func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %p: tensor<i1> {halftone.name = "p"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %0 = halftone.layer "net/dense" policy "float32" (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %y = func.call @scaled(%a) : (tensor<4xf32>) -> tensor<4xf32>
    halftone.yield %y : tensor<4xf32>
  }
  %1 = halftone.when %p : (tensor<4xf32>) {
    %n = func.call @negated(%0) : (tensor<4xf32>) -> tensor<4xf32>
    halftone.yield %n : tensor<4xf32>
  } else {
    halftone.yield %0 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

func.func private @scaled(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = halftone.read @w : tensor<4xf32>
  %y = halftone.mul %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func private @negated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = halftone.neg %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
