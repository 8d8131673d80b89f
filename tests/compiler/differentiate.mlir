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

// -----

// The gradient of a scan is a scan in the other direction: tanh is kept for each step, the product is made again of the slice, and
// the cotangents of the capture are added up in the carry. So nothing grows with the length.
// CHECK-LABEL: func.func @main
// CHECK: %[[F:.*]]:2 = halftone.scan(%arg0) over(%arg1) {length = 20 : i64} : (tensor<4xf32>, tensor<20x4xf32>) -> (tensor<4xf32>, tensor<20x4xf32>)
// CHECK:   %[[T:.*]] = halftone.tanh
// CHECK:   halftone.yield %[[T]], %[[C:.*]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[ONES:.*]] = halftone.broadcast
// CHECK: %[[Z:.*]] = halftone.constant dense<-0.000000e+00> : tensor<4xf32>
// CHECK: %[[B:.*]]:3 = halftone.scan(%[[ONES]], %[[Z]]) over(%arg1, %[[F]]#1) {length = 20 : i64, reverse}
// CHECK: return %[[B]]#1
func.func @main(%h: tensor<4xf32> {halftone.name = "h"}, %xs: tensor<20x4xf32> {halftone.name = "x"}, %w: tensor<4xf32> {halftone.name = "w"})
    -> (tensor<4xf32> {halftone.name = "dw"}, tensor<20x4xf32> {halftone.name = "dx"}) {
  %l = halftone.scan (%h) over (%xs) {length = 20 : i64} : (tensor<4xf32>, tensor<20x4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>, %x: tensor<4xf32>):
    %0 = halftone.mul %x, %w : tensor<4xf32>
    %1 = halftone.add %0, %c : tensor<4xf32>
    %2 = halftone.tanh %1 : tensor<4xf32>
    halftone.yield %2 : tensor<4xf32>
  }
  %y = halftone.reduce sum %l {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %d:2 = halftone.gradient %y at (%w : tensor<4xf32>, %xs : tensor<20x4xf32>) : tensor<f32> -> (tensor<4xf32>, tensor<20x4xf32>)
  return %d#0, %d#1 : tensor<4xf32>, tensor<20x4xf32>
}

// -----

// Cotangents of a narrow capture are added up in f32, and rounded once behind the loop. Those of a variable that takes its
// gradient as its new value: the largest of all steps.
// CHECK-LABEL: func.func @main
// CHECK: halftone.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[B:.*]]:2 = halftone.scan(%{{.*}}, %{{.*}}) {{.*}}length = 3 : i64, reverse} : ({{.*}}) -> (tensor<f32>, tensor<f32>)
// CHECK-DAG:   halftone.maximum
// CHECK-DAG:   halftone.cast %{{.*}} {origin = "gradient"} : tensor<f16> to tensor<f32>
// CHECK-DAG:   halftone.add %{{.*}} : tensor<f32>
// CHECK: halftone.cast %[[B]]#{{[01]}} {origin = "gradient"} : tensor<f32> to tensor<f16>
// CHECK: return
halftone.variable @amax : tensor<f32> {update = #halftone<update overwrite>}
func.func @main(%k: tensor<f16> {halftone.name = "k"}, %xs: tensor<3xf32> {halftone.name = "x"}, %a: tensor<f32> {halftone.variable = @amax})
    -> (tensor<f16> {halftone.name = "dk"}, tensor<f32> {halftone.name = "da"}) {
  %ys = halftone.scan () over (%xs) {length = 3 : i64} : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%i: tensor<i32>, %x: tensor<f32>):
    %0 = halftone.mul %x, %a : tensor<f32>
    %1 = halftone.cast %k : tensor<f16> to tensor<f32>
    %2 = halftone.mul %0, %1 : tensor<f32>
    halftone.yield %2 : tensor<f32>
  }
  %y = halftone.reduce sum %ys {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  %d:2 = halftone.gradient %y at (%k : tensor<f16>, %a : tensor<f32>) : tensor<f32> -> (tensor<f16>, tensor<f32>)
  return %d#0, %d#1 : tensor<f16>, tensor<f32>
}

// -----

// A scan of a layer that is computed again: only its copy keeps values. Its captures are held, but for variables.
// CHECK-LABEL: func.func @main
// CHECK: halftone.scan(%arg0) {length = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[H:.*]] = halftone.hold %arg0
// CHECK: %[[K:.*]] = halftone.hold %arg1
// CHECK: halftone.scan(%[[H]]) {length = 3 : i64} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>{{.*}})
// CHECK:   halftone.mul {{.*}}%[[K]]
// CHECK:   halftone.mul {{.*}}%arg2
// CHECK: halftone.scan({{.*}}) over({{.*}}) {length = 3 : i64, reverse}
// CHECK: return
halftone.variable @w : tensor<4xf32>
func.func @main(%h: tensor<4xf32> {halftone.name = "h"}, %k: tensor<4xf32> {halftone.name = "k"}, %w: tensor<4xf32> {halftone.variable = @w})
    -> (tensor<4xf32> {halftone.name = "dw"}) {
  %l = halftone.scan (%h) {halftone.rematerialize = 0 : i64, length = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    %0 = halftone.mul %c, %k : tensor<4xf32>
    %1 = halftone.mul %0, %w : tensor<4xf32>
    %2 = halftone.tanh %1 : tensor<4xf32>
    halftone.yield %2 : tensor<4xf32>
  }
  %y = halftone.reduce sum %l {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %d = halftone.gradient %y at (%w : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// The ops of a layer in a body that is computed again: the scan keeps what the layer reads, held in the backward body.
// CHECK-LABEL: func.func @main
// CHECK: %[[F:.*]]:2 = halftone.scan(%arg0) {length = 3 : i64} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>)
// CHECK: halftone.scan({{.*}}) over(%[[F]]#1) {length = 3 : i64, reverse}
// CHECK:   halftone.hold
// CHECK:   halftone.exp
// CHECK:   halftone.tanh
// CHECK: return
func.func @main(%h: tensor<4xf32> {halftone.name = "h"}) -> (tensor<4xf32> {halftone.name = "dh"}) {
  %l = halftone.scan (%h) {length = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    %0 = halftone.exp %c {halftone.rematerialize = 0 : i64} : tensor<4xf32>
    %1 = halftone.tanh %0 {halftone.rematerialize = 0 : i64} : tensor<4xf32>
    halftone.yield %1 : tensor<4xf32>
  }
  %y = halftone.reduce sum %l {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %d = halftone.gradient %y at (%h : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// The gradient of a branch is a branch on the same condition. The product becomes a further result; tanh is computed again.
// CHECK-LABEL: func.func @main
// CHECK: %[[F:.*]]:2 = halftone.when %arg1 : (tensor<4xf32>, tensor<4xf32>) {
// CHECK:   %[[P:.*]] = halftone.contract
// CHECK:   halftone.yield %{{.*}}, %[[P]]
// CHECK: } else {
// CHECK:   %[[Z:.*]] = halftone.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK:   halftone.yield %arg0, %[[Z]]
// CHECK: %[[B:.*]] = halftone.when %arg1 : (tensor<4xf32>) {
// CHECK:   halftone.tanh %[[F]]#1
// CHECK:   halftone.contract
// CHECK: } else {
// CHECK: return %[[B]]
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %p: tensor<i1> {halftone.name = "p"}, %w: tensor<4x4xf32> {halftone.name = "w"})
    -> (tensor<4xf32> {halftone.name = "dx"}) {
  %r = halftone.when %p : (tensor<4xf32>) {
    %0 = halftone.contract %x, %w {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    %1 = halftone.tanh %0 : tensor<4xf32>
    halftone.yield %1 : tensor<4xf32>
  } else {
    halftone.yield %x : tensor<4xf32>
  }
  %y = halftone.reduce sum %r {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %d = halftone.gradient %y at (%x : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// A long loop that is computed again is computed again in pieces: ten of ten steps, and three by themselves.
// CHECK-LABEL: func.func @main
// CHECK: %[[XS:.*]] = halftone.slice %arg1 {start = array<i64: 0, 0>} : tensor<103x4xf32> to tensor<100x4xf32>
// CHECK: %[[G:.*]] = halftone.reshape %[[XS]] : tensor<100x4xf32> to tensor<10x10x4xf32>
// CHECK: %[[O:.*]]:{{.*}} = halftone.scan(%arg0) over(%[[G]]) {length = 10 : i64}
// CHECK: %[[P:.*]] = halftone.scan(%{{.*}}) over(%{{.*}}) {length = 10 : i64} : (tensor<4xf32>, tensor<10x4xf32>) -> tensor<4xf32>
// CHECK: halftone.slice %arg1 {start = array<i64: 100, 0>} : tensor<103x4xf32> to tensor<3x4xf32>
// CHECK: halftone.scan(%[[O]]#0) over({{.*}}) {length = 3 : i64}
// CHECK: halftone.hold
// CHECK: halftone.scan({{.*}}) over({{.*}}) {length = 3 : i64, reverse}
// CHECK: halftone.scan({{.*}}) over({{.*}}) {length = 10 : i64, reverse}
// CHECK: halftone.hold
// CHECK: halftone.scan({{.*}}) {length = 10 : i64, reverse}
// CHECK-NOT: halftone.rematerialize
// CHECK: return
func.func @main(%h: tensor<4xf32> {halftone.name = "h"}, %xs: tensor<103x4xf32> {halftone.name = "xs"})
    -> (tensor<4xf32> {halftone.name = "dh"}) {
  %l = halftone.scan (%h) over (%xs) {length = 103 : i64, halftone.rematerialize = 0 : i64} : (tensor<4xf32>, tensor<103x4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>, %x: tensor<4xf32>):
    %p = halftone.mul %c, %x : tensor<4xf32>
    %n = halftone.tanh %p : tensor<4xf32>
    halftone.yield %n : tensor<4xf32>
  }
  %y = halftone.reduce sum %l {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %d = halftone.gradient %y at (%h : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  return %d : tensor<4xf32>
}
