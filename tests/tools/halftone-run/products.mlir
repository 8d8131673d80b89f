// The plan's text names the instruction of a kernel's products, for any CPU: nothing runs.
// RUN: halftone-run emit %s --stage plan --target x86-64-v2 | FileCheck-22 %s --check-prefix=V2
// V2-DAG: matmul, f32 multiply-add, 4 x 8 sums in registers
// V2-DAG: matmul, i32 multiply-add, 4 x 8 sums in registers
// RUN: halftone-run emit %s --stage plan --target x86-64-v3 | FileCheck-22 %s --check-prefix=V3
// V3-DAG: matmul, f32 multiply-add, 4 x 24 sums in registers
// V3-DAG: matmul, i32 multiply-add, 4 x 24 sums in registers
// RUN: halftone-run emit %s --stage plan --target x86-64-v4 | FileCheck-22 %s --check-prefix=V4
// V4-DAG: matmul, f32 multiply-add, 6 x 64 sums in registers
// V4-DAG: matmul, i32 multiply-add, 6 x 64 sums in registers
// RUN: halftone-run emit %s --stage plan --target x86_64-unknown-linux-gnu:znver5 | FileCheck-22 %s --check-prefix=ZEN
// ZEN-DAG: matmul, vdpbf16ps, 6 x 64 sums in registers
// ZEN-DAG: matmul, vpdpbusd, 6 x 64 sums in registers

// Tiles, which this CPU may lack.
// RUN: halftone-run emit %s --stage plan --target sapphirerapids | FileCheck-22 %s --check-prefix=SPR
// SPR-DAG: matmul, tdpbf16ps, 32 x 32 sums in tiles
// SPR-DAG: matmul, tdpbssd, 32 x 32 sums in tiles
// RUN: halftone-run emit %s --target graniterapids > %t.s
// RUN: FileCheck-22 %s --check-prefix=TILES --input-file=%t.s
// RUN: FileCheck-22 %s --check-prefix=BF16 --input-file=%t.s
// RUN: FileCheck-22 %s --check-prefix=INT8 --input-file=%t.s
// TILES-COUNT-2: ldtilecfg
// TILES-NOT: ldtilecfg
// BF16: tdpbf16ps %tmm7, %tmm5, %tmm3
// BF16: tilerelease
// BF16: ret
// INT8: tdpbssd %tmm7, %tmm5, %tmm3
// INT8: tilerelease
// INT8: ret
// RUN: halftone-run emit %s --target sapphirerapids --format llvm | FileCheck-22 %s --check-prefix=LLVM
// LLVM-DAG: call void @llvm.x86.tdpbf16ps(i8 3, i8 5, i8 7)
// LLVM-DAG: call void @llvm.x86.tdpbssd(i8 3, i8 5, i8 7)
// RUN: halftone-run emit %s --target sapphirerapids --numerics strict --stage plan | FileCheck-22 %s --check-prefix=STRICT
// STRICT-DAG: matmul, f32 multiply-add
// STRICT-DAG: matmul, tdpbssd
// RUN: halftone-run emit %s --target x86-64-v4 | FileCheck-22 %s --check-prefix=NOTILES
// NOTILES-NOT: tmm
// NOTILES-NOT: tilerelease

func.func @main(%x: tensor<40x50xbf16> {halftone.name = "x"}, %w: tensor<50x70xbf16> {halftone.name = "w"},
                %a: tensor<40x50xi8> {halftone.name = "a"}, %b: tensor<50x70xi8> {halftone.name = "b"})
    -> (tensor<40x70xbf16> {halftone.name = "y"}, tensor<40x70xi32> {halftone.name = "z"}) {
  %y = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<40x50xbf16>, tensor<50x70xbf16>) -> tensor<40x70xbf16>
  %z = halftone.contract %a, %b {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<40x50xi8>, tensor<50x70xi8>) -> tensor<40x70xi32>
  return %y, %z : tensor<40x70xbf16>, tensor<40x70xi32>
}
