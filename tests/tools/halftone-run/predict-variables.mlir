// Variables: given by symbol or path, else drawn from the seed by role; their new values can be written.
// RUN: rm -rf %t && mkdir %t
// RUN: halftone-run predict %s --input "x=2xf32=1 1" --input "w=2x2xf32=1 2 3 4" --output @count=%t/count.npy --output y=%t/y.npy
// RUN: %python %S/print_npy.py %t/count.npy %t/y.npy | FileCheck-22 %s --check-prefix=GIVEN
// GIVEN: 1
// GIVEN-NEXT: 4.0 6.0
// RUN: halftone-run predict %s --input "x=2xf32=1 1" --input "net/dense/kernel=2x2xf32=1 0 0 1" --input "@count=i32=5" --output net/count=%t/count.npy
// RUN: %python %S/print_npy.py %t/count.npy | FileCheck-22 %s --check-prefix=PATH
// PATH: 6

// RUN: halftone-run predict %s --input "x=2xf32=1 1" --seed 1 > %t/one
// RUN: halftone-run predict %s --input "x=2xf32=1 1" --seed 1 > %t/again
// RUN: halftone-run predict %s --input "x=2xf32=1 1" --seed 2 > %t/two
// RUN: diff %t/one %t/again
// RUN: not diff %t/one %t/two

// Initial values by role: slot variables and counts 0, the variance 1, learning rate and loss scale as in Keras.
// RUN: halftone-run predict %s --input "x=2xf32=0 0" | FileCheck-22 %s --check-prefix=ROLES
// ROLES: y: 2xf32, 2 of 2 finite
// ROLES-NEXT: {{^}}  0 0
// ROLES-NEXT: roles: 4xf32
// ROLES-NEXT: {{^}}  0 1 0.00100000005 32768

halftone.variable @w : tensor<2x2xf32> {path = "net/dense/kernel"}
halftone.variable @count : tensor<i32> {path = "net/count", role = #halftone<role metric>}
halftone.variable @velocity : tensor<f32> {path = "sgd/velocity", role = #halftone<role slot>}
halftone.variable @variance : tensor<f32> {path = "net/norm/moving_variance", role = #halftone<role state>}
halftone.variable @rate : tensor<f32> {path = "sgd/learning_rate", role = #halftone<role learning_rate>}
halftone.variable @scale : tensor<f32> {path = "scale", role = #halftone<role loss_scale>}
func.func @main(%x: tensor<2xf32> {halftone.name = "x"})
    -> (tensor<2xf32> {halftone.name = "y"}, tensor<4xf32> {halftone.name = "roles"}) {
  %w = halftone.read @w : tensor<2x2xf32>
  %xs = halftone.broadcast %x {axes = array<i64: 0>} : tensor<2xf32> to tensor<2x2xf32>
  %xw = halftone.mul %xs, %w : tensor<2x2xf32>
  %y = halftone.reduce sum %xw {axes = array<i64: 0>} : tensor<2x2xf32> -> tensor<2xf32>
  %one = halftone.constant dense<1> : tensor<i32>
  %c = halftone.read @count : tensor<i32>
  %c1 = halftone.add %c, %one : tensor<i32>
  halftone.assign @count, %c1 : tensor<i32>
  %i = halftone.iota {axis = 0 : i64} : tensor<4xi32>
  %v0 = halftone.read @velocity : tensor<f32>
  %v1 = halftone.read @variance : tensor<f32>
  %v2 = halftone.read @rate : tensor<f32>
  %v3 = halftone.read @scale : tensor<f32>
  %b0 = halftone.broadcast %v0 {axes = array<i64>} : tensor<f32> to tensor<4xf32>
  %b1 = halftone.broadcast %v1 {axes = array<i64>} : tensor<f32> to tensor<4xf32>
  %b2 = halftone.broadcast %v2 {axes = array<i64>} : tensor<f32> to tensor<4xf32>
  %b3 = halftone.broadcast %v3 {axes = array<i64>} : tensor<f32> to tensor<4xf32>
  %n1 = halftone.constant dense<1> : tensor<4xi32>
  %n2 = halftone.constant dense<2> : tensor<4xi32>
  %p0 = halftone.compare lt %i, %n1 : tensor<4xi32>
  %p1 = halftone.compare eq %i, %n1 : tensor<4xi32>
  %p2 = halftone.compare eq %i, %n2 : tensor<4xi32>
  %s2 = halftone.select %p2, %b2, %b3 : tensor<4xf32>
  %s1 = halftone.select %p1, %b1, %s2 : tensor<4xf32>
  %s0 = halftone.select %p0, %b0, %s1 : tensor<4xf32>
  return %y, %s0 : tensor<2xf32>, tensor<4xf32>
}
