// RUN: halftone-opt %s --split-input-file --halftone-simplify --check-passes | FileCheck-22 %s

// In front of the scan: the product of the slices with a weight, the cast that it reads, and the bias, since the body then reads
// one slice of the same size. Behind it: the product that no carry waits for, and what reads it.
// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = halftone.cast %arg1 {origin = "layer input"} : tensor<5x2x3xf32> to tensor<5x2x3xf16>
// CHECK: %[[P:.*]] = halftone.contract %[[C]], %arg2 {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<5x2x3xf16>, tensor<3x4xf16>) -> tensor<5x2x4xf16>
// CHECK: %[[B:.*]] = halftone.broadcast %arg3 {axes = array<i64: 2>} : tensor<4xf16> to tensor<5x2x4xf16>
// CHECK: %[[A:.*]] = halftone.add %[[P]], %[[B]] : tensor<5x2x4xf16>
// CHECK: %[[S:.*]]:2 = halftone.scan(%arg0) over(%[[A]]) {length = 5 : i64, reverse} : (tensor<2x4xf16>, tensor<5x2x4xf16>) -> (tensor<2x4xf16>, tensor<5x2x4xf16>)
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[H:.*]]: tensor<2x4xf16>, %[[X:.*]]: tensor<2x4xf16>):
// CHECK-NEXT:   %[[M:.*]] = halftone.mul %[[H]], %[[X]]
// CHECK-NEXT:   %[[N:.*]] = halftone.tanh %[[M]]
// CHECK-NEXT:   halftone.yield %[[N]], %[[N]]
// CHECK: %[[Q:.*]] = halftone.contract %[[S]]#1, %arg4 {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<5x2x4xf16>, tensor<4x6xf16>) -> tensor<5x2x6xf16>
// CHECK: %[[R:.*]] = halftone.relu %[[Q]]
// CHECK: %[[Y:.*]] = halftone.cast %[[R]] {origin = "loop"} : tensor<5x2x6xf16> to tensor<5x2x6xf16>
// CHECK: return %[[S]]#0, %[[Y]]
func.func @main(%h0: tensor<2x4xf16> {halftone.name = "h0"}, %xs: tensor<5x2x3xf32> {halftone.name = "xs"}, %k: tensor<3x4xf16> {halftone.name = "k"},
                %b: tensor<4xf16> {halftone.name = "b"}, %w: tensor<4x6xf16> {halftone.name = "w"})
    -> (tensor<2x4xf16> {halftone.name = "h"}, tensor<5x2x6xf16> {halftone.name = "y"}) {
  %0:2 = halftone.scan (%h0) over (%xs) {length = 5 : i64, reverse} : (tensor<2x4xf16>, tensor<5x2x3xf32>) -> (tensor<2x4xf16>, tensor<5x2x6xf16>) {
  ^bb0(%i: tensor<i32>, %h: tensor<2x4xf16>, %x: tensor<2x3xf32>):
    %1 = halftone.cast %x {origin = "layer input"} : tensor<2x3xf32> to tensor<2x3xf16>
    %2 = halftone.contract %1, %k {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
    %3 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<4xf16> to tensor<2x4xf16>
    %4 = halftone.add %2, %3 : tensor<2x4xf16>
    %5 = halftone.mul %h, %4 : tensor<2x4xf16>
    %6 = halftone.tanh %5 : tensor<2x4xf16>
    %7 = halftone.contract %6, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x4xf16>, tensor<4x6xf16>) -> tensor<2x6xf16>
    %8 = halftone.relu %7 : tensor<2x6xf16>
    halftone.yield %6, %8 : tensor<2x4xf16>, tensor<2x6xf16>
  }
  return %0#0, %0#1 : tensor<2x4xf16>, tensor<5x2x6xf16>
}

// -----

// A scan without carries goes. A product whose slices are its right operand has the steps first too; the index is an iota.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.scan
// CHECK-DAG: %[[P:.*]] = halftone.contract %arg0, %arg1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<5x3x2xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
// CHECK-DAG: %[[T:.*]] = halftone.transpose %[[P]] {permutation = array<i64: 0, 2, 1>} : tensor<5x2x4xf32> to tensor<5x4x2xf32>
// CHECK-DAG: %[[G:.*]] = halftone.reduce max %[[T]] {axes = array<i64: 2>} : tensor<5x4x2xf32> -> tensor<5x4xf32>
// CHECK-DAG: %[[I:.*]] = halftone.iota {axis = 0 : i64} : tensor<5xi32>
// CHECK: return %[[G]], %[[I]], %arg0
func.func @main(%xs: tensor<5x3x2xf32> {halftone.name = "xs"}, %w: tensor<4x3xf32> {halftone.name = "w"})
    -> (tensor<5x4xf32> {halftone.name = "y"}, tensor<5xi32> {halftone.name = "n"}, tensor<5x3x2xf32> {halftone.name = "z"}) {
  %0:3 = halftone.scan () over (%xs) {length = 5 : i64} : (tensor<5x3x2xf32>) -> (tensor<5x4xf32>, tensor<5xi32>, tensor<5x3x2xf32>) {
  ^bb0(%i: tensor<i32>, %x: tensor<3x2xf32>):
    %1 = halftone.contract %w, %x {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %2 = halftone.reduce max %1 {axes = array<i64: 1>} : tensor<4x2xf32> -> tensor<4xf32>
    halftone.yield %2, %i, %x : tensor<4xf32>, tensor<i32>, tensor<3x2xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<5x4xf32>, tensor<5xi32>, tensor<5x3x2xf32>
}

// -----

// Products of the steps' own operands have a batch axis of the steps. Shape ops, lookups and orders move with them.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.scan
// CHECK-DAG: halftone.contract %arg0, %arg1 {lhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contract = array<i64: 2>} : (tensor<5x2x3x4xf32>, tensor<5x2x4x3xf32>) -> tensor<5x2x3x3xf32>
// CHECK-DAG: halftone.gather %arg2, %{{.*}} {axis = 0 : i64} : (tensor<7x2xf32>, tensor<5x3xi32>) -> tensor<5x3x2xf32>
// CHECK-DAG: halftone.gather %{{.*}}, %{{.*}} {axis = 2 : i64, batch = 1 : i64} : (tensor<5x2x12xf32>, tensor<5x3xi32>) -> tensor<5x2x3xf32>
// CHECK-DAG: halftone.sort %{{.*}} {axis = 1 : i64} : tensor<5x3xi32> -> tensor<5x2xi32>, tensor<5x2xi32>
// CHECK-DAG: halftone.cumsum %{{.*}} {axis = 2 : i64} : tensor<5x2x12xf32> -> tensor<5x2x12xf32>
// CHECK-DAG: halftone.arg_reduce max %{{.*}} {axis = 2 : i64} : tensor<5x2x12xf32> -> tensor<5x2xi32>
// CHECK-DAG: halftone.slice %{{.*}} {start = array<i64: 0, 1, 2>} : tensor<5x2x12xf32> to tensor<5x1x3xf32>
// CHECK-DAG: halftone.concat %{{.*}}, %{{.*}} {axis = 2 : i64} : tensor<5x1x3xf32>, tensor<5x1x2xf32> to tensor<5x1x5xf32>
func.func @main(%a: tensor<5x2x3x4xf32> {halftone.name = "a"}, %b: tensor<5x2x4x3xf32> {halftone.name = "b"}, %table: tensor<7x2xf32> {halftone.name = "table"},
                %ids: tensor<5x3xi32> {halftone.name = "ids"}, %side: tensor<1x2xf32> {halftone.name = "side"})
    -> (tensor<5x2x3x3xf32> {halftone.name = "p"}, tensor<5x3x2xf32> {halftone.name = "q"}, tensor<5x2x3xf32> {halftone.name = "r"}, tensor<5x2xi32> {halftone.name = "s"},
        tensor<5x2x12xf32> {halftone.name = "t"}, tensor<5x2xi32> {halftone.name = "u"}, tensor<5x1x5xf32> {halftone.name = "v"}) {
  %0:7 = halftone.scan () over (%a, %b, %ids) {length = 5 : i64} : (tensor<5x2x3x4xf32>, tensor<5x2x4x3xf32>, tensor<5x3xi32>)
      -> (tensor<5x2x3x3xf32>, tensor<5x3x2xf32>, tensor<5x2x3xf32>, tensor<5x2xi32>, tensor<5x2x12xf32>, tensor<5x2xi32>, tensor<5x1x5xf32>) {
  ^bb0(%i: tensor<i32>, %x: tensor<2x3x4xf32>, %y: tensor<2x4x3xf32>, %n: tensor<3xi32>):
    %p = halftone.contract %x, %y {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
    %q = halftone.gather %table, %n {axis = 0 : i64} : (tensor<7x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
    %f = halftone.reshape %x : tensor<2x3x4xf32> to tensor<2x12xf32>
    %r = halftone.gather %f, %n {axis = 1 : i64} : (tensor<2x12xf32>, tensor<3xi32>) -> tensor<2x3xf32>
    %s:2 = halftone.sort %n {axis = 0 : i64} : tensor<3xi32> -> tensor<2xi32>, tensor<2xi32>
    %t = halftone.cumsum %f {axis = 1 : i64} : tensor<2x12xf32> -> tensor<2x12xf32>
    %u = halftone.arg_reduce max %f {axis = 1 : i64} : tensor<2x12xf32> -> tensor<2xi32>
    %cut = halftone.slice %f {start = array<i64: 1, 2>} : tensor<2x12xf32> to tensor<1x3xf32>
    %v = halftone.concat %cut, %side {axis = 1 : i64} : tensor<1x3xf32>, tensor<1x2xf32> to tensor<1x5xf32>
    halftone.yield %p, %q, %r, %s#1, %t, %u, %v : tensor<2x3x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<2xi32>, tensor<2x12xf32>, tensor<2xi32>, tensor<1x5xf32>
  }
  return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6 : tensor<5x2x3x3xf32>, tensor<5x3x2xf32>, tensor<5x2x3xf32>, tensor<5x2xi32>, tensor<5x2x12xf32>, tensor<5x2xi32>, tensor<5x1x5xf32>
}

// -----

// Samples of all steps are the samples of one convolution or attention; a window too.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.scan
// CHECK-DAG: halftone.convolution %{{.*}}, %arg1 {{.*}} : (tensor<10x6x1x3xf32>, tensor<3x1x3x4xf32>) -> tensor<10x6x1x4xf32>
// CHECK-DAG: halftone.window %{{.*}} : tensor<10x6x1x3xf32> to tensor<10x4x3x1x3xf32>
// CHECK-DAG: halftone.attention %{{.*}}, %{{.*}}, %{{.*}} bias %arg4 mask %{{.*}} : (tensor<10x4x1x3xf32>, tensor<10x4x1x3xf32>, tensor<10x4x1x3xf32>, tensor<1x1x1x4xf32>, tensor<10x1x4x4xi1>) -> (tensor<10x4x1x3xf32>, tensor<10x1x4xf32>)
func.func @main(%xs: tensor<5x2x6x1x3xf32> {halftone.name = "xs"}, %w: tensor<3x1x3x4xf32> {halftone.name = "w"}, %q: tensor<5x2x4x1x3xf32> {halftone.name = "q"},
                %k: tensor<2x4x1x3xf32> {halftone.name = "k"}, %bias: tensor<1x1x1x4xf32> {halftone.name = "bias"}, %mask: tensor<5x1x1x4x4xi1> {halftone.name = "mask"})
    -> (tensor<5x2x6x1x4xf32> {halftone.name = "a"}, tensor<5x2x4x3x1x3xf32> {halftone.name = "b"}, tensor<5x2x4x1x3xf32> {halftone.name = "c"}, tensor<5x2x1x4xf32> {halftone.name = "d"}) {
  %0:4 = halftone.scan () over (%xs, %q, %mask) {length = 5 : i64} : (tensor<5x2x6x1x3xf32>, tensor<5x2x4x1x3xf32>, tensor<5x1x1x4x4xi1>)
      -> (tensor<5x2x6x1x4xf32>, tensor<5x2x4x3x1x3xf32>, tensor<5x2x4x1x3xf32>, tensor<5x2x1x4xf32>) {
  ^bb0(%i: tensor<i32>, %x: tensor<2x6x1x3xf32>, %y: tensor<2x4x1x3xf32>, %m: tensor<1x1x4x4xi1>):
    %a = halftone.convolution %x, %w {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>} : (tensor<2x6x1x3xf32>, tensor<3x1x3x4xf32>) -> tensor<2x6x1x4xf32>
    %b = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>} : tensor<2x6x1x3xf32> to tensor<2x4x3x1x3xf32>
    %c, %d = halftone.attention %y, %k, %k bias %bias mask %m {scale = 0.5 : f64}
        : (tensor<2x4x1x3xf32>, tensor<2x4x1x3xf32>, tensor<2x4x1x3xf32>, tensor<1x1x1x4xf32>, tensor<1x1x4x4xi1>) -> (tensor<2x4x1x3xf32>, tensor<2x1x4xf32>)
    halftone.yield %a, %b, %c, %d : tensor<2x6x1x4xf32>, tensor<2x4x3x1x3xf32>, tensor<2x4x1x3xf32>, tensor<2x1x4xf32>
  }
  return %0#0, %0#1, %0#2, %0#3 : tensor<5x2x6x1x4xf32>, tensor<5x2x4x3x1x3xf32>, tensor<5x2x4x1x3xf32>, tensor<5x2x1x4xf32>
}

// -----

// The keys of a scan's draws are a stack; each step draws by its own key.
// CHECK-LABEL: func.func @main
// CHECK: %[[K:.*]] = halftone.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<5x1xui32>, tensor<5x1xui32> to tensor<5x2xui32>
// CHECK: halftone.scan() over(%[[K]]) {length = 5 : i64} : (tensor<5x2xui32>) -> tensor<5x8xui32>
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[S:.*]]: tensor<2xui32>):
// CHECK-NEXT:   halftone.random_bits %[[S]]
func.func @main(%seed: tensor<1xui32> {halftone.name = "seed"}) -> (tensor<5x8xui32> {halftone.name = "y"}) {
  %one = halftone.constant dense<1> : tensor<1xui32>
  %0:2 = halftone.scan (%seed) {length = 5 : i64} : (tensor<1xui32>) -> (tensor<1xui32>, tensor<5x8xui32>) {
  ^bb0(%i: tensor<i32>, %state: tensor<1xui32>):
    %1 = halftone.add %state, %one : tensor<1xui32>
    %key = halftone.concat %seed, %1 {axis = 0 : i64} : tensor<1xui32>, tensor<1xui32> to tensor<2xui32>
    %bits = halftone.random_bits %key : tensor<2xui32> -> tensor<8xui32>
    halftone.yield %1, %bits : tensor<1xui32>, tensor<8xui32>
  }
  return %0#1 : tensor<5x8xui32>
}

// -----

// Nothing moves: elementwise work of slices, which would be a larger stack; a product of two carries and a reduction of one, which would
// need stacks; a product of slices that is larger than they are.
// CHECK-LABEL: func.func @main
// CHECK: halftone.scan(%arg0, %arg0) over(%arg1) {length = 5 : i64}
// CHECK:   halftone.exp
// CHECK:   halftone.contract %{{.*}}, %{{.*}} {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
// CHECK:   halftone.contract
// CHECK:   halftone.reduce
// CHECK:   halftone.yield
func.func @main(%h0: tensor<4x4xf32> {halftone.name = "h0"}, %xs: tensor<5x4x1xf32> {halftone.name = "xs"})
    -> (tensor<4x4xf32> {halftone.name = "h"}, tensor<5x4x4xf32> {halftone.name = "y"}, tensor<5xf32> {halftone.name = "z"}) {
  %0:4 = halftone.scan (%h0, %h0) over (%xs) {length = 5 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<5x4x1xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<5x4x4xf32>, tensor<5xf32>) {
  ^bb0(%i: tensor<i32>, %h: tensor<4x4xf32>, %c: tensor<4x4xf32>, %x: tensor<4x1xf32>):
    %e = halftone.exp %x : tensor<4x1xf32>
    %s = halftone.reshape %e : tensor<4x1xf32> to tensor<4xf32>
    %b = halftone.broadcast %s {axes = array<i64: 0>} : tensor<4xf32> to tensor<4x4xf32>
    %o = halftone.contract %x, %x {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
    %1 = halftone.mul %h, %b : tensor<4x4xf32>
    %2 = halftone.add %1, %o : tensor<4x4xf32>
    %3 = halftone.sub %c, %2 : tensor<4x4xf32>
    %y = halftone.contract %h, %c {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %z = halftone.reduce sum %h {axes = array<i64: 0, 1>} : tensor<4x4xf32> -> tensor<f32>
    halftone.yield %2, %3, %y, %z : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>
  }
  return %0#0, %0#2, %0#3 : tensor<4x4xf32>, tensor<5x4x4xf32>, tensor<5xf32>
}

// -----

// What a scan in the body reads or gives stays in the body: it is computed for all steps of that scan already.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.contract
// CHECK: halftone.scan(%arg0) over(%arg1) {length = 3 : i64}
// CHECK:   halftone.contract %{{.*}}, %arg2 {{.*}} : (tensor<4x2x3xf32>, tensor<3x5xf32>) -> tensor<4x2x5xf32>
// CHECK:   halftone.scan({{.*}}) {length = 4 : i64}
// CHECK:   halftone.contract %{{.*}}, %arg3 {{.*}} : (tensor<4x2x5xf32>, tensor<5x6xf32>) -> tensor<4x2x6xf32>
// CHECK-NOT: halftone.contract
func.func @main(%h0: tensor<2x5xf32> {halftone.name = "h0"}, %xs: tensor<3x4x2x3xf32> {halftone.name = "xs"}, %k: tensor<3x5xf32> {halftone.name = "k"}, %w: tensor<5x6xf32> {halftone.name = "w"})
    -> (tensor<2x5xf32> {halftone.name = "h"}, tensor<3x4x2x6xf32> {halftone.name = "y"}) {
  %0:2 = halftone.scan (%h0) over (%xs) {length = 3 : i64} : (tensor<2x5xf32>, tensor<3x4x2x3xf32>) -> (tensor<2x5xf32>, tensor<3x4x2x6xf32>) {
  ^bb0(%i: tensor<i32>, %h: tensor<2x5xf32>, %x: tensor<4x2x3xf32>):
    %1:2 = halftone.scan (%h) over (%x) {length = 4 : i64} : (tensor<2x5xf32>, tensor<4x2x3xf32>) -> (tensor<2x5xf32>, tensor<4x2x6xf32>) {
    ^bb0(%j: tensor<i32>, %c: tensor<2x5xf32>, %s: tensor<2x3xf32>):
      %2 = halftone.contract %s, %k {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
      %3 = halftone.mul %c, %2 : tensor<2x5xf32>
      %4 = halftone.contract %3, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x5xf32>, tensor<5x6xf32>) -> tensor<2x6xf32>
      halftone.yield %3, %4 : tensor<2x5xf32>, tensor<2x6xf32>
    }
    halftone.yield %1#0, %1#1 : tensor<2x5xf32>, tensor<4x2x6xf32>
  }
  return %0#0, %0#1 : tensor<2x5xf32>, tensor<3x4x2x6xf32>
}
