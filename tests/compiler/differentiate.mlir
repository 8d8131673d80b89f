// RUN: halftone-opt %s --split-input-file --halftone-differentiate --mlir-print-debuginfo --mlir-print-local-scope | FileCheck-22 %s

// A value with two uses: its cotangents are added. Ops of the backward pass keep the path and are marked as backward.
// CHECK-LABEL: func.func @main
// CHECK: %[[M:.*]] = halftone.mul %arg0, %arg0 : tensor<4xf32> loc("net/square"(
// CHECK: halftone.reduce sum %[[M]]
// CHECK: %[[ONE:.*]] = halftone.constant dense<1.000000e+00> : tensor<f32> loc(fused<"gradient">[
// CHECK: %[[B:.*]] = halftone.broadcast %[[ONE]]
// CHECK: %[[L:.*]] = halftone.mul %[[B]], %arg0 : tensor<4xf32> loc(fused<"gradient">["net/square"(
// CHECK: %[[R:.*]] = halftone.mul %[[B]], %arg0 : tensor<4xf32>
// CHECK: %[[D:.*]] = halftone.add %[[L]], %[[R]] : tensor<4xf32>
// CHECK: return %[[D]]
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "dx"}) {
  %0 = halftone.mul %x, %x : tensor<4xf32> loc("net/square"("train.cpp":7:1))
  %y = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %d = halftone.gradient %y at (%x : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// Each use of a shared weight gets its gradient through its own cast; the sum is in the variable's dtype, not in
// float16.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.add {{.*}} : tensor<4xf16>
// CHECK: %[[A:.*]] = halftone.cast %{{.*}} : tensor<4xf16> to tensor<4xf32>
// CHECK: %[[B:.*]] = halftone.cast %{{.*}} : tensor<4xf16> to tensor<4xf32>
// CHECK: %[[D:.*]] = halftone.add %[[A]], %[[B]] : tensor<4xf32>
// CHECK: return %[[D]]
halftone.variable @w : tensor<4xf32>
func.func @main(%x: tensor<4xf16> {halftone.name = "x"}, %w: tensor<4xf32> {halftone.variable = @w})
    -> (tensor<4xf32> {halftone.name = "dw"}) {
  %w0 = halftone.cast %w {origin = "variable read"} : tensor<4xf32> to tensor<4xf16>
  %w1 = halftone.cast %w {origin = "variable read"} : tensor<4xf32> to tensor<4xf16>
  %0 = halftone.mul %x, %w0 : tensor<4xf16>
  %1 = halftone.mul %0, %w1 : tensor<4xf16>
  %y = halftone.reduce sum %1 {axes = array<i64: 0>} : tensor<4xf16> -> tensor<f32>
  %d = halftone.gradient %y at (%w : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// A variable whose new value is its gradient takes the largest of several gradients.
// CHECK-LABEL: func.func @main
// CHECK: halftone.maximum
// CHECK-NOT: halftone.add
// CHECK: return
halftone.variable @amax : tensor<f32> {update = #halftone<update overwrite>}
func.func @main(%x: tensor<f32> {halftone.name = "x"}, %a: tensor<f32> {halftone.variable = @amax})
    -> (tensor<f32> {halftone.name = "d"}) {
  %0 = halftone.mul %x, %a : tensor<f32>
  %y = halftone.mul %0, %a : tensor<f32>
  %d = halftone.gradient %y at (%a : tensor<f32>) : tensor<f32> -> tensor<f32>
  return %d : tensor<f32>
}

// -----

// Independent values have gradient 0; integers, comparisons and stop_gradient pass nothing on; stop_gradient is
// removed.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[Z:.*]] = halftone.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-DAG: %[[ONE:.*]] = halftone.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NOT: halftone.stop_gradient
// CHECK: return %[[Z]], %[[ONE]], %[[Z1:.*]]
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %s: tensor<f32> {halftone.name = "s"})
    -> (tensor<4xf32> {halftone.name = "dx"}, tensor<f32> {halftone.name = "ds"}, tensor<f32> {halftone.name = "du"}) {
  %0 = halftone.stop_gradient %x : tensor<4xf32>
  %1 = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %i = halftone.arg_reduce max %x {axis = 0 : i64} : tensor<4xf32> -> tensor<i32>
  %f = halftone.cast %i : tensor<i32> to tensor<f32>
  %2 = halftone.add %1, %f : tensor<f32>
  %y = halftone.add %2, %s : tensor<f32>
  %unused = halftone.neg %s : tensor<f32>
  %d:3 = halftone.gradient %y at (%x : tensor<4xf32>, %s : tensor<f32>, %unused : tensor<f32>)
      : tensor<f32> -> (tensor<4xf32>, tensor<f32>, tensor<f32>)
  return %d#0, %d#1, %d#2 : tensor<4xf32>, tensor<f32>, tensor<f32>
}

// -----

// A gradient of a gradient, and a gradient in a region.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.gradient
// CHECK: halftone.when
// CHECK: halftone.cos
// CHECK: return
func.func @main(%x: tensor<f32> {halftone.name = "x"}, %p: tensor<i1> {halftone.name = "p"})
    -> (tensor<f32> {halftone.name = "dd"}) {
  %y = halftone.sin %x : tensor<f32>
  %d = halftone.gradient %y at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
  %dd = halftone.gradient %d at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
  %r = halftone.when %p : (tensor<f32>) {
    %g = halftone.gradient %y at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
    halftone.yield %g : tensor<f32>
  } else {
    halftone.yield %dd : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A `when` beside the path is no obstacle, even if it depends on the value.
// CHECK-LABEL: func.func @main
// CHECK: return
func.func @main(%x: tensor<f32> {halftone.name = "x"}, %p: tensor<i1> {halftone.name = "p"})
    -> (tensor<f32> {halftone.name = "d"}, tensor<f32> {halftone.name = "r"}) {
  %r:2 = halftone.when %p : (tensor<f32>, tensor<f32>) {
    halftone.yield %x, %x : tensor<f32>, tensor<f32>
  } else {
    %c = halftone.constant dense<2.0> : tensor<f32>
    halftone.yield %c, %x : tensor<f32>, tensor<f32>
  }
  %y = halftone.exp %x : tensor<f32>
  %d = halftone.gradient %y at (%x : tensor<f32>) : tensor<f32> -> tensor<f32>
  return %d, %r#0 : tensor<f32>, tensor<f32>
}

// -----

// Ops of one number are computed again before the derivatives that read their values: from held inputs, but from variables as
// they are. The first value is kept, though an op of the other number reads it. The copies are marked as backward.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = halftone.mul %arg0, %arg1 : tensor<4xf32> loc("net/a"(
// CHECK: %[[B:.*]] = halftone.exp %[[A]]
// CHECK: %[[C:.*]] = halftone.tanh %[[B]]
// CHECK: halftone.reduce sum %[[C]]
// CHECK: %[[HB:.*]] = halftone.hold %[[B]] : tensor<4xf32> loc(fused<"gradient">["net/b"(
// CHECK: %[[C1:.*]] = halftone.tanh %[[HB]] : tensor<4xf32> loc(fused<"gradient">["net/b"(
// CHECK: halftone.mul %[[C1]], %[[C1]]
// CHECK: %[[HX:.*]] = halftone.hold %arg0
// CHECK: %[[A1:.*]] = halftone.mul %[[HX]], %arg1 : tensor<4xf32> loc(fused<"gradient">["net/a"(
// CHECK: %[[B1:.*]] = halftone.exp %[[A1]]
// CHECK: halftone.mul {{.*}}%[[B1]]
// CHECK-NOT: halftone.rematerialize
// CHECK: return
halftone.variable @w : tensor<4xf32>
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %w: tensor<4xf32> {halftone.variable = @w})
    -> (tensor<4xf32> {halftone.name = "dw"}) {
  %a = halftone.mul %x, %w {halftone.rematerialize = 0 : i64} : tensor<4xf32> loc("net/a"("train.cpp":7:1))
  %b = halftone.exp %a {halftone.rematerialize = 0 : i64} : tensor<4xf32> loc("net/a"("train.cpp":7:1))
  %c = halftone.tanh %b {halftone.rematerialize = 1 : i64} : tensor<4xf32> loc("net/b"("train.cpp":8:1))
  %y = halftone.reduce sum %c {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %d = halftone.gradient %y at (%w : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// The differentiated value is the sum of those of all processes: the cotangent of a sum over processes is the sum of their
// cotangents.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = halftone.all_reduce sum(%arg0) : tensor<4xf32>
// CHECK: %[[B:.*]] = halftone.broadcast
// CHECK: %[[D:.*]] = halftone.all_reduce sum(%[[B]]) : tensor<4xf32> loc(fused<"gradient">
// CHECK: return %[[D]]
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "dx"}) {
  %s = halftone.all_reduce sum (%x) : tensor<4xf32>
  %y = halftone.reduce sum %s {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %d = halftone.gradient %y at (%x : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
}
