// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{operand and result must have the same number of elements, but got 4 and 5}}
  %y = halftone.reshape %x : tensor<4xf32> to tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{operand and result must have the same dtype, but got 'f32' and 'f16'}}
  %y = halftone.reshape %x : tensor<4xf32> to tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{needs one axis per axis of its operand, 1, but got 0}}
  %y = halftone.broadcast %x {axes = array<i64>} : tensor<4xf32> to tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{axis 2 is out of range for a result of rank 2}}
  %y = halftone.broadcast %x {axes = array<i64: 2>} : tensor<4xf32> to tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @below {{axes must ascend strictly, but 0 follows 1}}
  %y = halftone.broadcast %x {axes = array<i64: 1, 0>} : tensor<4x4xf32> to tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{operand axis 0 of extent 4 becomes result axis 0 of extent 8}}
  %y = halftone.broadcast %x {axes = array<i64: 0>} : tensor<4xf32> to tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{operand and result must have the same dtype, but got 'f32' and 'i32'}}
  %y = halftone.broadcast %x {axes = array<i64: 0>} : tensor<4xf32> to tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{needs a permutation of its operand's 2 axes, but got [0, 0]}}
  %y = halftone.transpose %x {permutation = array<i64: 0, 0>} : tensor<4x2xf32> to tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{needs a permutation of its operand's 2 axes, but got [0]}}
  %y = halftone.transpose %x {permutation = array<i64: 0>} : tensor<4x2xf32> to tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{operand and result must have the same rank, but got 2 and 1}}
  %y = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<4x2xf32> to tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{result axis 0 of extent 4 is operand axis 1 of extent 2}}
  %y = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<4x2xf32> to tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @below {{operand and result must have the same dtype, but got 'f32' and 'f16'}}
  %y = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<4x2xf32> to tensor<2x4xf16>
  return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error @below {{operand #0 must be statically shaped tensor}}
  %y = halftone.reshape %x : tensor<?xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x16xbf16>) {
  // expected-error @below {{result is not packed; expected a type with #halftone.panels}}
  %y = halftone.pack %x : tensor<8x16xbf16> to tensor<8x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<7x16xbf16>) {
  // expected-error @below {{extent along axis 0 must be a multiple of 2, the group of the panels, but got 7}}
  %y = halftone.pack %x : tensor<7x16xbf16> to tensor<7x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>
  return
}

// -----

func.func @f(%x: tensor<8x16xbf16>) {
  // expected-error @below {{extent along axis 0 must be a multiple of 16, the columns of a panel, but got 8}}
  %y = halftone.pack %x : tensor<8x16xbf16> to tensor<8x16xbf16, #halftone.panels<depth = 1, columns = 16, group = 2>>
  return
}

// -----

// expected-error @below {{panels of a matrix have depth along axis 0 or 1, not 2}}
func.func @f(%x: tensor<8x16xbf16, #halftone.panels<depth = 2, columns = 16, group = 2>>) {
  return
}

// -----

func.func @f(%x: tensor<8x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>) {
  // expected-error @below {{operand #0 must be statically shaped tensor}}
  %y = halftone.reshape %x : tensor<8x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>> to tensor<128xbf16>
  return
}

// -----

func.func @f(%x: tensor<4x16xbf16>, %w: tensor<16x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>) {
  // expected-error @below {{reads a packed rhs along axis 0, but contracts [1]}}
  %y = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<4x16xbf16>, tensor<16x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>) -> tensor<4x16xbf16>
  return
}

// -----

// expected-error @below {{panels have 1 to 1024 columns, and groups 1 to 1024 elements, but got columns = 4611686018427387904, group = 4}}
func.func @f(%x: tensor<8x16xbf16, #halftone.panels<depth = 0, columns = 4611686018427387904, group = 4>>) {
  return
}

// -----

// expected-error @below {{panels hold whole elements, or 4-bit elements in groups of even size, but got bits = 4, group = 1}}
func.func @f(%x: tensor<8x16xi8, #halftone.panels<depth = 0, columns = 16, group = 1, bits = 4>>) {
  return
}

// -----

func.func @f(%x: tensor<8x16xbf16>) {
  // expected-error @below {{panels of 4-bit elements require element type i8, but got 'bf16'}}
  %y = halftone.pack %x : tensor<8x16xbf16> to tensor<8x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 8, bits = 4>>
  return
}
