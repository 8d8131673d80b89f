// The check of a plan's values runs the first and the last steps of a loop: slices of the others hold nothing that was there before.
// SPDX-License-Identifier: Apache-2.0
// RUN: halftone-run compare %s --numerics strict --no-cache
// RUN: halftone-run emit %s --stage plan --numerics strict --no-cache | FileCheck %s
// CHECK-LABEL: repeat 12 times

func.func @main(%x: tensor<12xf32> {halftone.name = "x"}, %w: tensor<3x8xf32> {halftone.name = "w"}, %r: tensor<2x8xf32> {halftone.name = "r"}, %h: tensor<32x2xf32> {halftone.name = "h"}) -> (tensor<12x32x2xf32> {halftone.name = "ys"}) {
  %wide = halftone.broadcast %x {axes = array<i64: 1>} : tensor<12xf32> to tensor<32x12xf32>
  %part = halftone.slice %wide {start = array<i64: 0, 9>} : tensor<32x12xf32> to tensor<32x3xf32>
  %0:2 = halftone.scan(%h) {length = 12 : i64} : (tensor<32x2xf32>) -> (tensor<32x2xf32>, tensor<12x32x2xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<32x2xf32>):
    %1 = halftone.contract %part, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x3xf32>, tensor<3x8xf32>) -> tensor<32x8xf32>
    %2 = halftone.contract %c, %r {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x2xf32>, tensor<2x8xf32>) -> tensor<32x8xf32>
    %3 = halftone.add %1, %2 : tensor<32x8xf32>
    %4 = halftone.slice %3 {start = array<i64: 0, 6>} : tensor<32x8xf32> to tensor<32x2xf32>
    halftone.yield %4, %4 : tensor<32x2xf32>, tensor<32x2xf32>
  }
  return %0#1 : tensor<12x32x2xf32>
}
