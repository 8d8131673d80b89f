// RUN: halftone-run compare %s --numerics fast --no-cache | FileCheck-22 %s
// scripts/gpu-verify compares it on a GPU too.
// A side reduction combines what another reduction has made (y), and the rows of many products of one row each (z).
// CHECK: agrees
func.func @main(%x: tensor<8x33xbf16> {halftone.name = "x"}, %a: tensor<128x1x1xf32> {halftone.name = "a"},
                %b: tensor<128x1x3xf32> {halftone.name = "b"})
    -> (tensor<33xf32> {halftone.name = "y"}, tensor<3xf32> {halftone.name = "z"}) {
  %0 = halftone.reduce sum %x {axes = array<i64: 1>} : tensor<8x33xbf16> -> tensor<8xbf16>
  %1 = halftone.broadcast %0 {axes = array<i64: 0>} : tensor<8xbf16> to tensor<8x33xbf16>
  %2 = halftone.reduce min %1 {axes = array<i64: 0>} : tensor<8x33xbf16> -> tensor<33xf32>
  %3 = halftone.contract %a, %b {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>}
      : (tensor<128x1x1xf32>, tensor<128x1x3xf32>) -> tensor<128x1x3xf32>
  %4 = halftone.reduce max %3 {axes = array<i64: 0, 1>} : tensor<128x1x3xf32> -> tensor<3xf32>
  return %2, %4 : tensor<33xf32>, tensor<3xf32>
}
