// A CPU that multiplies bf16 in tiles, which take K as one axis, reads a transposed copy of the operand whose contracted axes lie in
// another order than the other one's; each element of it must be in enough products. f32, and other CPUs, read operands as they are.
// RUN: halftone-run emit %s --stage kernel --target sapphirerapids | FileCheck-22 %s --check-prefix=SPR
// RUN: halftone-run emit %s --stage plan --target sapphirerapids | FileCheck-22 %s --check-prefix=PLAN
// RUN: halftone-run emit %s --stage kernel --target x86-64-v4 | FileCheck-22 %s --check-prefix=NONE
// RUN: halftone-run emit %s --stage kernel --target sapphirerapids --numerics strict | FileCheck-22 %s --check-prefix=NONE
// RUN: halftone-run compare %s --numerics fast --no-cache | FileCheck-22 %s
// CHECK: agrees
// The left operand of y is transposed, and the right one of z, with K behind its free axis.
// SPR-COUNT-2: halftone.transpose
// SPR-NOT: halftone.transpose
// PLAN-COUNT-2: matmul, tdpbf16ps
// PLAN-NOT: tdpbf16ps
// NONE-NOT: halftone.transpose
func.func @main(%x: tensor<6x10x70xbf16> {halftone.name = "x"}, %g: tensor<10x6x80xbf16> {halftone.name = "g"},
                %v: tensor<10x70x6xbf16> {halftone.name = "v"}, %few: tensor<10x6x8xbf16> {halftone.name = "few"}, %e: tensor<6x10x9xbf16> {halftone.name = "e"},
                %a: tensor<6x10x70xf32> {halftone.name = "a"}, %b: tensor<10x6x80xf32> {halftone.name = "b"})
    -> (tensor<70x80xf32> {halftone.name = "y"}, tensor<80x70xf32> {halftone.name = "z"}, tensor<9x8xf32> {halftone.name = "u"},
        tensor<70x80xf32> {halftone.name = "w"}) {
  %0 = halftone.contract %x, %g {lhs_contract = array<i64: 1, 0>, rhs_contract = array<i64: 0, 1>}
      : (tensor<6x10x70xbf16>, tensor<10x6x80xbf16>) -> tensor<70x80xf32>
  %1 = halftone.contract %g, %v {lhs_contract = array<i64: 1, 0>, rhs_contract = array<i64: 2, 0>}
      : (tensor<10x6x80xbf16>, tensor<10x70x6xbf16>) -> tensor<80x70xf32>
  %2 = halftone.contract %e, %few {lhs_contract = array<i64: 0, 1>, rhs_contract = array<i64: 1, 0>}
      : (tensor<6x10x9xbf16>, tensor<10x6x8xbf16>) -> tensor<9x8xf32>
  %3 = halftone.contract %a, %b {lhs_contract = array<i64: 1, 0>, rhs_contract = array<i64: 0, 1>}
      : (tensor<6x10x70xf32>, tensor<10x6x80xf32>) -> tensor<70x80xf32>
  return %0, %1, %2, %3 : tensor<70x80xf32>, tensor<80x70xf32>, tensor<9x8xf32>, tensor<70x80xf32>
}
