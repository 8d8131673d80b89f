// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @below {{expects a stride, dilation, low and hole for each of one or more spatial axes, but got 1, 2, 1 and 1}}
  %y = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1, 1>, low = array<i64: 0>, hole = array<i64: 1>} : tensor<2x8x4xf32> to tensor<2x6x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @below {{for each of one or more spatial axes, but got 0, 0, 0 and 0}}
  %y = halftone.window %x {stride = array<i64>, dilation = array<i64>, low = array<i64>, hole = array<i64>} : tensor<2x8x4xf32> to tensor<2x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @below {{stride and dilation must not be 0, but along spatial axis 0 they are 0 and 1}}
  %y = halftone.window %x {stride = array<i64: 0>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : tensor<2x8x4xf32> to tensor<2x6x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @below {{hole must be at least 1, but along spatial axis 0 it is 0}}
  %y = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 0>} : tensor<2x8x4xf32> to tensor<2x6x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @below {{stride, dilation, low and hole must be at most 2147483648 in magnitude, but along spatial axis 0 one is -9223372036854775808}}
  %y = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: -9223372036854775808>, hole = array<i64: 1>} : tensor<2x8x4xf32> to tensor<2x6x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @below {{with 1 spatial axes expects an operand of at least 2 axes and a result of 1 more}}
  %y = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : tensor<2x8x4xf32> to tensor<2x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @below {{preserves the non-spatial axes: expected 'tensor<2x6x3x4xf32>' for 'tensor<2x8x4xf32>', but got 'tensor<2x6x3x5xf32>'}}
  %y = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : tensor<2x8x4xf32> to tensor<2x6x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @below {{operand and result must have the same dtype, but got 'f32' and 'f16'}}
  %y = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : tensor<2x8x4xf32> to tensor<2x6x3x4xf16>
  return
}

// -----

func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @below {{with 1 spatial axes expects an operand of at least 3 axes and a result of 0 more}}
  %y = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>, diagonal} : tensor<2x8x4xf32> to tensor<2x6x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x1xi8>) {
  // expected-error @below {{has at most 2147483648 positions and taps along an axis, but got 2147483649}}
  %y = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : tensor<1x1xi8> to tensor<1x2147483649x1xi8>
  return
}

// -----

func.func @f(%x: tensor<2x8x1x4xf32>, %w: tensor<3x4x5xf32>) {
  // expected-error @below {{with 1 spatial axes expects x, w and the result to have 4 axes, but w is 'tensor<3x4x5xf32>'}}
  %y = halftone.convolution %x, %w {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : (tensor<2x8x1x4xf32>, tensor<3x4x5xf32>) -> tensor<2x6x1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x1x4xf32>, %w: tensor<3x1x3x5xf32>) {
  // expected-error @below {{the channels of x and of w differ}}
  %y = halftone.convolution %x, %w {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : (tensor<2x8x1x4xf32>, tensor<3x1x3x5xf32>) -> tensor<2x6x1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x2x4xf32>, %w: tensor<3x1x4x5xf32>) {
  // expected-error @below {{the groups of x and of w differ}}
  %y = halftone.convolution %x, %w {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : (tensor<2x8x2x4xf32>, tensor<3x1x4x5xf32>) -> tensor<2x6x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x1x4xf32>, %w: tensor<3x1x4x5xf16>) {
  // expected-error @below {{operands must have the same dtype, or both be float8, but got 'f32' by 'f16'}}
  %y = halftone.convolution %x, %w {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : (tensor<2x8x1x4xf32>, tensor<3x1x4x5xf16>) -> tensor<2x6x1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x1x50000xi8>, %w: tensor<3x1x50000x5xi8>) {
  // expected-error @below {{of i8 sums at most 131071 products, or i32 could overflow, but got 150000}}
  %y = halftone.convolution %x, %w {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : (tensor<1x8x1x50000xi8>, tensor<3x1x50000x5xi8>) -> tensor<1x6x1x5xi32>
  return
}
