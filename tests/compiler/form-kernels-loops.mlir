// RUN: halftone-opt %s --split-input-file --halftone-normalize --halftone-choose-layouts --halftone-form-kernels --halftone-outline-kernels --halftone-verify-stage=stage=kernel | FileCheck-22 %s

// A loop stays, the ops of its body become launches there, and a kernel of the body copies cheap work on captures.

// CHECK: kernel loop @[[BODY:[a-z0-9_]+]] (tensor<16xf16>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
// CHECK: func.func @main
// CHECK: %[[R:.*]]:2 = halftone.scan(%[[A:.*]]) over(%{{.*}}) {length = 4 : i64}
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[C:.*]]: tensor<16xf32>, %[[S:.*]]: tensor<16xf32>):
// CHECK-NEXT: %[[N:.*]]:2 = halftone.launch @[[BODY]](
// CHECK-NEXT: halftone.yield %[[N]]#1, %[[N]]#0
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @main(%a: tensor<16xf32> {halftone.name = "a"}, %w: tensor<16xf16> {halftone.name = "w"}, %x: tensor<4x16xf32> {halftone.name = "x"})
    -> (tensor<16xf32> {halftone.name = "last"}, tensor<4x16xf32> {halftone.name = "y"}) {
  %wide = halftone.cast %w {origin = "op"} : tensor<16xf16> to tensor<16xf32>
  %last, %y = halftone.scan (%a) over (%x) {length = 4 : i64}
      : (tensor<16xf32>, tensor<4x16xf32>) -> (tensor<16xf32>, tensor<4x16xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<16xf32>, %s: tensor<16xf32>):
    %0 = halftone.mul %c, %wide : tensor<16xf32>
    %1 = halftone.add %0, %s : tensor<16xf32>
    halftone.yield %1, %0 : tensor<16xf32>, tensor<16xf32>
  }
  return %last, %y : tensor<16xf32>, tensor<4x16xf32>
}

// -----

// An index that ops read is a carry, which the body counts: down in a reverse scan, and up in a while.

// CHECK: func.func @main
// CHECK-DAG: %[[LAST:.*]] = halftone.constant dense<3> : tensor<i32>
// CHECK: %[[R:.*]]:3 = halftone.scan(%{{.*}}, %[[LAST]]) {length = 4 : i64, reverse} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<4xi32>)
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>, %[[I:.*]]: tensor<i32>):
// CHECK: halftone.launch @{{.*}}(%{{.*}}, %[[I]])
// CHECK: halftone.yield
// CHECK: %[[W:.*]]:2 = halftone.while(%[[R]]#0, %{{.*}}) {maximum = 9 : i64} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
// CHECK-NEXT: %[[GO:.*]] = halftone.launch
// CHECK-NEXT: halftone.yield %[[GO]] : tensor<i1>
// CHECK: do
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
// CHECK: return %[[W]]#0, %[[R]]#2
func.func @main(%n: tensor<i32> {halftone.name = "n"}) -> (tensor<i32> {halftone.name = "last"}, tensor<4xi32> {halftone.name = "is"}) {
  %sum, %is = halftone.scan (%n) {length = 4 : i64, reverse} : (tensor<i32>) -> (tensor<i32>, tensor<4xi32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<i32>):
    %0 = halftone.mul %c, %i : tensor<i32>
    %1 = halftone.sub %c, %i : tensor<i32>
    halftone.yield %0, %1 : tensor<i32>, tensor<i32>
  }
  %last = halftone.while (%sum) {maximum = 9 : i64} : (tensor<i32>) -> tensor<i32> {
  ^bb0(%c: tensor<i32>):
    %go = halftone.compare lt %c, %n : tensor<i32>
    halftone.yield %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %c: tensor<i32>):
    %0 = halftone.add %c, %i : tensor<i32>
    halftone.yield %0 : tensor<i32>
  }
  return %last, %is : tensor<i32>, tensor<4xi32>
}

// -----

// A loop whose steps treat rows apart is one kernel: its captures are operands, the always cloned ops that it reads are inside, and its slices
// are those of the contraction and of operands. It gives all last carries. An operand that stands for two carries is two operands.

// CHECK: kernel recurrence @[[K:[a-z0-9_]+]] (tensor<8x16xf32>, tensor<8x16xf32>, tensor<4x8x32xf32>, tensor<16x32xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<4x8x16xf32>)
// CHECK-NEXT: ^bb0(%[[H0:.*]]: tensor<8x16xf32>, %[[C0:.*]]: tensor<8x16xf32>, %[[XS:.*]]: tensor<4x8x32xf32>, %[[R:.*]]: tensor<16x32xf32>):
// CHECK-NEXT: %[[S:.*]]:3 = halftone.scan(%[[H0]], %[[C0]]) over(%[[XS]])
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[H:.*]]: tensor<8x16xf32>, %[[C:.*]]: tensor<8x16xf32>, %[[X:.*]]: tensor<8x32xf32>):
// CHECK: %[[Z:.*]] = halftone.contract %[[H]], %[[R]]
// CHECK-NOT: tile
// CHECK: halftone.slice %[[Z]]
// CHECK: halftone.slice %[[X]]
// CHECK: halftone.constant dense<5.000000e-01> : tensor<8x16xf32>
// CHECK: halftone.yield %[[S]]#0, %[[S]]#1, %[[S]]#2
// CHECK: func.func @main
// CHECK: %[[ZERO:.*]] = halftone.launch @loop_{{.*}}constant
// CHECK: %[[L:.*]]:3 = halftone.launch @[[K]](%[[ZERO]], %[[ZERO]], %{{.*}}, %{{.*}})
// CHECK: return %[[L]]#2
func.func @main(%x: tensor<4x8x32xf32> {halftone.name = "x"}, %r: tensor<16x32xf32> {halftone.name = "r"}) -> (tensor<4x8x16xf32> {halftone.name = "y"}) {
  %zero = halftone.constant dense<0.0> : tensor<8x16xf32>
  %half = halftone.constant dense<0.5> : tensor<8x32xf32>
  %h, %c, %y = halftone.scan (%zero, %zero) over (%x) {length = 4 : i64}
      : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<4x8x32xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<4x8x16xf32>) {
  ^bb0(%i: tensor<i32>, %d: tensor<8x16xf32>, %e: tensor<8x16xf32>, %s: tensor<8x32xf32>):
    %0 = halftone.contract %d, %r {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    %1 = halftone.add %0, %s : tensor<8x32xf32>
    %2 = halftone.mul %1, %half : tensor<8x32xf32>
    %3 = halftone.slice %2 {start = array<i64: 0, 0>} : tensor<8x32xf32> to tensor<8x16xf32>
    %4 = halftone.slice %2 {start = array<i64: 0, 16>} : tensor<8x32xf32> to tensor<8x16xf32>
    %5 = halftone.mul %3, %e : tensor<8x16xf32>
    halftone.yield %4, %5, %5 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }
  return %y : tensor<4x8x16xf32>
}
