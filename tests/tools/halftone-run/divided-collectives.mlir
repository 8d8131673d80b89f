// A process alone has its own elements of its own sums, and 0 for the elements of others, in the interpreter and in the plan.
// RUN: halftone-run compare %s --no-cache | FileCheck-22 %s
// CHECK: agrees

// Process 1 of 3. Of the second value it has nothing, of the third all.
func.func @main(%x: tensor<8x5xf32> {halftone.name = "x"}, %y: tensor<4xf16> {halftone.name = "y"}, %z: tensor<2x3xi32> {halftone.name = "z"}) -> (tensor<40xf32> {halftone.name = "a"}, tensor<4xf16> {halftone.name = "b"}, tensor<2x3xi32> {halftone.name = "c"}) {
  %0:3 = halftone.reduce_scatter (%x, %y, %z) rank 1 borders [array<i64: 0, 16, 32, 40>, array<i64: 0, 4, 4, 4>, array<i64: 0, 0, 6, 6>] : tensor<8x5xf32>, tensor<4xf16>, tensor<2x3xi32>
  %1 = halftone.neg %0#0 : tensor<16xf32>
  %2 = halftone.neg %0#2 : tensor<2x3xi32>
  %3:3 = halftone.all_gather (%1, %0#1, %2) rank 1 borders [array<i64: 0, 16, 32, 40>, array<i64: 0, 4, 4, 4>, array<i64: 0, 0, 6, 6>] : tensor<16xf32>, tensor<0xf16>, tensor<2x3xi32>
  return %3#0, %3#1, %3#2 : tensor<40xf32>, tensor<4xf16>, tensor<2x3xi32>
}
