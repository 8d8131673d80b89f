// RUN: halftone-opt %s --halftone-lower-to-linalg | FileCheck-22 %s

// Attention: products, masked scores, the softmax undivided, products with the values; a generic for each result. Heads of
// queries that share one of keys are a dim of their own, and a mask has the dims along which it varies.
// CHECK-LABEL: module @attention
// CHECK-SAME: halftone.extents = array<i64: 2, 2, 2, 64, 80, 16, 8, 64, 80>, halftone.grid = 8 : i64
// CHECK: halftone.causal, halftone.kind = "attention"
// CHECK-SAME: halftone.schedule = #halftone_cpu.attention}
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%arg9, %arg10 : tensor<?x?x?x?x?xbf16>, tensor<?x?x?x?xbf16>)
// CHECK-SAME: halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2, 3, 4, 5>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%arg12, %[[Z]] : tensor<?x?xi1>, tensor<?x?x?x?x?xf32>)
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[S]]
// CHECK-SAME: halftone.combine = ["max"]
// CHECK: %[[E:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[M]]
// CHECK: math.exp
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[E]]
// CHECK-SAME: halftone.combine = ["sum"]
// CHECK: %[[O:.*]] = linalg.generic {{.*}} ins(%[[E]], %arg11
// CHECK-SAME: halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2, 3, 6, 4>
// CHECK: linalg.generic {{.*}} ins(%[[O]], %[[T]]
// CHECK: math.log
halftone.kernel attention @attention (tensor<2x64x4x16xbf16>, tensor<2x80x2x16xbf16>, tensor<2x80x2x8xbf16>, tensor<2x1x1x80xi1>) -> (tensor<2x64x4x8xbf16>, tensor<2x4x64xf32>) {
^bb0(%q: tensor<2x64x4x16xbf16>, %k: tensor<2x80x2x16xbf16>, %v: tensor<2x80x2x8xbf16>, %mask: tensor<2x1x1x80xi1>):
  %out, %lse = halftone.attention %q, %k, %v mask %mask {causal, scale = 0.25 : f64} : (tensor<2x64x4x16xbf16>, tensor<2x80x2x16xbf16>, tensor<2x80x2x8xbf16>, tensor<2x1x1x80xi1>) -> (tensor<2x64x4x8xbf16>, tensor<2x4x64xf32>)
  halftone.yield %out, %lse : tensor<2x64x4x8xbf16>, tensor<2x4x64xf32>
}

// The gradient: weights beside lse, slopes, three contractions. The gradient by k, which nothing asks for, is no result.
// CHECK-LABEL: module @gradient
// CHECK-SAME: halftone.grid = 4 : i64
// CHECK: halftone.kind = "attention_grad"
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %arg13
// CHECK: math.exp
// CHECK: %[[U:.*]] = linalg.generic {{.*}} ins(%arg14, %arg12
// CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[U]], %arg15
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%[[D]], %arg11
// CHECK: linalg.generic {{.*}} ins(%[[D]], %arg10
// CHECK: %[[V:.*]] = linalg.generic {{.*}} ins(%[[W]], %arg14
// CHECK: linalg.generic {{.*}} ins(%[[Q]]
// CHECK: linalg.generic {{.*}} ins(%[[V]]
halftone.kernel attention_grad @gradient (tensor<2x64x4x16xbf16>, tensor<2x80x2x16xbf16>, tensor<2x80x2x8xbf16>, tensor<2x4x64xf32>, tensor<2x64x4x8xbf16>, tensor<2x4x64xf32>) -> (tensor<2x64x4x16xbf16>, tensor<2x80x2x8xbf16>) {
^bb0(%q: tensor<2x64x4x16xbf16>, %k: tensor<2x80x2x16xbf16>, %v: tensor<2x80x2x8xbf16>, %lse: tensor<2x4x64xf32>, %g: tensor<2x64x4x8xbf16>, %delta: tensor<2x4x64xf32>):
  %by_q, %by_k, %by_v = halftone.attention_grad %q, %k, %v lse %lse, %g, %delta {scale = 1.0 : f64} : (tensor<2x64x4x16xbf16>, tensor<2x80x2x16xbf16>, tensor<2x80x2x8xbf16>, tensor<2x4x64xf32>, tensor<2x64x4x8xbf16>, tensor<2x4x64xf32>) -> (tensor<2x64x4x16xbf16>, tensor<2x80x2x16xbf16>, tensor<2x80x2x8xbf16>)
  halftone.yield %by_q, %by_v : tensor<2x64x4x16xbf16>, tensor<2x80x2x8xbf16>
}

// A mask that the kernel makes itself is compared where the scores are: nothing is loaded but the vector.
// CHECK-LABEL: module @made
// CHECK: %[[Z:.*]] = linalg.generic
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : {{.*}}) outs
// CHECK: linalg.index
// CHECK: arith.cmpi slt
// CHECK: arith.andi
// CHECK: arith.select
halftone.kernel attention @made (tensor<2x64x4x16xf32>, tensor<2x80x4x16xf32>, tensor<2x80xi1>) -> tensor<2x64x4x16xf32> {
^bb0(%q: tensor<2x64x4x16xf32>, %k: tensor<2x80x4x16xf32>, %seen: tensor<2x80xi1>):
  %query = halftone.iota {axis = 2 : i64} : tensor<2x1x64x80xi32>
  %key = halftone.iota {axis = 3 : i64} : tensor<2x1x64x80xi32>
  %near = halftone.compare lt %query, %key : tensor<2x1x64x80xi32>
  %keys = halftone.broadcast %seen {axes = array<i64: 0, 3>} : tensor<2x80xi1> to tensor<2x1x64x80xi1>
  %mask = halftone.and %near, %keys : tensor<2x1x64x80xi1>
  %out, %lse = halftone.attention %q, %k, %k mask %mask {scale = 0.25 : f64} : (tensor<2x64x4x16xf32>, tensor<2x80x4x16xf32>, tensor<2x80x4x16xf32>, tensor<2x1x64x80xi1>) -> (tensor<2x64x4x16xf32>, tensor<2x4x64xf32>)
  halftone.yield %out : tensor<2x64x4x16xf32>
}

// The gradient in parts of the queries: a block for each part of each head of keys, in two tiles of 64 queries; the sums by
// keys and values are pieces.
// CHECK-LABEL: module @in_parts
// CHECK-SAME: halftone.extents = array<i64: 2, 2, 2, 640, 80, 16, 8, 64, 80, 5>, halftone.grid = 20 : i64
// CHECK: -> (tensor<?x?x?x?x?xf32>, tensor<?x?x?x?xf32> {halftone.partial = "sum"}, tensor<?x?x?x?xf32> {halftone.partial = "sum"})
// CHECK-SAME: halftone.kind = "attention_grad"
halftone.kernel attention_grad @in_parts (tensor<2x640x4x16xf32>, tensor<2x80x2x16xf32>, tensor<2x80x2x8xf32>, tensor<2x4x640xf32>, tensor<2x640x4x8xf32>, tensor<2x4x640xf32>) -> (tensor<2x640x4x16xf32>, tensor<5x2x80x2x16xf32>, tensor<5x2x80x2x8xf32>) {
^bb0(%q: tensor<2x640x4x16xf32>, %k: tensor<2x80x2x16xf32>, %v: tensor<2x80x2x8xf32>, %lse: tensor<2x4x640xf32>, %g: tensor<2x640x4x8xf32>, %delta: tensor<2x4x640xf32>):
  %by_q, %by_k, %by_v = halftone.attention_grad %q, %k, %v lse %lse, %g, %delta {causal, scale = 1.0 : f64} : (tensor<2x640x4x16xf32>, tensor<2x80x2x16xf32>, tensor<2x80x2x8xf32>, tensor<2x4x640xf32>, tensor<2x640x4x8xf32>, tensor<2x4x640xf32>) -> (tensor<2x640x4x16xf32>, tensor<5x2x80x2x16xf32>, tensor<5x2x80x2x8xf32>)
  halftone.yield %by_q, %by_k, %by_v : tensor<2x640x4x16xf32>, tensor<5x2x80x2x16xf32>, tensor<5x2x80x2x8xf32>
}
