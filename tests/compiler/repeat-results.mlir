// RUN: halftone-opt %s --split-input-file --check-passes --halftone-repeat-results --halftone-outline-kernels --halftone-verify-stage=stage=kernel | FileCheck-22 %s

// A value that is the new one of a variable and a fetch, through a reshape too, is a result for each. The old value, which a later
// launch and a fetch read, is a result of the same launch.
// CHECK: halftone.kernel loop @[[STEP:loop_[0-9a-f]+]] (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
// CHECK-NEXT: ^bb0(%[[T:.*]]: tensor<f32>, %[[X:.*]]: tensor<f32>):
// CHECK-NEXT: %[[SUM:.*]] = halftone.add %[[T]], %[[X]]
// CHECK-NEXT: halftone.yield %[[SUM]], %[[SUM]], %[[SUM]], %[[T]]
// CHECK: %[[R:[0-9]+]]:4 = halftone.launch @[[STEP]](%arg1, %arg0)
// CHECK-NEXT: %[[L:.*]] = halftone.launch @{{.*}}(%[[R]]#0, %[[R]]#3)
// CHECK-NEXT: %[[SHAPED:.*]] = halftone.reshape %[[R]]#1
// CHECK: return %[[R]]#2, %[[SHAPED]], %[[L]], %[[R]]#3, %[[R]]#0
halftone.variable @total : tensor<f32>
halftone.kernel loop @step (tensor<f32>, tensor<f32>) -> tensor<f32> {
^bb0(%t: tensor<f32>, %x: tensor<f32>):
  %0 = halftone.add %t, %x : tensor<f32>
  halftone.yield %0 : tensor<f32>
}
halftone.kernel loop @later (tensor<f32>, tensor<f32>) -> tensor<f32> {
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %0 = halftone.sub %a, %b : tensor<f32>
  halftone.yield %0 : tensor<f32>
}
func.func @main(%x: tensor<f32> {halftone.name = "x"}, %t: tensor<f32> {halftone.variable = @total})
    -> (tensor<f32> {halftone.name = "a"}, tensor<1xf32> {halftone.name = "b"}, tensor<f32> {halftone.name = "c"}, tensor<f32> {halftone.name = "d"}, tensor<f32> {halftone.variable = @total}) {
  %0 = halftone.launch @step(%t, %x) {site = ""} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = halftone.reshape %0 : tensor<f32> to tensor<1xf32>
  %2 = halftone.launch @later(%0, %t) {site = ""} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %t, %0 : tensor<f32>, tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// A launch that does not read the old value takes it for that. Launches of one kernel get kernels of their own where they differ.
// CHECK-DAG: halftone.kernel loop @[[ONE:loop_[0-9a-f]+]] (tensor<f32>) -> tensor<f32>
// CHECK-DAG: halftone.kernel loop @[[TWO:loop_[0-9a-f]+]] (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK: func.func @main
// CHECK: %[[A:[0-9]+]]:2 = halftone.launch @[[TWO]](%arg0, %arg2)
// CHECK: %[[B:[0-9]+]] = halftone.launch @[[ONE]](%[[A]]#0)
// CHECK: halftone.when %{{.*}} {
// CHECK: halftone.launch @{{.*}}(%[[A]]#1, %[[B]])
// CHECK: halftone.yield %[[A]]#1
halftone.variable @v : tensor<f32>
halftone.kernel loop @twice (tensor<f32>) -> tensor<f32> {
^bb0(%a: tensor<f32>):
  %0 = halftone.add %a, %a : tensor<f32>
  halftone.yield %0 : tensor<f32>
}
halftone.kernel loop @more (tensor<f32>, tensor<f32>) -> tensor<f32> {
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %0 = halftone.mul %a, %b : tensor<f32>
  halftone.yield %0 : tensor<f32>
}
func.func @main(%x: tensor<f32> {halftone.name = "x"}, %p: tensor<i1> {halftone.name = "p"}, %v: tensor<f32> {halftone.variable = @v})
    -> (tensor<f32> {halftone.name = "a"}, tensor<f32> {halftone.variable = @v}) {
  %0 = halftone.launch @twice(%x) {site = ""} : (tensor<f32>) -> tensor<f32>
  %1 = halftone.launch @twice(%0) {site = ""} : (tensor<f32>) -> tensor<f32>
  %2 = halftone.when %p : (tensor<f32>) {
    %3 = halftone.launch @more(%v, %1) {site = ""} : (tensor<f32>, tensor<f32>) -> tensor<f32>
    halftone.yield %3 : tensor<f32>
  } else {
    halftone.yield %v : tensor<f32>
  }
  return %2, %0 : tensor<f32>, tensor<f32>
}

// -----

// Nothing is repeated of a large value, of a feed, or of a matrix that the kernel reads elsewhere than it writes; nor is an old value
// that nothing reads later.
// CHECK: func.func @main
// CHECK: %[[BIG:.*]] = halftone.launch @{{.*}}(%arg0) : (tensor<4097xf32>) -> tensor<4097xf32>
// CHECK: %[[TURNED:.*]] = halftone.launch @{{.*}}(%arg2) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: %[[LATER:.*]] = halftone.launch @{{.*}}(%[[TURNED]], %arg2)
// CHECK: return %[[BIG]], %[[BIG]], %arg1, %arg1, %[[LATER]], %[[TURNED]]
halftone.variable @m : tensor<4x4xf32>
halftone.kernel loop @big (tensor<4097xf32>) -> tensor<4097xf32> {
^bb0(%a: tensor<4097xf32>):
  %0 = halftone.neg %a : tensor<4097xf32>
  halftone.yield %0 : tensor<4097xf32>
}
halftone.kernel loop @turn (tensor<4x4xf32>) -> tensor<4x4xf32> {
^bb0(%a: tensor<4x4xf32>):
  %0 = halftone.transpose %a {permutation = array<i64: 1, 0>} : tensor<4x4xf32> to tensor<4x4xf32>
  %1 = halftone.neg %0 : tensor<4x4xf32>
  halftone.yield %1 : tensor<4x4xf32>
}
halftone.kernel loop @both (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>):
  %0 = halftone.sub %a, %b : tensor<4x4xf32>
  halftone.yield %0 : tensor<4x4xf32>
}
func.func @main(%x: tensor<4097xf32> {halftone.name = "x"}, %s: tensor<f32> {halftone.name = "s"}, %m: tensor<4x4xf32> {halftone.variable = @m})
    -> (tensor<4097xf32> {halftone.name = "a"}, tensor<4097xf32> {halftone.name = "b"}, tensor<f32> {halftone.name = "c"}, tensor<f32> {halftone.name = "d"},
        tensor<4x4xf32> {halftone.name = "e"}, tensor<4x4xf32> {halftone.variable = @m}) {
  %0 = halftone.launch @big(%x) {site = ""} : (tensor<4097xf32>) -> tensor<4097xf32>
  %1 = halftone.launch @turn(%m) {site = ""} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = halftone.launch @both(%1, %m) {site = ""} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %0, %s, %s, %2, %1 : tensor<4097xf32>, tensor<4097xf32>, tensor<f32>, tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>
}
