// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{lhs axis 1 is out of range for rank 1}}
  %y = halftone.contract %a, %a {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{rhs axis -1 is out of range for rank 1}}
  %y = halftone.contract %a, %a {lhs_contract = array<i64: 0>, rhs_contract = array<i64: -1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @below {{rhs axis 0 is named twice}}
  %y = halftone.contract %a, %a {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @below {{names 1 batch axes of lhs but 0 of rhs}}
  %y = halftone.contract %a, %a {lhs_batch = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @below {{names 0 contracted axes of lhs but 1 of rhs}}
  %y = halftone.contract %a, %a {rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x3xf32>) {
  // expected-error @below {{pairs lhs axis 1 of extent 3 with rhs axis 0 of extent 4}}
  %y = halftone.contract %a, %a {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%a: tensor<4xi8>, %b: tensor<4xui8>) {
  // expected-error @below {{of i8 expects i8 by i8 into i32, but got 'i8' by 'ui8' into 'i32'}}
  %y = halftone.contract %a, %b : (tensor<4xi8>, tensor<4xui8>) -> tensor<4x4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xi16>) {
  // expected-error @below {{supports floats, i8, i32 and i64, but got 'i16' by 'i16'}}
  %y = halftone.contract %a, %a : (tensor<4xi16>, tensor<4xi16>) -> tensor<4x4xi16>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @below {{of 'i32' expects 'i32' by 'i32' into 'i32', but got 'i32' by 'i32' into 'i64'}}
  %y = halftone.contract %a, %a : (tensor<4xi32>, tensor<4xi32>) -> tensor<4x4xi64>
  return
}

// -----

func.func @f(%a: tensor<4xf16>, %b: tensor<4xf32>) {
  // expected-error @below {{operands must have the same dtype, or both be float8, but got 'f16' by 'f32'}}
  %y = halftone.contract %a, %b : (tensor<4xf16>, tensor<4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf16>) {
  // expected-error @below {{of 'f16' by 'f16' expects a result of the operands' dtype or f32, but got 'f64'}}
  %y = halftone.contract %a, %a : (tensor<4xf16>, tensor<4xf16>) -> tensor<4x4xf64>
  return
}

// -----

func.func @f(%a: tensor<4xf64>) {
  // expected-error @below {{of 'f64' by 'f64' expects a result of f64, but got 'f32'}}
  %y = halftone.contract %a, %a : (tensor<4xf64>, tensor<4xf64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E5M2>) {
  // expected-error @below {{of 'f8E5M2' by 'f8E5M2' expects a result of f32, but got 'f16'}}
  %y = halftone.contract %a, %a : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4x4xf16>
  return
}

// -----

func.func @f(%a: tensor<4x2xf32>) {
  // expected-error @below {{result must be 'tensor<2x2xf32>', but got 'tensor<2x3xf32>'}}
  %y = halftone.contract %a, %a {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<131072xi8>) {
  // expected-error @below {{of i8 sums at most 131071 products, or i32 could overflow, but got 131072}}
  %y = halftone.contract %a, %a {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<131072xi8>, tensor<131072xi8>) -> tensor<i32>
  return
}
