// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{operand #0 must be statically shaped tensor of float (not float8) values}}
  %y = halftone.exp %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf8E5M2>) {
  // expected-error @below {{operand #0 must be}}
  %y = halftone.add %x, %x : tensor<4xf8E5M2>
  return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @below {{operand #0 must be}}
  %y = halftone.add %x, %x : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{operand #0 must be}}
  %y = halftone.and %x, %x : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @below {{operand #0 must be}}
  %y = halftone.pow %x, %x : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %z: tensor<4xf16>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %y = "halftone.add"(%x, %z) : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %z: tensor<5xf32>) {
  // expected-error @below {{requires all operands to have the same type}}
  %y = "halftone.compare"(%x, %z) {predicate = #halftone<predicate lt>} : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{result #0 must be statically shaped tensor of 1-bit signless integer values}}
  %y = "halftone.compare"(%x, %x) {predicate = #halftone<predicate lt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%p: tensor<4xi1>, %x: tensor<4xf32>, %z: tensor<4xf16>) {
  // expected-error @below {{failed to verify that all of {lhs, rhs, result} have same type}}
  %y = "halftone.select"(%p, %x, %z) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %y = "halftone.select"(%p, %x, %x) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{operand #0 must be}}
  %y = halftone.is_finite %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{operand #0 must be statically shaped tensor of float (not float8) values}}
  %y = halftone.atan2 %x, %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @below {{operand #0 must be statically shaped tensor of float (not float8) values}}
  %y = halftone.asin %x : tensor<4xi1>
  return
}
