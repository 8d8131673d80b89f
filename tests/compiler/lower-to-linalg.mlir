// RUN: halftone-opt %s --halftone-lower-to-linalg | FileCheck-22 %s
// RUN: halftone-opt %s --halftone-lower-to-linalg=strict=true | FileCheck-22 %s --check-prefix=STRICT

// One dim for equal shapes; the product stays f32 until it is stored. In strict mode it rounds to f16 first.
// CHECK-LABEL: module @loop
// CHECK-SAME: halftone.extents = array<i64: 32, 1, 32>, halftone.grid = 1 : i64, halftone.scratch = 0 : i64
// CHECK: func.func @kernel(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[A:.*]]: tensor<?xf16>, %[[B:.*]]: tensor<?xf16>) -> tensor<?xf16>
// CHECK-SAME: halftone.kind = "loop", halftone.outer = 0 : i64
// CHECK: linalg.generic
// CHECK-SAME: halftone.dims = array<i64: 0>
// CHECK: ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %{{.*}}: f16):
// CHECK-DAG: %[[XW:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK-DAG: %[[YW:.*]] = arith.extf %[[Y]] : f16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[XW]], %[[YW]] fastmath<contract> : f32
// CHECK: %[[S:.*]] = arith.addf %[[P]], %[[XW]] fastmath<contract> : f32
// CHECK: %[[R:.*]] = arith.truncf %[[S]] : f32 to f16
// CHECK: linalg.yield %[[R]] : f16
// STRICT-LABEL: module @loop
// STRICT: halftone.numerics = "strict"
// STRICT: %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// STRICT: %[[N:.*]] = arith.truncf %[[P]] : f32 to f16
// STRICT: %[[W:.*]] = arith.extf %[[N]] : f16 to f32
// STRICT: arith.addf %[[W]], %{{.*}} : f32
halftone.kernel loop @loop (tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<8x4xf16> {
^bb0(%a: tensor<8x4xf16>, %b: tensor<8x4xf16>):
  %0 = halftone.mul %a, %b : tensor<8x4xf16>
  %1 = halftone.add %0, %a : tensor<8x4xf16>
  halftone.yield %1 : tensor<8x4xf16>
}

// Three phases; the exponentials stay in a row of scratch, before the totals of chunks.
// CHECK-LABEL: module @row
// CHECK-SAME: halftone.extents = array<i64: 16, 10, 16>
// CHECK-SAME: halftone.scratch = 1088 : i64
// CHECK: halftone.kind = "row", halftone.outer = 1 : i64
// CHECK: linalg.fill ins(%{{.*}} : f32)
// CHECK: %[[M:.*]] = linalg.generic
// CHECK-SAME: halftone.combine = ["max"], halftone.dims = array<i64: 0, 1>
// CHECK: %[[E:.*]]:2 = linalg.generic
// CHECK-SAME: ins(%{{.*}}, %[[M]] : tensor<?x?xf16>, tensor<?xf32>)
// CHECK-SAME: halftone.combine = ["sum", ""]
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[E]]#1, %[[E]]#0 : tensor<?x?xf32>, tensor<?xf32>)
// CHECK: arith.divf
halftone.kernel row @row (tensor<2x8x10xf16>) -> tensor<2x8x10xf16> {
^bb0(%a: tensor<2x8x10xf16>):
  %m = halftone.reduce max %a {axes = array<i64: 2>} : tensor<2x8x10xf16> -> tensor<2x8xf16>
  %mb = halftone.broadcast %m {axes = array<i64: 0, 1>} : tensor<2x8xf16> to tensor<2x8x10xf16>
  %d = halftone.sub %a, %mb : tensor<2x8x10xf16>
  %e = halftone.exp %d : tensor<2x8x10xf16>
  %s = halftone.reduce sum %e {axes = array<i64: 2>} : tensor<2x8x10xf16> -> tensor<2x8xf16>
  %sb = halftone.broadcast %s {axes = array<i64: 0, 1>} : tensor<2x8xf16> to tensor<2x8x10xf16>
  %y = halftone.div %e, %sb : tensor<2x8x10xf16>
  halftone.yield %y : tensor<2x8x10xf16>
}

// Batch, M, N, K. The map of the right operand shows the transpose; the bias is added to the accumulator.
// CHECK-LABEL: module @matmul
// CHECK-SAME: halftone.extents = array<i64: 3, 8, 5, 4, 12, 32>, halftone.grid = 3 : i64
// CHECK: halftone.kind = "matmul", halftone.outer = 1 : i64, halftone.roles = array<i64: 1, 1, 1, 1>
// CHECK: %[[ACC:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-SAME: halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2, 3>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[ACC]], %{{.*}} : tensor<?x?x?xf32>, tensor<?xf32>)
// CHECK-SAME: halftone.dims = array<i64: 0, 1, 2>
halftone.kernel matmul @matmul (tensor<3x8x4xbf16>, tensor<3x5x4xbf16>, tensor<5xf32>) -> tensor<3x8x5xbf16>
    attributes {spec = #halftone.blocks<tile = [12, 32]>} {
^bb0(%a: tensor<3x8x4xbf16>, %b: tensor<3x5x4xbf16>, %bias: tensor<5xf32>):
  %0 = halftone.contract %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>}
      : (tensor<3x8x4xbf16>, tensor<3x5x4xbf16>) -> tensor<3x8x5xbf16>
  %c = halftone.cast %bias {kind = #halftone<cast_kind storage>} : tensor<5xf32> to tensor<5xbf16>
  %1 = halftone.broadcast %c {axes = array<i64: 2>} : tensor<5xbf16> to tensor<3x8x5xbf16>
  %2 = halftone.add %0, %1 : tensor<3x8x5xbf16>
  halftone.yield %2 : tensor<3x8x5xbf16>
}

// A lookup: the dims are rows and columns of the result; the table's extents are launch arguments after the block
// sizes.
// CHECK-LABEL: module @gather
// CHECK-SAME: halftone.extents = array<i64: 24, 37, 24, 37, 50, 37>
// CHECK: func.func @kernel(%{{.*}}, %[[V:.*]]: index, %[[D:.*]]: index, %[[T:.*]]: tensor<?xf32>, %[[I:.*]]: tensor<?xi32>) -> tensor<?x?xf16>
// CHECK-SAME: halftone.kind = "loop", halftone.lookup_arguments = 2 : i64, halftone.outer = 1 : i64
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[I]] : tensor<?xi32>)
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[E:.*]] = tensor.extract %[[T]]
// CHECK: arith.truncf %[[E]] : f32 to f16
halftone.kernel loop @gather (tensor<50x37xf32>, tensor<4x6xi32>) -> tensor<4x6x37xf16> {
^bb0(%t: tensor<50x37xf32>, %i: tensor<4x6xi32>):
  %0 = halftone.gather %t, %i {axis = 0 : i64} : (tensor<50x37xf32>, tensor<4x6xi32>) -> tensor<4x6x37xf32>
  %1 = halftone.cast %0 : tensor<4x6x37xf32> to tensor<4x6x37xf16>
  halftone.yield %1 : tensor<4x6x37xf16>
}

// A concatenation chooses among elements of all operands at clamped indices.
// CHECK-LABEL: module @concat
// CHECK-SAME: halftone.extents = array<i64: 8, 8, 8, 8, 5, 5, 3, -5>
// CHECK: halftone.lookup_arguments = 4 : i64
// CHECK-COUNT-2: tensor.extract
// CHECK: arith.select
halftone.kernel loop @concat (tensor<8x5xf16>, tensor<8x3xf16>) -> tensor<8x8xf16> {
^bb0(%a: tensor<8x5xf16>, %b: tensor<8x3xf16>):
  %0 = halftone.concat %a, %b {axis = 1 : i64} : tensor<8x5xf16>, tensor<8x3xf16> to tensor<8x8xf16>
  halftone.yield %0 : tensor<8x8xf16>
}

// A scan: one generic gives the terms to add up, one stores the sums.
// CHECK-LABEL: module @scan
// CHECK-SAME: halftone.extents = array<i64: 2, 50, 37, {{[0-9]+, [0-9]+}}>, halftone.grid = {{[0-9]+}} : i64
// CHECK: halftone.kind = "cumulative", halftone.outer = 1 : i64, halftone.reduced = 1 : i64, halftone.reverse
// CHECK: %[[S:.*]] = linalg.generic
// CHECK-SAME: halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2>
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[S]] : tensor<?x?x?xf32>)
// CHECK: arith.truncf
halftone.kernel cumulative @scan (tensor<2x50x37xf16>) -> tensor<2x50x37xf16> {
^bb0(%x: tensor<2x50x37xf16>):
  %0 = halftone.mul %x, %x : tensor<2x50x37xf16>
  %1 = halftone.cumsum %0 {axis = 1 : i64, reverse} : tensor<2x50x37xf16> -> tensor<2x50x37xf16>
  halftone.yield %1 : tensor<2x50x37xf16>
}

// A sort: one generic gives the key, the element and the index of each place, one stores those of the places that come out.
// CHECK-LABEL: module @sort
// CHECK-SAME: halftone.extents = array<i64: 2, 50, 9, 37, {{[0-9]+}}>, halftone.grid = {{[0-9]+}} : i64
// CHECK: halftone.kind = "sort", halftone.outer = 1 : i64, halftone.reduced = 1 : i64
// CHECK: %[[S:.*]]:3 = linalg.generic
// CHECK-SAME: halftone.dims = array<i64: 0, 1, 3>
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.xori %{{.*}}, %c2147483647_i32
// CHECK: linalg.yield %{{.*}} : i32, f16, i32
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[S]]#1, %[[S]]#2 : tensor<?x?x?xf16>, tensor<?x?x?xi32>)
// CHECK-SAME: halftone.dims = array<i64: 0, 2, 3>
halftone.kernel sort @sort (tensor<2x50x37xf16>) -> (tensor<2x9x37xf16>, tensor<2x9x37xi32>) {
^bb0(%x: tensor<2x50x37xf16>):
  %v, %i = halftone.sort %x {axis = 1 : i64, descending} : tensor<2x50x37xf16> -> tensor<2x9x37xf16>, tensor<2x9x37xi32>
  halftone.yield %v, %i : tensor<2x9x37xf16>, tensor<2x9x37xi32>
}

// A scatter: the rows that the indices name, then for each row a sum over the indices that name it.
// CHECK-LABEL: module @scatter
// CHECK-SAME: halftone.extents = array<i64: 2, 50, 24, 37, 50, 50>, halftone.grid = 2 : i64
// CHECK: halftone.indices = 1 : i64, halftone.kind = "scatter", halftone.lookup_arguments = 1 : i64, halftone.outer = 1 : i64
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: halftone.dims = array<i64: 2>
// CHECK: linalg.yield %{{.*}} : i64
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[R]], %{{.*}} : tensor<?xi64>, tensor<?x?x?xf32>)
// CHECK-SAME: halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2, 3>
// CHECK: arith.select
// CHECK: arith.addf
halftone.kernel scatter @scatter (tensor<4x6xi64>, tensor<2x4x6x37xf32>) -> tensor<2x50x37xf32> {
^bb0(%i: tensor<4x6xi64>, %u: tensor<2x4x6x37xf32>):
  %0 = halftone.scatter_add %i, %u {axis = 1 : i64} : (tensor<4x6xi64>, tensor<2x4x6x37xf32>) -> tensor<2x50x37xf32>
  halftone.yield %0 : tensor<2x50x37xf32>
}

// A scatter into a tensor: its elements, then for each row the last of the updates that name it. Rows lie behind batch dims.
// CHECK-LABEL: module @scatter_into
// CHECK-SAME: halftone.extents = array<i64: 2, 50, 6, 37, 50>, halftone.grid = 2 : i64
// CHECK: halftone.indices = 1 : i64, halftone.kind = "scatter", halftone.outer = 1 : i64
// CHECK: linalg.generic
// CHECK-SAME: halftone.dims = array<i64: 0, 2>
// CHECK: %[[X:.*]] = linalg.generic
// CHECK-SAME: halftone.dims = array<i64: 0, 1, 3>
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[X]] : tensor<?x?x?xf32>)
// CHECK-SAME: halftone.combine = ["last"], halftone.dims = array<i64: 0, 1, 2, 3>
// CHECK: ^bb0(%{{.*}}: i64, %[[U:.*]]: f32, %[[A:.*]]: f32):
// CHECK: arith.select %{{.*}}, %[[U]], %[[A]] : f32
halftone.kernel scatter @scatter_into (tensor<2x50x37xf32>, tensor<2x6xi64>, tensor<2x6x37xf32>) -> tensor<2x50x37xf32> {
^bb0(%x: tensor<2x50x37xf32>, %i: tensor<2x6xi64>, %u: tensor<2x6x37xf32>):
  %0 = halftone.scatter set %x, %i, %u {axis = 1 : i64, batch = 1 : i64} : (tensor<2x50x37xf32>, tensor<2x6xi64>, tensor<2x6x37xf32>) -> tensor<2x50x37xf32>
  halftone.yield %0 : tensor<2x50x37xf32>
}

// Lanes run along groups: two filters, two channels, whose dim is the first reduced one. No tap leaves its group, so only the
// taps of the other axis are kept in the image.
// CHECK-LABEL: module @few_channels
// CHECK: halftone.kind = "reduction_loop"
// CHECK-SAME: halftone.schedule = #halftone_cpu.grouped<filters = 2, channels = 2, channel_dim = 2>
// CHECK-COUNT-1: arith.cmpi ult
// CHECK-NOT: arith.cmpi
// STRICT-LABEL: module @few_channels
// STRICT-NOT: halftone.schedule
halftone.kernel reduction_loop @few_channels (tensor<2x7x16xf32>, tensor<2x3x8x2xf32>) -> tensor<2x7x8x2xf32> {
^bb0(%x: tensor<2x7x16xf32>, %w: tensor<2x3x8x2xf32>):
  %0 = halftone.window %x {stride = array<i64: 1, 1>, dilation = array<i64: 1, 2>, low = array<i64: 1, 0>, hole = array<i64: 1, 1>} : tensor<2x7x16xf32> to tensor<2x7x2x3x8xf32>
  %1 = halftone.broadcast %0 {axes = array<i64: 0, 1, 2, 3, 4>} : tensor<2x7x2x3x8xf32> to tensor<2x7x2x3x8x2xf32>
  %2 = halftone.broadcast %w {axes = array<i64: 2, 3, 4, 5>} : tensor<2x3x8x2xf32> to tensor<2x7x2x3x8x2xf32>
  %3 = halftone.mul %1, %2 : tensor<2x7x2x3x8x2xf32>
  %4 = halftone.reduce sum %3 {axes = array<i64: 2, 3>} : tensor<2x7x2x3x8x2xf32> -> tensor<2x7x8x2xf32>
  halftone.yield %4 : tensor<2x7x8x2xf32>
}
