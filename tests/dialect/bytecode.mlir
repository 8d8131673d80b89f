// A file from before the bytecode carried a version, and the round trip of this module.
// RUN: halftone-opt %S/version-1.mlirbc | FileCheck-22 %s
// RUN: halftone-opt %s --emit-bytecode | halftone-opt | FileCheck-22 %s

// CHECK: func.func @main(%[[X:.*]]: tensor<8x4xf32> {halftone.name = "x"}, %[[W:.*]]: tensor<4x2xf32> {halftone.name = "w"})
// CHECK: %[[Y:.*]] = halftone.contract %[[X]], %[[W]] {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
// CHECK: halftone.cast %[[Y]] {kind = #halftone<cast_kind storage>, origin = "user"}
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"}, %w: tensor<4x2xf32> {halftone.name = "w"}) -> (tensor<8x2xf32> {halftone.name = "y"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %1 = halftone.cast %0 {origin = "user", kind = #halftone<cast_kind storage>} : tensor<8x2xf32> to tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
