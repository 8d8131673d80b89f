// RUN: halftone-opt %s --split-input-file --halftone-simplify | FileCheck-22 %s

// Exact: x * 1, x / 1, x - 0, x + -0. Not exact, so kept: x + 0 (turns -0 into 0), x * 0 (NaN), 0 - x.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {halftone.name = "x"}
// CHECK-DAG: %[[ZERO:.*]] = halftone.constant dense<0.000000e+00>
// CHECK-DAG: %[[ADD:.*]] = halftone.add %[[X]], %[[ZERO]]
// CHECK-DAG: %[[MUL:.*]] = halftone.mul %[[X]], %[[ZERO]]
// CHECK-DAG: %[[SUB:.*]] = halftone.sub %[[ZERO]], %[[X]]
// CHECK-NOT: halftone.div
// CHECK: return %[[X]], %[[X]], %[[X]], %[[X]], %[[ADD]], %[[MUL]], %[[SUB]]
func.func @main(%x: tensor<4xf32> {halftone.name = "x"})
    -> (tensor<4xf32> {halftone.name = "a"}, tensor<4xf32> {halftone.name = "b"}, tensor<4xf32> {halftone.name = "c"},
        tensor<4xf32> {halftone.name = "d"}, tensor<4xf32> {halftone.name = "e"}, tensor<4xf32> {halftone.name = "f"},
        tensor<4xf32> {halftone.name = "g"}) {
  %one = halftone.constant dense<1.0> : tensor<4xf32>
  %zero = halftone.constant dense<0.0> : tensor<4xf32>
  %minus = halftone.constant dense<-0.0> : tensor<4xf32>
  %a = halftone.mul %one, %x : tensor<4xf32>
  %b = halftone.div %x, %one : tensor<4xf32>
  %c = halftone.sub %x, %zero : tensor<4xf32>
  %d = halftone.add %minus, %x : tensor<4xf32>
  %e = halftone.add %x, %zero : tensor<4xf32>
  %f = halftone.mul %x, %zero : tensor<4xf32>
  %g = halftone.sub %zero, %x : tensor<4xf32>
  return %a, %b, %c, %d, %e, %f, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Integers have one zero. Double negation, double complement, a select without a choice.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[I:.*]]: tensor<4xi32> {halftone.name = "i"}, %[[X:.*]]: tensor<4xbf16> {halftone.name = "x"}, %[[B:.*]]: tensor<4xi1>
// CHECK-NEXT: return %[[I]], %[[X]], %[[B]], %[[X]]
func.func @main(%i: tensor<4xi32> {halftone.name = "i"}, %x: tensor<4xbf16> {halftone.name = "x"},
                %b: tensor<4xi1> {halftone.name = "b"})
    -> (tensor<4xi32> {halftone.name = "j"}, tensor<4xbf16> {halftone.name = "y"}, tensor<4xi1> {halftone.name = "c"},
        tensor<4xbf16> {halftone.name = "s"}) {
  %zero = halftone.constant dense<0> : tensor<4xi32>
  %j = halftone.add %zero, %i : tensor<4xi32>
  %n = halftone.neg %x : tensor<4xbf16>
  %y = halftone.neg %n : tensor<4xbf16>
  %m = halftone.not %b : tensor<4xi1>
  %c = halftone.not %m : tensor<4xi1>
  %s = halftone.select %b, %x, %y : tensor<4xbf16>
  return %j, %y, %c, %s : tensor<4xi32>, tensor<4xbf16>, tensor<4xi1>, tensor<4xbf16>
}

// -----

// Rounding casts stay, also to the same dtype, and to another and back; equal casts become one.
// CHECK-LABEL: func.func @main
// CHECK: %[[N:.*]] = halftone.cast %arg0 {origin = "layer input"} : tensor<4xf32> to tensor<4xf16>
// CHECK-NEXT: %[[S:.*]] = halftone.cast %[[N]] {origin = "layer output"} : tensor<4xf16> to tensor<4xf16>
// CHECK-NEXT: %[[W:.*]] = halftone.cast %[[S]] : tensor<4xf16> to tensor<4xf32>
// CHECK-NEXT: return %[[W]], %[[N]]
func.func @main(%x: tensor<4xf32> {halftone.name = "x"})
    -> (tensor<4xf32> {halftone.name = "y"}, tensor<4xf16> {halftone.name = "z"}) {
  %0 = halftone.cast %x {origin = "layer input"} : tensor<4xf32> to tensor<4xf16>
  %1 = halftone.cast %0 {origin = "layer output"} : tensor<4xf16> to tensor<4xf16>
  %2 = halftone.cast %1 : tensor<4xf16> to tensor<4xf32>
  %3 = halftone.cast %x {origin = "layer input"} : tensor<4xf32> to tensor<4xf16>
  return %2, %3 : tensor<4xf32>, tensor<4xf16>
}

// -----

// A contraction takes in transposes of operands and result, if its result keeps the order of axes.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = halftone.contract %arg0, %arg1 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<3x8xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: %[[B:.*]] = halftone.contract %arg1, %arg0 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<3x2xf32>, tensor<3x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @main(%x: tensor<3x8xf32> {halftone.name = "x"}, %y: tensor<3x2xf32> {halftone.name = "y"})
    -> (tensor<8x2xf32> {halftone.name = "a"}, tensor<2x8xf32> {halftone.name = "b"}) {
  %t = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<3x8xf32> to tensor<8x3xf32>
  %a = halftone.contract %t, %y {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %c = halftone.contract %x, %y {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<3x8xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %b = halftone.transpose %c {permutation = array<i64: 1, 0>} : tensor<8x2xf32> to tensor<2x8xf32>
  return %a, %b : tensor<8x2xf32>, tensor<2x8xf32>
}

// -----

// Free axes that change their order, and batch axes.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = halftone.contract %arg0, %arg1 {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>}
// CHECK: %[[A:.*]] = halftone.transpose %[[T]] {permutation = array<i64: 1, 0, 2>}
// CHECK: %[[B:.*]] = halftone.contract %arg0, %arg2 {lhs_batch = array<i64: 2>, lhs_contract = array<i64: 0>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<2x3x5xf32>, tensor<5x2x7xf32>) -> tensor<5x3x7xf32>
// CHECK: return %[[A]], %[[B]]
func.func @main(%x: tensor<2x3x5xf32> {halftone.name = "x"}, %y: tensor<5x7xf32> {halftone.name = "y"},
                %z: tensor<5x2x7xf32> {halftone.name = "z"})
    -> (tensor<3x2x7xf32> {halftone.name = "a"}, tensor<5x3x7xf32> {halftone.name = "b"}) {
  %t = halftone.transpose %x {permutation = array<i64: 1, 0, 2>} : tensor<2x3x5xf32> to tensor<3x2x5xf32>
  %a = halftone.contract %t, %y {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<3x2x5xf32>, tensor<5x7xf32>) -> tensor<3x2x7xf32>
  %u = halftone.transpose %x {permutation = array<i64: 2, 0, 1>} : tensor<2x3x5xf32> to tensor<5x2x3xf32>
  %b = halftone.contract %u, %z {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}
      : (tensor<5x2x3xf32>, tensor<5x2x7xf32>) -> tensor<5x3x7xf32>
  return %a, %b : tensor<3x2x7xf32>, tensor<5x3x7xf32>
}

// -----

// `when`: results that are unused or independent of the condition go; a constant condition chooses a branch.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[P:.*]]: tensor<i1> {halftone.name = "p"}, %[[X:.*]]: tensor<4xf32> {halftone.name = "x"}
// CHECK-NEXT: %[[R:.*]] = halftone.when %[[P]] : (tensor<4xf32>) {
// CHECK-NEXT: halftone.exp
// CHECK-NEXT: halftone.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: halftone.yield %[[X]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[N:.*]] = halftone.neg %[[X]]
// CHECK-NEXT: return %[[R]], %[[X]], %[[N]]
func.func @main(%p: tensor<i1> {halftone.name = "p"}, %x: tensor<4xf32> {halftone.name = "x"})
    -> (tensor<4xf32> {halftone.name = "a"}, tensor<4xf32> {halftone.name = "b"}, tensor<4xf32> {halftone.name = "c"}) {
  %r:3 = halftone.when %p : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = halftone.sqrt %x : tensor<4xf32>
    %1 = halftone.exp %x : tensor<4xf32>
    halftone.yield %0, %1, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } else {
    halftone.yield %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  %true = halftone.constant dense<true> : tensor<i1>
  %n = halftone.when %true : (tensor<4xf32>) {
    %2 = halftone.neg %x : tensor<4xf32>
    halftone.yield %2 : tensor<4xf32>
  } else {
    halftone.yield %x : tensor<4xf32>
  }
  return %r#1, %r#2, %n : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Equal values become one, also one in a region and one before it; dead values go.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: halftone.tanh
// CHECK-NOT: halftone.tanh
// CHECK-NOT: halftone.log
// CHECK: return
func.func @main(%p: tensor<i1> {halftone.name = "p"}, %x: tensor<4xf32> {halftone.name = "x"})
    -> (tensor<4xf32> {halftone.name = "a"}, tensor<4xf32> {halftone.name = "b"}) {
  %a = halftone.tanh %x : tensor<4xf32>
  %b = halftone.when %p : (tensor<4xf32>) {
    %0 = halftone.tanh %x : tensor<4xf32>
    %1 = halftone.neg %0 : tensor<4xf32>
    halftone.yield %1 : tensor<4xf32>
  } else {
    %dead = halftone.log %x : tensor<4xf32>
    halftone.yield %x : tensor<4xf32>
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Values without elements are constants, and so are results of ops on them; reduce_all drops such operands.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[A:.*]] = halftone.constant dense<> : tensor<0x2xf32>
// CHECK-DAG: %[[LOW:.*]] = halftone.constant dense<0xFF800000> : tensor<2xf32>
// CHECK-DAG: %[[ONES:.*]] = halftone.constant dense<-1> : tensor<2xi8>
// CHECK-DAG: %[[SMALL:.*]] = halftone.constant dense<0> : tensor<2xui8>
// CHECK-DAG: %[[ZERO:.*]] = halftone.constant dense<0.000000e+00> : tensor<2x2xf32>
// CHECK-DAG: %[[ALL:.*]] = halftone.reduce_all max_abs(%arg0) : tensor<0x2xf32>
// CHECK-NOT: halftone.neg
// CHECK: return %[[A]], %[[LOW]], %[[ONES]], %[[SMALL]], %[[ZERO]], %[[ALL]], %arg3
func.func @main(%x: tensor<0x2xf32> {halftone.name = "x"}, %i: tensor<0x2xi8> {halftone.name = "i"}, %u: tensor<0x2xui8> {halftone.name = "u"}, %v: tensor<3x2xf32> {halftone.name = "v"}, %n: tensor<0xi32> {halftone.name = "n"})
    -> (tensor<0x2xf32> {halftone.name = "a"}, tensor<2xf32> {halftone.name = "b"}, tensor<2xi8> {halftone.name = "c"},
        tensor<2xui8> {halftone.name = "d"}, tensor<2x2xf32> {halftone.name = "e"}, tensor<f32> {halftone.name = "f"}, tensor<3x2xf32> {halftone.name = "g"}) {
  %a = halftone.neg %x : tensor<0x2xf32>
  %b = halftone.reduce max %a {axes = array<i64: 0>} : tensor<0x2xf32> -> tensor<2xf32>
  %c = halftone.reduce and %i {axes = array<i64: 0>} : tensor<0x2xi8> -> tensor<2xi8>
  %d = halftone.reduce max %u {axes = array<i64: 0>} : tensor<0x2xui8> -> tensor<2xui8>
  %e = halftone.contract %a, %x {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<0x2xf32>, tensor<0x2xf32>) -> tensor<2x2xf32>
  %f = halftone.reduce_all max_abs (%x) : tensor<0x2xf32>
  %g = halftone.scatter set %v, %n, %x {axis = 0 : i64} : (tensor<3x2xf32>, tensor<0xi32>, tensor<0x2xf32>) -> tensor<3x2xf32>
  return %a, %b, %c, %d, %e, %f, %g : tensor<0x2xf32>, tensor<2xf32>, tensor<2xi8>, tensor<2xui8>, tensor<2x2xf32>, tensor<f32>, tensor<3x2xf32>
}

// -----

// A transpose that moves only axes of extent 1 goes if the type stays the same.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0, %arg1
func.func @main(%x: tensor<1x1xf32> {halftone.name = "x"}, %y: tensor<1x4x1xf32> {halftone.name = "y"})
    -> (tensor<1x1xf32> {halftone.name = "a"}, tensor<1x4x1xf32> {halftone.name = "b"}) {
  %a = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<1x1xf32> to tensor<1x1xf32>
  %b = halftone.transpose %y {permutation = array<i64: 2, 1, 0>} : tensor<1x4x1xf32> to tensor<1x4x1xf32>
  return %a, %b : tensor<1x1xf32>, tensor<1x4x1xf32>
}
