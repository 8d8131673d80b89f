// RUN: halftone-opt %s --split-input-file --halftone-simplify --halftone-normalize --check-passes | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --halftone-simplify --halftone-normalize=strict=true | FileCheck-22 %s --check-prefix=STRICT

// The gradients of a weight and of a bias, which each step adds to a carry: one contraction over the steps too, of stacks, and one
// reduction. In strict numerics the order of the terms is kept.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]]:2 = halftone.scan(%arg0) over(%arg1) {length = 5 : i64} : (tensor<2x4xf16>, tensor<5x2x4xf16>) -> (tensor<2x4xf16>, tensor<5x2x4xf16>)
// CHECK: %[[W:.*]] = halftone.contract %arg1, %[[S]]#1 {lhs_contract = array<i64: 0, 1>, rhs_contract = array<i64: 0, 1>} : (tensor<5x2x4xf16>, tensor<5x2x4xf16>) -> tensor<4x4xf32>
// CHECK: halftone.add %arg2, %[[W]]
// CHECK: %[[B:.*]] = halftone.reduce sum %[[S]]#1 {axes = array<i64: 0, 1>} : tensor<5x2x4xf16> -> tensor<4xf32>
// CHECK: halftone.add %arg3, %[[B]]
// STRICT-LABEL: func.func @main
// STRICT: halftone.scan(%arg0, %arg2, %arg3) over(%arg1)
// STRICT:   halftone.contract
func.func @main(%h0: tensor<2x4xf16> {halftone.name = "h0"}, %xs: tensor<5x2x4xf16> {halftone.name = "xs"}, %w: tensor<4x4xf32> {halftone.name = "w"}, %b: tensor<4xf32> {halftone.name = "b"})
    -> (tensor<2x4xf16> {halftone.name = "h"}, tensor<4x4xf32> {halftone.name = "dw"}, tensor<4xf32> {halftone.name = "db"}) {
  %0:3 = halftone.scan (%h0, %w, %b) over (%xs) {length = 5 : i64} : (tensor<2x4xf16>, tensor<4x4xf32>, tensor<4xf32>, tensor<5x2x4xf16>) -> (tensor<2x4xf16>, tensor<4x4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %h: tensor<2x4xf16>, %dw: tensor<4x4xf32>, %db: tensor<4xf32>, %x: tensor<2x4xf16>):
    %1 = halftone.mul %h, %x : tensor<2x4xf16>
    %2 = halftone.contract %1, %x {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<4x4xf16>
    %3 = halftone.transpose %2 {permutation = array<i64: 1, 0>} : tensor<4x4xf16> to tensor<4x4xf16>
    %4 = halftone.cast %3 : tensor<4x4xf16> to tensor<4x4xf32>
    %5 = halftone.add %dw, %4 : tensor<4x4xf32>
    %6 = halftone.reduce sum %1 {axes = array<i64: 0>} : tensor<2x4xf16> -> tensor<4xf32>
    %7 = halftone.add %db, %6 : tensor<4xf32>
    halftone.yield %1, %5, %7 : tensor<2x4xf16>, tensor<4x4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<2x4xf16>, tensor<4x4xf32>, tensor<4xf32>
}

// -----

// Two terms of a step, one of them in a part of the weight, and the rows of a table.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]]:2 = halftone.scan(%arg0) over(%arg1) {length = 5 : i64}
// CHECK-DAG: halftone.contract %[[S]]#1, %arg1 {lhs_contract = array<i64: 0, 1>, rhs_contract = array<i64: 0, 1>} : (tensor<5x2x4xf32>, tensor<5x2x4xf32>) -> tensor<4x4xf32>
// CHECK-DAG: halftone.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<4x4xf32>, tensor<4x2xf32> to tensor<4x6xf32>
// CHECK-DAG: halftone.scatter_add %arg2, %[[S]]#1 {axis = 0 : i64} : (tensor<5x2xi32>, tensor<5x2x4xf32>) -> tensor<9x4xf32>
// STRICT-LABEL: func.func @main
// STRICT: halftone.scan
// STRICT:   halftone.scatter_add
func.func @main(%h0: tensor<2x4xf32> {halftone.name = "h0"}, %xs: tensor<5x2x4xf32> {halftone.name = "xs"}, %ids: tensor<5x2xi32> {halftone.name = "ids"},
                %w: tensor<4x6xf32> {halftone.name = "w"}, %t: tensor<9x4xf32> {halftone.name = "t"})
    -> (tensor<2x4xf32> {halftone.name = "h"}, tensor<4x6xf32> {halftone.name = "dw"}, tensor<9x4xf32> {halftone.name = "dt"}) {
  %zero = halftone.constant dense<0.0> : tensor<4x2xf32>
  %0:3 = halftone.scan (%h0, %w, %t) over (%xs, %ids) {length = 5 : i64} : (tensor<2x4xf32>, tensor<4x6xf32>, tensor<9x4xf32>, tensor<5x2x4xf32>, tensor<5x2xi32>) -> (tensor<2x4xf32>, tensor<4x6xf32>, tensor<9x4xf32>) {
  ^bb0(%i: tensor<i32>, %h: tensor<2x4xf32>, %dw: tensor<4x6xf32>, %dt: tensor<9x4xf32>, %x: tensor<2x4xf32>, %n: tensor<2xi32>):
    %1 = halftone.mul %h, %x : tensor<2x4xf32>
    %2 = halftone.contract %1, %x {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %3 = halftone.contract %1, %1 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %4 = halftone.add %2, %3 : tensor<4x4xf32>
    %5 = halftone.concat %4, %zero {axis = 1 : i64} : tensor<4x4xf32>, tensor<4x2xf32> to tensor<4x6xf32>
    %6 = halftone.add %5, %dw : tensor<4x6xf32>
    %7 = halftone.scatter_add %n, %1 {axis = 0 : i64} : (tensor<2xi32>, tensor<2x4xf32>) -> tensor<9x4xf32>
    %8 = halftone.add %dt, %7 : tensor<9x4xf32>
    halftone.yield %1, %6, %8 : tensor<2x4xf32>, tensor<4x6xf32>, tensor<9x4xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<2x4xf32>, tensor<4x6xf32>, tensor<9x4xf32>
}

// -----

// These carries stay: one that a step reads, one that is narrow and so rounds at each step, and one whose operands' stacks would be
// much larger than those of the scan.
// CHECK-LABEL: func.func @main
// CHECK: halftone.scan(%arg0, %arg1, %arg2, %arg3) over(
// STRICT-LABEL: func.func @main
// STRICT: halftone.scan(%arg0, %arg1, %arg2, %arg3) over(
func.func @main(%h0: tensor<9x9xf32> {halftone.name = "h0"}, %a: tensor<f32> {halftone.name = "a"}, %b: tensor<f16> {halftone.name = "b"}, %c: tensor<9x9xf32> {halftone.name = "c"}, %xs: tensor<5x4xf16> {halftone.name = "xs"})
    -> (tensor<9x9xf32> {halftone.name = "h"}, tensor<f32> {halftone.name = "p"}, tensor<f16> {halftone.name = "q"}, tensor<9x9xf32> {halftone.name = "r"}) {
  %0:4 = halftone.scan (%h0, %a, %b, %c) over (%xs) {length = 5 : i64} : (tensor<9x9xf32>, tensor<f32>, tensor<f16>, tensor<9x9xf32>, tensor<5x4xf16>) -> (tensor<9x9xf32>, tensor<f32>, tensor<f16>, tensor<9x9xf32>) {
  ^bb0(%i: tensor<i32>, %h: tensor<9x9xf32>, %p: tensor<f32>, %q: tensor<f16>, %r: tensor<9x9xf32>, %x: tensor<4xf16>):
    %1 = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<4xf16> -> tensor<f32>
    %2 = halftone.add %p, %1 : tensor<f32>
    %3 = halftone.broadcast %p {axes = array<i64>} : tensor<f32> to tensor<9x9xf32>
    %4 = halftone.mul %h, %3 : tensor<9x9xf32>
    %5 = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<4xf16> -> tensor<f16>
    %6 = halftone.add %q, %5 : tensor<f16>
    %7 = halftone.contract %h, %4 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
    %8 = halftone.add %r, %7 : tensor<9x9xf32>
    halftone.yield %4, %2, %6, %8 : tensor<9x9xf32>, tensor<f32>, tensor<f16>, tensor<9x9xf32>
  }
  return %0#0, %0#1, %0#2, %0#3 : tensor<9x9xf32>, tensor<f32>, tensor<f16>, tensor<9x9xf32>
}

// -----

// The gradient of a convolution by its kernel: one contraction, over the samples of all steps too.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]]:2 = halftone.scan(%arg0) over(%arg1) {length = 5 : i64}
// CHECK: %[[W:.*]] = halftone.window %{{.*}} : tensor<10x6x3xf32> to tensor<10x6x3x3xf32>
// CHECK: %[[D:.*]] = halftone.reshape %[[S]]#1 : tensor<5x2x6x1x3xf32> to tensor<10x6x3xf32>
// CHECK: halftone.contract %[[W]], %[[D]] {lhs_contract = array<i64: 0, 1>, rhs_contract = array<i64: 0, 1>} : (tensor<10x6x3x3xf32>, tensor<10x6x3xf32>) -> tensor<3x3x3xf32>
// STRICT-LABEL: func.func @main
// STRICT: halftone.scan(%arg0, %arg2) over(%arg1)
func.func @main(%h0: tensor<2x6x1x3xf32> {halftone.name = "h0"}, %xs: tensor<5x2x6x1x3xf32> {halftone.name = "xs"}, %w: tensor<3x3x1x3xf32> {halftone.name = "w"})
    -> (tensor<2x6x1x3xf32> {halftone.name = "h"}, tensor<3x3x1x3xf32> {halftone.name = "dw"}) {
  %0:2 = halftone.scan (%h0, %w) over (%xs) {length = 5 : i64} : (tensor<2x6x1x3xf32>, tensor<3x3x1x3xf32>, tensor<5x2x6x1x3xf32>) -> (tensor<2x6x1x3xf32>, tensor<3x3x1x3xf32>) {
  ^bb0(%i: tensor<i32>, %h: tensor<2x6x1x3xf32>, %dw: tensor<3x3x1x3xf32>, %x: tensor<2x6x1x3xf32>):
    %1 = halftone.mul %h, %x : tensor<2x6x1x3xf32>
    %2 = halftone.transpose %x {permutation = array<i64: 3, 1, 2, 0>} : tensor<2x6x1x3xf32> to tensor<3x6x1x2xf32>
    %3 = halftone.transpose %1 {permutation = array<i64: 1, 2, 0, 3>} : tensor<2x6x1x3xf32> to tensor<6x1x2x3xf32>
    %4 = halftone.convolution %2, %3 {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>} : (tensor<3x6x1x2xf32>, tensor<6x1x2x3xf32>) -> tensor<3x3x1x3xf32>
    %5 = halftone.add %dw, %4 : tensor<3x3x1x3xf32>
    halftone.yield %1, %5 : tensor<2x6x1x3xf32>, tensor<3x3x1x3xf32>
  }
  return %0#0, %0#1 : tensor<2x6x1x3xf32>, tensor<3x3x1x3xf32>
}
