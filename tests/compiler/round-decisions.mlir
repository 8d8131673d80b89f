// RUN: halftone-opt %s --split-input-file --halftone-round-decisions | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --check-passes --halftone-round-decisions --halftone-form-kernels --halftone-outline-kernels --halftone-order-launches --halftone-verify-stage=stage=kernel -o /dev/null

// The gradient's readers see the value that is_finite saw; so does the widening cast.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x4xf16>
func.func @main(%x: tensor<8x4xf16> {halftone.name = "x"}, %d: tensor<8x2xf16> {halftone.name = "d"})
    -> (tensor<4x2xf32> {halftone.name = "g"}, tensor<i1> {halftone.name = "ok"}) {
  // CHECK: %[[W:.*]] = halftone.contract
  %g = halftone.contract %x, %d {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<8x4xf16>, tensor<8x2xf16>) -> tensor<4x2xf16>
  // CHECK-NEXT: %[[G:.*]] = halftone.cast %[[W]] {origin = "decision"} : tensor<4x2xf16> to tensor<4x2xf16>
  // CHECK-NEXT: %[[V:.*]] = halftone.cast %[[G]] {origin = "gradient"}
  %v = halftone.cast %g {origin = "gradient"} : tensor<4x2xf16> to tensor<4x2xf32>
  // CHECK-NEXT: halftone.is_finite %[[V]]
  %f = halftone.is_finite %v : tensor<4x2xf32>
  %ok = halftone.reduce and %f {axes = array<i64: 0, 1>} : tensor<4x2xi1> -> tensor<i1>
  return %v, %ok : tensor<4x2xf32>, tensor<i1>
}

// -----
// Behind arithmetic in f32, and through ops that only move or choose values.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xbf16> {halftone.name = "x"}, %s: tensor<8xf32> {halftone.name = "s"})
    -> (tensor<8xf32> {halftone.name = "y"}, tensor<8xi1> {halftone.name = "p"}) {
  // CHECK: %[[M:.*]] = halftone.mul
  // CHECK-NEXT: %[[R:.*]] = halftone.cast %[[M]] {origin = "decision"} : tensor<8xbf16> to tensor<8xbf16>
  // CHECK-NEXT: halftone.neg %[[R]]
  %m = halftone.mul %x, %x : tensor<8xbf16>
  %n = halftone.neg %m : tensor<8xbf16>
  %w = halftone.cast %n : tensor<8xbf16> to tensor<8xf32>
  // CHECK: halftone.div
  // CHECK-NOT: halftone.cast
  %y = halftone.div %w, %s : tensor<8xf32>
  %p = halftone.compare lt %y, %s : tensor<8xf32>
  return %y, %p : tensor<8xf32>, tensor<8xi1>
}

// -----
// In the branches that make a value; and for an index or a step that is computed from one.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf16> {halftone.name = "x"}, %c: tensor<i1> {halftone.name = "c"})
    -> (tensor<8xi32> {halftone.name = "i"}, tensor<8xf16> {halftone.name = "f"}, tensor<i32> {halftone.name = "a"}) {
  // CHECK: halftone.when
  %w = halftone.when %c : (tensor<8xf16>) {
    // CHECK: %[[E:.*]] = halftone.exp
    // CHECK-NEXT: %[[R:.*]] = halftone.cast %[[E]] {origin = "decision"}
    // CHECK-NEXT: yield %[[R]]
    %e = halftone.exp %x : tensor<8xf16>
    halftone.yield %e : tensor<8xf16>
  } else {
    // CHECK: yield %arg0
    halftone.yield %x : tensor<8xf16>
  }
  // CHECK: halftone.cast %{{.*}} : tensor<8xf16> to tensor<8xi32>
  %i = halftone.cast %w : tensor<8xf16> to tensor<8xi32>
  // CHECK: %[[S:.*]] = halftone.sqrt
  // CHECK-NEXT: %[[SR:.*]] = halftone.cast %[[S]] {origin = "decision"}
  // CHECK-NEXT: halftone.floor %[[SR]]
  %s = halftone.sqrt %x : tensor<8xf16>
  %f = halftone.floor %s : tensor<8xf16>
  // CHECK: %[[A:.*]] = halftone.add
  // CHECK-NEXT: %[[AR:.*]] = halftone.cast %[[A]] {origin = "decision"}
  // CHECK-NEXT: halftone.arg_reduce max %[[AR]]
  %t = halftone.add %x, %x : tensor<8xf16>
  %a = halftone.arg_reduce max %t {axis = 0 : i64} : tensor<8xf16> -> tensor<i32>
  return %i, %f, %a : tensor<8xi32>, tensor<8xf16>, tensor<i32>
}

// -----
// No rounding: values from memory, values that are rounded already, and wide values.
// CHECK-LABEL: func.func @main
// CHECK-NOT: "decision"
func.func @main(%x: tensor<8xf16> {halftone.name = "x"}, %w: tensor<8xf32> {halftone.name = "w"})
    -> (tensor<8xi1> {halftone.name = "a"}, tensor<8xi1> {halftone.name = "b"}, tensor<8xi1> {halftone.name = "c"}, tensor<8xf16> {halftone.name = "d"}) {
  %0 = halftone.abs %x : tensor<8xf16>
  %a = halftone.is_finite %0 : tensor<8xf16>
  %1 = halftone.cast %w : tensor<8xf32> to tensor<8xf16>
  %b = halftone.compare gt %1, %x : tensor<8xf16>
  %2 = halftone.exp %w : tensor<8xf32>
  %c = halftone.is_finite %2 : tensor<8xf32>
  %d = halftone.exp %x : tensor<8xf16>
  return %a, %b, %c, %d : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xf16>
}
