// The module of docs/inspect.md at each stage, as the page tells it.
// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-opt %s --target=x86-64-v3 --stop-after=cast | FileCheck %s --check-prefix=CAST
// RUN: halftone-opt %s --target=x86-64-v3 --stop-after=pure | FileCheck %s --check-prefix=PURE
// RUN: halftone-opt %s --target=x86-64-v3 --stop-after=kernel --check-passes | FileCheck %s --check-prefix=KERNEL
// RUN: halftone-opt %s --target=x86-64-v3 --stop-after=linalg | FileCheck %s --check-prefix=LINALG
// RUN: halftone-opt %s --target=sapphirerapids --stop-after=linalg | FileCheck %s --check-prefix=SCHEDULE
// RUN: halftone-opt %s --target=x86-64-v3 --stop-after=plan | FileCheck %s --check-prefix=PLAN
// RUN: halftone-opt %s --target=x86-64-v3 --stop-after=target | FileCheck %s --check-prefix=TARGET
// RUN: halftone-opt %s --target=sapphirerapids --stop-after=target | FileCheck %s --check-prefix=TILES

// Each change of dtype is a cast that says who asked; the layers are gone.
// CAST-NOT: halftone.layer "
// CAST:     halftone.cast %arg0 {origin = "layer input"} : tensor<32x64xf32> to tensor<32x64xbf16>
// CAST:     %[[W:.*]] = halftone.read @net_hidden_kernel : tensor<64x128xf32>
// CAST:     halftone.cast %[[W]] {origin = "variable read"} : tensor<64x128xf32> to tensor<64x128xbf16>
// CAST:     halftone.cast {{.*}} {origin = "layer output"} : tensor<32x128xbf16> to tensor<32x128xbf16>
// CAST:     halftone.cast {{.*}} {origin = "layer input"} : tensor<32x128xbf16> to tensor<32x128xf32>

// Variables are arguments, and the reshapes between a reduction and its broadcast are gone.
// PURE:      func.func @main({{.*}}, %arg1: tensor<64x128xf32> {halftone.variable = @net_hidden_kernel}
// PURE-NOT:  halftone.{{read|reshape|stop_gradient}}
// PURE:      %[[M:.*]] = halftone.reduce max
// PURE-NEXT: halftone.broadcast %[[M]] {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>

// Three kernels; the weights' cast is a shadow, and all other casts are in kernels.
// KERNEL:      halftone.shadow @net_hidden_kernel_bfloat16 of @net_hidden_kernel {
// KERNEL:      halftone.kernel matmul @[[FIRST:matmul_[0-9a-f]+]] (tensor<32x64xf32>, tensor<64x128xbf16>, tensor<128xbf16>) -> tensor<32x128xf32> attributes {spec = #halftone.blocks<tile = [32, 64]>}
// KERNEL-NEXT: ^bb0
// KERNEL-NEXT: halftone.cast %arg0 {origin = "layer input"}
// KERNEL-NEXT: halftone.contract
// KERNEL:      halftone.relu
// KERNEL:      halftone.kernel matmul @[[SECOND:matmul_[0-9a-f]+]]
// KERNEL:      halftone.kernel row @[[ROW:row_[0-9a-f]+]] (tensor<32x10xf32>) -> tensor<32x10xf32>
// KERNEL-NOT:  halftone.kernel
// KERNEL:      halftone.launch @[[FIRST]](%arg0, {{.*}}) {site = "net/hidden, net/head
// KERNEL-NEXT: halftone.launch @[[SECOND]]
// KERNEL-NEXT: halftone.launch @[[ROW]]
// KERNEL-NEXT: return

// Extents are arguments. The sums are float32.
// SCHEDULE: halftone.schedule = #halftone_cpu.matmul<product = tdpbf16ps>

// LINALG:      func.func @kernel(%arg0: index, {{.*}}: tensor<?x?xf32>, %{{.*}}: tensor<?x?xbf16>, %{{.*}}: tensor<?xbf16>) -> tensor<?x?xf32>
// LINALG-SAME: halftone.schedule = #halftone_cpu.matmul} {
// LINALG:      arith.truncf %{{.*}} : f32 to bf16
// LINALG:      iterator_types = ["parallel", "parallel", "reduction"]
// LINALG:      arith.mulf {{.*}} : f32
// LINALG-NEXT: arith.addf {{.*}} : f32

// PLAN:      1 feeds, 1 fetches, 4 variables, 4 kernels, arena 17664 bytes
// PLAN:      s0: feed 0 "x" 32x64xf32
// PLAN:      s5: shadow @net_hidden_kernel_bfloat16 64x128xbf16
// PLAN:      s8: arena +0 32x128xf32
// PLAN:      0: {{[0-9a-f]+}} (s0, s5, s6) -> (s8) grid 2 extents [32, 128, 64, 32, 64]
// PLAN-NEXT: 1: {{[0-9a-f]+}} (s8, s3, s4) -> (s9) grid 1
// PLAN-NEXT: 2: {{[0-9a-f]+}} (s9) -> (s7) grid 1

// TARGET: # {{[0-9a-f]+}}: matmul_{{[0-9a-f]+}}, f32 multiply-add, 4 x 24 sums in registers
// TARGET: # {{[0-9a-f]+}}: row_
// TARGET: # {{[0-9a-f]+}}: halftone_core_sums_multiply_add_f32_fused_{{[a-z0-9_]+}}, 4 x 24 sums in registers
// TARGET: vfmadd231ps
// TILES:  # {{[0-9a-f]+}}: matmul_{{[0-9a-f]+}}, tdpbf16ps, 32 x 32 sums in tiles
// TILES:  tdpbf16ps

module @net.predict {
  halftone.variable @net_hidden_kernel : tensor<64x128xf32> {path = "net/hidden/kernel"}
  halftone.variable @net_hidden_bias : tensor<128xf32> {path = "net/hidden/bias"}
  halftone.variable @net_head_kernel : tensor<128x10xf32> {path = "net/head/kernel"}
  halftone.variable @net_head_bias : tensor<10xf32> {path = "net/head/bias"}
  func.func @main(%arg0: tensor<32x64xf32> {halftone.name = "x"}) -> (tensor<32x10xf32> {halftone.name = "head"}) {
    %0 = halftone.layer "net/hidden" policy "mixed_bfloat16"(%arg0) {layer_class = "Dense"} : (tensor<32x64xf32>) -> tensor<32x128xbf16> {
    ^bb0(%arg1: tensor<32x64xbf16>):
      %2 = halftone.read @net_hidden_kernel : tensor<64x128xbf16>
      %3 = halftone.contract %arg1, %2 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x64xbf16>, tensor<64x128xbf16>) -> tensor<32x128xbf16>
      %4 = halftone.read @net_hidden_bias : tensor<128xbf16>
      %5 = halftone.broadcast %4 {axes = array<i64: 1>} : tensor<128xbf16> to tensor<32x128xbf16>
      %6 = halftone.add %3, %5 : tensor<32x128xbf16>
      %7 = halftone.relu %6 : tensor<32x128xbf16>
      halftone.yield %7 : tensor<32x128xbf16>
    }
    %1 = halftone.layer "net/head" policy "float32"(%0) {layer_class = "Dense"} : (tensor<32x128xbf16>) -> tensor<32x10xf32> {
    ^bb0(%arg1: tensor<32x128xf32>):
      %2 = halftone.read @net_head_kernel : tensor<128x10xf32>
      %3 = halftone.contract %arg1, %2 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x128xf32>, tensor<128x10xf32>) -> tensor<32x10xf32>
      %4 = halftone.read @net_head_bias : tensor<10xf32>
      %5 = halftone.broadcast %4 {axes = array<i64: 1>} : tensor<10xf32> to tensor<32x10xf32>
      %6 = halftone.add %3, %5 : tensor<32x10xf32>
      %7 = halftone.reduce max %6 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
      %8 = halftone.reshape %7 : tensor<32xf32> to tensor<32x1xf32>
      %9 = halftone.stop_gradient %8 : tensor<32x1xf32>
      %10 = halftone.reshape %9 : tensor<32x1xf32> to tensor<32xf32>
      %11 = halftone.broadcast %10 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
      %12 = halftone.sub %6, %11 : tensor<32x10xf32>
      %13 = halftone.exp %12 : tensor<32x10xf32>
      %14 = halftone.reduce sum %13 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
      %15 = halftone.reshape %14 : tensor<32xf32> to tensor<32x1xf32>
      %16 = halftone.reshape %15 : tensor<32x1xf32> to tensor<32xf32>
      %17 = halftone.broadcast %16 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
      %18 = halftone.div %13, %17 : tensor<32x10xf32>
      halftone.yield %18 : tensor<32x10xf32>
    }
    return %1 : tensor<32x10xf32>
  }
}
