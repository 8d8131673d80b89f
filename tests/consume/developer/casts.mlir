// A net of two layers: 14 casts are written out, and insert-casts finds two more to make.
halftone.variable @w1 : tensor<4x8xf32>
halftone.variable @w2 : tensor<8x2xf32>

func.func @main(%x: tensor<3x4xf32> {halftone.name = "x"}) -> (tensor<3x2xf32> {halftone.name = "y"}) {
  %0 = halftone.cast %x {origin = "layer input"} : tensor<3x4xf32> to tensor<3x4xf16>
  %1 = halftone.cast %0 : tensor<3x4xf16> to tensor<3x4xf32>
  %2 = halftone.cast %1 : tensor<3x4xf32> to tensor<3x4xbf16>
  %3 = halftone.cast %2 {kind = #halftone<cast_kind storage>} : tensor<3x4xbf16> to tensor<3x4xf32>
  %w1 = halftone.read @w1 : tensor<4x8xf16>
  %4 = halftone.cast %3 : tensor<3x4xf32> to tensor<3x4xf16>
  %5 = halftone.contract %4, %w1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<3x4xf16>, tensor<4x8xf16>) -> tensor<3x8xf16>
  %6 = halftone.cast %5 : tensor<3x8xf16> to tensor<3x8xf16>
  %7 = halftone.cast %6 : tensor<3x8xf16> to tensor<3x8xf32>
  %8 = halftone.tanh %7 : tensor<3x8xf32>
  %9 = halftone.cast %8 : tensor<3x8xf32> to tensor<3x8xf16>
  %w2 = halftone.read @w2 : tensor<8x2xf16>
  %10 = halftone.contract %9, %w2 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<3x8xf16>, tensor<8x2xf16>) -> tensor<3x2xf16>
  %11 = halftone.cast %10 : tensor<3x2xf16> to tensor<3x2xf32>
  %12 = halftone.cast %11 : tensor<3x2xf32> to tensor<3x2xi32>
  %13 = halftone.cast %12 : tensor<3x2xi32> to tensor<3x2xf32>
  %14 = halftone.cast %13 : tensor<3x2xf32> to tensor<3x2xi1>
  %15 = halftone.cast %14 : tensor<3x2xi1> to tensor<3x2xf32>
  %16 = halftone.cast %15 : tensor<3x2xf32> to tensor<3x2xf32>
  return %16 : tensor<3x2xf32>
}
