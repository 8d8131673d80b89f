// A step of training with a scope of each kind, for halftone-reduce.test.
// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt %s -o /dev/null
module @step attributes {halftone.stage = "graph"} {
  halftone.variable @w : tensor<4xf32> {path = "net/w"}
  halftone.variable @count : tensor<i32> {path = "count", role = #halftone<role iteration>, trainable = false, autocast = false}
  func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %limit: tensor<f32> {halftone.name = "limit"})
      -> (tensor<4xf32> {halftone.name = "y"}, tensor<f32> {halftone.name = "loss"}) {
    %y = halftone.layer "net/dense" policy "mixed_float16"(%x) {layer_class = "Dense"} : (tensor<4xf32>) -> tensor<4xf16> {
    ^bb0(%a: tensor<4xf16>):
      %w = halftone.read @w : tensor<4xf16>
      %p = halftone.mul %a, %w : tensor<4xf16>
      %q = halftone.layer "net/dense/tanh" policy "mixed_float16"(%p) : (tensor<4xf16>) -> tensor<4xf16> {
      ^bb0(%b: tensor<4xf16>):
        %t = halftone.tanh %b : tensor<4xf16>
        halftone.yield %t : tensor<4xf16>
      }
      halftone.yield %q : tensor<4xf16>
    }
    %z = halftone.cast %y : tensor<4xf16> to tensor<4xf32>
    %k = halftone.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %d = halftone.sub %z, %k : tensor<4xf32>
    %s = halftone.mul %d, %d : tensor<4xf32>
    %loss = halftone.reduce sum %s {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
    %g = halftone.gradient %loss of [@w] : tensor<f32> -> tensor<4xf32>
    %v = halftone.read @w : tensor<4xf32>
    %fits = halftone.compare lt %loss, %limit : tensor<f32>
    %n = halftone.when %fits : (tensor<4xf32>) {
      %e = halftone.atan2 %v, %g : tensor<4xf32>
      halftone.yield %e : tensor<4xf32>
    } else {
      halftone.yield %v : tensor<4xf32>
    }
    halftone.assign @w, %n : tensor<4xf32>
    %c = halftone.read @count : tensor<i32>
    %one = halftone.constant dense<1> : tensor<i32>
    %c1 = halftone.add %c, %one : tensor<i32>
    halftone.assign @count, %c1 : tensor<i32>
    return %z, %loss : tensor<4xf32>, tensor<f32>
  }
}
