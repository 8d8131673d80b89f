// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{axis 2 is out of range for an operand of rank 2}}
  %y = halftone.reduce sum %x {axes = array<i64: 2>} : tensor<4x2xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{axes must ascend strictly, but 0 follows 1}}
  %y = halftone.reduce sum %x {axes = array<i64: 1, 0>} : tensor<4x2xf32> -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{axes must ascend strictly, but 0 follows 0}}
  %y = halftone.reduce sum %x {axes = array<i64: 0, 0>} : tensor<4x2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{and takes bool or integers, but got 'f32'}}
  %y = halftone.reduce and %x {axes = array<i64: 0>} : tensor<4x2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xi1>) {
  // expected-error @below {{sum takes numbers, but got 'i1'}}
  %y = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<4x2xi1> -> tensor<2xi1>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{of 'f32' expects a result of 'f32', but got 'f16'}}
  %y = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<4x2xf32> -> tensor<2xf16>
  return
}

// -----

func.func @f(%x: tensor<4x2xf16>) {
  // expected-error @below {{of 'f16' expects a result of 'f16' or f32, but got 'f64'}}
  %y = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<4x2xf16> -> tensor<2xf64>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{result must be 'tensor<2xf32>', but got 'tensor<4xf32>'}}
  %y = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<4x2xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{needs one tile extent per axis, 1, but got 0}}
  %y = halftone.partial_reduce sum %x {axes = array<i64: 0>, tile = array<i64>} : tensor<4x2xf32> -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{tile extents must be positive, but got 0}}
  %y = halftone.partial_reduce sum %x {axes = array<i64: 0>, tile = array<i64: 0>} : tensor<4x2xf32> -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%x: tensor<5x2xf32>) {
  // expected-error @below {{result must be 'tensor<3x2xf32>', but got 'tensor<2x2xf32>'}}
  %y = halftone.partial_reduce sum %x {axes = array<i64: 0>, tile = array<i64: 2>} : tensor<5x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<5x2xf32>) {
  // expected-error @below {{axis 3 is out of range for an operand of rank 2}}
  %y = halftone.partial_reduce sum %x {axes = array<i64: 3>, tile = array<i64: 2>} : tensor<5x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<5x2xf32>) {
  // expected-error @below {{or takes bool or integers, but got 'f32'}}
  %y = halftone.partial_reduce or %x {axes = array<i64: 0>, tile = array<i64: 5>} : tensor<5x2xf32> -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{supports max and min, but got sum}}
  %y = halftone.arg_reduce sum %x {axis = 0 : i64} : tensor<4x2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{axis 2 is out of range for an operand of rank 2}}
  %y = halftone.arg_reduce max %x {axis = 2 : i64} : tensor<4x2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<0x2xf32>) {
  // expected-error @below {{has no elements along axis 0}}
  %y = halftone.arg_reduce max %x {axis = 0 : i64} : tensor<0x2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{result must be 'tensor<2xi32>', but got 'tensor<4xi32>'}}
  %y = halftone.arg_reduce max %x {axis = 0 : i64} : tensor<4x2xf32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{operand #0 must be}}
  %y = halftone.reduce_all max_abs (%x) : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{inferred type(s) 'tensor<f32>' are incompatible with return type(s) of operation 'tensor<f64>'}}
  %y = "halftone.reduce_all"(%x) {kind = #halftone<reduce_all_kind max_abs>} : (tensor<4xf32>) -> tensor<f64>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{axis 2 is out of range for an operand of rank 2}}
  %y = halftone.cumsum %x {axis = 2 : i64} : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{result must be 'tensor<4x2xf32>', but got 'tensor<2xf32>'}}
  %y = halftone.cumsum %x {axis = 0 : i64} : tensor<4x2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error @below {{of 'i8' expects a result of 'i8', but got 'i32'}}
  %y = halftone.cumsum %x {axis = 0 : i64} : tensor<4xi8> -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error @below {{supports sum, prod, max and min, but got and}}
  %y = halftone.cumsum %x {axis = 0 : i64, kind = #halftone<reduce_kind and>} : tensor<4xi8> -> tensor<4xi8>
  return
}
