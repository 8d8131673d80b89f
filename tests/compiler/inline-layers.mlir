// RUN: halftone-opt %s --split-input-file --halftone-inline-layers --verify-diagnostics --mlir-print-debuginfo --mlir-print-local-scope | FileCheck-22 %s

// The innermost path wins. The policies stay on the module. Ops outside of layers have no path.
// CHECK: module attributes {halftone.layers = {net = {class = "Sequential", policy = "mixed_float16", rule = ""},
// CHECK-SAME: "net/act" = {class = "Activation", policy = "float32", rule = ".*act"}}}
// CHECK-LABEL: func.func @main
// CHECK: %[[N:.*]] = halftone.neg %arg0 : tensor<4xf32> loc("net"("{{.*}}inline-layers.mlir":
// CHECK: %[[T:.*]] = halftone.tanh %[[N]] : tensor<4xf32> loc("net/act"("{{.*}}inline-layers.mlir":
// CHECK: %[[W:.*]] = halftone.when %arg1
// CHECK: halftone.sqrt %[[T]] : tensor<4xf32> loc("net"(
// CHECK: halftone.abs %[[W]] : tensor<4xf32> loc("{{.*}}inline-layers.mlir":
// CHECK-NOT: halftone.layer "
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %p: tensor<i1> {halftone.name = "p"})
    -> (tensor<4xf32> {halftone.name = "y"}) {
  %y = halftone.layer "net" policy "mixed_float16" (%x, %p) {layer_class = "Sequential"}
      : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %q: tensor<i1>):
    %0 = halftone.neg %a : tensor<4xf32>
    %1 = halftone.layer "net/act" policy "float32" (%0) {layer_class = "Activation", rule = ".*act"}
        : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%b: tensor<4xf32>):
      %2 = halftone.tanh %b : tensor<4xf32>
      halftone.yield %2 : tensor<4xf32>
    }
    %3 = halftone.when %q : (tensor<4xf32>) {
      %4 = halftone.sqrt %1 : tensor<4xf32>
      halftone.yield %4 : tensor<4xf32>
    } else {
      halftone.yield %1 : tensor<4xf32>
    }
    halftone.yield %3 : tensor<4xf32>
  }
  %z = halftone.abs %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// A layer that returns an operand unchanged.
// CHECK-LABEL: func.func @main
// CHECK: return %arg1, %arg0
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %y: tensor<4xf32> {halftone.name = "y"})
    -> (tensor<4xf32> {halftone.name = "a"}, tensor<4xf32> {halftone.name = "b"}) {
  %0:2 = halftone.layer "swap" policy "float32" (%x, %y)
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    halftone.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf16> {halftone.name = "y"}) {
  // expected-error @below {{'halftone.layer' op "net/dense" has operands whose types differ from those of its block arguments; expected insert-casts to run first}}
  %y = halftone.layer "net/dense" policy "float16" (%x) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    halftone.yield %a : tensor<4xf16>
  }
  return %y : tensor<4xf16>
}

// -----

// Layers that the backward pass computes again leave a number on their ops, one that no op has. The outer layer's takes the
// place of the inner's.
// CHECK-LABEL: func.func @main
// CHECK: halftone.exp %arg0 {halftone.rematerialize = [[N:[0-9]+]] : i64}
// CHECK: halftone.tanh {{.*}} {halftone.rematerialize = [[N]] : i64}
// CHECK: halftone.neg {{.*}} {halftone.rematerialize = 6 : i64}
// CHECK: halftone.abs %{{[0-9]+}} : tensor<4xf32>
// CHECK: halftone.sqrt %{{[0-9]+}} {halftone.rematerialize = 9 : i64}
// CHECK: return
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %y = halftone.layer "block" policy "float32" (%x) {rematerialize} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = halftone.exp %a : tensor<4xf32>
    %1 = halftone.layer "block/inner" policy "float32" (%0) {rematerialize} : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%b: tensor<4xf32>):
      %2 = halftone.tanh %b : tensor<4xf32>
      halftone.yield %2 : tensor<4xf32>
    }
    halftone.yield %1 : tensor<4xf32>
  }
  %z = halftone.neg %y {halftone.rematerialize = 6 : i64} : tensor<4xf32>
  %v = halftone.layer "plain" policy "float32" (%z) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = halftone.abs %a : tensor<4xf32>
    halftone.yield %0 : tensor<4xf32>
  }
  %w = halftone.layer "last" policy "float32" (%v) {rematerialize} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = halftone.sqrt %a : tensor<4xf32>
    halftone.yield %0 : tensor<4xf32>
  }
  return %w : tensor<4xf32>
}

// -----

// A layer in the body of a loop, and a loop in a layer that is computed again: the loop has the number, the body's ops have not.
// CHECK: module attributes {halftone.layers = {rnn = {class = "", policy = "float32", rule = ""}, "rnn/cell" = {class = "", policy = "float32", rule = ""}}}
// CHECK: halftone.scan(%arg0) {halftone.rematerialize = 0 : i64, length = 3 : i64}
// CHECK: halftone.tanh %{{[^ ]*}} : tensor<4xf32> loc("rnn/cell"(
// CHECK: halftone.yield
// CHECK: } loc("rnn"(
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %y = halftone.layer "rnn" policy "float32" (%x) {rematerialize} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %l = halftone.scan (%a) {length = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
      %h = halftone.layer "rnn/cell" policy "float32" (%c) : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%b: tensor<4xf32>):
        %0 = halftone.tanh %b : tensor<4xf32>
        halftone.yield %0 : tensor<4xf32>
      }
      halftone.yield %h : tensor<4xf32>
    }
    halftone.yield %l : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
