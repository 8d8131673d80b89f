// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x5xf32>) {
  // expected-error @below {{operand and result must have the same dtype, but got 'f32' and 'f16'}}
  %y = halftone.slice %x {start = array<i64: 0, 0>} : tensor<4x5xf32> to tensor<2x5xf16>
  return
}

// -----

func.func @f(%x: tensor<4x5xf32>) {
  // expected-error @below {{needs one start and one result axis per axis of its operand, 2, but got 1 and 2}}
  %y = halftone.slice %x {start = array<i64: 0>} : tensor<4x5xf32> to tensor<2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x5xf32>) {
  // expected-error @below {{takes 3 elements from 3 along axis 1, which has 5}}
  %y = halftone.slice %x {start = array<i64: 0, 3>} : tensor<4x5xf32> to tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x5xf32>) {
  // expected-error @below {{takes 2 elements from -1 along axis 0, which has 4}}
  %y = halftone.slice %x {start = array<i64: -1, 0>} : tensor<4x5xf32> to tensor<2x5xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{expects at least one operand}}
  %y = "halftone.concat"() {axis = 0 : i64} : () -> tensor<0xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{axis 1 is out of range for a result of rank 1}}
  %y = halftone.concat %x, %x {axis = 1 : i64} : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x5xf32>, %z: tensor<4x4xf32>) {
  // expected-error @below {{operand #1 and the result differ in more than the extent of axis 0: 'tensor<4x4xf32>' and 'tensor<8x5xf32>'}}
  %y = halftone.concat %x, %z {axis = 0 : i64} : tensor<4x5xf32>, tensor<4x4xf32> to tensor<8x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %z: tensor<4xf16>) {
  // expected-error @below {{operand #1 and the result differ}}
  %y = halftone.concat %x, %z {axis = 0 : i64} : tensor<4xf32>, tensor<4xf16> to tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{operands have 8 elements along axis 0, but the result has 9}}
  %y = halftone.concat %x, %x {axis = 0 : i64} : tensor<4xf32>, tensor<4xf32> to tensor<9xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{axis 1 is out of range for a tensor of rank 1}}
  %y = halftone.gather %x, %i {axis = 1 : i64} : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %i: tensor<2x5xi32>) {
  // expected-error @below {{expected 'tensor<2x5x3xf32>', with the axes of the indices 'tensor<2x5xi32>' in place of axis 0 of 'tensor<4x3xf32>', but got 'tensor<2x3xf32>'}}
  %y = halftone.gather %x, %i {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x5xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{operand and result must have the same dtype, but got 'f32' and 'f64'}}
  %y = halftone.gather %x, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf64>
  return
}

// -----

func.func @f(%x: tensor<0xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{axis 0 has extent 0, so no index is valid}}
  %y = halftone.gather %x, %i {axis = 0 : i64} : (tensor<0xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  // expected-error @below {{operand #1 must be}}
  %y = halftone.gather %x, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%u: tensor<2xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{result must have the dtype of the updates, or f32 if that is a narrower float, but got updates of 'f32' and a result of 'f64'}}
  %y = halftone.scatter_add %i, %u {axis = 0 : i64} : (tensor<2xi32>, tensor<2xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @f(%u: tensor<3xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{expected 'tensor<2xf32>', with the axes of the indices 'tensor<2xi32>' in place of axis 0 of 'tensor<4xf32>', but got 'tensor<3xf32>'}}
  %y = halftone.scatter_add %i, %u {axis = 0 : i64} : (tensor<2xi32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{takes 4 elements from 9223372036854775807 along axis 0, which has 8}}
  %y = halftone.slice %x {start = array<i64: 9223372036854775807>} : tensor<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<0x6148914691236517205xf32>) {
  // expected-error @below {{operands have 18446744073709551615 elements along axis 1, but the result has 4}}
  %y = halftone.concat %x, %x, %x, %x {axis = 1 : i64} : tensor<0x6148914691236517205xf32>, tensor<0x6148914691236517205xf32>, tensor<0x6148914691236517205xf32>, tensor<0x6148914691236517205xf32> to tensor<0x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %i: tensor<4x2xi32>) {
  // expected-error @below {{batch axes must precede axis 0, but batch is 1}}
  %y = halftone.gather %x, %i {axis = 0 : i64, batch = 1 : i64} : (tensor<4x3xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %i: tensor<4x2xi32>) {
  // expected-error @below {{batch axes must precede axis 1, but batch is -1}}
  %y = halftone.gather %x, %i {axis = 1 : i64, batch = -1 : i64} : (tensor<4x3xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %i: tensor<5x2xi32>) {
  // expected-error @below {{expected indices whose first 1 axes are those of 'tensor<4x3xf32>', but got 'tensor<5x2xi32>'}}
  %y = halftone.gather %x, %i {axis = 1 : i64, batch = 1 : i64} : (tensor<4x3xf32>, tensor<5x2xi32>) -> tensor<5x2xf32>
  return
}

// -----

func.func @f(%u: tensor<4x3xf32>, %i: tensor<i32>) {
  // expected-error @below {{expected indices whose first 1 axes are those of 'tensor<4x3xf32>', but got 'tensor<i32>'}}
  %y = halftone.scatter_add %i, %u {axis = 1 : i64, batch = 1 : i64} : (tensor<i32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%u: tensor<4x3xf32>, %i: tensor<4x2xi32>) {
  // expected-error @below {{expected 'tensor<4x2xf32>', with the axes of the indices 'tensor<4x2xi32>' in place of axis 1 of 'tensor<4x9xf32>', but got 'tensor<4x3xf32>'}}
  %y = halftone.scatter_add %i, %u {axis = 1 : i64, batch = 1 : i64} : (tensor<4x2xi32>, tensor<4x3xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<2xf16>) {
  // expected-error @below {{expects x and updates of the same dtype, but got 'f32' and 'f16'}}
  %y = halftone.scatter sum %x, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<2xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<3xf32>) {
  // expected-error @below {{expected 'tensor<2xf32>', with the axes of the indices 'tensor<2xi32>' in place of axis 0 of 'tensor<4xf32>', but got 'tensor<3xf32>'}}
  %y = halftone.scatter set %x, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<2xf32>) {
  // expected-error @below {{failed to verify that all of {x, y} have same type}}
  %y = "halftone.scatter"(%x, %i, %u) {kind = #halftone<scatter_kind set>, axis = 0 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<2xf32>) -> tensor<5xf32>
  return
}
