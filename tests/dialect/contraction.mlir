// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

// CHECK-LABEL: func.func @contract
// CHECK: halftone.contract %{{.*}}, %{{.*}} {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
// CHECK-SAME: (tensor<8x4xf16>, tensor<4x2xf16>) -> tensor<8x2xf16>
func.func @contract(%x: tensor<8x4xf16>, %w: tensor<4x2xf16>) {
  %y = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<8x4xf16>, tensor<4x2xf16>) -> tensor<8x2xf16>
  return
}

// CHECK-LABEL: func.func @batched
// CHECK: halftone.contract
// CHECK-SAME: {lhs_batch = array<i64: 1>, lhs_contract = array<i64: 0>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 2>}
func.func @batched(%x: tensor<4x3x8xf16>, %w: tensor<3x2x4xf16>) {
  %y = halftone.contract %x, %w {lhs_batch = array<i64: 1>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 0>,
                                 rhs_contract = array<i64: 2>}
      : (tensor<4x3x8xf16>, tensor<3x2x4xf16>) -> tensor<3x8x2xf32>
  return
}

// An outer product names no axes; float8 dtypes may differ; i8 gives i32, and i32 and i64 give themselves.
// CHECK-LABEL: func.func @dtypes
// CHECK: (tensor<3xf64>, tensor<2xf64>) -> tensor<3x2xf64>
// CHECK: (tensor<4xf8E4M3FN>, tensor<4xf8E5M2>) -> tensor<f32>
// CHECK: (tensor<4xi8>, tensor<4xi8>) -> tensor<i32>
// CHECK: (tensor<4xi32>, tensor<4xi32>) -> tensor<i32>
// CHECK: (tensor<4xi64>, tensor<4xi64>) -> tensor<4x4xi64>
func.func @dtypes(%a: tensor<3xf64>, %b: tensor<2xf64>, %c: tensor<4xf8E4M3FN>, %d: tensor<4xf8E5M2>, %e: tensor<4xi8>,
                  %g: tensor<4xi32>, %h: tensor<4xi64>) {
  %0 = halftone.contract %a, %b : (tensor<3xf64>, tensor<2xf64>) -> tensor<3x2xf64>
  %1 = halftone.contract %c, %d {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>}
      : (tensor<4xf8E4M3FN>, tensor<4xf8E5M2>) -> tensor<f32>
  %2 = halftone.contract %e, %e {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>}
      : (tensor<4xi8>, tensor<4xi8>) -> tensor<i32>
  %3 = halftone.contract %g, %g {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>}
      : (tensor<4xi32>, tensor<4xi32>) -> tensor<i32>
  %4 = halftone.contract %h, %h : (tensor<4xi64>, tensor<4xi64>) -> tensor<4x4xi64>
  return
}
