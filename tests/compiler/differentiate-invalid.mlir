// RUN: halftone-opt %s --split-input-file --halftone-inline-layers --halftone-differentiate --verify-diagnostics

func.func @main(%x: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "d"}) {
  %r = halftone.layer "net/gate" policy "float32" (%x) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    // expected-error @below {{'halftone.while' op has no gradient, because its number of steps is unknown at compile time; expected a scan, which is a fori_loop with integer bounds (layer net/gate)}}
    %0 = halftone.while (%a) {maximum = 8 : i64} : (tensor<f32>) -> tensor<f32> {
    ^bb0(%c: tensor<f32>):
      %go = halftone.compare lt %c, %a : tensor<f32>
      halftone.yield %go : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>, %c: tensor<f32>):
      %1 = halftone.exp %c : tensor<f32>
      halftone.yield %1 : tensor<f32>
    }
    halftone.yield %0 : tensor<f32>
  }
  %y = halftone.exp %r : tensor<f32>
  // expected-note @below {{differentiated here}}
  %d = halftone.gradient %y at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
  return %d : tensor<f32>
}

// -----

// A gradient in a body, whose way leads out of the body: through a value that is made outside of a capture,
func.func @main(%x: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "d"}) {
  %e = halftone.exp %x : tensor<f32>
  // expected-error @below {{'halftone.scan' op contains a gradient whose value depends on its inputs (xs) through values outside the body; expected the whole path inside the body, or a capture to differentiate with respect to}}
  %r = halftone.scan (%x) {length = 3 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<i32>, %c: tensor<f32>):
    %y = halftone.mul %e, %x : tensor<f32>
    // expected-note @below {{differentiated here}}
    %d = halftone.gradient %y at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
    halftone.yield %d : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// or through the step before.
func.func @main(%x: tensor<f32> {halftone.name = "x"}, %z: tensor<f32> {halftone.name = "z"}) -> (tensor<f32> {halftone.name = "d"}) {
  // expected-error @below {{'halftone.scan' op contains a gradient whose value depends on its inputs (xs) through values outside the body}}
  %r:2 = halftone.scan (%z, %z) {length = 3 : i64} : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<f32>, %b: tensor<f32>):
    %y = halftone.mul %c, %x : tensor<f32>
    // expected-note @below {{differentiated here}}
    %d = halftone.gradient %y at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
    halftone.yield %y, %d : tensor<f32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
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
  // expected-error @below {{'halftone.gradient' op names variables; expected lift-variables to run first}}
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
