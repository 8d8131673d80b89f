// RUN: halftone-run compare %s --numerics fast --no-cache | FileCheck-22 %s
// scripts/gpu-verify compares it on a GPU too.
// A partial reduction combines what another reduction has made (y), the rows of many products of one row each (z), and the rows of
// a product whose leading axes, of one extent, were swapped (w).
// CHECK: agrees
func.func @main(%x: tensor<8x33xbf16> {halftone.name = "x"}, %a: tensor<128x1x1xf32> {halftone.name = "a"},
                %b: tensor<128x1x3xf32> {halftone.name = "b"}, %c: tensor<4x4x5xf32> {halftone.name = "c"},
                %d: tensor<5x2xf32> {halftone.name = "d"})
    -> (tensor<33xf32> {halftone.name = "y"}, tensor<3xf32> {halftone.name = "z"}, tensor<4x4x2xf32> {halftone.name = "v"},
        tensor<2xf32> {halftone.name = "w"}) {
  %0 = halftone.reduce sum %x {axes = array<i64: 1>} : tensor<8x33xbf16> -> tensor<8xbf16>
  %1 = halftone.broadcast %0 {axes = array<i64: 0>} : tensor<8xbf16> to tensor<8x33xbf16>
  %2 = halftone.reduce min %1 {axes = array<i64: 0>} : tensor<8x33xbf16> -> tensor<33xf32>
  %3 = halftone.contract %a, %b {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>}
      : (tensor<128x1x1xf32>, tensor<128x1x3xf32>) -> tensor<128x1x3xf32>
  %4 = halftone.reduce max %3 {axes = array<i64: 0, 1>} : tensor<128x1x3xf32> -> tensor<3xf32>
  %5 = halftone.contract %c, %d {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>}
      : (tensor<4x4x5xf32>, tensor<5x2xf32>) -> tensor<4x4x2xf32>
  %6 = halftone.transpose %5 {permutation = array<i64: 1, 0, 2>} : tensor<4x4x2xf32> to tensor<4x4x2xf32>
  %7 = halftone.reduce sum %6 {axes = array<i64: 0, 1>} : tensor<4x4x2xf32> -> tensor<2xf32>
  return %2, %4, %5, %7 : tensor<33xf32>, tensor<3xf32>, tensor<4x4x2xf32>, tensor<2xf32>
}
