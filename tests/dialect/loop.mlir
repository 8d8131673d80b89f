// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s
// RUN: halftone-opt %s --emit-bytecode | halftone-opt | FileCheck-22 %s

// CHECK-LABEL: func.func @scan
// CHECK: %{{.*}}:2 = halftone.scan(%{{.*}}) over(%{{.*}}) {length = 20 : i64, reverse} : (tensor<32x8xf32>, tensor<20x32x8xf32>) -> (tensor<32x8xf32>, tensor<20x32x8xf32>) {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<32x8xf32>, %{{.*}}: tensor<32x8xf32>):
// CHECK: halftone.yield %{{.*}}, %{{.*}} : tensor<32x8xf32>, tensor<32x8xf32>
func.func @scan(%h0: tensor<32x8xf32>, %xs: tensor<20x32x8xf32>) {
  %h, %ys = halftone.scan (%h0) over (%xs) {length = 20 : i64, reverse}
      : (tensor<32x8xf32>, tensor<20x32x8xf32>) -> (tensor<32x8xf32>, tensor<20x32x8xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<32x8xf32>, %x: tensor<32x8xf32>):
    %0 = halftone.add %c, %x : tensor<32x8xf32>
    %1 = halftone.tanh %0 : tensor<32x8xf32>
    halftone.yield %1, %0 : tensor<32x8xf32>, tensor<32x8xf32>
  }
  return
}

// A scan needs neither carries nor stacks.
// CHECK-LABEL: func.func @partial_scans
// CHECK: halftone.scan() {length = 3 : i64} : () -> tensor<3xi32> {
// CHECK: halftone.scan(%{{.*}}) {length = 0 : i64} : (tensor<f32>) -> tensor<f32> {
// CHECK: halftone.scan() {length = 2 : i64} : () -> () {
func.func @partial_scans(%x: tensor<f32>) {
  %indices = halftone.scan () {length = 3 : i64} : () -> tensor<3xi32> {
  ^bb0(%i: tensor<i32>):
    halftone.yield %i : tensor<i32>
  }
  %same = halftone.scan (%x) {length = 0 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<i32>, %c: tensor<f32>):
    %0 = halftone.neg %c : tensor<f32>
    halftone.yield %0 : tensor<f32>
  }
  halftone.scan () {length = 2 : i64} : () -> () {
  ^bb0(%i: tensor<i32>):
  }
  return
}

// CHECK-LABEL: func.func @while
// CHECK: halftone.while(%{{.*}}) {maximum = 100 : i64} : (tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>):
// CHECK: halftone.yield %{{.*}} : tensor<i1>
// CHECK: } do {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<f32>):
// CHECK: halftone.while() : () -> () {
func.func @while(%v: tensor<f32>, %limit: tensor<f32>, %never: tensor<i1>) {
  %last = halftone.while (%v) {maximum = 100 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%c: tensor<f32>):
    %go = halftone.compare lt %c, %limit : tensor<f32>
    halftone.yield %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %c: tensor<f32>):
    %0 = halftone.add %c, %c : tensor<f32>
    halftone.yield %0 : tensor<f32>
  }
  halftone.while () : () -> () {
    halftone.yield %never : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>):
  }
  return
}
