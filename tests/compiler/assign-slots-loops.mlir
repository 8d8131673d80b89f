// RUN: halftone-opt %s --split-input-file --stop-after=plan | FileCheck-22 %s

// Slices are slots with strides, a stack that is a fetch is made in it, and carries lie in two slots by turns.

// CHECK: s2: feed 2 "x" 7x16xf32
// CHECK: s5: fetch 2 "y" 7x16xf32
// CHECK: s6: arena +[[A:[0-9]+]] 16xf32
// CHECK: s7: arena +[[B:[0-9]+]] 16xf32
// CHECK: s8: arena +[[B]] stride 64 period 2 phase 0 16xf32
// CHECK: s9: feed 2 "x" +384 stride -64 16xf32
// CHECK: s10: arena +[[B]] stride 64 period 2 phase 1 16xf32
// CHECK: s11: arena +[[A]] stride 64 period 2 phase 0 16xf32
// CHECK: s12: fetch 2 "y" +384 stride -64 16xf32
// CHECK: s13: arena +[[A]] stride 64 period 2 phase 1 16xf32
// CHECK: s14: arena +[[A]] +64 16xf32
// CHECK: s15: arena +[[B]] +64 16xf32
// CHECK: 0: copy s0 -> s6
// CHECK-NEXT: 1: copy s1 -> s7
// CHECK-NEXT: 2: repeat 7 times: 3 steps
// CHECK-NEXT:   3: {{[0-9a-f]+}} (s8, s9) -> (s10)
// CHECK-NEXT:   4: {{[0-9a-f]+}} (s11, s9) -> (s12)
// CHECK-NEXT:   5: copy s8 -> s13
// CHECK-NEXT: 6: copy s14 -> s3
// CHECK-NEXT: 7: copy s15 -> s4
func.func @main(%a: tensor<16xf32> {halftone.name = "a"}, %b: tensor<16xf32> {halftone.name = "b"}, %x: tensor<7x16xf32> {halftone.name = "x"})
    -> (tensor<16xf32> {halftone.name = "p"}, tensor<16xf32> {halftone.name = "q"}, tensor<7x16xf32> {halftone.name = "y"}) {
  %p, %q, %y = halftone.scan (%a, %b) over (%x) {length = 7 : i64, reverse}
      : (tensor<16xf32>, tensor<16xf32>, tensor<7x16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<7x16xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %d: tensor<16xf32>, %s: tensor<16xf32>):
    %0 = halftone.add %d, %s : tensor<16xf32>
    %1 = halftone.mul %c, %s : tensor<16xf32>
    halftone.yield %d, %0, %1 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  }
  return %p, %q, %y : tensor<16xf32>, tensor<16xf32>, tensor<7x16xf32>
}

// -----

// A carry that is stacked lies in the stack, behind its first value; slices of 4 bytes are copied to aligned ones. The values of an
// iteration share memory, and the value that each iteration reads keeps its place through all of them.

// CHECK: plan : 3 feeds, 1 fetches, 0 variables, {{[0-9]+}} kernels
// CHECK: repeat 5 times
// CHECK-NEXT: copy [[SLICE:s[0-9]+]] -> [[ALIGNED:s[0-9]+]]
// CHECK-NEXT: {{[0-9a-f]+}} ([[FOUND:s[0-9]+]]) -> ([[ROW:s[0-9]+]])
// CHECK-NEXT: {{[0-9a-f]+}} ([[FOUND]], s{{[0-9]+}}, [[ALIGNED]], [[ROW]]) -> ([[LEFT:s[0-9]+]])
// CHECK-NOT: repeat
func.func @main(%a: tensor<16xf32> {halftone.name = "a"}, %b: tensor<16xf32> {halftone.name = "b"}, %x: tensor<5x1xf32> {halftone.name = "x"})
    -> (tensor<16xf32> {halftone.name = "z"}) {
  %e = halftone.exp %b : tensor<16xf32>
  %last, %y = halftone.scan (%a) over (%x) {length = 5 : i64}
      : (tensor<16xf32>, tensor<5x1xf32>) -> (tensor<16xf32>, tensor<5x16xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %s: tensor<1xf32>):
    %r = halftone.cumsum %c {axis = 0 : i64} : tensor<16xf32> -> tensor<16xf32>
    %t = halftone.reshape %s : tensor<1xf32> to tensor<f32>
    %0 = halftone.broadcast %t {axes = array<i64>} : tensor<f32> to tensor<16xf32>
    %1 = halftone.mul %r, %0 : tensor<16xf32>
    %2 = halftone.mul %c, %e : tensor<16xf32>
    %3 = halftone.add %2, %1 : tensor<16xf32>
    halftone.yield %3, %3 : tensor<16xf32>, tensor<16xf32>
  }
  %z = halftone.reduce sum %y {axes = array<i64: 0>} : tensor<5x16xf32> -> tensor<16xf32>
  %w = halftone.add %z, %last : tensor<16xf32>
  return %w : tensor<16xf32>
}

// -----

// A carry whose values before and after each step are stacked lies in one stack of 6 slices, of which both stacks are 5.

// CHECK: plan : 2 feeds, 2 fetches, 0 variables, {{[0-9]+}} kernels
// CHECK-DAG: [[INIT:s[0-9]+]]: arena +[[S:[0-9]+]] 16xf32
// CHECK-DAG: [[FOUND:s[0-9]+]]: arena +[[S]] stride 64 16xf32
// CHECK-DAG: [[LEFT:s[0-9]+]]: arena +[[S]] +64 stride 64 16xf32
// CHECK-DAG: [[BEFORE:s[0-9]+]]: arena +[[S]] 5x16xf32
// CHECK: copy {{s[0-9]+}} -> [[INIT]]
// CHECK-NEXT: repeat 5 times: 1 steps
// CHECK-NEXT: ([[FOUND]], {{.*}}) -> ([[LEFT]])
// CHECK-NEXT: {{[0-9a-f]+}} ([[BEFORE]])
func.func @main(%a: tensor<16xf32> {halftone.name = "a"}, %x: tensor<5x16xf32> {halftone.name = "x"})
    -> (tensor<5x16xf32> {halftone.name = "y"}, tensor<5x16xf32> {halftone.name = "z"}) {
  %last, %before, %after = halftone.scan (%a) over (%x) {length = 5 : i64}
      : (tensor<16xf32>, tensor<5x16xf32>) -> (tensor<16xf32>, tensor<5x16xf32>, tensor<5x16xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %s: tensor<16xf32>):
    %0 = halftone.mul %c, %s : tensor<16xf32>
    halftone.yield %0, %c, %0 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  }
  %y = halftone.exp %before : tensor<5x16xf32>
  %z = halftone.tanh %after : tensor<5x16xf32>
  return %y, %z : tensor<5x16xf32>, tensor<5x16xf32>
}

// -----

// A step makes the next value of a carry over the one that it finds, unless other elements of it are still to be read.

// CHECK: plan : 3 feeds, 2 fetches, 0 variables, {{[0-9]+}} kernels, arena 192 bytes
// CHECK: s7: arena +[[ONE:[0-9]+]] 16xf32
// CHECK: s9: arena +[[ONE]] 16xf32
// CHECK: s10: arena +[[TWO:[0-9]+]] stride 64 period 2 phase 0 16xf32
// CHECK: s11: arena +[[TWO]] stride 64 period 2 phase 1 16xf32
// CHECK: repeat 5 times: 2 steps
// CHECK-NEXT: {{[0-9a-f]+}} (s7, s8) -> (s9)
// CHECK-NEXT: {{[0-9a-f]+}} (s10) -> (s11)
func.func @main(%a: tensor<16xf32> {halftone.name = "a"}, %b: tensor<16xf32> {halftone.name = "b"}, %x: tensor<5x16xf32> {halftone.name = "x"})
    -> (tensor<16xf32> {halftone.name = "p"}, tensor<16xf32> {halftone.name = "q"}) {
  %p, %q = halftone.scan (%a, %b) over (%x) {length = 5 : i64} : (tensor<16xf32>, tensor<16xf32>, tensor<5x16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %d: tensor<16xf32>, %s: tensor<16xf32>):
    %0 = halftone.mul %c, %s : tensor<16xf32>
    %1 = halftone.cumsum %d {axis = 0 : i64} : tensor<16xf32> -> tensor<16xf32>
    halftone.yield %0, %1 : tensor<16xf32>, tensor<16xf32>
  }
  return %p, %q : tensor<16xf32>, tensor<16xf32>
}

// -----

// A stack of what steps find in a carry is part of the carry's stack through a reshape too; values of 8 bytes are copied.

// CHECK-DAG: [[FOUND:s[0-9]+]]: arena +[[S:[0-9]+]] stride 64 16xf32
// CHECK-DAG: [[LEFT:s[0-9]+]]: arena +[[S]] +64 stride 64 16xf32
// CHECK-DAG: [[STACK:s[0-9]+]]: arena +[[S]] 7x1x16xf32
// CHECK-DAG: [[COPIED:s[0-9]+]]: fetch 1 "w" stride 8 1x2xf32
// CHECK: repeat 7 times: 6 steps
// CHECK-NOT: copy [[FOUND]]
// CHECK: ({{.*}}) -> ([[LEFT]])
// CHECK: copy {{s[0-9]+}} -> [[COPIED]]
// CHECK: copy [[STACK]] -> s4
func.func @main(%a: tensor<16xf32> {halftone.name = "a"}, %b: tensor<2xf32> {halftone.name = "b"}, %x: tensor<7x16xf32> {halftone.name = "x"}, %z: tensor<7x2xf32> {halftone.name = "z"})
    -> (tensor<7x1x16xf32> {halftone.name = "y"}, tensor<7x1x2xf32> {halftone.name = "w"}) {
  %last:2, %ys:2 = halftone.scan (%a, %b) over (%x, %z) {length = 7 : i64} : (tensor<16xf32>, tensor<2xf32>, tensor<7x16xf32>, tensor<7x2xf32>) -> (tensor<16xf32>, tensor<2xf32>, tensor<7x1x16xf32>, tensor<7x1x2xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %d: tensor<2xf32>, %s: tensor<16xf32>, %t: tensor<2xf32>):
    %0 = halftone.cumsum %c {axis = 0 : i64} : tensor<16xf32> -> tensor<16xf32>
    %1 = halftone.mul %0, %s : tensor<16xf32>
    %2 = halftone.cumsum %d {axis = 0 : i64} : tensor<2xf32> -> tensor<2xf32>
    %3 = halftone.mul %2, %t : tensor<2xf32>
    %4 = halftone.reshape %c : tensor<16xf32> to tensor<1x16xf32>
    %5 = halftone.reshape %d : tensor<2xf32> to tensor<1x2xf32>
    halftone.yield %1, %3, %4, %5 : tensor<16xf32>, tensor<2xf32>, tensor<1x16xf32>, tensor<1x2xf32>
  }
  return %ys#0, %ys#1 : tensor<7x1x16xf32>, tensor<7x1x2xf32>
}

// -----

// A stack of stacks may lie where another stack lay before.

// CHECK-DAG: arena +[[S:[0-9]+]] 31x16xf32
// CHECK-DAG: arena +[[S]] 7x8x16xf32
// CHECK: repeat 31 times: 3 steps
// CHECK: repeat 7 times: 6 steps
// CHECK: repeat 8 times: 3 steps
func.func @main(%a: tensor<16xf32> {halftone.name = "a"}, %x: tensor<31x16xf32> {halftone.name = "x"}, %z: tensor<7x8x16xf32> {halftone.name = "z"})
    -> (tensor<16xf32> {halftone.name = "y"}) {
  %first, %shorter = halftone.scan (%a) over (%x) {length = 31 : i64} : (tensor<16xf32>, tensor<31x16xf32>) -> (tensor<16xf32>, tensor<31x16xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %s: tensor<16xf32>):
    %0 = halftone.cumsum %c {axis = 0 : i64} : tensor<16xf32> -> tensor<16xf32>
    %1 = halftone.mul %0, %s : tensor<16xf32>
    %2 = halftone.add %c, %s : tensor<16xf32>
    halftone.yield %2, %1 : tensor<16xf32>, tensor<16xf32>
  }
  %sum = halftone.reduce sum %shorter {axes = array<i64: 0>} : tensor<31x16xf32> -> tensor<16xf32>
  %last, %longer = halftone.scan (%sum) over (%z) {length = 7 : i64} : (tensor<16xf32>, tensor<7x8x16xf32>) -> (tensor<16xf32>, tensor<7x8x16xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %rows: tensor<8x16xf32>):
    %0, %1 = halftone.scan (%c) over (%rows) {length = 8 : i64} : (tensor<16xf32>, tensor<8x16xf32>) -> (tensor<16xf32>, tensor<8x16xf32>) {
    ^bb0(%j: tensor<i32>, %d: tensor<16xf32>, %s: tensor<16xf32>):
      %2 = halftone.cumsum %d {axis = 0 : i64} : tensor<16xf32> -> tensor<16xf32>
      %3 = halftone.mul %2, %s : tensor<16xf32>
      %4 = halftone.add %d, %s : tensor<16xf32>
      halftone.yield %4, %3 : tensor<16xf32>, tensor<16xf32>
    }
    halftone.yield %0, %1 : tensor<16xf32>, tensor<8x16xf32>
  }
  %all = halftone.reduce sum %longer {axes = array<i64: 0, 1>} : tensor<7x8x16xf32> -> tensor<16xf32>
  %y = halftone.add %all, %last : tensor<16xf32>
  return %y : tensor<16xf32>
}
