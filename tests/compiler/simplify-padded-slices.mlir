// Sums of padded slices: each test says what the sum becomes, and the interpreter finds no bit changed.
// RUN: halftone-opt %s --split-input-file --halftone-simplify | FileCheck-22 %s
// RUN: halftone-opt %s --split-input-file --check-passes --halftone-simplify --halftone-normalize -o /dev/null

// The pieces in the order of their places, and +0.0 for the zeros that were added: it makes a -0.0 of a piece +0.0.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2xf32> {{.*}}, %[[B:[a-z0-9]+]]: tensor<1xf32> {{.*}}, %[[C:[a-z0-9]+]]: tensor<3xf32>
// CHECK-DAG: %[[ZERO:.*]] = halftone.constant dense<0.000000e+00> : tensor<6xf32>
// CHECK-DAG: %[[ALL:.*]] = halftone.concat %[[A]], %[[B]], %[[C]] {axis = 0 : i64}
// CHECK: %[[SUM:.*]] = halftone.add %[[ALL]], %[[ZERO]] : tensor<6xf32>
// CHECK-NEXT: return %[[SUM]]
func.func @main(%a: tensor<2xf32> {halftone.name = "a"}, %b: tensor<1xf32> {halftone.name = "b"},
                %c: tensor<3xf32> {halftone.name = "c"}) -> (tensor<6xf32> {halftone.name = "y"}) {
  %z1 = halftone.constant dense<0.0> : tensor<1xf32>
  %z2 = halftone.constant dense<0.0> : tensor<2xf32>
  %z3 = halftone.constant dense<0.0> : tensor<3xf32>
  %z4 = halftone.constant dense<0.0> : tensor<4xf32>
  %pb = halftone.concat %z2, %b, %z3 {axis = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<3xf32> to tensor<6xf32>
  %pc = halftone.concat %z2, %z1, %c {axis = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<3xf32> to tensor<6xf32>
  %pa = halftone.concat %a, %z4 {axis = 0 : i64} : tensor<2xf32>, tensor<4xf32> to tensor<6xf32>
  %0 = halftone.add %pb, %pc : tensor<6xf32>
  %1 = halftone.add %0, %pa : tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// A piece among zeros of the other sign is no padded slice.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = halftone.concat %{{.*}}, %arg0
// CHECK: %[[Q:.*]] = halftone.concat %arg1, %
// CHECK: %[[S:.*]] = halftone.add %[[P]], %[[Q]]
// CHECK: return %[[S]]
func.func @main(%a: tensor<2xf32> {halftone.name = "a"}, %b: tensor<2xf32> {halftone.name = "b"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %z = halftone.constant dense<0.0> : tensor<2xf32>
  %m = halftone.constant dense<-0.0> : tensor<2xf32>
  %pa = halftone.concat %m, %a {axis = 0 : i64} : tensor<2xf32>, tensor<2xf32> to tensor<4xf32>
  %pb = halftone.concat %b, %z {axis = 0 : i64} : tensor<2xf32>, tensor<2xf32> to tensor<4xf32>
  %0 = halftone.add %pa, %pb : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Integers need no zero at the end. A gap is zeros.
// CHECK-LABEL: func.func @main
// CHECK: %[[Z:.*]] = halftone.constant dense<0> : tensor<1x2xi8>
// CHECK-NEXT: %[[ALL:.*]] = halftone.concat %[[Z]], %arg0, %[[Z]], %arg1 {axis = 0 : i64}
// CHECK-NEXT: return %[[ALL]]
func.func @main(%a: tensor<2x2xi8> {halftone.name = "a"}, %b: tensor<1x2xi8> {halftone.name = "b"}) -> (tensor<5x2xi8> {halftone.name = "y"}) {
  %z1 = halftone.constant dense<0> : tensor<1x2xi8>
  %z2 = halftone.constant dense<0> : tensor<2x2xi8>
  %z4 = halftone.constant dense<0> : tensor<4x2xi8>
  %pa = halftone.concat %z1, %a, %z2 {axis = 0 : i64} : tensor<1x2xi8>, tensor<2x2xi8>, tensor<2x2xi8> to tensor<5x2xi8>
  %pb = halftone.concat %z4, %b {axis = 0 : i64} : tensor<4x2xi8>, tensor<1x2xi8> to tensor<5x2xi8>
  %0 = halftone.add %pa, %pb : tensor<5x2xi8>
  return %0 : tensor<5x2xi8>
}

// -----

// A piece that overlaps earlier ones stands in a later concat.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[E:.*]] = halftone.concat %arg0, %arg2 {axis = 0 : i64}
// CHECK-DAG: %[[O:.*]] = halftone.concat %{{.*}}, %arg1, %{{.*}} {axis = 0 : i64}
// CHECK: %[[S:.*]] = halftone.add %[[E]], %[[O]]
// CHECK: %[[T:.*]] = halftone.add %[[S]], %{{.*}}
// CHECK-NEXT: return %[[T]]
func.func @main(%a: tensor<2xf64> {halftone.name = "a"}, %b: tensor<2xf64> {halftone.name = "b"},
                %c: tensor<2xf64> {halftone.name = "c"}) -> (tensor<4xf64> {halftone.name = "y"}) {
  %z1 = halftone.constant dense<0.0> : tensor<1xf64>
  %z2 = halftone.constant dense<0.0> : tensor<2xf64>
  %pa = halftone.concat %a, %z2 {axis = 0 : i64} : tensor<2xf64>, tensor<2xf64> to tensor<4xf64>
  %pb = halftone.concat %z1, %b, %z1 {axis = 0 : i64} : tensor<1xf64>, tensor<2xf64>, tensor<1xf64> to tensor<4xf64>
  %pc = halftone.concat %z2, %c {axis = 0 : i64} : tensor<2xf64>, tensor<2xf64> to tensor<4xf64>
  %0 = halftone.add %pa, %pc : tensor<4xf64>
  %1 = halftone.add %0, %pb : tensor<4xf64>
  return %1 : tensor<4xf64>
}

// -----

// Two pieces that overlap add no zero to the elements of both: such a sum stays as it is.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = halftone.concat %arg0, %
// CHECK: %[[Q:.*]] = halftone.concat %{{.*}}, %arg1
// CHECK: %[[S:.*]] = halftone.add %[[P]], %[[Q]]
// CHECK-NEXT: return %[[S]]
func.func @main(%a: tensor<2xf16> {halftone.name = "a"}, %b: tensor<2xf16> {halftone.name = "b"}) -> (tensor<3xf16> {halftone.name = "y"}) {
  %z = halftone.constant dense<0.0> : tensor<1xf16>
  %pa = halftone.concat %a, %z {axis = 0 : i64} : tensor<2xf16>, tensor<1xf16> to tensor<3xf16>
  %pb = halftone.concat %z, %b {axis = 0 : i64} : tensor<1xf16>, tensor<2xf16> to tensor<3xf16>
  %0 = halftone.add %pa, %pb : tensor<3xf16>
  return %0 : tensor<3xf16>
}

// -----

// Other terms keep their places: before, between and behind the pieces.
// CHECK-LABEL: func.func @main
// CHECK: %[[AB:.*]] = halftone.concat %arg2, %arg3 {axis = 1 : i64}
// CHECK: %[[S0:.*]] = halftone.add %arg0, %[[AB]]
// CHECK: %[[S1:.*]] = halftone.add %[[S0]], %arg1
// CHECK: %[[BA:.*]] = halftone.concat %arg3, %arg2 {axis = 1 : i64}
// CHECK: %[[S2:.*]] = halftone.add %[[S1]], %[[BA]]
// CHECK: %[[S3:.*]] = halftone.add %[[S2]], %arg0
// CHECK: %[[S4:.*]] = halftone.add %[[S3]], %{{.*}}
// CHECK-NEXT: return %[[S4]]
func.func @main(%x: tensor<3x4xbf16> {halftone.name = "x"}, %y: tensor<3x4xbf16> {halftone.name = "y"},
                %a: tensor<3x2xbf16> {halftone.name = "a"}, %b: tensor<3x2xbf16> {halftone.name = "b"})
    -> (tensor<3x4xbf16> {halftone.name = "sum"}) {
  %z = halftone.constant dense<0.0> : tensor<3x2xbf16>
  %pa = halftone.concat %a, %z {axis = 1 : i64} : tensor<3x2xbf16>, tensor<3x2xbf16> to tensor<3x4xbf16>
  %pb = halftone.concat %z, %b {axis = 1 : i64} : tensor<3x2xbf16>, tensor<3x2xbf16> to tensor<3x4xbf16>
  %pc = halftone.concat %b, %z {axis = 1 : i64} : tensor<3x2xbf16>, tensor<3x2xbf16> to tensor<3x4xbf16>
  %pd = halftone.concat %z, %a {axis = 1 : i64} : tensor<3x2xbf16>, tensor<3x2xbf16> to tensor<3x4xbf16>
  %0 = halftone.add %x, %pa : tensor<3x4xbf16>
  %1 = halftone.add %0, %pb : tensor<3x4xbf16>
  %2 = halftone.add %1, %y : tensor<3x4xbf16>
  %3 = halftone.add %2, %pc : tensor<3x4xbf16>
  %4 = halftone.add %3, %pd : tensor<3x4xbf16>
  %5 = halftone.add %4, %x : tensor<3x4xbf16>
  return %5 : tensor<3x4xbf16>
}

// -----

// A grid of pieces that are padded along two axes: rows are joined along one, and the rows along the other.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[UPPER:.*]] = halftone.concat %arg0, %arg1 {axis = 1 : i64} : tensor<1x2xf32>, tensor<1x3xf32> to tensor<1x5xf32>
// CHECK-DAG: %[[LOWER:.*]] = halftone.concat %arg2, %arg3 {axis = 1 : i64} : tensor<2x2xf32>, tensor<2x3xf32> to tensor<2x5xf32>
// CHECK: %[[ALL:.*]] = halftone.concat %[[UPPER]], %[[LOWER]] {axis = 0 : i64} : tensor<1x5xf32>, tensor<2x5xf32> to tensor<3x5xf32>
// CHECK: %[[SUM:.*]] = halftone.add %[[ALL]], %{{.*}}
// CHECK-NEXT: return %[[SUM]]
func.func @main(%a: tensor<1x2xf32> {halftone.name = "a"}, %b: tensor<1x3xf32> {halftone.name = "b"},
                %c: tensor<2x2xf32> {halftone.name = "c"}, %d: tensor<2x3xf32> {halftone.name = "d"}) -> (tensor<3x5xf32> {halftone.name = "y"}) {
  %z12 = halftone.constant dense<0.0> : tensor<1x2xf32>
  %z13 = halftone.constant dense<0.0> : tensor<1x3xf32>
  %z22 = halftone.constant dense<0.0> : tensor<2x2xf32>
  %z23 = halftone.constant dense<0.0> : tensor<2x3xf32>
  %z32 = halftone.constant dense<0.0> : tensor<3x2xf32>
  %z33 = halftone.constant dense<0.0> : tensor<3x3xf32>
  %a0 = halftone.concat %a, %z22 {axis = 0 : i64} : tensor<1x2xf32>, tensor<2x2xf32> to tensor<3x2xf32>
  %a1 = halftone.concat %a0, %z33 {axis = 1 : i64} : tensor<3x2xf32>, tensor<3x3xf32> to tensor<3x5xf32>
  %b0 = halftone.concat %b, %z23 {axis = 0 : i64} : tensor<1x3xf32>, tensor<2x3xf32> to tensor<3x3xf32>
  %b1 = halftone.concat %z32, %b0 {axis = 1 : i64} : tensor<3x2xf32>, tensor<3x3xf32> to tensor<3x5xf32>
  %c0 = halftone.concat %z12, %c {axis = 0 : i64} : tensor<1x2xf32>, tensor<2x2xf32> to tensor<3x2xf32>
  %c1 = halftone.concat %c0, %z33 {axis = 1 : i64} : tensor<3x2xf32>, tensor<3x3xf32> to tensor<3x5xf32>
  %d0 = halftone.concat %z13, %d {axis = 0 : i64} : tensor<1x3xf32>, tensor<2x3xf32> to tensor<3x3xf32>
  %d1 = halftone.concat %z32, %d0 {axis = 1 : i64} : tensor<3x2xf32>, tensor<3x3xf32> to tensor<3x5xf32>
  %0 = halftone.add %a1, %b1 : tensor<3x5xf32>
  %1 = halftone.add %0, %c1 : tensor<3x5xf32>
  %2 = halftone.add %1, %d1 : tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}

// -----

// A cast of a padded piece is a cast of the piece.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[A:.*]] = halftone.cast %arg0 {origin = "layer input"} : tensor<2xf16> to tensor<2xf32>
// CHECK-DAG: %[[B:.*]] = halftone.cast %arg1 {origin = "layer input"} : tensor<2xf16> to tensor<2xf32>
// CHECK: %[[ALL:.*]] = halftone.concat %[[A]], %[[B]]
// CHECK: halftone.add %[[ALL]]
func.func @main(%a: tensor<2xf16> {halftone.name = "a"}, %b: tensor<2xf16> {halftone.name = "b"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %z = halftone.constant dense<0.0> : tensor<2xf16>
  %pa = halftone.concat %a, %z {axis = 0 : i64} : tensor<2xf16>, tensor<2xf16> to tensor<4xf16>
  %pb = halftone.concat %z, %b {axis = 0 : i64} : tensor<2xf16>, tensor<2xf16> to tensor<4xf16>
  %ca = halftone.cast %pa {origin = "layer input"} : tensor<4xf16> to tensor<4xf32>
  %cb = halftone.cast %pb {origin = "layer input"} : tensor<4xf16> to tensor<4xf32>
  %0 = halftone.add %ca, %cb : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A scatter_add to known neighbours pads: indices clamp, and others stay.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[A:.*]] = halftone.reshape %arg0 : tensor<2xf32> to tensor<1x2xf32>
// CHECK-DAG: %[[ALL:.*]] = halftone.concat %[[A]], %{{.*}}, %arg1 {axis = 0 : i64}
// CHECK-DAG: %[[REST:.*]] = halftone.scatter_add
// CHECK-DAG: %[[SUM:.*]] = halftone.add %[[ALL]], %{{.*}}
// CHECK: return %[[SUM]], %[[REST]]
func.func @main(%a: tensor<2xf32> {halftone.name = "a"}, %b: tensor<2x2xf32> {halftone.name = "b"})
    -> (tensor<4x2xf32> {halftone.name = "y"}, tensor<4x2xf32> {halftone.name = "rest"}) {
  %i = halftone.constant dense<-7> : tensor<i32>
  %j = halftone.constant dense<[2, 9]> : tensor<2xi64>
  %k = halftone.constant dense<[2, 1]> : tensor<2xi64>
  %pa = halftone.scatter_add %i, %a {axis = 0 : i64} : (tensor<i32>, tensor<2xf32>) -> tensor<4x2xf32>
  %pb = halftone.scatter_add %j, %b {axis = 0 : i64} : (tensor<2xi64>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %pc = halftone.scatter_add %k, %b {axis = 0 : i64} : (tensor<2xi64>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %0 = halftone.add %pa, %pb : tensor<4x2xf32>
  return %0, %pc : tensor<4x2xf32>, tensor<4x2xf32>
}
