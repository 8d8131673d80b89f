// RUN: halftone-opt %s --split-input-file --halftone-choose-templates | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --halftone-choose-templates=target=x86_64-unknown-linux-gnu:znver4 | FileCheck-22 %s --check-prefix=PAIRS

// Each contraction has a tile.
// CHECK-LABEL: func.func @main
// CHECK: halftone.contract %arg0, %arg1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>, tile = array<i64: 8, 64>}
func.func @main(%x: tensor<8x6xf32> {halftone.name = "x"}, %w: tensor<4x6xf32> {halftone.name = "w"}) -> (tensor<8x4xf32> {halftone.name = "c"}) {
  %c = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}

// -----

// A frozen weight is packed if the target multiplies in pairs, along the axis that is summed over. A weight that is
// written, and a
// weight whose columns are no multiple of 16, are not packed.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.pack
// PAIRS-LABEL: func.func @main(%arg0: tensor<2x128xbf16> {halftone.name = "x"}, %arg1: tensor<128x128xbf16> {halftone.variable = @w}
// PAIRS-DAG: halftone.pack %arg1 : tensor<128x128xbf16> to tensor<128x128xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>
// PAIRS-DAG: halftone.pack %arg1 : tensor<128x128xbf16> to tensor<128x128xbf16, #halftone.panels<depth = 1, columns = 16, group = 2>>
// PAIRS-NOT: halftone.pack
halftone.variable @w : tensor<128x128xbf16> {path = "w"}
halftone.variable @u : tensor<128x128xbf16> {path = "u"}
halftone.variable @v : tensor<128x130xbf16> {path = "v"}
func.func @main(%x: tensor<2x128xbf16> {halftone.name = "x"}, %w: tensor<128x128xbf16> {halftone.variable = @w}, %u: tensor<128x128xbf16> {halftone.variable = @u}, %v: tensor<128x130xbf16> {halftone.variable = @v}) -> (tensor<2x128xbf16> {halftone.name = "a"}, tensor<2x128xbf16> {halftone.name = "b"}, tensor<2x128xbf16> {halftone.name = "c"}, tensor<2x130xbf16> {halftone.name = "d"}, tensor<128x128xbf16> {halftone.variable = @u}) {
  %a = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x128xbf16>) -> tensor<2x128xbf16>
  %b = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<2x128xbf16>, tensor<128x128xbf16>) -> tensor<2x128xbf16>
  %c = halftone.contract %x, %u {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x128xbf16>) -> tensor<2x128xbf16>
  %d = halftone.contract %x, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x130xbf16>) -> tensor<2x130xbf16>
  %u1 = halftone.neg %u : tensor<128x128xbf16>
  return %a, %b, %c, %d, %u1 : tensor<2x128xbf16>, tensor<2x128xbf16>, tensor<2x128xbf16>, tensor<2x130xbf16>, tensor<128x128xbf16>
}

// -----

// A weight that is cast is packed too: the cast is kept, and the packed copy is made from it.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.pack
// PAIRS-LABEL: func.func @main
// PAIRS: %[[C:.*]] = halftone.cast %arg1
// PAIRS: halftone.pack %[[C]] : tensor<128x128xbf16> to tensor<128x128xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>
halftone.variable @w : tensor<128x128xf32> {path = "w"}
func.func @main(%x: tensor<2x128xbf16> {halftone.name = "x"}, %w: tensor<128x128xf32> {halftone.variable = @w}) -> (tensor<2x128xbf16> {halftone.name = "a"}) {
  %c = halftone.cast %w : tensor<128x128xf32> to tensor<128x128xbf16>
  %a = halftone.contract %x, %c {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x128xbf16>) -> tensor<2x128xbf16>
  return %a : tensor<2x128xbf16>
}
