// RUN: halftone-opt %s --split-input-file --halftone-bucket-collectives=bucket-bytes=64 | FileCheck-22 %s

// In the order in which the operands are made: %b, then %a; the second bucket has the one that did not fit. Readers of
// early results move behind the bucket.
// CHECK-LABEL: func.func @main
// CHECK: %[[B:.*]] = halftone.tanh
// CHECK: %[[A:.*]] = halftone.neg
// CHECK: %[[R:.*]]:2 = halftone.all_reduce sum(%[[B]], %[[A]]) {order = 0 : i64} : tensor<8xf32>, tensor<8xf32>
// CHECK: %[[C:.*]] = halftone.cos
// CHECK: %[[S:.*]] = halftone.all_reduce sum(%[[C]]) {order = 1 : i64}
// CHECK: %[[D:.*]] = halftone.exp %[[R]]#0
// CHECK: return %[[R]]#1, %[[D]], %[[S]]
func.func @main(%x: tensor<8xf32> {halftone.name = "x"}) -> (tensor<8xf32> {halftone.name = "a"}, tensor<8xf32> {halftone.name = "b"}, tensor<8xf32> {halftone.name = "c"}) {
  %b = halftone.tanh %x : tensor<8xf32>
  %b1 = halftone.all_reduce sum (%b) : tensor<8xf32>
  %d = halftone.exp %b1 : tensor<8xf32>
  %a = halftone.neg %x : tensor<8xf32>
  %c = halftone.cos %x : tensor<8xf32>
  %c1 = halftone.all_reduce sum (%c) : tensor<8xf32>
  %a1 = halftone.all_reduce sum (%a) : tensor<8xf32>
  return %a1, %d, %c1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// One that waits for another is in a later bucket, and kinds do not mix.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = halftone.all_reduce sum(%arg0) {order = 0 : i64}
// CHECK: %[[M:.*]] = halftone.all_reduce max(%arg0) {order = 1 : i64}
// CHECK: %[[B:.*]] = halftone.all_reduce sum(%[[A]]) {order = 2 : i64}
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "a"}, tensor<4xf32> {halftone.name = "m"}) {
  %0 = halftone.all_reduce sum (%x) : tensor<4xf32>
  %1 = halftone.all_reduce max (%x) : tensor<4xf32>
  %2 = halftone.all_reduce sum (%0) : tensor<4xf32>
  return %2, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Parts join with parts, with their borders. All_gathers keep the order of the program, and fill their buckets by the bytes of
// all processes: that %none is ready first, since another process updates it, changes nothing.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]]:2 = halftone.reduce_scatter(%arg0, %arg1) rank 1 borders [array<i64: 0, 4, 8>, array<i64: 0, 8, 8>] {order = 0 : i64} : tensor<8xf32>, tensor<8xf32>
// CHECK: %[[N:.*]] = halftone.neg %[[P]]#0
// CHECK: %[[G:.*]]:2 = halftone.all_gather(%[[N]], %arg2) rank 1 borders [array<i64: 0, 4, 8>, array<i64: 0, 8, 8>] {order = 2 : i64} : tensor<4xf32>, tensor<0xf32>
// CHECK: %[[V:.*]] = halftone.all_gather(%arg3) rank 1 borders [array<i64: 0, 4, 8>] {order = 3 : i64}
// CHECK: halftone.all_reduce max(%arg0) {order = 1 : i64}
// CHECK: return %[[G]]#0, %[[G]]#1, %[[V]]
func.func @main(%x: tensor<8xf32> {halftone.name = "x"}, %y: tensor<8xf32> {halftone.name = "y"}, %none: tensor<0xf32> {halftone.name = "none"}, %v: tensor<4xf32> {halftone.name = "v"}) -> (tensor<8xf32> {halftone.name = "a"}, tensor<8xf32> {halftone.name = "b"}, tensor<8xf32> {halftone.name = "c"}, tensor<8xf32> {halftone.name = "m"}) {
  %0 = halftone.reduce_scatter (%x) rank 1 borders [array<i64: 0, 4, 8>] : tensor<8xf32>
  %1 = halftone.reduce_scatter (%y) rank 1 borders [array<i64: 0, 8, 8>] : tensor<8xf32>
  %2 = halftone.neg %0 : tensor<4xf32>
  %3 = halftone.all_gather (%2) rank 1 borders [array<i64: 0, 4, 8>] : tensor<4xf32>
  %4 = halftone.all_gather (%none) rank 1 borders [array<i64: 0, 8, 8>] : tensor<0xf32>
  %5 = halftone.all_gather (%v) rank 1 borders [array<i64: 0, 4, 8>] : tensor<4xf32>
  %6 = halftone.all_reduce max (%x) : tensor<8xf32>
  return %3, %4, %5, %6 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A collective that waits for an all_gather comes behind it.
// CHECK-LABEL: func.func @main
// CHECK: %[[G:.*]] = halftone.all_gather(%arg0) rank 0 borders [array<i64: 0, 4, 8>] {order = 1 : i64}
// CHECK: halftone.all_reduce sum(%[[G]]) {order = 2 : i64}
// CHECK: halftone.all_reduce sum(%arg1) {order = 0 : i64}
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}, %y: tensor<8xf32> {halftone.name = "y"}) -> (tensor<8xf32> {halftone.name = "a"}, tensor<8xf32> {halftone.name = "b"}) {
  %0 = halftone.all_gather (%x) rank 0 borders [array<i64: 0, 4, 8>] : tensor<4xf32>
  %1 = halftone.all_reduce sum (%0) : tensor<8xf32>
  %2 = halftone.all_reduce sum (%y) : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Rank 0 updates the second value, from which its flag and its part come; rank 1 the first one, which waits for a sum. The next
// function is the same program in rank 1. Both have one order: the sum, the parts by their level, the flag, the gathers.
// CHECK-LABEL: func.func @main
// CHECK-DAG: halftone.all_reduce sum(%arg0) {order = 0 : i64}
// CHECK-DAG: halftone.reduce_scatter(%arg0) rank 0 borders {{.*}} {order = 1 : i64}
// CHECK-DAG: halftone.reduce_scatter({{.*}}) rank 0 borders {{.*}} {order = 2 : i64}
// CHECK-DAG: halftone.all_reduce max({{.*}}) {order = 3 : i64}
// CHECK-DAG: halftone.all_gather({{.*}}) rank 0 borders {{.*}}, {{.*}} {order = 4 : i64}
func.func @main(%x: tensor<8xf32> {halftone.name = "x"}, %none: tensor<0xf32> {halftone.name = "none"}) -> (tensor<8xf32> {halftone.name = "a"}, tensor<8xf32> {halftone.name = "b"}, tensor<8xf32> {halftone.name = "m"}) {
  %0 = halftone.all_reduce sum (%x) : tensor<8xf32>
  %1 = halftone.neg %0 : tensor<8xf32>
  %2 = halftone.reduce_scatter (%1) rank 0 borders [array<i64: 0, 0, 8>] : tensor<8xf32>
  %3 = halftone.reduce_scatter (%x) rank 0 borders [array<i64: 0, 8, 8>] : tensor<8xf32>
  %4 = halftone.exp %3 : tensor<8xf32>
  %5 = halftone.all_reduce max (%4) : tensor<8xf32>
  %6 = halftone.all_gather (%4) rank 0 borders [array<i64: 0, 8, 8>] : tensor<8xf32>
  %7 = halftone.all_gather (%none) rank 0 borders [array<i64: 0, 0, 8>] : tensor<0xf32>
  return %6, %7, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-DAG: halftone.all_reduce sum(%arg0) {order = 0 : i64}
// CHECK-DAG: halftone.reduce_scatter(%arg0) rank 1 borders {{.*}} {order = 1 : i64}
// CHECK-DAG: halftone.reduce_scatter({{.*}}) rank 1 borders {{.*}} {order = 2 : i64}
// CHECK-DAG: halftone.all_reduce max({{.*}}) {order = 3 : i64}
// CHECK-DAG: halftone.all_gather({{.*}}) rank 1 borders {{.*}}, {{.*}} {order = 4 : i64}
func.func @main(%x: tensor<8xf32> {halftone.name = "x"}, %none: tensor<0xf32> {halftone.name = "none"}) -> (tensor<8xf32> {halftone.name = "a"}, tensor<8xf32> {halftone.name = "b"}, tensor<8xf32> {halftone.name = "m"}) {
  %0 = halftone.all_reduce sum (%x) : tensor<8xf32>
  %1 = halftone.neg %0 : tensor<8xf32>
  %2 = halftone.reduce_scatter (%1) rank 1 borders [array<i64: 0, 0, 8>] : tensor<8xf32>
  %3 = halftone.reduce_scatter (%x) rank 1 borders [array<i64: 0, 8, 8>] : tensor<8xf32>
  %4 = halftone.exp %x : tensor<8xf32>
  %5 = halftone.all_reduce max (%4) : tensor<8xf32>
  %6 = halftone.all_gather (%none) rank 1 borders [array<i64: 0, 8, 8>] : tensor<0xf32>
  %7 = halftone.all_gather (%2) rank 1 borders [array<i64: 0, 0, 8>] : tensor<8xf32>
  return %6, %7, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
