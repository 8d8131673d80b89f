// RUN: halftone-opt %s --split-input-file --halftone-update-rows --check-passes | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --halftone-update-rows=strict=true --check-passes | FileCheck-22 %s --check-prefix=STRICT

// Rows that no index names keep their values if the rate is finite: three rows are new, at most. Equal indices count once.
// CHECK-LABEL: func.func @main
// CHECK: %[[SORTED:.*]], %[[ORDER:.*]] = halftone.sort
// CHECK: %[[NUMBER:.*]] = halftone.cumsum
// CHECK: %[[PLACE:.*]] = halftone.scatter set %{{.*}}, %[[ORDER]], %[[NUMBER]]
// CHECK: %[[ROWS:.*]] = halftone.scatter set %{{.*}}, %[[NUMBER]], %[[SORTED]]
// CHECK: %[[SUMS:.*]] = halftone.scatter_add %[[PLACE]], %{{.*}} -> tensor<4x8xf32>
// CHECK: %[[STEP:.*]] = halftone.mul %[[SUMS]], %{{.*}} : tensor<4x8xf32>
// CHECK: halftone.slice %[[STEP]] {start = array<i64: 3, 0>} : tensor<4x8xf32> to tensor<1x8xf32>
// CHECK: halftone.when
// CHECK:   %[[OLD:.*]] = halftone.gather %arg1, %[[ROWS]]
// CHECK:   %[[NEW:.*]] = halftone.sub %[[OLD]], %[[STEP]] : tensor<4x8xf32>
// CHECK:   halftone.scatter set %arg1, %[[ROWS]], %[[NEW]]
// CHECK: else
// CHECK:   %[[ALL:.*]] = halftone.gather %[[STEP]], %{{.*}} : (tensor<4x8xf32>, tensor<131072xi32>) -> tensor<131072x8xf32>
// CHECK:   halftone.sub %arg1, %[[ALL]] : tensor<131072x8xf32>
// CHECK-NOT: halftone.broadcast
// CHECK: return
func.func @main(%ids: tensor<3xi32> {halftone.name = "ids"}, %table: tensor<131072x8xf32> {halftone.name = "table"}, %u: tensor<3x8xf32> {halftone.name = "u"},
    %rate: tensor<f32> {halftone.name = "rate"}) -> (tensor<131072x8xf32> {halftone.name = "new"}) {
  %0 = halftone.scatter_add %ids, %u {axis = 0 : i64} : (tensor<3xi32>, tensor<3x8xf32>) -> tensor<131072x8xf32>
  %1 = halftone.broadcast %rate {axes = array<i64>} : tensor<f32> to tensor<131072x8xf32>
  %2 = halftone.mul %0, %1 : tensor<131072x8xf32>
  %3 = halftone.sub %table, %2 : tensor<131072x8xf32>
  return %3 : tensor<131072x8xf32>
}

// -----

// Two lookups of one table; what is measured of the gradient. In strict numerics a sum of squares keeps its order, and so its operand.
// CHECK-LABEL: func.func @main
// CHECK: halftone.concat {{.*}} : tensor<2xi32>, tensor<6xi32> to tensor<8xi32>
// CHECK-DAG: %[[A:.*]] = halftone.scatter_add {{.*}} : (tensor<2xi32>, tensor<2x16xf32>) -> tensor<9x16xf32>
// CHECK-DAG: %[[B:.*]] = halftone.scatter_add {{.*}} : (tensor<6xi32>, tensor<6x16xf32>) -> tensor<9x16xf32>
// CHECK: %[[G:.*]] = halftone.add %[[A]], %[[B]] : tensor<9x16xf32>
// CHECK: halftone.reduce_all all_finite(%[[G]])
// CHECK: %[[S:.*]] = halftone.div %[[G]], %{{.*}} : tensor<9x16xf32>
// CHECK: halftone.reduce_all sum_of_squares(%[[S]])
// CHECK: halftone.when
// STRICT-LABEL: func.func @main
// STRICT: halftone.scatter_add {{.*}} -> tensor<65536x16xf32>
// STRICT-NOT: halftone.when
// STRICT: return
func.func @main(%a: tensor<2xi32> {halftone.name = "a"}, %b: tensor<2x3xi32> {halftone.name = "b"}, %table: tensor<65536x16xf32> {halftone.name = "table"},
    %u: tensor<2x16xf32> {halftone.name = "u"}, %v: tensor<2x3x16xf32> {halftone.name = "v"}, %rates: tensor<16xf32> {halftone.name = "rates"})
    -> (tensor<65536x16xf32> {halftone.name = "new"}, tensor<i1> {halftone.name = "finite"}, tensor<f32> {halftone.name = "squares"}) {
  %0 = halftone.scatter_add %a, %u {axis = 0 : i64} : (tensor<2xi32>, tensor<2x16xf32>) -> tensor<65536x16xf32>
  %1 = halftone.scatter_add %b, %v {axis = 0 : i64} : (tensor<2x3xi32>, tensor<2x3x16xf32>) -> tensor<65536x16xf32>
  %2 = halftone.add %0, %1 : tensor<65536x16xf32>
  %3 = halftone.reduce_all all_finite (%2) : tensor<65536x16xf32>
  %4 = halftone.broadcast %rates {axes = array<i64: 1>} : tensor<16xf32> to tensor<65536x16xf32>
  %5 = halftone.div %2, %4 : tensor<65536x16xf32>
  %6 = halftone.reduce_all sum_of_squares (%5) : tensor<65536x16xf32>
  %7 = halftone.sub %table, %5 : tensor<65536x16xf32>
  return %7, %3, %6 : tensor<65536x16xf32>, tensor<i1>, tensor<f32>
}

// -----

// A sum of squares, which a step reads after it has added to it: rows without a gradient keep their values in both tables.
// CHECK-LABEL: func.func @main
// CHECK: %{{.*}}:2 = halftone.when
// CHECK-COUNT-2: halftone.scatter set %arg{{[23]}}
// CHECK: else
halftone.variable @sums : tensor<131072x8xf32> {path = "adagrad/sums", role = #halftone<role slot>}
func.func @main(%ids: tensor<3xi32> {halftone.name = "ids"}, %u: tensor<3x8xf32> {halftone.name = "u"}, %table: tensor<131072x8xf32> {halftone.name = "table"},
    %sums: tensor<131072x8xf32> {halftone.variable = @sums}) -> (tensor<131072x8xf32> {halftone.name = "new"}, tensor<131072x8xf32> {halftone.variable = @sums}) {
  %0 = halftone.constant dense<1.0e-7> : tensor<131072x8xf32>
  %1 = halftone.scatter_add %ids, %u {axis = 0 : i64} : (tensor<3xi32>, tensor<3x8xf32>) -> tensor<131072x8xf32>
  %2 = halftone.mul %1, %1 : tensor<131072x8xf32>
  %3 = halftone.add %sums, %2 : tensor<131072x8xf32>
  %4 = halftone.add %3, %0 : tensor<131072x8xf32>
  %5 = halftone.sqrt %4 : tensor<131072x8xf32>
  %6 = halftone.div %1, %5 : tensor<131072x8xf32>
  %7 = halftone.sub %table, %6 : tensor<131072x8xf32>
  return %7, %3 : tensor<131072x8xf32>, tensor<131072x8xf32>
}

// -----

// Work on all rows looks the sums up where it needs them: a table that may hold -0, to which a square is added; a mean that moves; a
// table of narrow floats.
// CHECK-LABEL: func.func @main
// CHECK-NOT: halftone.when
// CHECK-COUNT-3: halftone.gather %{{.*}} -> tensor<131072x8x{{b?}}f{{16|32}}>
// CHECK-NOT: halftone.scatter_add {{.*}} -> tensor<131072x8xf32>
// CHECK: return
func.func @main(%ids: tensor<3xi32> {halftone.name = "ids"}, %table: tensor<131072x8xf32> {halftone.name = "table"}, %u: tensor<3x8xf32> {halftone.name = "u"},
    %w: tensor<131072x8xbf16> {halftone.name = "w"}) -> (tensor<131072x8xf32> {halftone.name = "a"}, tensor<131072x8xf32> {halftone.name = "b"}, tensor<131072x8xbf16> {halftone.name = "c"}) {
  %0 = halftone.scatter_add %ids, %u {axis = 0 : i64} : (tensor<3xi32>, tensor<3x8xf32>) -> tensor<131072x8xf32>
  %1 = halftone.mul %0, %0 : tensor<131072x8xf32>
  %2 = halftone.add %table, %1 : tensor<131072x8xf32>
  %3 = halftone.sub %0, %table : tensor<131072x8xf32>
  %4 = halftone.cast %0 : tensor<131072x8xf32> to tensor<131072x8xbf16>
  %5 = halftone.sub %w, %4 : tensor<131072x8xbf16>
  return %2, %3, %5 : tensor<131072x8xf32>, tensor<131072x8xf32>, tensor<131072x8xbf16>
}

// -----

// A gradient that is given out, and one of few elements, stay.
// CHECK-LABEL: func.func @main
// CHECK: halftone.scatter_add {{.*}} -> tensor<131072x8xf32>
// CHECK: halftone.scatter_add {{.*}} -> tensor<65536x2xf32>
// CHECK-NOT: halftone.when
// CHECK: return
func.func @main(%ids: tensor<3xi32> {halftone.name = "ids"}, %table: tensor<131072x8xf32> {halftone.name = "table"}, %u: tensor<3x8xf32> {halftone.name = "u"},
    %small: tensor<65536x2xf32> {halftone.name = "small"}, %t: tensor<3x2xf32> {halftone.name = "t"})
    -> (tensor<131072x8xf32> {halftone.name = "gradient"}, tensor<131072x8xf32> {halftone.name = "a"}, tensor<65536x2xf32> {halftone.name = "b"}) {
  %0 = halftone.scatter_add %ids, %u {axis = 0 : i64} : (tensor<3xi32>, tensor<3x8xf32>) -> tensor<131072x8xf32>
  %1 = halftone.sub %table, %0 : tensor<131072x8xf32>
  %2 = halftone.scatter_add %ids, %t {axis = 0 : i64} : (tensor<3xi32>, tensor<3x2xf32>) -> tensor<65536x2xf32>
  %3 = halftone.sub %small, %2 : tensor<65536x2xf32>
  return %0, %1, %3 : tensor<131072x8xf32>, tensor<131072x8xf32>, tensor<65536x2xf32>
}
