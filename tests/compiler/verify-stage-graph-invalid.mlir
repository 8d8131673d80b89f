// RUN: halftone-opt %s --split-input-file --halftone-verify-stage=stage=graph --verify-diagnostics

func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  // expected-error @below {{is not legal in stage graph: "net/dense" converts an operand of type 'tensor<4xf32>' to 'tensor<4xbf16>'; expected a cast to 'f16', the compute dtype of policy "mixed_float16"}}
  %y = halftone.layer "net/dense" policy "mixed_float16" (%x) : (tensor<4xf32>) -> tensor<4xbf16> {
  ^bb0(%a: tensor<4xbf16>):
    halftone.yield %a : tensor<4xbf16>
  }
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  // expected-error @below {{is not legal in stage graph: Cannot convert 'mixed_float' to a mixed precision DTypePolicy}}
  %y = halftone.layer "net/dense" policy "mixed_float" (%x) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    halftone.yield %a : tensor<4xf16>
  }
  return %x : tensor<4xf32>
}

// -----

halftone.variable @w : tensor<4xf32>
// expected-error @below {{argument 1 has halftone.variable; expected state to be accessed by read and assign}}
// expected-error @below {{result 0 expects a halftone.name}}
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %w: tensor<4xf32> {halftone.variable = @w}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 has type 'tensor<?xf32>'; expected a tensor of static shape and known dtype}}
// expected-error @below {{argument 1 has type 'i32'; expected a tensor of static shape and known dtype}}
// expected-error @below {{argument 2 has type 'tensor<2xcomplex<f32>>'; expected a tensor of static shape and known dtype}}
// expected-error @below {{argument 3 has the name "a", which another one has too}}
func.func @main(%x: tensor<?xf32> {halftone.name = "a"}, %y: i32 {halftone.name = "b"},
                %z: tensor<2xcomplex<f32>> {halftone.name = "c"}, %w: tensor<f32> {halftone.name = "a"}) {
  return
}
