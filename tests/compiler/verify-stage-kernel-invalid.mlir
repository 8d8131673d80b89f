// RUN: halftone-opt %s --split-input-file --halftone-verify-stage=stage=kernel --verify-diagnostics

// expected-error @below {{a kernel of kind matmul contains the ops of a kernel of kind loop}}
halftone.kernel matmul @m (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%a: tensor<8xf32>):
  %0 = halftone.neg %a : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
// expected-error @below {{a kernel of kind row contains the ops of a kernel of kind loop}}
halftone.kernel row @r (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%a: tensor<8xf32>):
  %0 = halftone.neg %a : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
// expected-error @below {{a kernel of kind scatter contains the ops of a kernel of kind loop}}
halftone.kernel scatter @s (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%a: tensor<8xf32>):
  %0 = halftone.neg %a : tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
halftone.kernel loop @l (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%a: tensor<8xf32>):
  // expected-error @below {{'halftone.reduce_all' op is not legal in stage kernel: expected an op that computes a tensor, other than reduce_all, stop_gradient and hold, in a kernel}}
  %n = halftone.reduce_all max_abs (%a) : tensor<8xf32>
  %0 = halftone.broadcast %n {axes = array<i64>} : tensor<f32> to tensor<8xf32>
  halftone.yield %0 : tensor<8xf32>
}
halftone.kernel loop @d (tensor<8xf16>) -> (tensor<8xf16>, tensor<8xi1>) {
^bb0(%a: tensor<8xf16>):
  // expected-error @below {{'halftone.mul' op is not legal in stage kernel: a decision in this kernel depends on it; expected a rounding cast to 'tensor<8xf16>' between them}}
  %0 = halftone.mul %a, %a : tensor<8xf16>
  %1 = halftone.is_finite %0 : tensor<8xf16>
  halftone.yield %0, %1 : tensor<8xf16>, tensor<8xi1>
}
func.func @main(%x: tensor<8xf32> {halftone.name = "x"}) -> (tensor<8xf32> {halftone.name = "y"}) {
  %0 = halftone.launch @l(%x) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{'halftone.neg' op is not legal in stage kernel: expected only launch, when, scan, while, reshape, constant and collectives outside kernels}}
  %1 = halftone.neg %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

halftone.kernel loop @k (tensor<i32>, tensor<i32>) -> tensor<i32> {
^bb0(%a: tensor<i32>, %b: tensor<i32>):
  %0 = halftone.add %a, %b : tensor<i32>
  halftone.yield %0 : tensor<i32>
}
func.func @main(%x: tensor<i32> {halftone.name = "x"}) -> (tensor<i32> {halftone.name = "y"}) {
  // expected-error @below {{'halftone.scan' op is not legal in stage kernel: expected a carry instead of its index, which no kernel can read}}
  %y = halftone.scan (%x) {length = 3 : i64} : (tensor<i32>) -> tensor<i32> {
  ^bb0(%i: tensor<i32>, %c: tensor<i32>):
    %0 = halftone.launch @k(%c, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    halftone.yield %0 : tensor<i32>
  }
  return %y : tensor<i32>
}
