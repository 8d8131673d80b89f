// RUN: halftone-opt %s --split-input-file --halftone-hoist-shadows | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --check-passes --halftone-hoist-shadows --halftone-form-kernels --halftone-outline-kernels --halftone-order-launches --halftone-verify-stage=stage=kernel -o /dev/null

// A training step: the shadow gets a new value when the variable does, under the same condition.
// CHECK: halftone.shadow @w_bfloat16 of @w {
// CHECK: halftone.cast %{{.*}} {origin = "variable read"} : tensor<4x8xf32> to tensor<4x8xbf16>
// CHECK: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x8xf32> {halftone.variable = @w}, %[[C:[a-z0-9]+]]: tensor<4x8xbf16> {halftone.shadow = @w_bfloat16})
// CHECK-SAME: -> (tensor<2x8xbf16> {halftone.name = "y"}, tensor<4x8xf32> {halftone.variable = @w}, tensor<4x8xbf16> {halftone.shadow = @w_bfloat16})
// CHECK-NOT: halftone.cast
// CHECK: halftone.contract %{{.*}}, %[[C]]
// CHECK: %[[R:.*]]:2 = halftone.when
// CHECK: %[[N:.*]] = halftone.sub %[[W]]
// CHECK-NEXT: %[[NC:.*]] = halftone.cast %[[N]]
// CHECK: halftone.yield %[[N]], %[[NC]]
// CHECK: halftone.yield %[[W]], %[[C]]
// CHECK: return %{{.*}}, %[[R]]#0, %[[R]]#1
halftone.variable @w : tensor<4x8xf32>
func.func @main(%x: tensor<2x4xbf16> {halftone.name = "x"}, %go: tensor<i1> {halftone.name = "go"},
                %d: tensor<4x8xf32> {halftone.name = "d"}, %w: tensor<4x8xf32> {halftone.variable = @w})
    -> (tensor<2x8xbf16> {halftone.name = "y"}, tensor<4x8xf32> {halftone.variable = @w}) {
  %c = halftone.cast %w {origin = "variable read"} : tensor<4x8xf32> to tensor<4x8xbf16>
  %y = halftone.contract %x, %c {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<2x4xbf16>, tensor<4x8xbf16>) -> tensor<2x8xbf16>
  %n = halftone.when %go : (tensor<4x8xf32>) {
    %0 = halftone.sub %w, %d : tensor<4x8xf32>
    halftone.yield %0 : tensor<4x8xf32>
  } else {
    halftone.yield %w : tensor<4x8xf32>
  }
  return %y, %n : tensor<2x8xbf16>, tensor<4x8xf32>
}

// -----

// Frozen: no result. Equal functions are one shadow. A shadow that only serves another one is dropped unless it is
// read.
// CHECK: halftone.shadow @w_float16 of @w {
// CHECK: halftone.shadow @w_float16_0 of @w {
// CHECK: halftone.transpose
// CHECK-NOT: halftone.shadow
// CHECK: func.func @main
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x8xf16> {halftone.shadow = @w_float16}, %[[B:[a-z0-9]+]]: tensor<8x4xf16> {halftone.shadow = @w_float16_0})
// CHECK-NEXT: %[[AA:.*]] = halftone.mul %[[A]], %[[A]]
// CHECK-NEXT: return %[[AA]], %[[B]]
halftone.variable @w : tensor<4x8xf32>
func.func @main(%w: tensor<4x8xf32> {halftone.variable = @w})
    -> (tensor<4x8xf16> {halftone.name = "a"}, tensor<8x4xf16> {halftone.name = "b"}) {
  %0 = halftone.cast %w {origin = "variable read"} : tensor<4x8xf32> to tensor<4x8xf16>
  %1 = halftone.cast %w {origin = "variable read"} : tensor<4x8xf32> to tensor<4x8xf16>
  %2 = halftone.mul %0, %1 : tensor<4x8xf16>
  %3 = halftone.transpose %1 {permutation = array<i64: 1, 0>} : tensor<4x8xf16> to tensor<8x4xf16>
  return %2, %3 : tensor<4x8xf16>, tensor<8x4xf16>
}

// -----

// No shadow for a value with more bytes, for no weight, or for a value on its way to the variable.
// CHECK-NOT: halftone.shadow
halftone.variable @w : tensor<4xf16>
halftone.variable @m : tensor<4xf32> {role = #halftone<role slot>}
func.func @main(%w: tensor<4xf16> {halftone.variable = @w}, %m: tensor<4xf32> {halftone.variable = @m})
    -> (tensor<4xf32> {halftone.name = "a"}, tensor<4xf16> {halftone.name = "b"}, tensor<4xf16> {halftone.variable = @w}) {
  %0 = halftone.cast %w : tensor<4xf16> to tensor<4xf32>
  %1 = halftone.cast %m : tensor<4xf32> to tensor<4xf16>
  %2 = halftone.neg %0 : tensor<4xf32>
  %3 = halftone.cast %2 : tensor<4xf32> to tensor<4xf16>
  return %0, %1, %3 : tensor<4xf32>, tensor<4xf16>, tensor<4xf16>
}

// -----

// Packed copies of one cast, which is a shadow too; both are made where the weight is written, with one cast.
// CHECK: halftone.shadow @w_bfloat16 of @w {
// CHECK: halftone.cast
// CHECK: halftone.shadow @w_bfloat16_packed of @w_bfloat16 {
// CHECK-NOT: halftone.cast
// CHECK: halftone.pack
// CHECK: halftone.shadow @w_bfloat16_packed_0 of @w_bfloat16 {
// CHECK: func.func @main
// CHECK: %[[N:.*]] = halftone.neg
// CHECK-NEXT: %[[C:.*]] = halftone.cast %[[N]]
// CHECK-NEXT: halftone.pack %[[C]] : tensor<16x16xbf16> to tensor<16x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>
// CHECK-NEXT: halftone.pack %[[C]] : tensor<16x16xbf16> to tensor<16x16xbf16, #halftone.panels<depth = 1, columns = 16, group = 2>>
halftone.variable @w : tensor<16x16xf32>
func.func @main(%x: tensor<2x16xbf16> {halftone.name = "x"}, %w: tensor<16x16xf32> {halftone.variable = @w})
    -> (tensor<2x16xbf16> {halftone.name = "y"}, tensor<16x16xf32> {halftone.variable = @w}) {
  %0 = halftone.cast %w : tensor<16x16xf32> to tensor<16x16xbf16>
  %1 = halftone.pack %0 : tensor<16x16xbf16> to tensor<16x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>
  %2 = halftone.pack %0 : tensor<16x16xbf16> to tensor<16x16xbf16, #halftone.panels<depth = 1, columns = 16, group = 2>>
  %3 = halftone.contract %x, %1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x16xbf16>, tensor<16x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>) -> tensor<2x16xbf16>
  %4 = halftone.contract %3, %2 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<2x16xbf16>, tensor<16x16xbf16, #halftone.panels<depth = 1, columns = 16, group = 2>>) -> tensor<2x16xbf16>
  %5 = halftone.neg %w : tensor<16x16xf32>
  return %4, %5 : tensor<2x16xbf16>, tensor<16x16xf32>
}

// -----

// Readers that want the kept cast in another shape reshape it; they share one shadow.
// CHECK: halftone.shadow @w_float16 of @w {
// CHECK-NOT: halftone.shadow
// CHECK: func.func @main
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<4x8xf16> {halftone.shadow = @w_float16})
// CHECK-DAG: %[[R:.*]] = halftone.reshape %[[C]] : tensor<4x8xf16> to tensor<2x2x8xf16>
// CHECK-DAG: halftone.mul %[[R]], %[[R]]
// CHECK-DAG: halftone.mul %[[C]], %[[C]]
halftone.variable @w : tensor<4x8xf32>
func.func @main(%w: tensor<4x8xf32> {halftone.variable = @w})
    -> (tensor<2x2x8xf16> {halftone.name = "a"}, tensor<4x8xf16> {halftone.name = "b"}) {
  %0 = halftone.cast %w {origin = "variable read"} : tensor<4x8xf32> to tensor<4x8xf16>
  %1 = halftone.reshape %0 : tensor<4x8xf16> to tensor<2x2x8xf16>
  %2 = halftone.mul %1, %1 : tensor<2x2x8xf16>
  %3 = halftone.mul %0, %0 : tensor<4x8xf16>
  return %2, %3 : tensor<2x2x8xf16>, tensor<4x8xf16>
}

// -----

// Integers that share bytes are unpacked once; their reader widens them. A shift by another value stays.
// CHECK: halftone.shadow @w_int8 of @w {
// CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<4x8xi8>):
// CHECK: halftone.broadcast %[[V]]
// CHECK: halftone.shl
// CHECK: %[[S:.*]] = halftone.shr
// CHECK-NEXT: %[[R:.*]] = halftone.reshape %[[S]] : tensor<4x8x2xi8> to tensor<4x16xi8>
// CHECK-NEXT: halftone.yield %[[R]]
// CHECK: func.func @main({{.*}}, %[[K:.*]]: tensor<4x16xi8> {halftone.shadow = @w_int8})
// CHECK-NEXT: halftone.cast %[[K]]
// CHECK: halftone.shr
halftone.variable @w : tensor<4x8xi8> {path = "w", trainable = false, update = #halftone<update assign>}
func.func @main(%x: tensor<2x4xf32> {halftone.name = "x"}, %n: tensor<i8> {halftone.name = "n"}, %w: tensor<4x8xi8> {halftone.variable = @w}) -> (tensor<2x16xf32> {halftone.name = "a"}, tensor<4x8xi8> {halftone.name = "b"}) {
  %0 = halftone.broadcast %w {axes = array<i64: 0, 1>} : tensor<4x8xi8> to tensor<4x8x2xi8>
  %1 = halftone.constant dense<[4, 0]> : tensor<2xi8>
  %2 = halftone.broadcast %1 {axes = array<i64: 2>} : tensor<2xi8> to tensor<4x8x2xi8>
  %3 = halftone.shl %0, %2 : tensor<4x8x2xi8>
  %4 = halftone.constant dense<4> : tensor<4x8x2xi8>
  %5 = halftone.shr %3, %4 : tensor<4x8x2xi8>
  %6 = halftone.reshape %5 : tensor<4x8x2xi8> to tensor<4x16xi8>
  %7 = halftone.cast %6 {origin = "promotion"} : tensor<4x16xi8> to tensor<4x16xf32>
  %8 = halftone.contract %x, %7 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<2x16xf32>
  %9 = halftone.broadcast %n {axes = array<i64>} : tensor<i8> to tensor<4x8xi8>
  %10 = halftone.shr %w, %9 : tensor<4x8xi8>
  return %8, %10 : tensor<2x16xf32>, tensor<4x8xi8>
}

// -----

// Casts of different origins are one shadow, before the update and behind it.
// CHECK: halftone.shadow @w_bfloat16 of @w {
// CHECK-NOT: halftone.shadow @
// CHECK: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32> {halftone.variable = @w}, %[[C:[a-z0-9]+]]: tensor<4xbf16> {halftone.shadow = @w_bfloat16})
// CHECK-DAG: halftone.neg %[[C]]
// CHECK-DAG: halftone.abs %[[C]]
// CHECK: return
halftone.variable @w : tensor<4xf32>
func.func @main(%w: tensor<4xf32> {halftone.variable = @w})
    -> (tensor<4xbf16> {halftone.name = "a"}, tensor<4xbf16> {halftone.name = "b"}, tensor<4xf32> {halftone.variable = @w}) {
  %0 = halftone.cast %w {origin = "variable read"} : tensor<4xf32> to tensor<4xbf16>
  %1 = halftone.neg %0 : tensor<4xbf16>
  %2 = halftone.neg %w : tensor<4xf32>
  %3 = halftone.cast %w {kind = #halftone<cast_kind storage>, origin = "user"} : tensor<4xf32> to tensor<4xbf16>
  %4 = halftone.abs %3 : tensor<4xbf16>
  return %1, %4, %2 : tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>
}

// -----

// Weights that are exchanged exchange their shadows, in one of two branches here.
// CHECK: func.func @main
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xbf16> {halftone.shadow = @a_bfloat16}, %[[B:[a-z0-9]+]]: tensor<4xbf16> {halftone.shadow = @b_bfloat16})
// CHECK-NOT: halftone.cast
// CHECK: %[[R:.*]]:4 = halftone.when
// CHECK-NEXT: halftone.yield %{{.*}}, %{{.*}}, %[[B]], %[[A]]
// CHECK-NEXT: } else {
// CHECK-NEXT: halftone.yield %{{.*}}, %{{.*}}, %[[A]], %[[B]]
halftone.variable @a : tensor<4xf32>
halftone.variable @b : tensor<4xf32>
func.func @main(%p: tensor<i1> {halftone.name = "p"}, %a: tensor<4xf32> {halftone.variable = @a}, %b: tensor<4xf32> {halftone.variable = @b})
    -> (tensor<4xbf16> {halftone.name = "y"}, tensor<4xf32> {halftone.variable = @a}, tensor<4xf32> {halftone.variable = @b}) {
  %0 = halftone.cast %a {origin = "variable read"} : tensor<4xf32> to tensor<4xbf16>
  %1 = halftone.cast %b {origin = "variable read"} : tensor<4xf32> to tensor<4xbf16>
  %2 = halftone.mul %0, %1 : tensor<4xbf16>
  %3:2 = halftone.when %p : (tensor<4xf32>, tensor<4xf32>) {
    halftone.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  } else {
    halftone.yield %a, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %2, %3#0, %3#1 : tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Integers that two branches unpack by constants of their own are one shadow.
// CHECK: halftone.shadow @w_int8 of @w {
// CHECK-NOT: halftone.shadow @
// CHECK: func.func @main
halftone.variable @w : tensor<4x8xi8> {path = "w", trainable = false, update = #halftone<update assign>}
func.func @main(%p: tensor<i1> {halftone.name = "p"}, %w: tensor<4x8xi8> {halftone.variable = @w}) -> (tensor<4x8xi8> {halftone.name = "a"}) {
  %y = halftone.when %p : (tensor<4x8xi8>) {
    %c = halftone.constant dense<4> : tensor<4x8xi8>
    %s = halftone.shr %w, %c : tensor<4x8xi8>
    %n = halftone.neg %s : tensor<4x8xi8>
    halftone.yield %n : tensor<4x8xi8>
  } else {
    %c = halftone.constant dense<4> : tensor<4x8xi8>
    %s = halftone.shr %w, %c : tensor<4x8xi8>
    %n = halftone.abs %s : tensor<4x8xi8>
    halftone.yield %n : tensor<4x8xi8>
  }
  return %y : tensor<4x8xi8>
}
