// RUN: halftone-opt %s --split-input-file --halftone-normalize | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --halftone-normalize=target=sm_80 | FileCheck-22 %s --check-prefix=PARTS
// RUN: halftone-opt %s --split-input-file --halftone-normalize=strict=true | FileCheck-22 %s --check-prefix=PARTS

// Mixed axes: the trailing axes first, in f32 until the sum is complete.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = halftone.reduce sum %arg0 {axes = array<i64: 2>} : tensor<8x4x5xf16> -> tensor<8x4xf32>
// CHECK: %[[B:.*]] = halftone.reduce sum %[[A]] {axes = array<i64: 0>} : tensor<8x4xf32> -> tensor<4xf32>
// CHECK: halftone.cast %[[B]] {kind = #halftone<cast_kind storage>, origin = "reduction"} : tensor<4xf32> to tensor<4xf16>
// CHECK: halftone.reduce max %arg0 {axes = array<i64: 0, 1>} : tensor<8x4x5xf16> -> tensor<5xf16>
func.func @main(%x: tensor<8x4x5xf16> {halftone.name = "x"}) -> (tensor<4xf16> {halftone.name = "y"}, tensor<5xf16> {halftone.name = "z"}) {
  %y = halftone.reduce sum %x {axes = array<i64: 0, 2>} : tensor<8x4x5xf16> -> tensor<4xf16>
  %z = halftone.reduce max %x {axes = array<i64: 0, 1>} : tensor<8x4x5xf16> -> tensor<5xf16>
  return %y, %z : tensor<4xf16>, tensor<5xf16>
}

// -----

// reduce_all: each operand, then all results.
// CHECK-LABEL: func.func @main
// CHECK: %[[F0:.*]] = halftone.is_finite %arg0
// CHECK: %[[R0:.*]] = halftone.reduce and %[[F0]] {axes = array<i64: 0>} : tensor<4xi1> -> tensor<i1>
// CHECK: %[[F1:.*]] = halftone.is_finite %arg1
// CHECK: %[[R1:.*]] = halftone.reduce and %[[F1]] {axes = array<i64: 0, 1>} : tensor<8x4xi1> -> tensor<i1>
// CHECK: %[[OK:.*]] = halftone.and %[[R0]], %[[R1]]
// CHECK: %[[W:.*]] = halftone.cast %arg1 {kind = #halftone<cast_kind storage>, origin = "reduction"} : tensor<8x4xf16> to tensor<8x4xf32>
// CHECK: %[[M:.*]] = halftone.mul %[[W]], %[[W]]
// CHECK: %[[S:.*]] = halftone.reduce sum %[[M]] {axes = array<i64: 0, 1>}
// CHECK: return %[[OK]], %[[S]]
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %y: tensor<8x4xf16> {halftone.name = "y"}) -> (tensor<i1> {halftone.name = "ok"}, tensor<f32> {halftone.name = "n"}) {
  %ok = halftone.reduce_all all_finite (%x, %y) : tensor<4xf32>, tensor<8x4xf16>
  %n = halftone.reduce_all sum_of_squares (%y) : tensor<8x4xf16>
  return %ok, %n : tensor<i1>, tensor<f32>
}

// -----

// arg_reduce goes over the last axis; contractions read through transposes.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = halftone.transpose %arg0 {permutation = array<i64: 1, 0>}
// CHECK: halftone.arg_reduce max %[[T]] {axis = 1 : i64} : tensor<6x8xf32> -> tensor<6xi32>
// CHECK: halftone.contract %arg0, %arg1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<8x4xf32>
func.func @main(%x: tensor<8x6xf32> {halftone.name = "x"}, %w: tensor<4x6xf32> {halftone.name = "w"}) -> (tensor<6xi32> {halftone.name = "a"}, tensor<8x4xf32> {halftone.name = "c"}) {
  %a = halftone.arg_reduce max %x {axis = 0 : i64} : tensor<8x6xf32> -> tensor<6xi32>
  %t = halftone.transpose %w {permutation = array<i64: 1, 0>} : tensor<4x6xf32> to tensor<6x4xf32>
  %c = halftone.contract %x, %t {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  return %a, %c : tensor<6xi32>, tensor<8x4xf32>
}

// -----

// A reshape moves up to the value where it is free, so that the casts can join the contraction.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = halftone.reshape %arg0 : tensor<8x2x3xui8> to tensor<8x6xui8>
// CHECK: %[[C:.*]] = halftone.cast %[[R]] : tensor<8x6xui8> to tensor<8x6xf32>
// CHECK: halftone.contract %[[C]], %arg1
func.func @main(%x: tensor<8x2x3xui8> {halftone.name = "x"}, %w: tensor<6x4xf32> {halftone.name = "w"}) -> (tensor<8x4xf32> {halftone.name = "c"}) {
  %f = halftone.cast %x : tensor<8x2x3xui8> to tensor<8x2x3xf32>
  %r = halftone.reshape %f : tensor<8x2x3xf32> to tensor<8x6xf32>
  %c = halftone.contract %r, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}

// -----

// Work between two reshapes uses the shape before the first: a mean with keepdims, read twice.
// CHECK-LABEL: func.func @main
// CHECK: %[[N:.*]] = halftone.constant dense<1.600000e+01> : tensor<8xf32>
// CHECK: %[[S:.*]] = halftone.reduce sum %arg0 {axes = array<i64: 1>} : tensor<8x16xf32> -> tensor<8xf32>
// CHECK: %[[M:.*]] = halftone.div %[[S]], %[[N]] : tensor<8xf32>
// CHECK: %[[K:.*]] = halftone.reshape %[[M]] : tensor<8xf32> to tensor<8x1xf32>
// CHECK: %[[B:.*]] = halftone.broadcast %[[M]] {axes = array<i64: 0>}
// CHECK: halftone.sub %arg0, %[[B]]
// CHECK-NOT: halftone.reshape
// CHECK: return %[[K]]
func.func @main(%x: tensor<8x16xf32> {halftone.name = "x"}) -> (tensor<8x1xf32> {halftone.name = "m"}, tensor<8x16xf32> {halftone.name = "y"}) {
  %n = halftone.constant dense<16.0> : tensor<8x1xf32>
  %s = halftone.reduce sum %x {axes = array<i64: 1>} : tensor<8x16xf32> -> tensor<8xf32>
  %k = halftone.reshape %s : tensor<8xf32> to tensor<8x1xf32>
  %m = halftone.div %k, %n : tensor<8x1xf32>
  %r = halftone.reshape %m : tensor<8x1xf32> to tensor<8xf32>
  %b = halftone.broadcast %r {axes = array<i64: 0>} : tensor<8xf32> to tensor<8x16xf32>
  %y = halftone.sub %x, %b : tensor<8x16xf32>
  return %m, %y : tensor<8x1xf32>, tensor<8x16xf32>
}

// -----

// A reduction of one element is that element.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[R:.*]] = halftone.reshape %arg0 : tensor<3x1xf16> to tensor<3xf16>
// CHECK-DAG: halftone.cast %[[R]] {{.*}} : tensor<3xf16> to tensor<3xf32>
// CHECK-DAG: halftone.constant dense<0> : tensor<3xi32>
// CHECK-NOT: halftone.arg_reduce
// CHECK: return
func.func @main(%x: tensor<3x1xf16> {halftone.name = "x"}) -> (tensor<3xf32> {halftone.name = "s"}, tensor<3xi32> {halftone.name = "i"}) {
  %0 = halftone.reduce sum %x {axes = array<i64: 1>} : tensor<3x1xf16> -> tensor<3xf32>
  %1 = halftone.arg_reduce max %x {axis = 1 : i64} : tensor<3x1xf16> -> tensor<3xi32>
  return %0, %1 : tensor<3xf32>, tensor<3xi32>
}

// -----

// A sort of one element gives that element.
// CHECK-LABEL: func.func @main
// CHECK: %[[Z:.*]] = halftone.constant dense<0> : tensor<3x1xi32>
// CHECK-NOT: halftone.sort
// CHECK: return %arg0, %[[Z]]
func.func @main(%x: tensor<3x1xf16> {halftone.name = "x"}) -> (tensor<3x1xf16> {halftone.name = "v"}, tensor<3x1xi32> {halftone.name = "i"}) {
  %v, %i = halftone.sort %x {axis = 1 : i64} : tensor<3x1xf16> -> tensor<3x1xf16>, tensor<3x1xi32>
  return %v, %i : tensor<3x1xf16>, tensor<3x1xi32>
}

// -----

// Values without elements, in a module that was not simplified: constants, and reductions of no elements.
// CHECK-LABEL: func.func @main
// CHECK-DAG: halftone.constant dense<> : tensor<2x0xf32>
// CHECK-DAG: %[[ZERO:.*]] = halftone.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NOT: halftone.contract
// CHECK-NOT: halftone.reduce
// CHECK: return %{{.*}}, %[[ZERO]]
func.func @main(%x: tensor<2x3xf32> {halftone.name = "x"}, %e: tensor<3x0xf32> {halftone.name = "e"})
    -> (tensor<2x0xf32> {halftone.name = "y"}, tensor<f32> {halftone.name = "z"}) {
  %y = halftone.contract %x, %e {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x0xf32>) -> tensor<2x0xf32>
  %z = halftone.reduce_all max_abs (%e) : tensor<3x0xf32>
  return %y, %z : tensor<2x0xf32>, tensor<f32>
}

// -----

// Work on the transposed result of a contraction stands before the transpose: the bias, the activation, its mask, the
// rounding. A tensor in memory that joins it has no such place.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = halftone.contract
// CHECK: %[[B:.*]] = halftone.broadcast %arg2 {axes = array<i64: 3>} : tensor<6xf16> to tensor<2x3x5x6xf16>
// CHECK: %[[A:.*]] = halftone.add %[[P]], %[[B]] : tensor<2x3x5x6xf16>
// CHECK: %[[R:.*]] = halftone.relu %[[A]] : tensor<2x3x5x6xf16>
// CHECK: %[[C:.*]] = halftone.cast %[[R]] {origin = "layer output"} : tensor<2x3x5x6xf16> to tensor<2x3x5x6xf16>
// CHECK: %[[T:.*]] = halftone.transpose %[[C]] {permutation = array<i64: 1, 0, 2, 3>}
// CHECK: %[[S:.*]] = halftone.add %[[T]], %arg3 : tensor<3x2x5x6xf16>
// CHECK: return %[[T]], %[[S]]
func.func @main(%x: tensor<2x3x4xf16> {halftone.name = "x"}, %w: tensor<4x5x6xf16> {halftone.name = "w"}, %b: tensor<6xf16> {halftone.name = "b"}, %r: tensor<3x2x5x6xf16> {halftone.name = "r"})
    -> (tensor<3x2x5x6xf16> {halftone.name = "y"}, tensor<3x2x5x6xf16> {halftone.name = "s"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x3x4xf16>, tensor<4x5x6xf16>) -> tensor<2x3x5x6xf16>
  %1 = halftone.transpose %0 {permutation = array<i64: 1, 0, 2, 3>} : tensor<2x3x5x6xf16> to tensor<3x2x5x6xf16>
  %2 = halftone.broadcast %b {axes = array<i64: 3>} : tensor<6xf16> to tensor<3x2x5x6xf16>
  %3 = halftone.add %1, %2 : tensor<3x2x5x6xf16>
  %4 = halftone.relu %3 : tensor<3x2x5x6xf16>
  %5 = halftone.cast %4 {origin = "layer output"} : tensor<3x2x5x6xf16> to tensor<3x2x5x6xf16>
  %6 = halftone.add %5, %r : tensor<3x2x5x6xf16>
  return %5, %6 : tensor<3x2x5x6xf16>, tensor<3x2x5x6xf16>
}

// -----

// A convolution contracts the window of its image; one tap for each place reads the image itself.
// CHECK-LABEL: func.func @convolution
// CHECK-DAG: %[[X:.*]] = halftone.reshape %arg0 : tensor<2x7x6x1x3xf32> to tensor<2x7x6x3xf32>
// CHECK-DAG: %[[P:.*]] = halftone.window %[[X]] {{{.*}}low = array<i64: 1, 1>{{.*}}} : tensor<2x7x6x3xf32> to tensor<2x7x6x3x3x3xf32>
// CHECK-DAG: %[[W:.*]] = halftone.reshape %arg1 : tensor<3x3x1x3x5xf32> to tensor<3x3x3x5xf32>
// CHECK: halftone.contract %[[P]], %[[W]] {lhs_contract = array<i64: 3, 4, 5>, rhs_contract = array<i64: 0, 1, 2>}
// CHECK-NOT: halftone.window
// CHECK: halftone.contract %{{.*}}, %{{.*}} {lhs_contract = array<i64: 3>, rhs_contract = array<i64: 0>}
func.func @convolution(%x: tensor<2x7x6x1x3xf32>, %w: tensor<3x3x1x3x5xf32>, %p: tensor<1x1x1x3x5xf32>)
    -> (tensor<2x7x6x1x5xf32>, tensor<2x7x6x1x5xf32>) {
  %y = halftone.convolution %x, %w {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>}
      : (tensor<2x7x6x1x3xf32>, tensor<3x3x1x3x5xf32>) -> tensor<2x7x6x1x5xf32>
  %z = halftone.convolution %x, %p {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, hole = array<i64: 1, 1>}
      : (tensor<2x7x6x1x3xf32>, tensor<1x1x1x3x5xf32>) -> tensor<2x7x6x1x5xf32>
  return %y, %z : tensor<2x7x6x1x5xf32>, tensor<2x7x6x1x5xf32>
}

// -----

// The gradient by the kernel sums over examples and places: nothing is transposed.
// CHECK-LABEL: func.func @by_kernel
// CHECK-NOT: halftone.transpose
// CHECK: %[[P:.*]] = halftone.window %{{.*}} : tensor<2x7x3xf32> to tensor<2x6x2x3xf32>
// CHECK: halftone.contract %[[P]], %{{.*}} {lhs_contract = array<i64: 0, 1>, rhs_contract = array<i64: 0, 1>} : (tensor<2x6x2x3xf32>, tensor<2x6x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NOT: halftone.transpose
func.func @by_kernel(%x: tensor<2x7x1x3xf32>, %dy: tensor<2x6x1x5xf32>) -> tensor<2x1x3x5xf32> {
  %0 = halftone.transpose %x {permutation = array<i64: 3, 1, 2, 0>} : tensor<2x7x1x3xf32> to tensor<3x7x1x2xf32>
  %1 = halftone.transpose %dy {permutation = array<i64: 1, 2, 0, 3>} : tensor<2x6x1x5xf32> to tensor<6x1x2x5xf32>
  %2 = halftone.convolution %0, %1 {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>}
      : (tensor<3x7x1x2xf32>, tensor<6x1x2x5xf32>) -> tensor<3x2x1x5xf32>
  %3 = halftone.transpose %2 {permutation = array<i64: 1, 2, 0, 3>} : tensor<3x2x1x5xf32> to tensor<2x1x3x5xf32>
  return %3 : tensor<2x1x3x5xf32>
}

// -----

// So does the gradient of a sum of places, whose cotangent is the same everywhere.
// CHECK-LABEL: func.func @by_kernel_of_a_sum
// CHECK-NOT: halftone.transpose
// CHECK: %[[P:.*]] = halftone.window %{{.*}} : tensor<2x7x3xf32> to tensor<2x6x2x3xf32>
// CHECK: halftone.contract %[[P]], %{{.*}} {lhs_contract = array<i64: 0, 1>, rhs_contract = array<i64: 0, 1>} : (tensor<2x6x2x3xf32>, tensor<2x6x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NOT: halftone.transpose
func.func @by_kernel_of_a_sum(%x: tensor<2x7x1x3xf32>) -> tensor<2x1x3x5xf32> {
  %dy = halftone.constant dense<1.0> : tensor<2x6x1x5xf32>
  %0 = halftone.transpose %x {permutation = array<i64: 3, 1, 2, 0>} : tensor<2x7x1x3xf32> to tensor<3x7x1x2xf32>
  %1 = halftone.transpose %dy {permutation = array<i64: 1, 2, 0, 3>} : tensor<2x6x1x5xf32> to tensor<6x1x2x5xf32>
  %2 = halftone.convolution %0, %1 {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>}
      : (tensor<3x7x1x2xf32>, tensor<6x1x2x5xf32>) -> tensor<3x2x1x5xf32>
  %3 = halftone.transpose %2 {permutation = array<i64: 1, 2, 0, 3>} : tensor<3x2x1x5xf32> to tensor<2x1x3x5xf32>
  return %3 : tensor<2x1x3x5xf32>
}

// -----

// One channel and one filter for each group: a sum over the taps.
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: halftone.contract
// CHECK: halftone.reduce sum %{{.*}} {axes = array<i64: 2>} : tensor<2x7x3x8xf32> -> tensor<2x7x8xf32>
func.func @depthwise(%x: tensor<2x7x8x1xf32>, %w: tensor<3x8x1x1xf32>) -> tensor<2x7x8x1xf32> {
  %y = halftone.convolution %x, %w {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>}
      : (tensor<2x7x8x1xf32>, tensor<3x8x1x1xf32>) -> tensor<2x7x8x1xf32>
  return %y : tensor<2x7x8x1xf32>
}

// -----

// Few channels and filters for each group: a sum over channels and taps, for all groups together. To the window the groups
// and their channels are a spatial axis.
// CHECK-LABEL: func.func @few_channels
// CHECK-NOT: halftone.contract
// CHECK: %[[X:.*]] = halftone.reshape %arg0 : tensor<2x7x8x2xf32> to tensor<2x7x16xf32>
// CHECK: halftone.window %[[X]] {dilation = array<i64: 1, 2>, {{.*}}stride = array<i64: 1, 1>} : tensor<2x7x16xf32> to tensor<2x7x2x3x8xf32>
// CHECK: halftone.transpose %arg1 {permutation = array<i64: 2, 0, 1, 3>} : tensor<3x8x2x2xf32> to tensor<2x3x8x2xf32>
// CHECK: halftone.reduce sum %{{.*}} {axes = array<i64: 2, 3>} : tensor<2x7x2x3x8x2xf32> -> tensor<2x7x8x2xf32>
// PARTS-LABEL: func.func @few_channels
// PARTS: halftone.contract
func.func @few_channels(%x: tensor<2x7x8x2xf32>, %w: tensor<3x8x2x2xf32>) -> tensor<2x7x8x2xf32> {
  %y = halftone.convolution %x, %w {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>}
      : (tensor<2x7x8x2xf32>, tensor<3x8x2x2xf32>) -> tensor<2x7x8x2xf32>
  return %y : tensor<2x7x8x2xf32>
}

// -----

// Its gradient by the kernel: a sum over examples and places.
// CHECK-LABEL: func.func @few_channels_by_kernel
// CHECK-NOT: halftone.contract
// CHECK: halftone.reduce sum %{{.*}} {axes = array<i64: 0, 1>} : tensor<4x7x2x3x8x2xf32> -> tensor<2x3x8x2xf32>
func.func @few_channels_by_kernel(%x: tensor<4x7x8x2xf32>, %dy: tensor<4x7x8x2xf32>) -> tensor<2x3x8x2xf32> {
  %a = halftone.transpose %x {permutation = array<i64: 3, 1, 2, 0>} : tensor<4x7x8x2xf32> to tensor<2x7x8x4xf32>
  %b = halftone.transpose %dy {permutation = array<i64: 1, 2, 0, 3>} : tensor<4x7x8x2xf32> to tensor<7x8x4x2xf32>
  %y = halftone.convolution %a, %b {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>}
      : (tensor<2x7x8x4xf32>, tensor<7x8x4x2xf32>) -> tensor<2x3x8x2xf32>
  return %y : tensor<2x3x8x2xf32>
}

// -----

// A convolution with holes: each phase of the places has its own taps.
// CHECK-LABEL: func.func @holes
// CHECK: halftone.window %{{.*}} {{{.*}}stride = array<i64: 2>} : tensor<1x3x20xf32> to tensor<1x2x1x20xf32>
// CHECK: halftone.contract
// CHECK: halftone.window %{{.*}} {{{.*}}stride = array<i64: 2>} : tensor<1x3x20xf32> to tensor<1x1x1x20xf32>
// CHECK: halftone.contract
// CHECK: halftone.concat {{.*}} {axis = 2 : i64}
// CHECK: halftone.slice {{.*}} to tensor<8x7x1x5xf32>
func.func @holes(%dy: tensor<8x4x1x4xf32>, %w: tensor<3x1x4x5xf32>) -> tensor<8x7x1x5xf32> {
  %y = halftone.convolution %dy, %w {stride = array<i64: 1>, dilation = array<i64: -1>, low = array<i64: 0>, hole = array<i64: 2>}
      : (tensor<8x4x1x4xf32>, tensor<3x1x4x5xf32>) -> tensor<8x7x1x5xf32>
  return %y : tensor<8x7x1x5xf32>
}

// -----

// Attention: the products of queries and keys, the softmax of their rows, the products with the values.
// CHECK-LABEL: func.func @attention
// CHECK: %[[Z:.*]] = halftone.contract %arg0, %arg1 {{{.*}}} : (tensor<2x5x4x8xbf16>, tensor<2x7x4x8xbf16>) -> tensor<2x4x5x7xf32>
// CHECK: halftone.select
// CHECK: %[[M:.*]] = halftone.reduce max %{{.*}} {axes = array<i64: 3>} : tensor<2x4x5x7xf32> -> tensor<2x4x5xf32>
// CHECK: %[[E:.*]] = halftone.exp
// CHECK: %[[S:.*]] = halftone.reduce sum %[[E]] {axes = array<i64: 3>}
// CHECK: %[[P:.*]] = halftone.cast %{{.*}} {kind = #halftone<cast_kind storage>, origin = "attention"} : tensor<2x4x5x7xf32> to tensor<2x4x5x7xbf16>
// CHECK: %[[Y:.*]] = halftone.contract %[[P]], %arg2 {{{.*}}} : (tensor<2x4x5x7xbf16>, tensor<2x7x4x6xbf16>) -> tensor<2x4x5x6xbf16>
// CHECK: halftone.transpose %[[Y]] {permutation = array<i64: 0, 2, 1, 3>}
// CHECK: %[[L:.*]] = halftone.log %[[S]]
// CHECK: halftone.add %[[M]], %[[L]]
func.func @attention(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x7x4x8xbf16>, %v: tensor<2x7x4x6xbf16>) -> (tensor<2x5x4x6xbf16>, tensor<2x4x5xf32>) {
  %out, %lse = halftone.attention %q, %k, %v {causal, scale = 0.5 : f64}
      : (tensor<2x5x4x8xbf16>, tensor<2x7x4x8xbf16>, tensor<2x7x4x6xbf16>) -> (tensor<2x5x4x6xbf16>, tensor<2x4x5xf32>)
  return %out, %lse : tensor<2x5x4x6xbf16>, tensor<2x4x5xf32>
}

// -----

// Attention of many scores stays where the target has a kernel for it.
// CHECK-LABEL: func.func @long_attention
// CHECK: halftone.attention
// CHECK: halftone.attention_grad
// PARTS-LABEL: func.func @long_attention
// PARTS-NOT: halftone.attention
func.func @long_attention(%q: tensor<1x64x4x8xf32>, %g: tensor<1x64x4x8xf32>, %delta: tensor<1x4x64xf32>) -> (tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>) {
  %out, %lse = halftone.attention %q, %q, %q {causal, scale = 0.5 : f64}
      : (tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>) -> (tensor<1x64x4x8xf32>, tensor<1x4x64xf32>)
  %d:3 = halftone.attention_grad %q, %q, %q lse %lse, %g, %delta {causal, scale = 0.5 : f64}
      : (tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x4x64xf32>, tensor<1x64x4x8xf32>, tensor<1x4x64xf32>) -> (tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>)
  return %out, %d#0, %d#1, %d#2 : tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>
}

// -----

// One example of one channel in each group: the transposes of the gradient by the kernel move nothing, and the sum is still
// over the example and its places.
// CHECK-LABEL: func.func @by_kernel_of_one_example
// CHECK-NOT: halftone.transpose
// CHECK: %[[P:.*]] = halftone.window %{{.*}} : tensor<1x7x3xf32> to tensor<1x6x2x3xf32>
// CHECK: halftone.reduce sum %{{.*}} {axes = array<i64: 0, 1>} : tensor<1x6x2x3xf32> -> tensor<2x3xf32>
// CHECK-NOT: halftone.transpose
func.func @by_kernel_of_one_example(%x: tensor<1x7x3x1xf32>, %dy: tensor<1x6x3x1xf32>) -> tensor<2x3x1x1xf32> {
  %0 = halftone.transpose %dy {permutation = array<i64: 1, 2, 0, 3>} : tensor<1x6x3x1xf32> to tensor<6x3x1x1xf32>
  %1 = halftone.convolution %x, %0 {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>}
      : (tensor<1x7x3x1xf32>, tensor<6x3x1x1xf32>) -> tensor<1x2x3x1xf32>
  %2 = halftone.transpose %1 {permutation = array<i64: 1, 2, 0, 3>} : tensor<1x2x3x1xf32> to tensor<2x3x1x1xf32>
  return %2 : tensor<2x3x1x1xf32>
}

// -----

// Axes of extent 1 do not keep a contraction from reading a transposed kernel in place.
// CHECK-LABEL: func.func @by_image_of_one_tap
// CHECK-NOT: halftone.transpose
// CHECK: halftone.contract %{{.*}}, %{{.*}} {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x7x5xf32>, tensor<3x5xf32>) -> tensor<2x7x3xf32>
// CHECK-NOT: halftone.transpose
func.func @by_image_of_one_tap(%dy: tensor<2x7x1x5xf32>, %w: tensor<1x1x3x5xf32>) -> tensor<2x7x1x3xf32> {
  %0 = halftone.transpose %w {permutation = array<i64: 0, 1, 3, 2>} : tensor<1x1x3x5xf32> to tensor<1x1x5x3xf32>
  %1 = halftone.convolution %dy, %0 {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>}
      : (tensor<2x7x1x5xf32>, tensor<1x1x5x3xf32>) -> tensor<2x7x1x3xf32>
  return %1 : tensor<2x7x1x3xf32>
}

// -----

// The gradient by the image reads the kernel in runs of the filters, if these are a multiple of 16: it is not transposed.
// CHECK-LABEL: func.func @by_image
// CHECK-NOT: halftone.transpose
// CHECK: halftone.contract %{{.*}}, %{{.*}} {lhs_contract = array<i64: 2, 3>, rhs_contract = array<i64: 0, 2>} : (tensor<2x7x3x16xf32>, tensor<3x5x16xf32>) -> tensor<2x7x5xf32>
// CHECK-NOT: halftone.transpose
func.func @by_image(%dy: tensor<2x7x1x16xf32>, %w: tensor<3x1x5x16xf32>) -> tensor<2x7x1x5xf32> {
  %0 = halftone.transpose %w {permutation = array<i64: 0, 1, 3, 2>} : tensor<3x1x5x16xf32> to tensor<3x1x16x5xf32>
  %1 = halftone.convolution %dy, %0 {stride = array<i64: 1>, dilation = array<i64: -1>, low = array<i64: -1>, hole = array<i64: 1>}
      : (tensor<2x7x1x16xf32>, tensor<3x1x16x5xf32>) -> tensor<2x7x1x5xf32>
  return %1 : tensor<2x7x1x5xf32>
}

// -----

// CHECK-LABEL: func.func @by_image_in_short_runs
// CHECK: halftone.transpose
// CHECK: rhs_contract = array<i64: 0, 1>
func.func @by_image_in_short_runs(%dy: tensor<2x7x1x17xf32>, %w: tensor<3x1x5x17xf32>) -> tensor<2x7x1x5xf32> {
  %0 = halftone.transpose %w {permutation = array<i64: 0, 1, 3, 2>} : tensor<3x1x5x17xf32> to tensor<3x1x17x5xf32>
  %1 = halftone.convolution %dy, %0 {stride = array<i64: 1>, dilation = array<i64: -1>, low = array<i64: -1>, hole = array<i64: 1>}
      : (tensor<2x7x1x17xf32>, tensor<3x1x17x5xf32>) -> tensor<2x7x1x5xf32>
  return %1 : tensor<2x7x1x5xf32>
}

// -----

// Several groups are a batch, of which the window is read as that of one group.
// CHECK-LABEL: func.func @groups(
// CHECK: %[[X:.*]] = halftone.transpose %arg0 {permutation = array<i64: 2, 0, 1, 3>}
// CHECK: %[[G:.*]] = halftone.reshape %[[X]] : tensor<3x2x7x4xf32> to tensor<6x7x4xf32>
// CHECK: %[[W:.*]] = halftone.window %[[G]]
// CHECK: %[[P:.*]] = halftone.reshape %[[W]] : tensor<6x7x2x4xf32> to tensor<3x2x7x2x4xf32>
// CHECK: %[[C:.*]] = halftone.contract %[[P]], %arg1 {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 3, 4>, rhs_batch = array<i64: 1>, rhs_contract = array<i64: 0, 2>}
// CHECK: halftone.transpose %[[C]] {permutation = array<i64: 1, 2, 0, 3>}
func.func @groups(%x: tensor<2x7x3x4xf32>, %w: tensor<2x3x4x5xf32>) -> tensor<2x7x3x5xf32> {
  %0 = halftone.convolution %x, %w {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 0>, hole = array<i64: 1>}
      : (tensor<2x7x3x4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x7x3x5xf32>
  return %0 : tensor<2x7x3x5xf32>
}

// -----

// Work on the transpose of a scalar, which moves nothing.
// CHECK-LABEL: func.func @of_scalar
// CHECK: halftone.tanh
func.func @of_scalar(%x: tensor<f32>) -> tensor<f32> {
  %0 = halftone.transpose %x {permutation = array<i64>} : tensor<f32> to tensor<f32>
  %1 = halftone.tanh %0 : tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A concat of more than 8 operands is a tree of concats; what is left over stands alone.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = halftone.concat %arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7 {axis = 0 : i64}
// CHECK: %[[B:.*]] = halftone.concat %arg8, %arg9, %arg0, %arg1, %arg2, %arg3, %arg4, %arg5 {axis = 0 : i64}
// CHECK: %[[C:.*]] = halftone.concat %[[A]], %[[B]], %arg6 {axis = 0 : i64} : tensor<8xi1>, tensor<8xi1>, tensor<1xi1> to tensor<17xi1>
// CHECK-NEXT: return %[[C]]
func.func @main(%x0: tensor<1xi1> {halftone.name = "x0"}, %x1: tensor<1xi1> {halftone.name = "x1"}, %x2: tensor<1xi1> {halftone.name = "x2"}, %x3: tensor<1xi1> {halftone.name = "x3"}, %x4: tensor<1xi1> {halftone.name = "x4"}, %x5: tensor<1xi1> {halftone.name = "x5"}, %x6: tensor<1xi1> {halftone.name = "x6"}, %x7: tensor<1xi1> {halftone.name = "x7"}, %x8: tensor<1xi1> {halftone.name = "x8"}, %x9: tensor<1xi1> {halftone.name = "x9"}) -> (tensor<17xi1> {halftone.name = "y"}) {
  %0 = halftone.concat %x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x0, %x1, %x2, %x3, %x4, %x5, %x6 {axis = 0 : i64} : tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1> to tensor<17xi1>
  return %0 : tensor<17xi1>
}
