// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{axis 2 is out of range for an operand of rank 2}}
  %y:2 = halftone.sort %x {axis = 2 : i64} : tensor<4x2xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<3000000000xi8>) {
  // expected-error @below {{returns i32 indices, but axis 0 has 3000000000 elements}}
  %y:2 = halftone.sort %x {axis = 0 : i64} : tensor<3000000000xi8> -> tensor<2xi8>, tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{operand and values differ in more than the extent of axis 0: 'tensor<4x2xf32>' and 'tensor<4x1xf32>'}}
  %y:2 = halftone.sort %x {axis = 0 : i64} : tensor<4x2xf32> -> tensor<4x1xf32>, tensor<4x1xi32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{operand and values differ in more than the extent of axis 0: 'tensor<4x2xf32>' and 'tensor<4x2xf16>'}}
  %y:2 = halftone.sort %x {axis = 0 : i64} : tensor<4x2xf32> -> tensor<4x2xf16>, tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{returns 5 elements along axis 0, which has 4}}
  %y:2 = halftone.sort %x {axis = 0 : i64} : tensor<4x2xf32> -> tensor<5x2xf32>, tensor<5x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{returns an index for each value, but values are 'tensor<3x2xf32>' and indices 'tensor<4x2xi32>'}}
  %y:2 = halftone.sort %x {axis = 0 : i64} : tensor<4x2xf32> -> tensor<3x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{result #1 must be}}
  %y:2 = halftone.sort %x {axis = 0 : i64} : tensor<4x2xf32> -> tensor<4x2xf32>, tensor<4x2xi64>
  return
}
