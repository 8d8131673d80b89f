// RUN: halftone-opt %s --split-input-file --halftone-order-launches | FileCheck-22 %s

// Readers of the old %w go before the launch that makes the new one; also inside of `when`.
// CHECK-LABEL: func.func @main
// CHECK: %[[OLD:.*]] = halftone.launch @b(%arg1)
// CHECK: %[[NEW:.*]] = halftone.launch @a(%arg1)
// CHECK: %[[V:[0-9]+]]:2 = halftone.when
// CHECK: %[[INNER:.*]] = halftone.launch @b(%arg2)
// CHECK: %[[VNEW:.*]] = halftone.launch @a(%arg2)
// CHECK: halftone.yield %[[VNEW]], %[[INNER]]
// CHECK: return %[[OLD]], %[[V]]#1, %[[NEW]], %[[V]]#0
halftone.variable @w : tensor<8xf32>
halftone.variable @v : tensor<8xf32>
halftone.kernel loop @a (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%x: tensor<8xf32>):
  %0 = halftone.neg %x : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
halftone.kernel loop @b (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%x: tensor<8xf32>):
  %0 = halftone.exp %x : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
func.func @main(%p: tensor<i1> {halftone.name = "p"}, %w: tensor<8xf32> {halftone.variable = @w}, %v: tensor<8xf32> {halftone.variable = @v})
    -> (tensor<8xf32> {halftone.name = "old"}, tensor<8xf32> {halftone.name = "inner"}, tensor<8xf32> {halftone.variable = @w}, tensor<8xf32> {halftone.variable = @v}) {
  %0 = halftone.launch @a(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = halftone.launch @b(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %2:2 = halftone.when %p : (tensor<8xf32>, tensor<8xf32>) {
    %3 = halftone.launch @a(%v) : (tensor<8xf32>) -> tensor<8xf32>
    %4 = halftone.launch @b(%v) : (tensor<8xf32>) -> tensor<8xf32>
    halftone.yield %3, %4 : tensor<8xf32>, tensor<8xf32>
  } else {
    halftone.yield %v, %v : tensor<8xf32>, tensor<8xf32>
  }
  return %1, %2#1, %0, %2#0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// The update of a weight is the last to read a large gradient. It comes before the rest of the backward pass, with the small
// launch of its rate.
// CHECK-LABEL: func.func @main
// CHECK: %[[G:.*]] = halftone.launch @{{.*}}(%arg1)
// CHECK: %[[D:.*]] = halftone.launch @{{.*}}(%[[G]])
// CHECK: %[[R:.*]] = halftone.launch @{{.*}}(%arg2)
// CHECK: %[[W:.*]] = halftone.launch @{{.*}}(%arg3, %[[G]], %[[R]])
// CHECK: %[[E:.*]] = halftone.launch @{{.*}}(%[[D]])
// CHECK: %[[F:.*]] = halftone.launch @{{.*}}(%[[E]])
// CHECK: return %[[F]], %[[W]]
halftone.variable @w : tensor<512x512xf32>
halftone.kernel loop @grow (tensor<512xf32>) -> tensor<512x512xf32> {
^bb0(%a: tensor<512xf32>):
  %0 = halftone.broadcast %a {axes = array<i64: 1>} : tensor<512xf32> to tensor<512x512xf32>
  %1 = halftone.neg %0 : tensor<512x512xf32>
  halftone.yield %1 : tensor<512x512xf32>
}
halftone.kernel loop @big (tensor<512x512xf32>) -> tensor<512x512xf32> {
^bb0(%a: tensor<512x512xf32>):
  %0 = halftone.neg %a : tensor<512x512xf32>
  halftone.yield %0 : tensor<512x512xf32>
}
halftone.kernel loop @rate (tensor<f32>) -> tensor<f32> {
^bb0(%a: tensor<f32>):
  %0 = halftone.neg %a : tensor<f32>
  halftone.yield %0 : tensor<f32>
}
halftone.kernel loop @update (tensor<512x512xf32>, tensor<512x512xf32>, tensor<f32>) -> tensor<512x512xf32> {
^bb0(%w: tensor<512x512xf32>, %g: tensor<512x512xf32>, %r: tensor<f32>):
  %0 = halftone.broadcast %r {axes = array<i64>} : tensor<f32> to tensor<512x512xf32>
  %1 = halftone.mul %g, %0 : tensor<512x512xf32>
  %2 = halftone.sub %w, %1 : tensor<512x512xf32>
  halftone.yield %2 : tensor<512x512xf32>
}
func.func @main(%unused: tensor<f32> {halftone.name = "u"}, %x: tensor<512xf32> {halftone.name = "x"}, %s: tensor<f32> {halftone.name = "s"}, %w: tensor<512x512xf32> {halftone.variable = @w})
    -> (tensor<512x512xf32> {halftone.name = "e"}, tensor<512x512xf32> {halftone.variable = @w}) {
  %g = halftone.launch @grow(%x) {site = ""} : (tensor<512xf32>) -> tensor<512x512xf32>
  %d = halftone.launch @big(%g) {site = ""} : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %e = halftone.launch @big(%d) {site = ""} : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = halftone.launch @big(%e) {site = ""} : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = halftone.launch @rate(%s) {site = ""} : (tensor<f32>) -> tensor<f32>
  %w1 = halftone.launch @update(%w, %g, %r) {site = ""} : (tensor<512x512xf32>, tensor<512x512xf32>, tensor<f32>) -> tensor<512x512xf32>
  return %f, %w1 : tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// In the body of a loop readers of a carry go before the launch that makes the next one.
// CHECK-LABEL: func.func @main
// CHECK: halftone.scan
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[C:.*]]: tensor<8xf32>):
// CHECK-NEXT: %[[OTHER:.*]] = halftone.launch @b(%[[C]])
// CHECK-NEXT: %[[NEXT:.*]] = halftone.launch @a(%[[C]])
// CHECK-NEXT: halftone.yield %[[NEXT]], %[[OTHER]]
halftone.kernel loop @a (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%a: tensor<8xf32>):
  %0 = halftone.neg %a : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
halftone.kernel loop @b (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%a: tensor<8xf32>):
  %0 = halftone.abs %a : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32> {halftone.name = "x"}) -> (tensor<8xf32> {halftone.name = "last"}, tensor<3x8xf32> {halftone.name = "y"}) {
  %last, %y = halftone.scan (%x) {length = 3 : i64} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<8xf32>):
    %0 = halftone.launch @a(%c) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = halftone.launch @b(%c) : (tensor<8xf32>) -> tensor<8xf32>
    halftone.yield %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  return %last, %y : tensor<8xf32>, tensor<3x8xf32>
}
