// The compile times: each pass once, each kernel once, with the source of its code, and each phase of those that are compiled.
// RUN: rm -rf %t.cache
// RUN: halftone-run predict %s --input 4x8xf32=random -q --timing-passes --no-cache 2>&1 | FileCheck-22 %s --check-prefix=PASSES
// RUN: halftone-run predict %s --input 4x8xf32=random -q --timing --cache-dir %t.cache 2>&1 | FileCheck-22 %s --check-prefixes=CHECK,FIRST
// RUN: halftone-run predict %s --input 4x8xf32=random -q --timing --cache-dir %t.cache 2>&1 | FileCheck-22 %s --check-prefixes=CHECK,SECOND
// RUN: halftone-run predict %s --input 4x8xf32=random -q --cache-dir %t.cache 2>&1 | count 0

// CHECK: Execution time report
// CHECK: cast
// CHECK: InsertCastsPass
// CHECK: InlineLayersPass
// CHECK: pure
// CHECK: LiftVariablesPass
// CHECK: DifferentiatePass
// CHECK: SimplifyPass
// CHECK: kernel
// CHECK: ChooseLayoutsPass
// CHECK: FormKernelsPass
// CHECK: OutlineKernelsPass
// CHECK: OrderLaunchesPass
// CHECK: MergeLaunchesPass
// CHECK-NOT: {{Casts|Layers|Variables|Differentiate|Simplify|Templates|Kernels|Launches}}Pass
// CHECK: plan
// CHECK: kernels
// FIRST-DAG: row_{{[0-9a-f]+}} {{[0-9a-f]+}} (compiled)
// FIRST-DAG: loop_{{[0-9a-f]+}} {{[0-9a-f]+}} (compiled)
// SECOND-DAG: row_{{[0-9a-f]+}} {{[0-9a-f]+}} (from disk)
// SECOND-DAG: loop_{{[0-9a-f]+}} {{[0-9a-f]+}} (from disk)
// FIRST-DAG: {{^.*}}  phases{{$}}
// FIRST-DAG: {{^.*}}    emit{{$}}
// FIRST-DAG: {{^.*}}    LLVM's passes{{$}}
// FIRST-DAG: {{^.*}}    code generation{{$}}
// SECOND-NOT: phases
// CHECK-NOT: {{row|loop}}_
// CHECK-NOT: InstCombinePass
// CHECK: Total
// PASSES: phases
// PASSES: LLVM's passes
// PASSES-NEXT: LowerExpectIntrinsicPass
// PASSES: InstCombinePass
// PASSES: code generation
// PASSES-NEXT: Pre-ISel Intrinsic Lowering
// PASSES-NOT: Loop Strength Reduction
// PASSES: DAG Instruction Selection
// PASSES: Greedy Register Allocator
// PASSES: Total
func.func @main(%x: tensor<4x8xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "s"}, tensor<8x4xf32> {halftone.name = "t"}) {
  %s = halftone.reduce sum %x {axes = array<i64: 1>} : tensor<4x8xf32> -> tensor<4xf32>
  %t = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<4x8xf32> to tensor<8x4xf32>
  return %s, %t : tensor<4xf32>, tensor<8x4xf32>
}
