// RUN: halftone-opt %s --split-input-file --halftone-normalize --halftone-choose-layouts --halftone-round-decisions --halftone-form-kernels --halftone-outline-kernels --halftone-verify-stage=stage=kernel | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --halftone-normalize --halftone-choose-layouts --halftone-form-kernels=strict --halftone-outline-kernels --halftone-verify-stage=stage=kernel | FileCheck-22 %s --check-prefix=STRICT

// Dense: casts before, bias, activation and the layer's rounding after; the activation's mask is a second result.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul @[[K:matmul_[0-9a-f]+]] (tensor<8x4xf32>, tensor<4x2xf32>, tensor<2xf32>) -> (tensor<8x2xf16>, tensor<8x2xi1>) attributes {spec = #halftone.blocks<tile = [8, 64]>}
// CHECK: halftone.contract
// CHECK-SAME: {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
// CHECK: halftone.broadcast
// CHECK: halftone.add
// CHECK: halftone.yield
// CHECK-NOT: halftone.kernel
// CHECK: func.func @main
// CHECK-NEXT: launch @[[K]]
// CHECK-NEXT: return
// STRICT-LABEL: module
// STRICT-COUNT-8: halftone.launch
// STRICT-NOT: halftone.launch
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"}, %w: tensor<4x2xf32> {halftone.name = "w"}, %b: tensor<2xf32> {halftone.name = "b"})
    -> (tensor<8x2xf16> {halftone.name = "y"}, tensor<8x2xi1> {halftone.name = "m"}) {
  %z = halftone.constant dense<0.0> : tensor<8x2xf16>
  %xc = halftone.cast %x : tensor<8x4xf32> to tensor<8x4xf16>
  %wc = halftone.cast %w : tensor<4x2xf32> to tensor<4x2xf16>
  %bc = halftone.cast %b : tensor<2xf32> to tensor<2xf16>
  %c = halftone.contract %xc, %wc {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf16>, tensor<4x2xf16>) -> tensor<8x2xf16>
  %bb = halftone.broadcast %bc {axes = array<i64: 1>} : tensor<2xf16> to tensor<8x2xf16>
  %a = halftone.add %c, %bb : tensor<8x2xf16>
  %r = halftone.maximum %a, %z : tensor<8x2xf16>
  %y = halftone.cast %r : tensor<8x2xf16> to tensor<8x2xf16>
  %m = halftone.compare gt %a, %z : tensor<8x2xf16>
  return %y, %m : tensor<8x2xf16>, tensor<8x2xi1>
}

// -----

// Softmax is one row kernel.
// CHECK-LABEL: module
// CHECK: halftone.kernel row @[[K:row_[0-9a-f]+]] (tensor<8x10xf16>) -> tensor<8x10xf16>
// CHECK-NOT: halftone.kernel
// CHECK: func.func @main
// CHECK-NEXT: launch @[[K]](%arg0)
// STRICT-LABEL: module
// STRICT-COUNT-7: halftone.launch
// STRICT-NOT: halftone.launch
func.func @main(%x: tensor<8x10xf16> {halftone.name = "x"}) -> (tensor<8x10xf16> {halftone.name = "y"}) {
  %f = halftone.cast %x : tensor<8x10xf16> to tensor<8x10xf32>
  %m = halftone.reduce max %f {axes = array<i64: 1>} : tensor<8x10xf32> -> tensor<8xf32>
  %mb = halftone.broadcast %m {axes = array<i64: 0>} : tensor<8xf32> to tensor<8x10xf32>
  %s = halftone.sub %f, %mb : tensor<8x10xf32>
  %e = halftone.exp %s : tensor<8x10xf32>
  %t = halftone.reduce sum %e {axes = array<i64: 1>} : tensor<8x10xf32> -> tensor<8xf32>
  %tb = halftone.broadcast %t {axes = array<i64: 0>} : tensor<8xf32> to tensor<8x10xf32>
  %d = halftone.div %e, %tb : tensor<8x10xf32>
  %y = halftone.cast %d : tensor<8x10xf32> to tensor<8x10xf16>
  return %y : tensor<8x10xf16>
}

// -----

// A bias gradient begins in the matmul that makes its operand; a reduction loop finishes it and takes in the ops after
// it.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul {{.*}} -> (tensor<200x64xf16>, tensor<2x64xf32>) attributes {spec = #halftone.blocks<tile = [100, 64]>}
// CHECK: %[[G:.*]] = halftone.select
// CHECK: halftone.partial_reduce sum %[[G]] {axes = array<i64: 0>, tile = array<i64: 100>} : tensor<200x64xf16> -> tensor<2x64xf32>
// CHECK: halftone.kernel reduction_loop {{.*}} (tensor<2x64xf32>) -> tensor<64xf32>
// CHECK: halftone.reduce sum {{.*}} : tensor<2x64xf32> -> tensor<64xf32>
// CHECK: halftone.cast {{.*}} : tensor<64xf32> to tensor<64xf16>
// CHECK: halftone.cast {{.*}} : tensor<64xf16> to tensor<64xf32>
// CHECK-NOT: halftone.kernel
// STRICT-LABEL: module
// STRICT-NOT: partial_reduce
func.func @main(%x: tensor<200x8xf16> {halftone.name = "x"}, %w: tensor<8x64xf16> {halftone.name = "w"}, %m: tensor<200x64xi1> {halftone.name = "m"})
    -> (tensor<200x64xf16> {halftone.name = "y"}, tensor<64xf32> {halftone.name = "b"}) {
  %z = halftone.constant dense<0.0> : tensor<200x64xf16>
  %c = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<200x8xf16>, tensor<8x64xf16>) -> tensor<200x64xf16>
  %g = halftone.select %m, %c, %z : tensor<200x64xf16>
  %s = halftone.reduce sum %g {axes = array<i64: 0>} : tensor<200x64xf16> -> tensor<64xf16>
  %b = halftone.cast %s : tensor<64xf16> to tensor<64xf32>
  return %g, %b : tensor<200x64xf16>, tensor<64xf32>
}

// -----

// The update of one variable under `when` is one loop kernel with three results. The scalar before it stays apart, and
// ops outside
// of `when` stay outside.
// CHECK-LABEL: module
// CHECK-COUNT-1: halftone.kernel loop {{.*}} -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: func.func @main
// CHECK-NEXT: %[[S:.*]] = halftone.launch @loop_{{.*}}(%arg5) {{.*}} -> tensor<f32>
// CHECK-NEXT: halftone.when
// CHECK-NEXT: halftone.launch @loop_{{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK-NEXT: halftone.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: halftone.yield
// STRICT-LABEL: module
// STRICT: halftone.when
// STRICT-COUNT-7: halftone.launch
// STRICT: } else {
func.func @main(%g: tensor<64x64xf32> {halftone.name = "g"}, %m: tensor<64x64xf32> {halftone.name = "m"}, %v: tensor<64x64xf32> {halftone.name = "v"},
                %w: tensor<64x64xf32> {halftone.name = "w"}, %p: tensor<i1> {halftone.name = "p"}, %lr: tensor<f32> {halftone.name = "lr"})
    -> (tensor<64x64xf32> {halftone.name = "m1"}, tensor<64x64xf32> {halftone.name = "v1"}, tensor<64x64xf32> {halftone.name = "w1"}) {
  %s = halftone.exp %lr : tensor<f32>
  %r:3 = halftone.when %p : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %m1 = halftone.add %m, %g : tensor<64x64xf32>
    %g2 = halftone.mul %g, %g : tensor<64x64xf32>
    %v1 = halftone.add %v, %g2 : tensor<64x64xf32>
    %q = halftone.sqrt %v1 : tensor<64x64xf32>
    %u = halftone.div %m1, %q : tensor<64x64xf32>
    %sb = halftone.broadcast %s {axes = array<i64>} : tensor<f32> to tensor<64x64xf32>
    %d = halftone.mul %u, %sb : tensor<64x64xf32>
    %w1 = halftone.sub %w, %d : tensor<64x64xf32>
    halftone.yield %m1, %v1, %w1 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  } else {
    halftone.yield %m, %v, %w : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// A gradient waits for its update in the narrow dtype in which it was computed; its check and the update widen it.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul {{.*}} -> (tensor<64x64xf16>, tensor<1x1xi1>)
// CHECK: func.func @main
// CHECK: halftone.when
// CHECK-NEXT: halftone.launch @loop_{{.*}} : (tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
// STRICT-LABEL: module
// STRICT: halftone.when
// STRICT-NEXT: halftone.launch @loop_{{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
func.func @main(%x: tensor<8x64xf16> {halftone.name = "x"}, %d: tensor<8x64xf16> {halftone.name = "d"}, %w: tensor<64x64xf32> {halftone.name = "w"})
    -> (tensor<64x64xf32> {halftone.name = "w1"}) {
  %g = halftone.contract %x, %d {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<8x64xf16>, tensor<8x64xf16>) -> tensor<64x64xf16>
  %gf = halftone.cast %g {origin = "gradient of variable read"} : tensor<64x64xf16> to tensor<64x64xf32>
  %p = halftone.reduce_all all_finite (%gf) : tensor<64x64xf32>
  %r = halftone.when %p : (tensor<64x64xf32>) {
    %w1 = halftone.sub %w, %gf : tensor<64x64xf32>
    halftone.yield %w1 : tensor<64x64xf32>
  } else {
    halftone.yield %w : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// -----

// Many elements to one scalar: blocks, then one row with the scalar work after it. Constants that are fetched stay.
// CHECK-LABEL: module
// CHECK: halftone.kernel loop {{.*}} (tensor<400x300xf32>) -> tensor<15x1xf32> attributes {spec = #halftone.blocks<rows = 28>}
// CHECK: halftone.partial_reduce sum {{.*}} {axes = array<i64: 0, 1>, tile = array<i64: 28, 300>}
// CHECK: halftone.kernel row {{.*}} (tensor<15x1xf32>) -> tensor<f32>
// CHECK: halftone.sqrt
// CHECK: func.func @main
// CHECK: halftone.constant dense<[1.0{{.*}}, 2.0{{.*}}]> : tensor<2xf32>
// STRICT-LABEL: module
// STRICT: halftone.kernel row {{.*}} (tensor<400x300xf32>) -> tensor<f32>
func.func @main(%x: tensor<400x300xf32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "n"}, tensor<2xf32> {halftone.name = "c"}) {
  %c = halftone.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = halftone.reduce_all sum_of_squares (%x) : tensor<400x300xf32>
  %n = halftone.sqrt %s : tensor<f32>
  return %n, %c : tensor<f32>, tensor<2xf32>
}

// -----

// A kernel takes the key of its random bits from memory, also when the key is computed.
// CHECK-LABEL: module
// CHECK: halftone.kernel loop @{{loop_[0-9a-f]+}} (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
// CHECK: halftone.add
// CHECK: halftone.kernel loop @{{loop_[0-9a-f]+}} (tensor<2xui32>) -> tensor<2xui32>
// CHECK-NOT: halftone.add
// CHECK: halftone.random_bits
// CHECK: func.func @main
// CHECK-COUNT-2: halftone.launch
// STRICT-LABEL: module
// STRICT-COUNT-2: halftone.launch
func.func @main(%k: tensor<2xui32> {halftone.name = "k"}) -> (tensor<2xui32> {halftone.name = "y"}) {
  %one = halftone.constant dense<[0, 1]> : tensor<2xui32>
  %next = halftone.add %k, %one : tensor<2xui32>
  %y = halftone.random_bits %next : tensor<2xui32> -> tensor<2xui32>
  return %y : tensor<2xui32>
}

// -----

// The norm of two gradients, a flag of both and the scalars after them are one kernel; so is an unrelated scalar.
// CHECK-LABEL: module
// CHECK: halftone.kernel finish @[[K:finish_[0-9a-f]+]] ({{.*}}tensor<
// CHECK-NOT: halftone.kernel
// CHECK: func.func @main
// CHECK-NEXT: %{{.*}}:3 = halftone.launch @[[K]]
// CHECK-NEXT: return
// STRICT-LABEL: module
// STRICT: halftone.launch
func.func @main(%a: tensor<8x4xf32> {halftone.name = "a"}, %b: tensor<6xf32> {halftone.name = "b"}, %n: tensor<i32> {halftone.name = "n"})
    -> (tensor<f32> {halftone.name = "norm"}, tensor<i1> {halftone.name = "ok"}, tensor<i32> {halftone.name = "next"}) {
  %s = halftone.reduce_all sum_of_squares (%a, %b) : tensor<8x4xf32>, tensor<6xf32>
  %ok = halftone.reduce_all all_finite (%a, %b) : tensor<8x4xf32>, tensor<6xf32>
  %norm = halftone.sqrt %s : tensor<f32>
  %one = halftone.constant dense<1> : tensor<i32>
  %next = halftone.add %n, %one : tensor<i32>
  return %norm, %ok, %next : tensor<f32>, tensor<i1>, tensor<i32>
}

// -----

// A lookup takes in the work after it. It reads its table from memory, and that work may read the table too. A sum at
// indices
// is a kernel of its own, with casts before it.
// CHECK-LABEL: module
// CHECK: halftone.kernel loop @[[T:loop_[0-9a-f]+]] (tensor<6x4xf32>, tensor<6xi32>, tensor<6x4xf32>) -> tensor<6x4xf16>
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<6x4xf32>, %[[I:.*]]: tensor<6xi32>, %[[B:.*]]: tensor<6x4xf32>):
// CHECK-NEXT: halftone.gather %[[A]], %[[I]]
// CHECK-NEXT: halftone.add %{{.*}}, %[[B]]
// CHECK-NEXT: halftone.cast
// CHECK: halftone.kernel scatter @[[S:scatter_[0-9a-f]+]] (tensor<6x4xf16>, tensor<6xi32>) -> tensor<9x4xf32>
// CHECK-COUNT-2: halftone.cast
// CHECK-NEXT: halftone.scatter_add
// CHECK: halftone.kernel loop @[[N:loop_[0-9a-f]+]]
// CHECK: halftone.cast {{.*}} to tensor<9x4xf16>
// CHECK: func.func @main
// CHECK: launch @[[T]](%arg0, %arg1, %arg0)
// CHECK: launch @[[S]](%arg2, %arg1)
// CHECK: launch @[[N]]
// STRICT-LABEL: module
// STRICT-COUNT-7: halftone.launch
// STRICT-NOT: halftone.launch
func.func @main(%t: tensor<6x4xf32> {halftone.name = "t"}, %i: tensor<6xi32> {halftone.name = "i"}, %g: tensor<6x4xf16> {halftone.name = "g"})
    -> (tensor<6x4xf16> {halftone.name = "y"}, tensor<9x4xf16> {halftone.name = "d"}) {
  %0 = halftone.gather %t, %i {axis = 0 : i64} : (tensor<6x4xf32>, tensor<6xi32>) -> tensor<6x4xf32>
  %1 = halftone.add %0, %t : tensor<6x4xf32>
  %y = halftone.cast %1 : tensor<6x4xf32> to tensor<6x4xf16>
  %f = halftone.cast %g : tensor<6x4xf16> to tensor<6x4xf32>
  %n = halftone.cast %f : tensor<6x4xf32> to tensor<6x4xf16>
  %d = halftone.scatter_add %i, %n {axis = 0 : i64} : (tensor<6xi32>, tensor<6x4xf16>) -> tensor<9x4xf16>
  return %y, %d : tensor<6x4xf16>, tensor<9x4xf16>
}

// -----

// Elementwise work joins the scan that reads it; work on the sums is a kernel of its own.
// CHECK-LABEL: module
// CHECK: halftone.kernel cumulative @[[S:cumulative_[0-9a-f]+]] (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
// CHECK-COUNT-2: halftone.add
// CHECK-NEXT: halftone.cumsum
// CHECK: halftone.kernel loop @[[N:loop_[0-9a-f]+]]
// CHECK: halftone.tanh
// CHECK: func.func @main
// CHECK: launch @[[S]]
// CHECK: launch @[[N]]
// STRICT-LABEL: module
// STRICT-COUNT-4: halftone.launch
// STRICT-NOT: halftone.launch
func.func @main(%a: tensor<6x4xf32> {halftone.name = "a"}, %b: tensor<6x4xf32> {halftone.name = "b"}, %c: tensor<6x4xf32> {halftone.name = "c"})
    -> (tensor<6x4xf32> {halftone.name = "y"}) {
  %0 = halftone.add %a, %b : tensor<6x4xf32>
  %1 = halftone.add %0, %c : tensor<6x4xf32>
  %2 = halftone.cumsum %1 {axis = 1 : i64} : tensor<6x4xf32> -> tensor<6x4xf32>
  %y = halftone.tanh %2 : tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// -----

// A sort is a kernel by itself, with a cheap chain in front; a result that nobody reads is not stored.
// CHECK-LABEL: module
// CHECK: halftone.kernel sort @[[S:sort_[0-9a-f]+]] (tensor<6x40xf16>) -> tensor<6x3xi32>
// CHECK-NEXT: ^bb0
// CHECK-NEXT: halftone.neg
// CHECK-NEXT: halftone.sort
// CHECK: func.func @main
// CHECK: launch @[[S]]
// STRICT-LABEL: module
// STRICT-COUNT-3: halftone.launch
// STRICT-NOT: halftone.launch
func.func @main(%a: tensor<6x40xf16> {halftone.name = "a"}) -> (tensor<6x3xi32> {halftone.name = "y"}) {
  %0 = halftone.neg %a : tensor<6x40xf16>
  %v, %i = halftone.sort %0 {axis = 1 : i64} : tensor<6x40xf16> -> tensor<6x3xf16>, tensor<6x3xi32>
  %y = halftone.neg %i : tensor<6x3xi32>
  return %y : tensor<6x3xi32>
}

// -----

// Padding is a concatenation with a constant, which is not stored; two slices of equal extents are one kernel.
// CHECK-LABEL: module
// CHECK: halftone.kernel loop @[[P:loop_[0-9a-f]+]] (tensor<8x4xf32>) -> tensor<8x10xf32>
// CHECK: halftone.constant
// CHECK: halftone.concat
// CHECK: halftone.tanh
// CHECK: halftone.kernel loop @[[S:loop_[0-9a-f]+]] (tensor<2048x4xf32>) -> (tensor<2048x2xf32>, tensor<2048x2xf32>)
// CHECK: func.func @main
// CHECK-COUNT-2: halftone.launch
// CHECK-NOT: halftone.launch
// STRICT-LABEL: module
// STRICT-COUNT-4: halftone.launch
// STRICT-NOT: halftone.launch
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"}, %w: tensor<2048x4xf32> {halftone.name = "w"})
    -> (tensor<8x10xf32> {halftone.name = "p"}, tensor<2048x2xf32> {halftone.name = "a"}, tensor<2048x2xf32> {halftone.name = "b"}) {
  %z = halftone.constant dense<0.0> : tensor<8x3xf32>
  %c = halftone.concat %z, %x, %z {axis = 1 : i64} : tensor<8x3xf32>, tensor<8x4xf32>, tensor<8x3xf32> to tensor<8x10xf32>
  %p = halftone.tanh %c : tensor<8x10xf32>
  %a = halftone.slice %w {start = array<i64: 0, 0>} : tensor<2048x4xf32> to tensor<2048x2xf32>
  %b = halftone.slice %w {start = array<i64: 0, 2>} : tensor<2048x4xf32> to tensor<2048x2xf32>
  return %p, %a, %b : tensor<8x10xf32>, tensor<2048x2xf32>, tensor<2048x2xf32>
}

// -----

// A sum over rows that a row kernel reads anyway is a partial reduction there; the ops after it still come after it.
// CHECK-LABEL: module
// CHECK: halftone.kernel row {{.*}} (tensor<200x64xf16>) -> (tensor<2x64xf32>, tensor<200x64xf16>)
// CHECK: halftone.partial_reduce sum {{.*}} {axes = array<i64: 0>, tile = array<i64: 128>} : tensor<200x64xf16> -> tensor<2x64xf32>
// CHECK: halftone.kernel reduction_loop {{.*}} (tensor<2x64xf32>, tensor<64xf16>) -> tensor<64xf16>
// CHECK: halftone.reduce sum {{.*}} {axes = array<i64: 0>} : tensor<2x64xf32> -> tensor<64xf32>
// CHECK-NEXT: halftone.cast
// CHECK-NEXT: halftone.mul
// CHECK: func.func @main
// CHECK-COUNT-2: halftone.launch
// CHECK-NOT: halftone.launch
// STRICT-LABEL: module
// STRICT-NOT: partial_reduce
func.func @main(%x: tensor<200x64xf16> {halftone.name = "x"}, %scale: tensor<64xf16> {halftone.name = "scale"})
    -> (tensor<200x64xf16> {halftone.name = "y"}, tensor<64xf16> {halftone.name = "s"}) {
  %sum = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<200x64xf16> -> tensor<64xf16>
  %scaled = halftone.mul %sum, %scale : tensor<64xf16>
  %m = halftone.reduce max %x {axes = array<i64: 1>} : tensor<200x64xf16> -> tensor<200xf16>
  %b = halftone.broadcast %m {axes = array<i64: 0>} : tensor<200xf16> to tensor<200x64xf16>
  %y = halftone.sub %x, %b : tensor<200x64xf16>
  return %y, %scaled : tensor<200x64xf16>, tensor<64xf16>
}

// -----

// Other kernels that read the sum still come after it.
// CHECK-LABEL: module
// CHECK: func.func @main
// CHECK: %[[FIRST:.*]]:2 = halftone.launch @loop_
// CHECK: %[[SUM:.*]] = halftone.launch @reduction_loop_{{.*}}(%[[FIRST]]#
// CHECK: halftone.launch @row_{{.*}}(%[[SUM]])
// STRICT-LABEL: module
// STRICT-NOT: partial_reduce
func.func @main(%x: tensor<200x64xf32> {halftone.name = "x"}, %z: tensor<200x64xf32> {halftone.name = "z"})
    -> (tensor<64xf32> {halftone.name = "s"}, tensor<200x64xf32> {halftone.name = "y"}) {
  %y = halftone.minimum %x, %z : tensor<200x64xf32>
  %sum = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<200x64xf32> -> tensor<64xf32>
  %whole = halftone.reduce sum %sum {axes = array<i64: 0>} : tensor<64xf32> -> tensor<f32>
  %b = halftone.broadcast %whole {axes = array<i64>} : tensor<f32> to tensor<64xf32>
  %s = halftone.sub %sum, %b : tensor<64xf32>
  return %s, %y : tensor<64xf32>, tensor<200x64xf32>
}

// -----

// An op that waits for the sum does not join the kernel that makes it, though that kernel comes after other readers.
// CHECK-LABEL: module
// CHECK: func.func @main
// CHECK: %[[FIRST:.*]]:2 = halftone.launch @loop_{{.*}}(%arg0, %arg1)
// CHECK: %[[SUM:.*]] = halftone.launch @reduction_loop_{{.*}}(%[[FIRST]]#
// CHECK: %[[S:.*]] = halftone.launch @row_{{.*}}(%[[SUM]])
// CHECK: halftone.launch @loop_{{.*}}(%[[S]], %arg0)
// STRICT-LABEL: module
// STRICT-NOT: partial_reduce
func.func @main(%x: tensor<200x64xf32> {halftone.name = "x"}, %z: tensor<200x64xf32> {halftone.name = "z"})
    -> (tensor<64xf32> {halftone.name = "s"}, tensor<200x64xf32> {halftone.name = "y"}, tensor<200x64xf32> {halftone.name = "w"}) {
  %sum = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<200x64xf32> -> tensor<64xf32>
  %whole = halftone.reduce sum %sum {axes = array<i64: 0>} : tensor<64xf32> -> tensor<f32>
  %b = halftone.broadcast %whole {axes = array<i64>} : tensor<f32> to tensor<64xf32>
  %s = halftone.sub %sum, %b : tensor<64xf32>
  %y = halftone.minimum %x, %z : tensor<200x64xf32>
  %bb = halftone.broadcast %s {axes = array<i64: 1>} : tensor<64xf32> to tensor<200x64xf32>
  %w = halftone.mul %x, %bb : tensor<200x64xf32>
  return %s, %y, %w : tensor<64xf32>, tensor<200x64xf32>, tensor<200x64xf32>
}

// -----

// No partial reduction if the reader waits for the sum.
// CHECK-LABEL: module
// CHECK: halftone.reduce sum {{.*}} {axes = array<i64: 0>} : tensor<200x64xf32> -> tensor<64xf32>
// CHECK-NOT: halftone.partial_reduce
// STRICT-LABEL: module
// STRICT-NOT: partial_reduce
func.func @main(%x: tensor<200x64xf32> {halftone.name = "x"}) -> (tensor<200x64xf32> {halftone.name = "y"}) {
  %sum = halftone.reduce sum %x {axes = array<i64: 0>} : tensor<200x64xf32> -> tensor<64xf32>
  %b = halftone.broadcast %sum {axes = array<i64: 1>} : tensor<64xf32> to tensor<200x64xf32>
  %y = halftone.sub %x, %b : tensor<200x64xf32>
  return %y : tensor<200x64xf32>
}

// -----

// A projection to heads, stored by heads, with bias and mask: one kernel, which stores both transposed. A transpose that
// makes another axis innermost is a loop.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul @[[K:matmul_[0-9a-f]+]] ({{.*}}) -> (tensor<2x5x3x6xf32>, tensor<2x5x3x6xi1>)
// CHECK: halftone.kernel matmul @[[N:matmul_[0-9a-f]+]] ({{.*}}) -> tensor<2x3x6xf32>
// CHECK: halftone.kernel loop @[[L:loop_[0-9a-f]+]] ({{.*}}) -> tensor<2x6x3xf32>
// CHECK-NOT: halftone.kernel
// CHECK: func.func @main
// CHECK: halftone.launch @[[K]]
// CHECK: halftone.launch @[[N]]
// CHECK: halftone.launch @[[L]]
// CHECK-NOT: halftone.launch
// CHECK: return
// STRICT-LABEL: module
// STRICT-COUNT-7: halftone.launch
// STRICT-NOT: halftone.launch
func.func @main(%x: tensor<2x3x4xf32> {halftone.name = "x"}, %w: tensor<4x5x6xf32> {halftone.name = "w"}, %b: tensor<6xf32> {halftone.name = "b"}, %v: tensor<4x6xf32> {halftone.name = "v"})
    -> (tensor<2x5x3x6xf32> {halftone.name = "y"}, tensor<2x5x3x6xi1> {halftone.name = "m"}, tensor<2x6x3xf32> {halftone.name = "z"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<4x5x6xf32>) -> tensor<2x3x5x6xf32>
  %1 = halftone.transpose %0 {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x3x5x6xf32> to tensor<2x5x3x6xf32>
  %2 = halftone.broadcast %b {axes = array<i64: 3>} : tensor<6xf32> to tensor<2x5x3x6xf32>
  %3 = halftone.add %1, %2 : tensor<2x5x3x6xf32>
  %zero = halftone.constant dense<0.0> : tensor<2x5x3x6xf32>
  %4 = halftone.compare gt %3, %zero : tensor<2x5x3x6xf32>
  %5 = halftone.contract %x, %v {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<4x6xf32>) -> tensor<2x3x6xf32>
  %6 = halftone.transpose %5 {permutation = array<i64: 0, 2, 1>} : tensor<2x3x6xf32> to tensor<2x6x3xf32>
  return %3, %4, %6 : tensor<2x5x3x6xf32>, tensor<2x5x3x6xi1>, tensor<2x6x3xf32>
}

// -----

// Attention over heads that lie apart in memory: two products and the softmax between them. No kernel copies.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul @[[A:matmul_[0-9a-f]+]] (tensor<2x3x4x5xf16>, tensor<2x6x4x5xf16>) -> tensor<2x4x3x6xf16>
// CHECK: halftone.kernel row
// CHECK: halftone.kernel matmul @[[B:matmul_[0-9a-f]+]] (tensor<2x4x3x6xf16>, tensor<2x6x4x5xf16>) -> tensor<2x3x4x5xf16>
// CHECK-NOT: halftone.kernel
// CHECK: func.func @main
// CHECK-COUNT-3: halftone.launch
// CHECK-NOT: halftone.launch
// STRICT-LABEL: module
func.func @main(%q: tensor<2x3x4x5xf16> {halftone.name = "q"}, %k: tensor<2x6x4x5xf16> {halftone.name = "k"}, %v: tensor<2x6x4x5xf16> {halftone.name = "v"})
    -> (tensor<2x3x4x5xf16> {halftone.name = "y"}) {
  %0 = halftone.contract %q, %k {lhs_batch = array<i64: 0, 2>, rhs_batch = array<i64: 0, 2>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>}
      : (tensor<2x3x4x5xf16>, tensor<2x6x4x5xf16>) -> tensor<2x4x3x6xf16>
  %m = halftone.reduce max %0 {axes = array<i64: 3>} : tensor<2x4x3x6xf16> -> tensor<2x4x3xf16>
  %mb = halftone.broadcast %m {axes = array<i64: 0, 1, 2>} : tensor<2x4x3xf16> to tensor<2x4x3x6xf16>
  %s = halftone.sub %0, %mb : tensor<2x4x3x6xf16>
  %e = halftone.exp %s : tensor<2x4x3x6xf16>
  %t = halftone.reduce sum %e {axes = array<i64: 3>} : tensor<2x4x3x6xf16> -> tensor<2x4x3xf16>
  %tb = halftone.broadcast %t {axes = array<i64: 0, 1, 2>} : tensor<2x4x3xf16> to tensor<2x4x3x6xf16>
  %p = halftone.div %e, %tb : tensor<2x4x3x6xf16>
  %1 = halftone.contract %p, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 2>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 1>}
      : (tensor<2x4x3x6xf16>, tensor<2x6x4x5xf16>) -> tensor<2x4x3x5xf16>
  %y = halftone.transpose %1 {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x4x3x5xf16> to tensor<2x3x4x5xf16>
  return %y : tensor<2x3x4x5xf16>
}

// -----

// A kernel of attention, and one of its gradient, makes a mask itself that is made of indices and of vectors.
// CHECK-LABEL: module
// STRICT-LABEL: module
// CHECK: halftone.kernel attention @{{.*}} (tensor<2x64xi1>, tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>) -> (
// CHECK: halftone.compare lt
// CHECK: halftone.and
// CHECK: halftone.attention %arg1, %arg2, %arg3 mask
// CHECK: halftone.kernel attention_grad @{{.*}} (tensor<2x64xi1>, {{.*}}) -> tensor<2x64x4x16xf32> {
// CHECK: halftone.and
// CHECK: halftone.attention_grad
// CHECK: func.func @main
// CHECK-NOT: halftone.launch @loop
func.func @main(%q: tensor<2x64x4x16xf32> {halftone.name = "q"}, %seen: tensor<2x64xi1> {halftone.name = "seen"}, %delta: tensor<2x4x64xf32> {halftone.name = "delta"}) -> (tensor<2x64x4x16xf32> {halftone.name = "out"}, tensor<2x64x4x16xf32> {halftone.name = "by_q"}) {
  %query = halftone.iota {axis = 2 : i64} : tensor<2x1x64x64xi32>
  %key = halftone.iota {axis = 3 : i64} : tensor<2x1x64x64xi32>
  %distance = halftone.sub %query, %key : tensor<2x1x64x64xi32>
  %window = halftone.constant dense<9> : tensor<2x1x64x64xi32>
  %near = halftone.compare lt %distance, %window : tensor<2x1x64x64xi32>
  %keys = halftone.broadcast %seen {axes = array<i64: 0, 3>} : tensor<2x64xi1> to tensor<2x1x64x64xi1>
  %mask = halftone.and %near, %keys : tensor<2x1x64x64xi1>
  %out, %lse = halftone.attention %q, %q, %q mask %mask {scale = 0.25 : f64} : (tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>, tensor<2x1x64x64xi1>) -> (tensor<2x64x4x16xf32>, tensor<2x4x64xf32>)
  %by_q, %by_k, %by_v = halftone.attention_grad %q, %q, %q mask %mask lse %lse, %out, %delta {scale = 0.25 : f64} : (tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>, tensor<2x1x64x64xi1>, tensor<2x4x64xf32>, tensor<2x64x4x16xf32>, tensor<2x4x64xf32>) -> (tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>)
  return %out, %by_q : tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>
}
