// The plan's text names the instruction by which convolutions multiply, for any CPU: nothing runs.
// RUN: halftone-run emit %s --stage plan --target x86_64-unknown-linux-gnu:znver5 | FileCheck-22 %s --check-prefix=ZEN
// ZEN-DAG: matmul, vdpbf16ps, 14 x 32 sums in registers
// ZEN-DAG: matmul, vpdpbusd, 12 x 32 sums in registers
// RUN: halftone-run emit %s --stage plan --target sapphirerapids | FileCheck-22 %s --check-prefix=SPR
// SPR-DAG: matmul, tdpbf16ps, 32 x 32 sums in tiles
// SPR-DAG: matmul, tdpbssd, 32 x 32 sums in tiles
// RUN: halftone-run emit %s --stage plan --target x86-64-v3 | FileCheck-22 %s --check-prefix=V3
// V3-DAG: matmul, f32 multiply-add, 4 x 24 sums in registers
// V3-DAG: matmul, i32 multiply-add, 4 x 24 sums in registers

func.func @main(%x: tensor<2x9x8x1x16xbf16> {halftone.name = "x"}, %w: tensor<3x3x1x16x20xbf16> {halftone.name = "w"},
                %a: tensor<2x9x8x1x16xi8> {halftone.name = "a"}, %b: tensor<3x3x1x16x20xi8> {halftone.name = "b"})
    -> (tensor<2x9x8x1x20xbf16> {halftone.name = "y"}, tensor<2x9x8x1x20xi32> {halftone.name = "z"}) {
  %y = halftone.convolution %x, %w {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>}
      : (tensor<2x9x8x1x16xbf16>, tensor<3x3x1x16x20xbf16>) -> tensor<2x9x8x1x20xbf16>
  %z = halftone.convolution %a, %b {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>}
      : (tensor<2x9x8x1x16xi8>, tensor<3x3x1x16x20xi8>) -> tensor<2x9x8x1x20xi32>
  return %y, %z : tensor<2x9x8x1x20xbf16>, tensor<2x9x8x1x20xi32>
}
