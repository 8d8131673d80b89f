// The PTX of products: mma.sync with f32 sums, operands by cp.async and ldmatrix; multiply-adds of f32 and in strict mode; no calls, no local memory.
// RUN: halftone-run emit %s --target sm_80 --format ptx > %t
// RUN: FileCheck-22 %s < %t
// RUN: not grep -E "\.local|\.func|call" %t
// RUN: not grep -E "mma\.sync.*f16\.f16\.f16\.f16|mma\.sync.*f16$" %t
// CHECK-DAG: // halftone_{{[0-9a-f]+}} (matmul): mma.m16n8k16.bf16, tiles of
// CHECK-DAG: cp.async.cg.shared.global
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-DAG: (matmul): f32 multiply-add, tiles of
// CHECK-DAG: fma.rn.f32
// RUN: halftone-run emit %s --target sm_80 --format ptx --numerics strict | FileCheck-22 %s --check-prefix=STRICT
// STRICT-NOT: mma.sync
// STRICT-NOT: fma.rn.f32
// STRICT: mul.rn.f32
// STRICT-NOT: mma.sync
// STRICT-NOT: fma.rn.f32
// RUN: halftone-run emit %s --target sm_80 --stage plan | FileCheck-22 %s --check-prefix=PLAN
// PLAN: mma.m16n8k16.bf16, tiles of
// RUN: halftone-opt %s --target=sm_80 --stop-after=linalg | FileCheck-22 %s --check-prefix=LINALG
// LINALG-DAG: halftone.schedule = #halftone_nvptx.mma<product = mma_m16n8k16_bf16, tile = [32, 32], divisors = [16, 16, 16]>
// LINALG-DAG: halftone.schedule = #halftone_gpu.matmul<tile = [32, 32], divisors = [16, 8, 16]>
module {
  func.func @main(%x: tensor<96x64xbf16> {halftone.name = "x"}, %w: tensor<64x48xbf16> {halftone.name = "w"},
                  %a: tensor<96x64xf32> {halftone.name = "a"}, %b: tensor<40x64xf32> {halftone.name = "b"})
      -> (tensor<96x48xbf16> {halftone.name = "y"}, tensor<96x40xf32> {halftone.name = "z"}) {
    %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<96x64xbf16>, tensor<64x48xbf16>) -> tensor<96x48xbf16>
    %1 = halftone.contract %a, %b {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}
        : (tensor<96x64xf32>, tensor<40x64xf32>) -> tensor<96x40xf32>
    return %0, %1 : tensor<96x48xbf16>, tensor<96x40xf32>
  }
}
