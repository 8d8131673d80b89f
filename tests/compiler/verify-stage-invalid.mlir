// RUN: halftone-opt %s --split-input-file --halftone-verify-stage=stage=pure --verify-diagnostics

// expected-error @below {{a module in stage pure expects a function @main}}
module {
  // expected-error @below {{'func.func' op is not legal in stage pure: expected one function with a body, @main}}
  func.func private @other()
}

// -----

halftone.variable @w : tensor<4xf32>
// expected-error @below {{argument 1 has a name, but follows one that represents a variable; expected named ones first}}
// expected-error @below {{argument 2 expects either a halftone.name or a halftone.variable}}
// expected-error @below {{result 1 of type 'tensor<4xf16>' represents @w of type 'tensor<4xf32>'; expected equal types}}
// expected-error @below {{result 2 represents @v; expected the symbol of a variable}}
func.func @main(%w: tensor<4xf32> {halftone.variable = @w}, %x: tensor<4xf16> {halftone.name = "x"}, %y: tensor<f32>)
    -> (tensor<4xf16> {halftone.name = "z"}, tensor<4xf16> {halftone.variable = @w}, tensor<f32> {halftone.variable = @v}) {
  return %x, %x, %y : tensor<4xf16>, tensor<4xf16>, tensor<f32>
}

// -----

halftone.variable @w : tensor<4xf32>
// expected-error @below {{result 1 represents @w, as an earlier one does}}
func.func @main(%w: tensor<4xf32> {halftone.variable = @w})
    -> (tensor<4xf32> {halftone.variable = @w}, tensor<4xf32> {halftone.variable = @w}) {
  return %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

halftone.variable @w : tensor<f32>
func.func @main(%x: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "y"}) {
  // expected-error @below {{'halftone.layer' op is not legal in stage pure: expected no layer after inline-layers}}
  %0 = halftone.layer "net" policy "float32" (%x) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    halftone.yield %a : tensor<f32>
  }
  // expected-error @below {{'halftone.read' op is not legal in stage pure: expected state to be arguments and results}}
  %1 = halftone.read @w : tensor<f32>
  // expected-error @below {{'halftone.assign' op is not legal in stage pure}}
  halftone.assign @w, %1 : tensor<f32>
  // expected-error @below {{'halftone.gradient' op is not legal in stage pure: expected none after differentiate}}
  %2 = halftone.gradient %0 at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
  // expected-error @below {{'halftone.stop_gradient' op is not legal in stage pure: expected none after differentiate}}
  %3 = halftone.stop_gradient %2 : tensor<f32>
  // expected-error @below {{'halftone.cast' op is not legal in stage pure: storage casts are created with kernels; expected kind rounding}}
  %4 = halftone.cast %3 {kind = #halftone<cast_kind storage>} : tensor<f32> to tensor<f32>
  // expected-error @below {{'halftone.neg' op is not legal in stage pure: expected no 'halftone.rematerialize' after differentiate}}
  %5 = halftone.neg %4 {halftone.rematerialize = 0 : i64} : tensor<f32>
  return %5 : tensor<f32>
}

// -----

// expected-error @below {{'halftone.kernel' op is not legal in stage pure: kernels are created by outline-kernels}}
halftone.kernel loop @loop_0 (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%a: tensor<8xf32>):
  %0 = halftone.neg %a : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32> {halftone.name = "x"}) -> (tensor<8xf32> {halftone.name = "y"}) {
  // expected-error @below {{'halftone.launch' op is not legal in stage pure: expected none before kernels are formed}}
  %0 = halftone.launch @loop_0(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
