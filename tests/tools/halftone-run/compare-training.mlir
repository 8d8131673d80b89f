// A training step of a dense layer under a mixed policy: forward, backward and update agree, launch by launch.
// RUN: halftone-run compare %s --no-cache --by-layer --steps 2 | FileCheck-22 %s --check-prefix=STRICT
// STRICT: loss  ()
// STRICT: @w    (48, 10)
// STRICT: agrees {{bit for bit|within strict numerics}}
// RUN: halftone-run compare %s --no-cache --by-layer --steps 2 --numerics fast | FileCheck-22 %s --check-prefix=FAST
// FAST: agrees within fast numerics
// RUN: halftone-run compare %s --no-cache --by-layer --numerics fast --target x86-64-v2 -q
// RUN: halftone-run compare %s --no-cache --by-layer --numerics fast --atol 1 --threads 1 -q
halftone.variable @w : tensor<48x10xf32> {path = "net/dense/w"}
func.func @main(%x: tensor<7x48xf32> {halftone.name = "x"}, %y: tensor<7x10xf32> {halftone.name = "y"}) -> (tensor<f32> {halftone.name = "loss"}) {
  %z = halftone.layer "net/dense" policy "mixed_bfloat16" (%x) {layer_class = "Dense"} : (tensor<7x48xf32>) -> tensor<7x10xbf16> {
  ^bb0(%a: tensor<7x48xbf16>):
    %w = halftone.read @w : tensor<48x10xbf16>
    %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<7x48xbf16>, tensor<48x10xbf16>) -> tensor<7x10xbf16>
    %1 = halftone.tanh %0 : tensor<7x10xbf16>
    halftone.yield %1 : tensor<7x10xbf16>
  }
  %zf = halftone.cast %z {origin = "loss"} : tensor<7x10xbf16> to tensor<7x10xf32>
  %d = halftone.sub %zf, %y : tensor<7x10xf32>
  %s = halftone.mul %d, %d : tensor<7x10xf32>
  %l = halftone.reduce sum %s {axes = array<i64: 0, 1>} : tensor<7x10xf32> -> tensor<f32>
  %g = halftone.gradient %l of [@w] : tensor<f32> -> tensor<48x10xf32>
  %r = halftone.constant dense<0.01> : tensor<48x10xf32>
  %w = halftone.read @w : tensor<48x10xf32>
  %u = halftone.mul %g, %r : tensor<48x10xf32>
  %w1 = halftone.sub %w, %u : tensor<48x10xf32>
  halftone.assign @w, %w1 : tensor<48x10xf32>
  return %l : tensor<f32>
}
