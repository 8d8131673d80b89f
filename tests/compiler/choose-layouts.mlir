// RUN: halftone-opt %s --split-input-file --halftone-choose-layouts | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --halftone-choose-layouts=target=x86_64-unknown-linux-gnu:znver4 | FileCheck-22 %s --check-prefix=PAIRS
// RUN: halftone-opt %s --split-input-file "--halftone-choose-layouts=target=x86_64-unknown-linux-gnu:znver4 strict=true" | FileCheck-22 %s --check-prefix=FOURS
// RUN: halftone-opt %s --split-input-file --halftone-choose-layouts=target=sapphirerapids | FileCheck-22 %s --check-prefixes=PAIRS,FOURS
// RUN: halftone-opt %s --split-input-file --halftone-choose-layouts=target=sm_80 | FileCheck-22 %s --check-prefix=GPU
// RUN: halftone-opt %s --split-input-file "--halftone-choose-layouts=target=sm_80 strict=true" | FileCheck-22 %s --check-prefix=STRICT
// RUN: halftone-opt %s --split-input-file --check-passes --halftone-choose-layouts=target=sm_80 -o /dev/null
// RUN: halftone-opt %s --split-input-file --check-passes --halftone-choose-layouts -o /dev/null

// Each contraction has a tile.
// CHECK-LABEL: func.func @main
// CHECK: halftone.contract %arg0, %arg1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>, tile = array<i64: 8, 64>}
func.func @main(%x: tensor<8x6xf32> {halftone.name = "x"}, %w: tensor<4x6xf32> {halftone.name = "w"}) -> (tensor<8x4xf32> {halftone.name = "c"}) {
  %c = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}

// -----

// A frozen weight is packed if the target multiplies in pairs, along the axis that is summed over. A weight that is
// written, and a
// weight whose columns are no multiple of 16, are not packed.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.pack
// PAIRS-LABEL: func.func @main(%arg0: tensor<2x128xbf16> {halftone.name = "x"}, %arg1: tensor<128x128xbf16> {halftone.variable = @w}
// PAIRS-DAG: halftone.pack %arg1 : tensor<128x128xbf16> to tensor<128x128xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>
// PAIRS-DAG: halftone.pack %arg1 : tensor<128x128xbf16> to tensor<128x128xbf16, #halftone.panels<depth = 1, columns = 16, group = 2>>
// PAIRS-NOT: halftone.pack
halftone.variable @w : tensor<128x128xbf16> {path = "w"}
halftone.variable @u : tensor<128x128xbf16> {path = "u"}
halftone.variable @v : tensor<128x130xbf16> {path = "v"}
func.func @main(%x: tensor<2x128xbf16> {halftone.name = "x"}, %w: tensor<128x128xbf16> {halftone.variable = @w}, %u: tensor<128x128xbf16> {halftone.variable = @u}, %v: tensor<128x130xbf16> {halftone.variable = @v}) -> (tensor<2x128xbf16> {halftone.name = "a"}, tensor<2x128xbf16> {halftone.name = "b"}, tensor<2x128xbf16> {halftone.name = "c"}, tensor<2x130xbf16> {halftone.name = "d"}, tensor<128x128xbf16> {halftone.variable = @u}) {
  %a = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x128xbf16>) -> tensor<2x128xbf16>
  %b = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<2x128xbf16>, tensor<128x128xbf16>) -> tensor<2x128xbf16>
  %c = halftone.contract %x, %u {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x128xbf16>) -> tensor<2x128xbf16>
  %d = halftone.contract %x, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x130xbf16>) -> tensor<2x130xbf16>
  %u1 = halftone.neg %u : tensor<128x128xbf16>
  return %a, %b, %c, %d, %u1 : tensor<2x128xbf16>, tensor<2x128xbf16>, tensor<2x128xbf16>, tensor<2x130xbf16>, tensor<128x128xbf16>
}

// -----

// A weight that is cast is packed too: the cast is kept, and the packed copy is made from it.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.pack
// PAIRS-LABEL: func.func @main
// PAIRS: %[[C:.*]] = halftone.cast %arg1
// PAIRS: halftone.pack %[[C]] : tensor<128x128xbf16> to tensor<128x128xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>
halftone.variable @w : tensor<128x128xf32> {path = "w"}
func.func @main(%x: tensor<2x128xbf16> {halftone.name = "x"}, %w: tensor<128x128xf32> {halftone.variable = @w}) -> (tensor<2x128xbf16> {halftone.name = "a"}) {
  %c = halftone.cast %w : tensor<128x128xf32> to tensor<128x128xbf16>
  %a = halftone.contract %x, %c {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x128xbf16>) -> tensor<2x128xbf16>
  return %a : tensor<2x128xbf16>
}

// -----

// The gradient by a weight: few tiles and a long sum. The sum is made in parts, a batch axis, and added up in f32. Strict
// mode keeps the sum whole.
// CHECK-LABEL: func.func @main(%arg0: tensor<16384x6xbf16>
// CHECK: %[[A:.*]] = halftone.reshape %arg0 : tensor<16384x6xbf16> to tensor<8x2048x6xbf16>
// CHECK: %[[B:.*]] = halftone.reshape %arg1 : tensor<16384x5xbf16> to tensor<8x2048x5xbf16>
// CHECK: %[[P:.*]] = halftone.contract %[[A]], %[[B]] {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>, tile = array<i64: {{[0-9]+}}, 64>} : (tensor<8x2048x6xbf16>, tensor<8x2048x5xbf16>) -> tensor<8x6x5xf32>
// CHECK: %[[S:.*]] = halftone.reduce sum %[[P]] {axes = array<i64: 0>} : tensor<8x6x5xf32> -> tensor<6x5xf32>
// CHECK: %[[C:.*]] = halftone.cast %[[S]] {kind = #halftone<cast_kind storage>, origin = "reduction"} : tensor<6x5xf32> to tensor<6x5xbf16>
// CHECK: return %[[C]]
// GPU-LABEL: func.func @main(%arg0: tensor<16384x6xbf16>
// GPU: halftone.contract {{.*}} : (tensor<8x2048x6xbf16>, tensor<8x2048x5xbf16>) -> tensor<8x6x5xf32>
// STRICT-LABEL: func.func @main(%arg0: tensor<16384x6xbf16>
// STRICT-NOT: halftone.reduce
func.func @main(%x: tensor<16384x6xbf16> {halftone.name = "x"}, %dy: tensor<16384x5xbf16> {halftone.name = "dy"}) -> (tensor<6x5xbf16> {halftone.name = "dw"}) {
  %0 = halftone.contract %x, %dy {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<16384x6xbf16>, tensor<16384x5xbf16>) -> tensor<6x5xbf16>
  return %0 : tensor<6x5xbf16>
}

// -----

// Neighbouring contracted axes are cut as one, and parts of an axis that is not outermost are read where they are. A
// copied cast stays in front of the product; a weight's cast, which is kept, stays in front of the reshape.
// CHECK-LABEL: func.func @main(%arg0: tensor<7x2x512xf32>
// CHECK-NOT: halftone.reduce
// GPU-LABEL: func.func @main(%arg0: tensor<7x2x512xf32>
// GPU: %[[X:.*]] = halftone.reshape %arg0 : tensor<7x2x512xf32> to tensor<7x4x256xf32>
// GPU: %[[XN:.*]] = halftone.cast %[[X]] {origin = "layer input"} : tensor<7x4x256xf32> to tensor<7x4x256xf16>
// GPU: %[[W:.*]] = halftone.reshape %{{.*}} : tensor<2x512x3xf16> to tensor<4x256x3xf16>
// GPU: halftone.contract %[[XN]], %[[W]] {lhs_batch = array<i64: 1>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>, tile = array<i64: 32, 32>}
// GPU: halftone.reduce sum %{{.*}} {axes = array<i64: 0>} : tensor<4x7x3xf32> -> tensor<7x3xf32>
halftone.variable @w : tensor<2x512x3xf32> {path = "w"}
func.func @main(%x: tensor<7x2x512xf32> {halftone.name = "x"}, %w: tensor<2x512x3xf32> {halftone.variable = @w}) -> (tensor<7x3xf16> {halftone.name = "y"}) {
  %xn = halftone.cast %x {origin = "layer input"} : tensor<7x2x512xf32> to tensor<7x2x512xf16>
  %wn = halftone.cast %w {origin = "variable read"} : tensor<2x512x3xf32> to tensor<2x512x3xf16>
  %0 = halftone.contract %xn, %wn {lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 0, 1>} : (tensor<7x2x512xf16>, tensor<2x512x3xf16>) -> tensor<7x3xf16>
  return %0 : tensor<7x3xf16>
}

// -----

// Of a window's products with a splat, which is stored, too.
// CHECK-LABEL: func.func @main(%arg0: tensor<2x80x64x3xf32>
// CHECK: halftone.contract {{.*}} : (tensor<{{[0-9]+}}x{{[0-9]+}}x3x3x3xf32>, tensor<[[PARTS:[0-9]+]]x{{[0-9]+}}x5xf32>) -> tensor<[[PARTS]]x3x3x3x5xf32>
// CHECK: halftone.reduce sum %{{.*}} {axes = array<i64: 0>}
func.func @main(%x: tensor<2x80x64x3xf32> {halftone.name = "x"}) -> (tensor<3x3x3x5xf32> {halftone.name = "dw"}) {
  %0 = halftone.window %x {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>} : tensor<2x80x64x3xf32> to tensor<2x80x64x3x3x3xf32>
  %ones = halftone.constant dense<1.0> : tensor<2x80x64x5xf32>
  %1 = halftone.contract %0, %ones {lhs_contract = array<i64: 0, 1, 2>, rhs_contract = array<i64: 0, 1, 2>} : (tensor<2x80x64x3x3x3xf32>, tensor<2x80x64x5xf32>) -> tensor<3x3x3x5xf32>
  return %1 : tensor<3x3x3x5xf32>
}

// -----

// Whole stay: sums over axes that are no neighbours in an operand, sums of integers, and products of a splat, which no
// tensor in memory holds. Batch axes that lead stay before the axis of the parts.
// GPU-LABEL: func.func @main(%arg0: tensor<3x8x256xf32>
// GPU: halftone.contract %arg0, %arg1 {lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 1, 0>, tile
// GPU: halftone.contract %arg2, %arg2 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>, tile
// GPU: halftone.contract %arg0, %{{.*}} {lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 0, 1>, tile
// GPU: halftone.contract %{{.*}}, %{{.*}} {lhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0, 1>, rhs_contract = array<i64: 2>, tile = array<i64: 32, 32>} : (tensor<3x4x256x2xf32>, tensor<3x4x256x2xf32>) -> tensor<3x4x2x2xf32>
func.func @main(%x: tensor<3x8x256xf32> {halftone.name = "x"}, %y: tensor<256x8x3xf32> {halftone.name = "y"}, %i: tensor<3x2048xi8> {halftone.name = "i"}, %b: tensor<3x1024x2xf32> {halftone.name = "b"})
    -> (tensor<3x3xf32> {halftone.name = "p"}, tensor<3x3xi32> {halftone.name = "q"}, tensor<3x2xf32> {halftone.name = "r"}, tensor<3x2x2xf32> {halftone.name = "s"}) {
  %0 = halftone.contract %x, %y {lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 1, 0>} : (tensor<3x8x256xf32>, tensor<256x8x3xf32>) -> tensor<3x3xf32>
  %1 = halftone.contract %i, %i {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<3x2048xi8>, tensor<3x2048xi8>) -> tensor<3x3xi32>
  %ones = halftone.constant dense<1.0> : tensor<8x256x2xf32>
  %2 = halftone.contract %x, %ones {lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 0, 1>} : (tensor<3x8x256xf32>, tensor<8x256x2xf32>) -> tensor<3x2xf32>
  %3 = halftone.contract %b, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<3x1024x2xf32>, tensor<3x1024x2xf32>) -> tensor<3x2x2xf32>
  return %0, %1, %2, %3 : tensor<3x3xf32>, tensor<3x3xi32>, tensor<3x2xf32>, tensor<3x2x2xf32>
}

// -----

// A weight of int8 is packed in fours, in strict mode too.
// FOURS-LABEL: func.func @main(%arg0: tensor<2x128xi8>
// FOURS: halftone.pack %arg1 : tensor<128x128xi8> to tensor<128x128xi8, #halftone.panels<depth = 0, columns = 16, group = 4>>
halftone.variable @w : tensor<128x128xi8> {path = "w"}
func.func @main(%x: tensor<2x128xi8> {halftone.name = "x"}, %w: tensor<128x128xi8> {halftone.variable = @w}) -> (tensor<2x128xi32> {halftone.name = "a"}) {
  %a = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xi8>, tensor<128x128xi8>) -> tensor<2x128xi32>
  return %a : tensor<2x128xi32>
}

// -----

// A weight whose bytes hold two elements each is packed in halves, for products with floats too, but not in strict mode. A
// cast moves behind the reshape for it.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.pack
// PAIRS-LABEL: func.func @main(%arg0: tensor<2x128xf32> {halftone.name = "x"}, %arg1: tensor<128x64xi8>
// PAIRS: %[[K:.*]] = halftone.pack %{{.*}} : tensor<128x128xi8> to tensor<128x128xi8, #halftone.panels<depth = 0, columns = 16, group = 8, bits = 4>>
// PAIRS-NEXT: %[[F:.*]] = halftone.cast %[[K]] : tensor<128x128xi8, #halftone.panels<depth = 0, columns = 16, group = 8, bits = 4>> to tensor<128x128xf32>
// PAIRS-NEXT: %[[S:.*]] = halftone.mul %[[F]]
// PAIRS-NEXT: halftone.contract %arg0, %[[S]]
// PAIRS: %[[T:.*]] = halftone.cast %{{.*}} : tensor<128x128xi8, #halftone.panels<depth = 0, columns = 16, group = 8, bits = 4>> to tensor<128x128xf32>
// PAIRS-NEXT: halftone.contract %arg0, %[[T]]
halftone.variable @w : tensor<128x64xi8> {path = "w"}
func.func @main(%x: tensor<2x128xf32> {halftone.name = "x"}, %w: tensor<128x64xi8> {halftone.variable = @w}) -> (tensor<2x128xf32> {halftone.name = "y"}, tensor<2x128xf32> {halftone.name = "z"}) {
  %0 = halftone.broadcast %w {axes = array<i64: 0, 1>} : tensor<128x64xi8> to tensor<128x64x2xi8>
  %1 = halftone.constant dense<[4, 0]> : tensor<2xi8>
  %2 = halftone.broadcast %1 {axes = array<i64: 2>} : tensor<2xi8> to tensor<128x64x2xi8>
  %3 = halftone.shl %0, %2 : tensor<128x64x2xi8>
  %4 = halftone.constant dense<4> : tensor<128x64x2xi8>
  %5 = halftone.shr %3, %4 : tensor<128x64x2xi8>
  %6 = halftone.cast %5 : tensor<128x64x2xi8> to tensor<128x64x2xf32>
  %7 = halftone.reshape %6 : tensor<128x64x2xf32> to tensor<128x128xf32>
  %8 = halftone.constant dense<5.000000e-01> : tensor<128x128xf32>
  %9 = halftone.mul %7, %8 : tensor<128x128xf32>
  %y = halftone.contract %x, %9 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xf32>, tensor<128x128xf32>) -> tensor<2x128xf32>
  %z = halftone.contract %x, %7 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xf32>, tensor<128x128xf32>) -> tensor<2x128xf32>
  return %y, %z : tensor<2x128xf32>, tensor<2x128xf32>
}

// -----

// Weights of three axes are packed as matrices: one with two axes of columns, and one with two axes that are summed over. The
// work behind the first contraction is done on the matrix's shape, up to the reshape that gives the old one.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.pack
// PAIRS-LABEL: func.func @main
// PAIRS: %[[W:.*]] = halftone.reshape %arg1 : tensor<128x4x32xbf16> to tensor<128x128xbf16>
// PAIRS: %[[PW:.*]] = halftone.pack %[[W]]
// PAIRS: %[[A:.*]] = halftone.contract %arg0, %[[PW]] {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, tile = {{.*}} -> tensor<2x128xbf16>
// PAIRS: %[[B:.*]] = halftone.reshape %arg3 : tensor<4x32xbf16> to tensor<128xbf16>
// PAIRS: %[[BB:.*]] = halftone.broadcast %[[B]] {axes = array<i64: 1>} : tensor<128xbf16> to tensor<2x128xbf16>
// PAIRS: %[[S:.*]] = halftone.add %[[A]], %[[BB]] : tensor<2x128xbf16>
// PAIRS: %[[R:.*]] = halftone.reshape %[[S]] : tensor<2x128xbf16> to tensor<2x4x32xbf16>
// PAIRS: %[[X:.*]] = halftone.reshape %[[R]] : tensor<2x4x32xbf16> to tensor<2x128xbf16>
// PAIRS: %[[U:.*]] = halftone.reshape %arg2 : tensor<4x32x128xbf16> to tensor<128x128xbf16>
// PAIRS: %[[PU:.*]] = halftone.pack %[[U]]
// PAIRS: halftone.contract %[[X]], %[[PU]] {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>
halftone.variable @w : tensor<128x4x32xbf16> {path = "w"}
halftone.variable @u : tensor<4x32x128xbf16> {path = "u"}
halftone.variable @b : tensor<4x32xbf16> {path = "b"}
func.func @main(%x: tensor<2x128xbf16> {halftone.name = "x"}, %w: tensor<128x4x32xbf16> {halftone.variable = @w}, %u: tensor<4x32x128xbf16> {halftone.variable = @u}, %b: tensor<4x32xbf16> {halftone.variable = @b}) -> (tensor<2x4x32xbf16> {halftone.name = "s"}, tensor<2x128xbf16> {halftone.name = "c"}) {
  %a = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x4x32xbf16>) -> tensor<2x4x32xbf16>
  %bb = halftone.broadcast %b {axes = array<i64: 1, 2>} : tensor<4x32xbf16> to tensor<2x4x32xbf16>
  %s = halftone.add %a, %bb : tensor<2x4x32xbf16>
  %c = halftone.contract %s, %u {lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 0, 1>} : (tensor<2x4x32xbf16>, tensor<4x32x128xbf16>) -> tensor<2x128xbf16>
  return %s, %c : tensor<2x4x32xbf16>, tensor<2x128xbf16>
}

// -----

// A weight stays as it is if its axes lie otherwise, if its product is stored transposed, or if work behind the product has an
// operand that only the old shape has: that work would need a kernel of its own.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.pack
// PAIRS-LABEL: func.func @main
// PAIRS-NOT: halftone.pack
// PAIRS: return
halftone.variable @w : tensor<4x128x32xbf16> {path = "w"}
halftone.variable @u : tensor<128x4x32xbf16> {path = "u"}
func.func @main(%x: tensor<2x128xbf16> {halftone.name = "x"}, %g: tensor<32xbf16> {halftone.name = "g"}, %w: tensor<4x128x32xbf16> {halftone.variable = @w}, %u: tensor<128x4x32xbf16> {halftone.variable = @u}) -> (tensor<2x4x32xbf16> {halftone.name = "a"}, tensor<4x2x32xbf16> {halftone.name = "c"}, tensor<2x4x32xbf16> {halftone.name = "d"}) {
  %a = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<2x128xbf16>, tensor<4x128x32xbf16>) -> tensor<2x4x32xbf16>
  %b = halftone.contract %x, %u {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x4x32xbf16>) -> tensor<2x4x32xbf16>
  %n = halftone.neg %b : tensor<2x4x32xbf16>
  %c = halftone.transpose %n {permutation = array<i64: 1, 0, 2>} : tensor<2x4x32xbf16> to tensor<4x2x32xbf16>
  %o = halftone.contract %x, %u {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x4x32xbf16>) -> tensor<2x4x32xbf16>
  %gg = halftone.broadcast %g {axes = array<i64: 2>} : tensor<32xbf16> to tensor<2x4x32xbf16>
  %m = halftone.neg %o : tensor<2x4x32xbf16>
  %d = halftone.mul %m, %gg : tensor<2x4x32xbf16>
  return %a, %c, %d : tensor<2x4x32xbf16>, tensor<4x2x32xbf16>, tensor<2x4x32xbf16>
}

// -----

// All work behind the product moves to the matrix's shape: also values that are read twice, and work of other operands, which
// is computed in that shape alone.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.pack
// PAIRS-LABEL: func.func @main
// PAIRS: %[[A:.*]] = halftone.contract %arg0, %{{.*}} {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, tile = {{.*}} -> tensor<2x128xbf16>
// PAIRS-DAG: %[[E:.*]] = halftone.exp %[[A]] : tensor<2x128xbf16>
// PAIRS-DAG: %[[S:.*]] = halftone.add %[[A]], %[[E]] : tensor<2x128xbf16>
// PAIRS-DAG: %[[N:.*]] = halftone.neg %{{.*}} : tensor<2x128xbf16>
// PAIRS: %[[M:.*]] = halftone.mul %[[S]], %[[N]] : tensor<2x128xbf16>
// PAIRS-NEXT: %[[R:.*]] = halftone.reshape %[[M]] : tensor<2x128xbf16> to tensor<2x4x32xbf16>
// PAIRS-NEXT: return %[[R]]
halftone.variable @u : tensor<128x4x32xbf16> {path = "u"}
func.func @main(%x: tensor<2x128xbf16> {halftone.name = "x"}, %r: tensor<2x4x32xbf16> {halftone.name = "r"}, %u: tensor<128x4x32xbf16> {halftone.variable = @u}) -> (tensor<2x4x32xbf16> {halftone.name = "m"}) {
  %a = halftone.contract %x, %u {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x128xbf16>, tensor<128x4x32xbf16>) -> tensor<2x4x32xbf16>
  %e = halftone.exp %a : tensor<2x4x32xbf16>
  %s = halftone.add %a, %e : tensor<2x4x32xbf16>
  %n = halftone.neg %r : tensor<2x4x32xbf16>
  %m = halftone.mul %s, %n : tensor<2x4x32xbf16>
  return %m : tensor<2x4x32xbf16>
}

// -----

// The cotangents that a loop stacked may vanish over the steps: a contraction by them is marked, one that reads the stack on the left is not.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]]:2 = halftone.scan
// CHECK: halftone.contract %arg2, %[[S]]#1 {halftone.vanishes, lhs_contract = array<i64: 0, 1>, rhs_contract = array<i64: 0, 1>, tile =
// CHECK: %[[T:.*]] = halftone.reshape %[[S]]#1
// CHECK: halftone.contract %{{.*}}, %[[T]] {halftone.vanishes, lhs_contract = array<i64: 0>
// CHECK: halftone.contract %[[S]]#1, %arg3 {lhs_contract = array<i64: 2>
// CHECK: halftone.contract %arg0, %[[S]]#0 {lhs_contract = array<i64: 0>
func.func @main(%g: tensor<4x8xf32> {halftone.name = "g"}, %xs: tensor<5x4x8xf32> {halftone.name = "xs"}, %h: tensor<5x4x6xf32> {halftone.name = "h"}, %w: tensor<8x3xf32> {halftone.name = "w"}) -> (tensor<6x8xf32> {halftone.name = "a"}, tensor<6x8xf32> {halftone.name = "b"}, tensor<5x4x3xf32> {halftone.name = "c"}, tensor<8x8xf32> {halftone.name = "d"}) {
  %s:2 = halftone.scan (%g) over (%xs) {length = 5 : i64} : (tensor<4x8xf32>, tensor<5x4x8xf32>) -> (tensor<4x8xf32>, tensor<5x4x8xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<4x8xf32>, %x: tensor<4x8xf32>):
    %n = halftone.mul %c, %x : tensor<4x8xf32>
    halftone.yield %n, %n : tensor<4x8xf32>, tensor<4x8xf32>
  }
  %a = halftone.contract %h, %s#1 {lhs_contract = array<i64: 0, 1>, rhs_contract = array<i64: 0, 1>} : (tensor<5x4x6xf32>, tensor<5x4x8xf32>) -> tensor<6x8xf32>
  %hf = halftone.reshape %h : tensor<5x4x6xf32> to tensor<20x6xf32>
  %sf = halftone.reshape %s#1 : tensor<5x4x8xf32> to tensor<20x8xf32>
  %b = halftone.contract %hf, %sf {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<20x6xf32>, tensor<20x8xf32>) -> tensor<6x8xf32>
  %c = halftone.contract %s#1, %w {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<5x4x8xf32>, tensor<8x3xf32>) -> tensor<5x4x3xf32>
  %d = halftone.contract %g, %s#0 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %a, %b, %c, %d : tensor<6x8xf32>, tensor<6x8xf32>, tensor<5x4x3xf32>, tensor<8x8xf32>
}
