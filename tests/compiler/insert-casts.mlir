// RUN: halftone-opt %s --split-input-file --halftone-insert-casts --mlir-print-debuginfo --mlir-print-local-scope | FileCheck-22 %s

// An operand toward the compute dtype, a read of an autocast variable, a narrow result.
// CHECK-LABEL: func.func @main
// CHECK: %[[IN:.*]] = halftone.cast %arg0 {origin = "layer input"} : tensor<8x4xf32> to tensor<8x4xf16> loc("net/dense"(
// CHECK: halftone.layer "net/dense" policy "mixed_float16"(%[[IN]])
// CHECK: ^bb0(%[[A:.*]]: tensor<8x4xf16>
// CHECK: %[[R:.*]] = halftone.read @w : tensor<8x4xf32>
// CHECK: %[[W:.*]] = halftone.cast %[[R]] {origin = "variable read"} : tensor<8x4xf32> to tensor<8x4xf16> loc("net/dense"(
// CHECK: %[[S:.*]] = halftone.add %[[A]], %[[W]]
// CHECK: %[[OUT:.*]] = halftone.cast %[[S]] {origin = "layer output"} : tensor<8x4xf16> to tensor<8x4xf16> loc("net/dense"(
// CHECK: halftone.yield %[[OUT]]
halftone.variable @w : tensor<8x4xf32>
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"}) -> (tensor<8x4xf16> {halftone.name = "y"}) {
  %y = halftone.layer "net/dense" policy "mixed_float16" (%x) : (tensor<8x4xf32>) -> tensor<8x4xf16> {
  ^bb0(%a: tensor<8x4xf16>):
    %w = halftone.read @w : tensor<8x4xf16>
    %0 = halftone.add %a, %w : tensor<8x4xf16>
    halftone.yield %0 : tensor<8x4xf16>
  }
  return %y : tensor<8x4xf16>
}

// -----

// Under float32 nothing changes: no input, read or result is narrower.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.cast
// CHECK: return
halftone.variable @w : tensor<4xf32>
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %y = halftone.layer "net/dense" policy "float32" (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %w = halftone.read @w : tensor<4xf32>
    %0 = halftone.add %a, %w : tensor<4xf32>
    halftone.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Two uses of one variable keep a cast each, so that each adds to the gradient in float32.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: halftone.cast {{.*}} {origin = "variable read"}
// CHECK: return
halftone.variable @w : tensor<4xf32>
func.func @main(%x: tensor<4xbf16> {halftone.name = "x"}) -> (tensor<4xbf16> {halftone.name = "y"}) {
  %y = halftone.layer "net/shared" policy "mixed_bfloat16" (%x) : (tensor<4xbf16>) -> tensor<4xbf16> {
  ^bb0(%a: tensor<4xbf16>):
    %w0 = halftone.read @w : tensor<4xbf16>
    %w1 = halftone.read @w : tensor<4xbf16>
    %0 = halftone.mul %a, %w0 : tensor<4xbf16>
    %1 = halftone.mul %0, %w1 : tensor<4xbf16>
    halftone.yield %1 : tensor<4xbf16>
  }
  return %y : tensor<4xbf16>
}

// -----

// A layer inside a layer: the cast before the inner layer belongs to the inner layer, but is in the outer region.
// Integers and bools are never cast. A read outside of layers has no path.
// CHECK-LABEL: func.func @main
// CHECK: halftone.layer "net" policy "mixed_bfloat16"(%arg0, %arg1)
// CHECK: ^bb0(%[[A:.*]]: tensor<4xf32>{{.*}}, %[[I:.*]]: tensor<4xi32>
// CHECK: %[[C:.*]] = halftone.cast %[[A]] {origin = "layer input"} : tensor<4xf32> to tensor<4xbf16> loc("net/inner"(
// CHECK: halftone.layer "net/inner" policy "mixed_bfloat16"(%[[C]], %[[I]])
// CHECK: halftone.yield {{.*}}, %{{.*}} : tensor<4xbf16>, tensor<4xi32>
// CHECK: halftone.read @s : tensor<f32>
// CHECK: halftone.cast {{.*}} {origin = "variable read"} : tensor<f32> to tensor<f64> loc("{{.*}}insert-casts.mlir":
halftone.variable @s : tensor<f32>
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %i: tensor<4xi32> {halftone.name = "i"})
    -> (tensor<4xbf16> {halftone.name = "y"}, tensor<f64> {halftone.name = "s"}) {
  %y = halftone.layer "net" policy "mixed_bfloat16" (%x, %i) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xbf16> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xi32>):
    %0:2 = halftone.layer "net/inner" policy "mixed_bfloat16" (%a, %b)
        : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xbf16>, tensor<4xi32>) {
    ^bb0(%c: tensor<4xbf16>, %d: tensor<4xi32>):
      %1 = halftone.neg %c : tensor<4xbf16>
      halftone.yield %1, %d : tensor<4xbf16>, tensor<4xi32>
    }
    halftone.yield %0#0 : tensor<4xbf16>
  }
  %s = halftone.read @s : tensor<f64>
  return %y, %s : tensor<4xbf16>, tensor<f64>
}

// -----

// In the body of a loop a layer casts slices, carries and weights as anywhere.
// CHECK-LABEL: func.func @main
// CHECK: halftone.scan
// CHECK: %[[X16:.*]] = halftone.cast %{{.*}} {origin = "layer input"} : tensor<4xf32> to tensor<4xf16> loc("net/cell"(
// CHECK: %[[Y:.*]] = halftone.layer "net/cell" policy "mixed_float16"(%[[X16]])
// CHECK: halftone.cast %{{.*}} {origin = "variable read"} : tensor<4xf32> to tensor<4xf16>
// CHECK: halftone.cast %{{.*}} {origin = "layer output"} : tensor<4xf16> to tensor<4xf16>
// CHECK: halftone.yield %{{.*}}, %[[Y]] : tensor<4xf32>, tensor<4xf16>
halftone.variable @w : tensor<4xf32>
func.func @main(%h: tensor<4xf32> {halftone.name = "h"}, %xs: tensor<3x4xf32> {halftone.name = "x"})
    -> (tensor<4xf32> {halftone.name = "l"}, tensor<3x4xf16> {halftone.name = "y"}) {
  %l, %ys = halftone.scan (%h) over (%xs) {length = 3 : i64} : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf16>) {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>, %x: tensor<4xf32>):
    %y = halftone.layer "net/cell" policy "mixed_float16" (%x) : (tensor<4xf32>) -> tensor<4xf16> {
    ^bb0(%a: tensor<4xf16>):
      %w = halftone.read @w : tensor<4xf16>
      %0 = halftone.mul %a, %w : tensor<4xf16>
      halftone.yield %0 : tensor<4xf16>
    }
    halftone.yield %c, %y : tensor<4xf32>, tensor<4xf16>
  }
  return %l, %ys : tensor<4xf32>, tensor<3x4xf16>
}
