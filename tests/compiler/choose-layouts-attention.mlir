// RUN: halftone-opt %s --split-input-file --halftone-choose-layouts | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --halftone-choose-layouts=target=sm_80 | FileCheck-22 %s --check-prefix=WHOLE
// RUN: halftone-opt %s --split-input-file "--halftone-choose-layouts=strict=true" | FileCheck-22 %s --check-prefix=WHOLE
// RUN: halftone-opt %s --split-input-file "--halftone-choose-layouts" "--halftone-choose-layouts" | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file "--halftone-choose-layouts" "--halftone-normalize=target=sm_80" | FileCheck-22 %s --check-prefix=PLAIN
// RUN: halftone-opt %s --split-input-file --check-passes --halftone-choose-layouts --halftone-normalize=target=sm_80 -o /dev/null

// The gradient of attention of one head of keys: its blocks share the queries, and a sum adds up the gradient by keys. That
// by values, for which nobody asks, has no sum. A target without a kernel, and strict mode, keep it whole. Made of ordinary
// ops, a part is the contraction of its queries.
// CHECK-LABEL: func.func @main
// CHECK: %[[Q:.*]], %[[K:.*]], %{{.*}} = halftone.attention_grad %arg0, %arg1, %arg2 lse %arg3, %arg4, %arg5 {causal, scale = 5.000000e-01 : f64}
// CHECK-SAME: -> (tensor<1x301x2x4xbf16>, tensor<2x1x300x1x4xf32>, tensor<2x1x300x1x3xf32>)
// CHECK-NEXT: %[[S:.*]] = halftone.reduce sum %[[K]] {axes = array<i64: 0>} : tensor<2x1x300x1x4xf32> -> tensor<1x300x1x4xf32>
// CHECK-NEXT: %[[C:.*]] = halftone.cast %[[S]] {kind = #halftone<cast_kind storage>, origin = "attention"} : tensor<1x300x1x4xf32> to tensor<1x300x1x4xbf16>
// CHECK-NEXT: return %[[Q]], %[[C]]
// WHOLE-LABEL: func.func @main
// WHOLE: -> (tensor<1x301x2x4xbf16>, tensor<1x300x1x4xbf16>, tensor<1x300x1x3xbf16>)
// WHOLE-NOT: halftone.reduce
// PLAIN-LABEL: func.func @main
// PLAIN-NOT: attention_grad
// PLAIN: halftone.slice %{{.*}} : tensor<1x2x301x300xbf16> to tensor<1x2x151x300xbf16>
// PLAIN: halftone.slice %{{.*}} : tensor<1x2x301x300xbf16> to tensor<1x2x150x300xbf16>
// PLAIN: halftone.concat
func.func @main(%q: tensor<1x301x2x4xbf16> {halftone.name = "q"}, %k: tensor<1x300x1x4xbf16> {halftone.name = "k"}, %v: tensor<1x300x1x3xbf16> {halftone.name = "v"}, %lse: tensor<1x2x301xf32> {halftone.name = "lse"}, %g: tensor<1x301x2x3xbf16> {halftone.name = "g"}, %delta: tensor<1x2x301xf32> {halftone.name = "delta"}) -> (tensor<1x301x2x4xbf16> {halftone.name = "by_q"}, tensor<1x300x1x4xbf16> {halftone.name = "by_k"}) {
  %by_q, %by_k, %by_v = halftone.attention_grad %q, %k, %v lse %lse, %g, %delta {causal, scale = 0.5 : f64} : (tensor<1x301x2x4xbf16>, tensor<1x300x1x4xbf16>, tensor<1x300x1x3xbf16>, tensor<1x2x301xf32>, tensor<1x301x2x3xbf16>, tensor<1x2x301xf32>) -> (tensor<1x301x2x4xbf16>, tensor<1x300x1x4xbf16>, tensor<1x300x1x3xbf16>)
  return %by_q, %by_k : tensor<1x301x2x4xbf16>, tensor<1x300x1x4xbf16>
}

// -----

// Eight heads of keys are enough blocks, and few scores are not worth parts.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: halftone.reduce
// CHECK: return
func.func @whole(%q: tensor<1x2048x8x4xf32>, %lse: tensor<1x8x2048xf32>, %a: tensor<1x250x1x4xf32>, %m: tensor<1x1x250xf32>) -> (tensor<1x2048x8x4xf32>, tensor<1x250x1x4xf32>) {
  %x:3 = halftone.attention_grad %q, %q, %q lse %lse, %q, %lse {scale = 0.5 : f64} : (tensor<1x2048x8x4xf32>, tensor<1x2048x8x4xf32>, tensor<1x2048x8x4xf32>, tensor<1x8x2048xf32>, tensor<1x2048x8x4xf32>, tensor<1x8x2048xf32>) -> (tensor<1x2048x8x4xf32>, tensor<1x2048x8x4xf32>, tensor<1x2048x8x4xf32>)
  %y:3 = halftone.attention_grad %a, %a, %a lse %m, %a, %m {scale = 0.5 : f64} : (tensor<1x250x1x4xf32>, tensor<1x250x1x4xf32>, tensor<1x250x1x4xf32>, tensor<1x1x250xf32>, tensor<1x250x1x4xf32>, tensor<1x1x250xf32>) -> (tensor<1x250x1x4xf32>, tensor<1x250x1x4xf32>, tensor<1x250x1x4xf32>)
  return %x#1, %y#1 : tensor<1x2048x8x4xf32>, tensor<1x250x1x4xf32>
}
