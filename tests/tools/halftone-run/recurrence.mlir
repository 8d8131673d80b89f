// A recurrent layer and its gradients: the forward loop is one launch, whose blocks give the same bits on any number of threads.
// RUN: halftone-run emit %s --stage plan --target x86-64-v3 --numerics fast | FileCheck-22 %s --check-prefix=PLAN
// PLAN: recurrence, multiply-add, carries of a block in scratch
// RUN: halftone-run emit %s --stage plan --target x86-64-v3 --numerics strict | FileCheck-22 %s --check-prefix=STRICT
// STRICT-NOT: recurrence,
// STRICT: repeat 5 times
// RUN: halftone-run compare %s --no-cache --numerics fast | FileCheck-22 %s
// CHECK: agrees within fast numerics
// RUN: rm -rf %t && mkdir %t
// RUN: halftone-run predict %s --no-cache -q --threads 1 --input x=random --output y=%t/y1.npy --output gr=%t/gr1.npy
// RUN: halftone-run predict %s --no-cache -q --threads 2 --input x=random --output y=%t/y2.npy --output gr=%t/gr2.npy
// RUN: halftone-run predict %s --no-cache -q --threads 3 --input x=random --output y=%t/y3.npy --output gr=%t/gr3.npy
// RUN: halftone-run predict %s --no-cache -q --threads 7 --input x=random --output y=%t/y7.npy --output gr=%t/gr7.npy
// RUN: cmp %t/y1.npy %t/y2.npy && cmp %t/y1.npy %t/y3.npy && cmp %t/y1.npy %t/y7.npy
// RUN: cmp %t/gr1.npy %t/gr2.npy && cmp %t/gr1.npy %t/gr3.npy && cmp %t/gr1.npy %t/gr7.npy
halftone.variable @k : tensor<6x40xf32> {path = "kernel"}
halftone.variable @r : tensor<20x40xf32> {path = "recurrent"}
func.func @main(%x: tensor<5x65x6xf32> {halftone.name = "x"})
   -> (tensor<5x65x20xf32> {halftone.name = "y"}, tensor<6x40xf32> {halftone.name = "gk"}, tensor<20x40xf32> {halftone.name = "gr"}) {
  %k = halftone.read @k : tensor<6x40xf32>
  %r = halftone.read @r : tensor<20x40xf32>
  %zero = halftone.constant dense<0.0> : tensor<65x20xf32>
  %0:2 = halftone.scan (%zero) over (%x) {length = 5 : i64, reverse} : (tensor<65x20xf32>, tensor<5x65x6xf32>) -> (tensor<65x20xf32>, tensor<5x65x20xf32>) {
  ^bb0(%i: tensor<i32>, %h: tensor<65x20xf32>, %s: tensor<65x6xf32>):
    %1 = halftone.contract %s, %k {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<65x6xf32>, tensor<6x40xf32>) -> tensor<65x40xf32>
    %2 = halftone.contract %h, %r {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<65x20xf32>, tensor<20x40xf32>) -> tensor<65x40xf32>
    %3 = halftone.add %1, %2 : tensor<65x40xf32>
    %4 = halftone.slice %3 {start = array<i64: 0, 0>} : tensor<65x40xf32> to tensor<65x20xf32>
    %5 = halftone.slice %3 {start = array<i64: 0, 20>} : tensor<65x40xf32> to tensor<65x20xf32>
    %6 = halftone.logistic %4 : tensor<65x20xf32>
    %7 = halftone.tanh %5 : tensor<65x20xf32>
    %8 = halftone.sub %h, %7 : tensor<65x20xf32>
    %9 = halftone.mul %6, %8 : tensor<65x20xf32>
    %10 = halftone.add %7, %9 : tensor<65x20xf32>
    halftone.yield %10, %10 : tensor<65x20xf32>, tensor<65x20xf32>
  }
  %squares = halftone.mul %0#1, %0#1 : tensor<5x65x20xf32>
  %loss = halftone.reduce sum %squares {axes = array<i64: 0, 1, 2>} : tensor<5x65x20xf32> -> tensor<f32>
  %gk = halftone.gradient %loss of [@k] : tensor<f32> -> tensor<6x40xf32>
  %gr = halftone.gradient %loss of [@r] : tensor<f32> -> tensor<20x40xf32>
  return %0#1, %gk, %gr : tensor<5x65x20xf32>, tensor<6x40xf32>, tensor<20x40xf32>
}
