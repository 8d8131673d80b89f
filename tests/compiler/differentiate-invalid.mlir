// RUN: halftone-opt %s --split-input-file --halftone-inline-layers --halftone-differentiate --verify-diagnostics

func.func @main(%x: tensor<f32> {halftone.name = "x"}, %p: tensor<i1> {halftone.name = "p"})
    -> (tensor<f32> {halftone.name = "d"}) {
  %r = halftone.layer "net/gate" policy "float32" (%x, %p) : (tensor<f32>, tensor<i1>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %q: tensor<i1>):
    // expected-error @below {{'halftone.when' op has no gradient, but the value to differentiate depends on it (layer net/gate)}}
    %0 = halftone.when %q : (tensor<f32>) {
      halftone.yield %a : tensor<f32>
    } else {
      %c = halftone.constant dense<2.0> : tensor<f32>
      halftone.yield %c : tensor<f32>
    }
    halftone.yield %0 : tensor<f32>
  }
  %y = halftone.exp %r : tensor<f32>
  // expected-note @below {{differentiated here}}
  %d = halftone.gradient %y at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
  return %d : tensor<f32>
}

// -----

func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "d"}) {
  // expected-error @below {{'halftone.reduce_all' op has no gradient, but the value to differentiate depends on it}}
  %y = halftone.reduce_all sum_of_squares (%x) : tensor<4xf32>
  // expected-note @below {{differentiated here}}
  %d = halftone.gradient %y at (%x : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

halftone.variable @w : tensor<f32>
func.func @main(%x: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "d"}) {
  // expected-error @below {{'halftone.gradient' op names variables; expected lift-variables first}}
  %d = halftone.gradient %x of [@w] : tensor<f32> -> tensor<f32>
  return %d : tensor<f32>
}

// -----

func.func @main(%x: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "d"}) {
  // expected-error @below {{of kind max has no gradient; expected kind sum}}
  %m = halftone.all_reduce max (%x) : tensor<f32>
  %d = halftone.gradient %m at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
  return %d : tensor<f32>
}
