// RUN: not halftone-opt %s --split-input-file --check-passes --halftone-simplify 2>&1 | FileCheck-22 %s
// What --check-passes refuses before the first pass.

// CHECK: error: --check-passes: argument 0 of @main has type i32; expected a tensor of static shape and known dtype
// CHECK-NOT: error
func.func @main(%x: i32 {halftone.name = "x"}) { return }

// -----

// CHECK: error: --check-passes: argument 0 of @main has type tensor<*xf32>; expected a tensor of static shape and known dtype
// CHECK-NOT: error
func.func @main(%x: tensor<*xf32> {halftone.name = "x"}) { return }

// -----

// CHECK: error: --check-passes: argument 0 of @main has type tensor<?xf32>; expected a tensor of static shape and known dtype
// CHECK-NOT: error
func.func @main(%x: tensor<?xf32> {halftone.name = "x"}) { return }

// -----

// CHECK: error: --check-passes: argument 0 of @main has type tensor<9223372036854775807xf32>, which is too large to interpret; expected at most 67108864 elements
// CHECK-NOT: error
func.func @main(%x: tensor<9223372036854775807xf32> {halftone.name = "x"}) { return }

// -----

// CHECK: error: --check-passes: variable @w has type tensor<65536x65536x65536x65536xf16>, which is too large to interpret
// CHECK-NOT: error
halftone.variable @w : tensor<65536x65536x65536x65536xf16>
func.func @main() { return }

// -----

// CHECK: error: --check-passes: feeds and variables have 100000000 elements; expected at most 67108864 to interpret
// CHECK-NOT: error
halftone.variable @w : tensor<50000000xf16>
func.func @main(%x: tensor<50000000xf32> {halftone.name = "x"}) { return }

// -----

// CHECK: error: --check-passes: there is no function @main with a single-block body
// CHECK-NOT: error
func.func private @main(tensor<2xf32>)

// -----

// CHECK: warning: --check-passes: there is no function @main, so no values are compared
// CHECK-NOT: error
func.func @other(%x: tensor<2xf32>) { return }
