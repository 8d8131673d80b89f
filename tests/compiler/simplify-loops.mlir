// RUN: halftone-opt %s --split-input-file --halftone-simplify | FileCheck-22 %s

// What is invariant moves in front of the loop: the cast of a weight that each step reads.
// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = halftone.cast %arg1
// CHECK: halftone.scan
// CHECK:   halftone.mul %{{.*}}, %[[C]]
func.func @main(%x: tensor<4xf16> {halftone.name = "x"}, %w: tensor<4xf32> {halftone.name = "w"}) -> (tensor<4xf16> {halftone.name = "y"}) {
  %0 = halftone.scan (%x) {length = 3 : i64} : (tensor<4xf16>) -> tensor<4xf16> {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf16>):
    %1 = halftone.cast %w {origin = "variable read"} : tensor<4xf32> to tensor<4xf16>
    %2 = halftone.mul %c, %1 : tensor<4xf16>
    halftone.yield %2 : tensor<4xf16>
  }
  return %0 : tensor<4xf16>
}

// -----

// Dead: the second carry, which only feeds itself and a stack that nobody reads, the stack, and the slices that only they need. The
// third carry reaches the first one and stays.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]]:2 = halftone.scan(%arg0, %arg0) {length = 3 : i64} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
// CHECK-NOT: halftone.mul
// CHECK: return %[[S]]#0
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %xs: tensor<3x4xf32> {halftone.name = "xs"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %0:4 = halftone.scan (%x, %x, %x) over (%xs) {length = 3 : i64}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %s: tensor<4xf32>):
    %1 = halftone.add %a, %c : tensor<4xf32>
    %2 = halftone.mul %b, %s : tensor<4xf32>
    %3 = halftone.tanh %c : tensor<4xf32>
    halftone.yield %1, %2, %3, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0 : tensor<4xf32>
}

// -----

// Equal: carries of one init and one next value, slices of one stack, and stacks of one value become one.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]]:2 = halftone.scan(%arg0) over(%arg1) {length = 3 : i64} : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>)
// CHECK: return %[[S]]#0, %[[S]]#0, %[[S]]#1, %[[S]]#1
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %xs: tensor<3x4xf32> {halftone.name = "xs"})
    -> (tensor<4xf32> {halftone.name = "a"}, tensor<4xf32> {halftone.name = "b"}, tensor<3x4xf32> {halftone.name = "c"}, tensor<3x4xf32> {halftone.name = "d"}) {
  %0:4 = halftone.scan (%x, %x) over (%xs, %xs) {length = 3 : i64}
      : (tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %s: tensor<4xf32>, %t: tensor<4xf32>):
    %1 = halftone.mul %a, %s : tensor<4xf32>
    %2 = halftone.add %1, %t : tensor<4xf32>
    %3 = halftone.mul %b, %2 : tensor<4xf32>
    halftone.yield %3, %3, %2, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1, %0#2, %0#3 : tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// A carry that keeps its value, and slices of a broadcast along the steps, are captures; a stack of a capture is a broadcast. Those
// of a narrow float still round.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[R:.*]] = halftone.cast %arg1 {origin = "loop"} : tensor<f16> to tensor<f16>
// CHECK-DAG: %[[B:.*]] = halftone.broadcast %arg1 {axes = array<i64>} : tensor<f16> to tensor<4xf16>
// CHECK-DAG: %[[Y:.*]] = halftone.broadcast %{{.*}} {axes = array<i64>} : tensor<f16> to tensor<3xf16>
// CHECK: %[[S:.*]] = halftone.scan(%arg0) {length = 3 : i64} : (tensor<4xf16>) -> tensor<4xf16>
// CHECK: return %[[S]], %[[R]], %[[Y]]
func.func @main(%x: tensor<4xf16> {halftone.name = "x"}, %k: tensor<f16> {halftone.name = "k"})
    -> (tensor<4xf16> {halftone.name = "a"}, tensor<f16> {halftone.name = "b"}, tensor<3xf16> {halftone.name = "c"}) {
  %xs = halftone.broadcast %k {axes = array<i64>} : tensor<f16> to tensor<3x4xf16>
  %0:3 = halftone.scan (%x, %k) over (%xs) {length = 3 : i64}
      : (tensor<4xf16>, tensor<f16>, tensor<3x4xf16>) -> (tensor<4xf16>, tensor<f16>, tensor<3xf16>) {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf16>, %b: tensor<f16>, %s: tensor<4xf16>):
    %1 = halftone.mul %a, %s : tensor<4xf16>
    %2 = halftone.broadcast %b {axes = array<i64>} : tensor<f16> to tensor<4xf16>
    %3 = halftone.add %1, %2 : tensor<4xf16>
    halftone.yield %3, %b, %k : tensor<4xf16>, tensor<f16>, tensor<f16>
  }
  return %0#0, %0#1, %0#2 : tensor<4xf16>, tensor<f16>, tensor<3xf16>
}

// -----

// A counter follows from the index, in reverse too, and leaves the loop.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.scan
// CHECK: %[[I:.*]] = halftone.iota {axis = 0 : i64} : tensor<5xi32>
// CHECK: %[[D:.*]] = halftone.sub %{{.*}}, %[[I]] : tensor<5xi32>
// CHECK: %[[C:.*]] = halftone.cast %[[D]] {origin = "loop"} : tensor<5xi32> to tensor<5xi8>
// CHECK: %[[M:.*]] = halftone.mul %{{.*}}, %[[C]] : tensor<5xi8>
// CHECK: %[[A:.*]] = halftone.add %{{.*}}, %[[M]] : tensor<5xi8>
// CHECK: return %{{.*}}, %[[A]]
func.func @main(%n: tensor<i8> {halftone.name = "n"}, %k: tensor<i8> {halftone.name = "k"}) -> (tensor<i8> {halftone.name = "a"}, tensor<5xi8> {halftone.name = "b"}) {
  %0:2 = halftone.scan (%n) {length = 5 : i64, reverse} : (tensor<i8>) -> (tensor<i8>, tensor<5xi8>) {
  ^bb0(%i: tensor<i32>, %c: tensor<i8>):
    %1 = halftone.add %k, %c : tensor<i8>
    halftone.yield %1, %c : tensor<i8>, tensor<i8>
  }
  return %0#0, %0#1 : tensor<i8>, tensor<5xi8>
}

// -----

// Without steps there is the init; one step is the body. Narrow floats round as they would in the loop's memory.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.scan
// CHECK-DAG: %[[E:.*]] = halftone.constant dense<> : tensor<0xf16>
// CHECK-DAG: %[[I:.*]] = halftone.cast %arg0 {origin = "loop"} : tensor<f16> to tensor<f16>
// CHECK-DAG: %[[X:.*]] = halftone.reshape %arg1 : tensor<1xf16> to tensor<f16>
// CHECK: %[[M:.*]] = halftone.mul %[[I]], %[[X]]
// CHECK: %[[L:.*]] = halftone.cast %[[M]] {origin = "loop"} : tensor<f16> to tensor<f16>
// CHECK: return %[[I]], %[[E]], %[[L]]
func.func @main(%x: tensor<f16> {halftone.name = "x"}, %xs: tensor<1xf16> {halftone.name = "xs"})
    -> (tensor<f16> {halftone.name = "a"}, tensor<0xf16> {halftone.name = "b"}, tensor<f16> {halftone.name = "c"}) {
  %0:2 = halftone.scan (%x) {length = 0 : i64} : (tensor<f16>) -> (tensor<f16>, tensor<0xf16>) {
  ^bb0(%i: tensor<i32>, %c: tensor<f16>):
    %1 = halftone.exp %c : tensor<f16>
    halftone.yield %1, %1 : tensor<f16>, tensor<f16>
  }
  %2 = halftone.scan (%x) over (%xs) {length = 1 : i64} : (tensor<f16>, tensor<1xf16>) -> tensor<f16> {
  ^bb0(%i: tensor<i32>, %c: tensor<f16>, %s: tensor<f16>):
    %3 = halftone.mul %c, %s : tensor<f16>
    halftone.yield %3 : tensor<f16>
  }
  return %0#0, %0#1, %2 : tensor<f16>, tensor<0xf16>, tensor<f16>
}

// -----

// In a while, what neither the results nor the condition need goes, and what is invariant moves out of both regions.
// CHECK-LABEL: func.func @main
// CHECK: %[[E:.*]] = halftone.exp %arg1
// CHECK: %[[W:.*]] = halftone.while(%arg0) {maximum = 9 : i64} : (tensor<f32>) -> tensor<f32> {
// CHECK:   halftone.compare lt %{{.*}}, %[[E]]
// CHECK: } do {
// CHECK:   %[[N:.*]] = halftone.mul %{{.*}}, %[[E]]
// CHECK-NEXT: halftone.yield %[[N]] : tensor<f32>
// CHECK: return %[[W]], %arg1
func.func @main(%x: tensor<f32> {halftone.name = "x"}, %k: tensor<f32> {halftone.name = "k"}) -> (tensor<f32> {halftone.name = "a"}, tensor<f32> {halftone.name = "b"}) {
  %0:3 = halftone.while (%x, %x, %k) {maximum = 9 : i64} : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    %1 = halftone.exp %k : tensor<f32>
    %go = halftone.compare lt %a, %1 : tensor<f32>
    halftone.yield %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    %2 = halftone.exp %c : tensor<f32>
    %3 = halftone.mul %a, %2 : tensor<f32>
    %4 = halftone.tanh %b : tensor<f32>
    halftone.yield %3, %4, %c : tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %0#0, %0#2 : tensor<f32>, tensor<f32>
}
