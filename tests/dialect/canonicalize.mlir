// RUN: halftone-opt %s --canonicalize --split-input-file | FileCheck-22 %s

// Exact rewrites leave x itself, bit for bit.
// CHECK-LABEL: func.func @exact
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[P:.*]]: tensor<2x3xi1>
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[P]]
func.func @exact(%x: tensor<2x3xf32>, %p: tensor<2x3xi1>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi1>) {
  %one = halftone.constant dense<1.0> : tensor<2x3xf32>
  %0 = halftone.mul %x, %one : tensor<2x3xf32>
  %1 = halftone.neg %0 : tensor<2x3xf32>
  %2 = halftone.neg %1 : tensor<2x3xf32>
  %3 = halftone.select %p, %x, %x : tensor<2x3xf32>
  %4 = halftone.transpose %3 {permutation = array<i64: 1, 0>} : tensor<2x3xf32> to tensor<3x2xf32>
  %5 = halftone.transpose %4 {permutation = array<i64: 1, 0>} : tensor<3x2xf32> to tensor<2x3xf32>
  %6 = halftone.cast %p : tensor<2x3xi1> to tensor<2x3xi8>
  %7 = halftone.cast %6 : tensor<2x3xi8> to tensor<2x3xi1>
  return %2, %3, %5, %7 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi1>
}

// -----

// Rewrites that would change -0, NaN or a rounding stay away; so does an integer that loses bits on its way.
// CHECK-LABEL: func.func @inexact
// CHECK: halftone.add
// CHECK: halftone.mul
// CHECK-COUNT-4: halftone.cast
func.func @inexact(%x: tensor<4xf32>, %b: tensor<4xbf16>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xi32>) {
  %zero = halftone.constant dense<0.0> : tensor<4xf32>
  %0 = halftone.add %x, %zero : tensor<4xf32>
  %1 = halftone.mul %x, %zero : tensor<4xf32>
  %2 = halftone.cast %b : tensor<4xbf16> to tensor<4xf32>
  %3 = halftone.cast %2 : tensor<4xf32> to tensor<4xbf16>
  %4 = halftone.cast %i : tensor<4xi32> to tensor<4xi8>
  %5 = halftone.cast %4 : tensor<4xi8> to tensor<4xi32>
  return %0, %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xi32>
}

// -----

// Constants fold to the interpreter's bits: signed zeros, wrapping, unsigned shifts, comparisons with NaN.
// CHECK-LABEL: func.func @constants
// CHECK-DAG: halftone.constant dense<-0.000000e+00> : tensor<2xf32>
// CHECK-DAG: halftone.constant dense<-128> : tensor<2xi8>
// CHECK-DAG: halftone.constant dense<127> : tensor<ui8>
// CHECK-DAG: halftone.constant dense<[false, true]> : tensor<2xi1>
// CHECK-DAG: halftone.constant dense<{{\[\[}}1, 3], [2, 4]]> : tensor<2x2xi32>
// CHECK-DAG: halftone.constant dense<0.333333343> : tensor<f32>
// CHECK-DAG: halftone.constant dense<[5, 1]> : tensor<2xi64>
// CHECK-NEXT: return
func.func @constants() -> (tensor<2xf32>, tensor<2xi8>, tensor<ui8>, tensor<2xi1>, tensor<2x2xi32>, tensor<f32>, tensor<2xi64>) {
  %z = halftone.constant dense<0.0> : tensor<2xf32>
  %0 = halftone.neg %z : tensor<2xf32>
  %a = halftone.constant dense<127> : tensor<2xi8>
  %b = halftone.constant dense<1> : tensor<2xi8>
  %1 = halftone.add %a, %b : tensor<2xi8>
  %u = halftone.constant dense<255> : tensor<ui8>
  %s = halftone.constant dense<1> : tensor<ui8>
  %2 = halftone.shr %u, %s : tensor<ui8>
  %n = halftone.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %3 = halftone.compare ge %n, %n : tensor<2xf32>
  %m = halftone.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %4 = halftone.transpose %m {permutation = array<i64: 1, 0>} : tensor<2x2xi32> to tensor<2x2xi32>
  %c = halftone.constant dense<1.0> : tensor<f32>
  %d = halftone.constant dense<3.0> : tensor<f32>
  %5 = halftone.div %c, %d : tensor<f32>
  %w = halftone.constant dense<[5, 1]> : tensor<2xui8>
  %6 = halftone.cast %w : tensor<2xui8> to tensor<2xi64>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2xf32>, tensor<2xi8>, tensor<ui8>, tensor<2xi1>, tensor<2x2xi32>, tensor<f32>, tensor<2xi64>
}

// -----

// No constant: a product may be fused, exp is not exact, bf16 may stay wide, NaN has many bits, a float's cast is counted, the
// result is too large to be written out.
// CHECK-LABEL: func.func @computed
// CHECK: halftone.mul
// CHECK: halftone.exp
// CHECK: halftone.add {{.*}} : tensor<bf16>
// CHECK: halftone.div
// CHECK: halftone.cast
// CHECK: halftone.concat
func.func @computed() -> (tensor<f32>, tensor<f32>, tensor<bf16>, tensor<f32>, tensor<f16>, tensor<65xi8>) {
  %c = halftone.constant dense<3.0> : tensor<f32>
  %z = halftone.constant dense<0.0> : tensor<f32>
  %b = halftone.constant dense<3.0> : tensor<bf16>
  %0 = halftone.mul %c, %c : tensor<f32>
  %1 = halftone.exp %c : tensor<f32>
  %2 = halftone.add %b, %b : tensor<bf16>
  %3 = halftone.div %z, %z : tensor<f32>
  %4 = halftone.cast %c : tensor<f32> to tensor<f16>
  %i = halftone.constant dense<1> : tensor<64xi8>
  %j = halftone.constant dense<2> : tensor<1xi8>
  %5 = halftone.concat %i, %j {axis = 0 : i64} : tensor<64xi8>, tensor<1xi8> to tensor<65xi8>
  return %0, %1, %2, %3, %4, %5 : tensor<f32>, tensor<f32>, tensor<bf16>, tensor<f32>, tensor<f16>, tensor<65xi8>
}

// -----

// A `when` of a known condition is the region that runs; results that nobody uses or that do not depend go.
// CHECK-LABEL: func.func @whens
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = halftone.when %[[P]] : (tensor<4xf32>) {
// CHECK-NEXT: %[[N:.*]] = halftone.neg %[[X]]
// CHECK-NEXT: halftone.yield %[[N]] : tensor<4xf32>
// CHECK: halftone.yield %[[X]] : tensor<4xf32>
// CHECK: return %[[X]], %[[Y]], %[[X]]
func.func @whens(%p: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = halftone.constant dense<true> : tensor<i1>
  %0 = halftone.when %true : (tensor<4xf32>) {
    halftone.yield %x : tensor<4xf32>
  } else {
    %n = halftone.exp %x : tensor<4xf32>
    halftone.yield %n : tensor<4xf32>
  }
  %1:3 = halftone.when %p : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %n = halftone.neg %x : tensor<4xf32>
    %e = halftone.exp %x : tensor<4xf32>
    halftone.yield %n, %e, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } else {
    halftone.yield %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0, %1#0, %1#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A layer, a gradient or a `when` that nobody uses goes, also one that reads a variable; one that assigns stays.
// CHECK-LABEL: func.func @dead
// CHECK-NOT: halftone.gradient
// CHECK-NOT: "net/unused"
// CHECK: halftone.layer "net/counts"
// CHECK-NOT: halftone.layer
halftone.variable @w : tensor<4xf32>
func.func @dead(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = halftone.layer "net/unused" policy "float32" (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %w = halftone.read @w : tensor<4xf32>
    %y = halftone.mul %a, %w : tensor<4xf32>
    halftone.yield %y : tensor<4xf32>
  }
  %l = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %g = halftone.gradient %l of [@w] : tensor<f32> -> tensor<4xf32>
  %1 = halftone.layer "net/counts" policy "float32" (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    halftone.assign @w, %a : tensor<4xf32>
    halftone.yield %a : tensor<4xf32>
  }
  return %x : tensor<4xf32>
}

// -----

// A contraction reads transposed operands itself. Free axes that change places are transposed in the result; the
// transpose of an operand stays if another axis of the result were innermost without it.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>, %[[W:.*]]: tensor<4x5x6xf32>
// CHECK-NEXT: %[[P:.*]] = halftone.contract %[[X]], %[[W]] {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<4x5x6xf32>) -> tensor<2x3x5x6xf32>
// CHECK-NEXT: %[[R:.*]] = halftone.transpose %[[P]] {permutation = array<i64: 1, 0, 2, 3>} : tensor<2x3x5x6xf32> to tensor<3x2x5x6xf32>
// CHECK-NEXT: %[[T:.*]] = halftone.transpose %[[W]] {permutation = array<i64: 2, 0, 1>}
// CHECK-NEXT: %[[Q:.*]] = halftone.contract %[[X]], %[[T]] {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>}
// CHECK-NEXT: return %[[R]], %[[Q]]
func.func @transposed(%x: tensor<2x3x4xf32>, %w: tensor<4x5x6xf32>) -> (tensor<3x2x5x6xf32>, tensor<2x3x6x5xf32>) {
  %0 = halftone.transpose %x {permutation = array<i64: 1, 2, 0>} : tensor<2x3x4xf32> to tensor<3x4x2xf32>
  %1 = halftone.contract %0, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x4x2xf32>, tensor<4x5x6xf32>) -> tensor<3x2x5x6xf32>
  %2 = halftone.transpose %w {permutation = array<i64: 2, 0, 1>} : tensor<4x5x6xf32> to tensor<6x4x5xf32>
  %3 = halftone.contract %x, %2 {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<6x4x5xf32>) -> tensor<2x3x6x5xf32>
  return %1, %3 : tensor<3x2x5x6xf32>, tensor<2x3x6x5xf32>
}

// -----

// A batch axis that only a broadcast gives to an operand is a free axis of the other operand. So is one of several; the
// other axes of the broadcast stay. Nothing changes where both operands are broadcast, or where the free axis would be
// innermost.
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: %[[X:.*]]: tensor<7x2x4xf32>, %[[W:.*]]: tensor<4x5xf32>, %[[V:.*]]: tensor<4xf32>
// CHECK: %[[A:.*]] = halftone.contract %[[X]], %[[W]] {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<7x2x4xf32>, tensor<4x5xf32>) -> tensor<7x2x5xf32>
// CHECK: %[[P:.*]] = halftone.contract %[[W]], %[[X]] {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 2>} : (tensor<4x5xf32>, tensor<7x2x4xf32>) -> tensor<5x7x2xf32>
// CHECK: %[[B:.*]] = halftone.transpose %[[P]] {permutation = array<i64: 1, 0, 2>} : tensor<5x7x2xf32> to tensor<7x5x2xf32>
// CHECK: %[[VB:.*]] = halftone.broadcast %[[V]] {axes = array<i64: 0>} : tensor<4xf32> to tensor<4x5xf32>
// CHECK: %[[C:.*]] = halftone.contract %[[X]], %[[VB]] {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<7x2x4xf32>, tensor<4x5xf32>) -> tensor<7x2x5xf32>
// CHECK: halftone.contract %{{.*}}, %{{.*}} {lhs_batch = array<i64: 0>
// CHECK: halftone.contract %{{.*}}, %{{.*}} {lhs_batch = array<i64: 0>
func.func @broadcast(%x: tensor<7x2x4xf32>, %w: tensor<4x5xf32>, %v: tensor<4xf32>)
    -> (tensor<7x2x5xf32>, tensor<7x5x2xf32>, tensor<7x2x5xf32>, tensor<7x5x5xf32>, tensor<7x5xf32>) {
  %0 = halftone.broadcast %w {axes = array<i64: 1, 2>} : tensor<4x5xf32> to tensor<7x4x5xf32>
  %1 = halftone.contract %x, %0 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<7x2x4xf32>, tensor<7x4x5xf32>) -> tensor<7x2x5xf32>
  %2 = halftone.contract %0, %x {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 2>} : (tensor<7x4x5xf32>, tensor<7x2x4xf32>) -> tensor<7x5x2xf32>
  %3 = halftone.broadcast %v {axes = array<i64: 1>} : tensor<4xf32> to tensor<7x4x5xf32>
  %4 = halftone.contract %x, %3 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<7x2x4xf32>, tensor<7x4x5xf32>) -> tensor<7x2x5xf32>
  %5 = halftone.contract %0, %0 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<7x4x5xf32>, tensor<7x4x5xf32>) -> tensor<7x5x5xf32>
  %7 = halftone.slice %x {start = array<i64: 0, 0, 0>} : tensor<7x2x4xf32> to tensor<7x1x4xf32>
  %8 = halftone.reshape %7 : tensor<7x1x4xf32> to tensor<7x4xf32>
  %9 = halftone.contract %0, %8 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<7x4x5xf32>, tensor<7x4xf32>) -> tensor<7x5xf32>
  return %1, %2, %4, %5, %9 : tensor<7x2x5xf32>, tensor<7x5x2xf32>, tensor<7x2x5xf32>, tensor<7x5x5xf32>, tensor<7x5xf32>
}
