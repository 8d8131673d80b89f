// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %y = halftone.cast %x : tensor<4xf32> to tensor<5xf16>
  return
}

// -----

func.func @f(%x: tensor<4xi4>) {
  // expected-error @below {{operand #0 must be statically shaped tensor}}
  %y = halftone.cast %x : tensor<4xi4> to tensor<4xf16>
  return
}

// -----

func.func @f() {
  // expected-error @below {{lists at most 64 elements unless they are a splat, but got 65}}
  %y = halftone.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64]> : tensor<65xi32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{value must be a dense attribute: a list of elements or a splat}}
  %y = halftone.constant sparse<0, 1.0> : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{axis 2 is out of range for a result of rank 2}}
  %y = halftone.iota {axis = 2 : i64} : tensor<4x4xi32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{axis -1 is out of range for a result of rank 2}}
  %y = halftone.iota {axis = -1 : i64} : tensor<4x4xi32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{axis 0 is out of range for a result of rank 0}}
  %y = halftone.iota {axis = 0 : i64} : tensor<i32>
  return
}

// -----

func.func @f(%k: tensor<3xui32>) {
  // expected-error @below {{key must be tensor<2xui32>, but got 'tensor<3xui32>'}}
  %y = halftone.random_bits %k : tensor<3xui32> -> tensor<4xui32>
  return
}

// -----

func.func @f(%k: tensor<2xi32>) {
  // expected-error @below {{operand #0 must be}}
  %y = halftone.random_bits %k : tensor<2xi32> -> tensor<4xui32>
  return
}
