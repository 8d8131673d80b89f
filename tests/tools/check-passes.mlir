// RUN: halftone-opt %s --split-input-file --stop-after=kernel --check-passes | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --stop-after=kernel --numerics=strict --check-passes | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --check-passes --halftone-insert-casts --halftone-inline-layers -o /dev/null

// A forward pass with state: every pass is checked, for both values of the random condition of `when`.
// CHECK-LABEL: func.func @main
// CHECK: halftone.launch
halftone.variable @w : tensor<4x2xf32>
halftone.variable @seen : tensor<i32> {role = #halftone<role iteration>, autocast = false}
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"}, %train: tensor<i1> {halftone.name = "train"})
    -> (tensor<8x2xf16> {halftone.name = "y"}, tensor<2xf32> {halftone.name = "s"}) {
  %y = halftone.layer "net/dense" policy "mixed_float16" (%x) : (tensor<8x4xf32>) -> tensor<8x2xf16> {
  ^bb0(%a: tensor<8x4xf16>):
    %w = halftone.read @w : tensor<4x2xf16>
    %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf16>, tensor<4x2xf16>) -> tensor<8x2xf16>
    %1 = halftone.tanh %0 : tensor<8x2xf16>
    halftone.yield %1 : tensor<8x2xf16>
  }
  %s = halftone.reduce sum %y {axes = array<i64: 0>} : tensor<8x2xf16> -> tensor<2xf32>
  halftone.when %train : () {
    %n = halftone.read @seen : tensor<i32>
    %one = halftone.constant dense<1> : tensor<i32>
    %n1 = halftone.add %n, %one : tensor<i32>
    halftone.assign @seen, %n1 : tensor<i32>
  } else {
  }
  return %y, %s : tensor<8x2xf16>, tensor<2xf32>
}

// -----

// With a gradient: what is interpreted is a copy that is differentiated.
// CHECK-LABEL: func.func @main
// CHECK: halftone.launch
halftone.variable @w : tensor<4xf32>
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "dw"}) {
  %w = halftone.read @w : tensor<4xf32>
  %0 = halftone.mul %x, %w : tensor<4xf32>
  %1 = halftone.exp %0 : tensor<4xf32>
  %2 = halftone.reduce sum %1 {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %dw = halftone.gradient %2 of [@w] : tensor<f32> -> tensor<4xf32>
  return %dw : tensor<4xf32>
}
