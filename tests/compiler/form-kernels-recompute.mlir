// RUN: halftone-opt %s --split-input-file --halftone-normalize --halftone-choose-layouts --halftone-round-decisions --halftone-form-kernels --halftone-outline-kernels --halftone-verify-stage=stage=kernel | FileCheck-22 %s

// A gelu behind a product, and its slope. The kernel of the product stores two large values, the gelu and its argument; the
// kernel of the next product makes the slope of the argument.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul @[[FIRST:matmul_[0-9a-f]+]] ({{.*}}) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>)
// CHECK: halftone.kernel matmul @[[SLOPE:matmul_[0-9a-f]+]] (tensor<1024x8xf32>, tensor<1024x8xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
// CHECK: halftone.contract
// CHECK: halftone.erf
// CHECK: halftone.exp
// CHECK: func.func @main
// CHECK: %[[Y:.*]]:2 = halftone.launch @[[FIRST]]
// CHECK: halftone.launch @[[SLOPE]](%{{.*}}, %{{.*}}, %[[Y]]#{{[01]}})
func.func @main(%x: tensor<1024x8xf32> {halftone.name = "x"}, %w: tensor<8x1024xf32> {halftone.name = "w"}, %b: tensor<1024xf32> {halftone.name = "b"},
                %v: tensor<1024x8xf32> {halftone.name = "v"}) -> (tensor<1024x1024xf32> {halftone.name = "d"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x8xf32>, tensor<8x1024xf32>) -> tensor<1024x1024xf32>
  %1 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<1024xf32> to tensor<1024x1024xf32>
  %2 = halftone.add %0, %1 : tensor<1024x1024xf32>
  %r = halftone.constant dense<0.70710678> : tensor<1024x1024xf32>
  %3 = halftone.mul %2, %r : tensor<1024x1024xf32>
  %4 = halftone.erf %3 : tensor<1024x1024xf32>
  %one = halftone.constant dense<1.0> : tensor<1024x1024xf32>
  %5 = halftone.add %4, %one : tensor<1024x1024xf32>
  %6 = halftone.mul %2, %5 : tensor<1024x1024xf32>
  %7 = halftone.contract %6, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %8 = halftone.contract %7, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<1024x8xf32>, tensor<1024x8xf32>) -> tensor<1024x1024xf32>
  %9 = halftone.mul %3, %3 : tensor<1024x1024xf32>
  %10 = halftone.neg %9 : tensor<1024x1024xf32>
  %11 = halftone.exp %10 : tensor<1024x1024xf32>
  %12 = halftone.mul %2, %11 : tensor<1024x1024xf32>
  %13 = halftone.mul %8, %5 : tensor<1024x1024xf32>
  %14 = halftone.mul %8, %12 : tensor<1024x1024xf32>
  %15 = halftone.add %13, %14 : tensor<1024x1024xf32>
  return %15 : tensor<1024x1024xf32>
}

// -----

// The same in a size that stays in a cache: a load costs less than the two functions, so both are stored.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul @{{.*}} -> (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>)
// CHECK: halftone.erf
// CHECK: halftone.exp
// CHECK: halftone.kernel matmul
// CHECK-NOT: halftone.erf
// CHECK-NOT: halftone.exp
// CHECK: func.func @main
func.func @main(%x: tensor<256x8xf32> {halftone.name = "x"}, %w: tensor<8x256xf32> {halftone.name = "w"}, %v: tensor<256x8xf32> {halftone.name = "v"})
    -> (tensor<256x256xf32> {halftone.name = "d"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<256x8xf32>, tensor<8x256xf32>) -> tensor<256x256xf32>
  %1 = halftone.erf %0 : tensor<256x256xf32>
  %2 = halftone.mul %0, %1 : tensor<256x256xf32>
  %3 = halftone.contract %2, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<256x256xf32>, tensor<256x8xf32>) -> tensor<256x8xf32>
  %4 = halftone.contract %3, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<256x8xf32>, tensor<256x8xf32>) -> tensor<256x256xf32>
  %5 = halftone.exp %0 : tensor<256x256xf32>
  %6 = halftone.mul %4, %1 : tensor<256x256xf32>
  %7 = halftone.mul %4, %5 : tensor<256x256xf32>
  %8 = halftone.sub %6, %7 : tensor<256x256xf32>
  return %8 : tensor<256x256xf32>
}

// -----

// Normalized rows: a kernel stores the values that the product reads, and rows' sums. Whoever needs the centered and the
// normalized rows later makes them of the rows themselves.
// CHECK-LABEL: module
// CHECK: halftone.kernel row @[[NORM:row_[0-9a-f]+]] ({{.*}}) -> (tensor<256xf32>, tensor<256xf32>, tensor<256x64xf32>)
// CHECK: func.func @main
// CHECK: %[[Y:.*]]:3 = halftone.launch @[[NORM]](%[[X:.*]], %{{.*}})
// CHECK: halftone.launch @{{matmul.*}}({{.*}}%[[X]]
func.func @main(%x: tensor<256x64xf32> {halftone.name = "x"}, %g: tensor<64xf32> {halftone.name = "g"}, %w: tensor<64x8xf32> {halftone.name = "w"})
    -> (tensor<256x64xf32> {halftone.name = "d"}) {
  %n = halftone.constant dense<64.0> : tensor<256xf32>
  %0 = halftone.reduce sum %x {axes = array<i64: 1>} : tensor<256x64xf32> -> tensor<256xf32>
  %1 = halftone.div %0, %n : tensor<256xf32>
  %2 = halftone.broadcast %1 {axes = array<i64: 0>} : tensor<256xf32> to tensor<256x64xf32>
  %3 = halftone.sub %x, %2 : tensor<256x64xf32>
  %4 = halftone.mul %3, %3 : tensor<256x64xf32>
  %5 = halftone.reduce sum %4 {axes = array<i64: 1>} : tensor<256x64xf32> -> tensor<256xf32>
  %6 = halftone.rsqrt %5 : tensor<256xf32>
  %7 = halftone.broadcast %6 {axes = array<i64: 0>} : tensor<256xf32> to tensor<256x64xf32>
  %8 = halftone.mul %3, %7 : tensor<256x64xf32>
  %9 = halftone.broadcast %g {axes = array<i64: 1>} : tensor<64xf32> to tensor<256x64xf32>
  %10 = halftone.mul %8, %9 : tensor<256x64xf32>
  %11 = halftone.contract %10, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<256x64xf32>, tensor<64x8xf32>) -> tensor<256x8xf32>
  %12 = halftone.contract %11, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<256x8xf32>, tensor<64x8xf32>) -> tensor<256x64xf32>
  %13 = halftone.mul %12, %8 : tensor<256x64xf32>
  %14 = halftone.sub %13, %3 : tensor<256x64xf32>
  return %14 : tensor<256x64xf32>
}

// -----

// One value would need another in its place: nothing is gained, and it stays stored.
// CHECK-LABEL: module
// CHECK: halftone.kernel row @{{.*}} -> (tensor<256x64xf32>, tensor<256x64xf32>)
// CHECK: halftone.kernel matmul
// CHECK-NOT: halftone.sub
// CHECK: func.func @main
func.func @main(%a: tensor<256x4xf32> {halftone.name = "a"}, %u: tensor<4x64xf32> {halftone.name = "u"}, %w: tensor<64x8xf32> {halftone.name = "w"})
    -> (tensor<256x64xf32> {halftone.name = "d"}) {
  %x = halftone.contract %a, %u {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<256x4xf32>, tensor<4x64xf32>) -> tensor<256x64xf32>
  %0 = halftone.reduce max %x {axes = array<i64: 1>} : tensor<256x64xf32> -> tensor<256xf32>
  %2 = halftone.broadcast %0 {axes = array<i64: 0>} : tensor<256xf32> to tensor<256x64xf32>
  %3 = halftone.sub %x, %2 : tensor<256x64xf32>
  %4 = halftone.tanh %3 : tensor<256x64xf32>
  %11 = halftone.contract %4, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<256x64xf32>, tensor<64x8xf32>) -> tensor<256x8xf32>
  %12 = halftone.contract %11, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<256x8xf32>, tensor<64x8xf32>) -> tensor<256x64xf32>
  %13 = halftone.mul %12, %3 : tensor<256x64xf32>
  return %13 : tensor<256x64xf32>
}

// -----

// Whether a stored product is positive is asked again by the kernel that needs to know. Whether its exponential is above 1 is
// asked once, and the answers are stored: another kernel could make another exponential.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul @[[FIRST:matmul_[0-9a-f]+]] ({{.*}}) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>)
// CHECK: halftone.exp
// CHECK: halftone.compare gt
// CHECK: halftone.kernel matmul @{{.*}} (tensor<1024x8xf32>, tensor<1024x8xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>)
// CHECK-NOT: halftone.exp
// CHECK: halftone.compare lt
// CHECK-NOT: halftone.exp
// CHECK: func.func @main
func.func @main(%x: tensor<1024x8xf32> {halftone.name = "x"}, %w: tensor<8x1024xf32> {halftone.name = "w"}, %v: tensor<1024x8xf32> {halftone.name = "v"})
    -> (tensor<1024x8xf32> {halftone.name = "p"}, tensor<1024x1024xf32> {halftone.name = "d"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x8xf32>, tensor<8x1024xf32>) -> tensor<1024x1024xf32>
  %zero = halftone.constant dense<0.0> : tensor<1024x1024xf32>
  %one = halftone.constant dense<1.0> : tensor<1024x1024xf32>
  %1 = halftone.exp %0 : tensor<1024x1024xf32>
  %2 = halftone.compare gt %1, %one : tensor<1024x1024xf32>
  %3 = halftone.select %2, %one, %zero : tensor<1024x1024xf32>
  %4 = halftone.compare lt %zero, %0 : tensor<1024x1024xf32>
  %5 = halftone.select %4, %one, %zero : tensor<1024x1024xf32>
  %6 = halftone.contract %0, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %7 = halftone.contract %6, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<1024x8xf32>, tensor<1024x8xf32>) -> tensor<1024x1024xf32>
  %8 = halftone.mul %7, %3 : tensor<1024x1024xf32>
  %9 = halftone.mul %8, %5 : tensor<1024x1024xf32>
  %10 = halftone.sub %9, %0 : tensor<1024x1024xf32>
  return %6, %10 : tensor<1024x8xf32>, tensor<1024x1024xf32>
}
