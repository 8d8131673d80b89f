// RUN: halftone-opt %s --split-input-file --halftone-normalize --halftone-choose-templates --halftone-form-kernels --halftone-outline-kernels --halftone-verify-stage=stage=kernel | FileCheck-22 %s

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
