// RUN: halftone-opt %s --split-input-file --halftone-lower-to-linalg --verify-diagnostics

halftone.kernel reduction_loop @k (tensor<6x4xf32>) -> tensor<4xf32> {
^bb0(%a: tensor<6x4xf32>):
  %0 = halftone.reduce sum %a {axes = array<i64: 0>} : tensor<6x4xf32> -> tensor<4xf32>
  %b = halftone.broadcast %0 {axes = array<i64: 1>} : tensor<4xf32> to tensor<6x4xf32>
  %1 = halftone.sub %a, %b : tensor<6x4xf32>
  // expected-error @below {{a reduction of a reduction is not supported in a reduction loop}}
  %2 = halftone.reduce sum %1 {axes = array<i64: 0>} : tensor<6x4xf32> -> tensor<4xf32>
  halftone.yield %2 : tensor<4xf32>
}

// -----

halftone.kernel loop @k (tensor<6x4xf16>) -> tensor<2x4xf16> attributes {spec = #halftone.blocks<rows = 3>} {
^bb0(%a: tensor<6x4xf16>):
  // expected-error @below {{a partial reduction must accumulate in f32 or wider, not in 'f16'}}
  %0 = halftone.partial_reduce max %a {axes = array<i64: 0>, tile = array<i64: 3>} : tensor<6x4xf16> -> tensor<2x4xf16>
  halftone.yield %0 : tensor<2x4xf16>
}

// -----

// expected-error @below {{results of a loop kernel differ in size: 24 and 6}}
halftone.kernel loop @k (tensor<6xf32>, tensor<4xf32>) -> (tensor<2x3xf32>, tensor<6x4xf32>) {
^bb0(%a: tensor<6xf32>, %b: tensor<4xf32>):
  %0 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<4xf32> to tensor<6x4xf32>
  %1 = halftone.reshape %a : tensor<6xf32> to tensor<2x3xf32>
  halftone.yield %1, %0 : tensor<2x3xf32>, tensor<6x4xf32>
}

// -----

halftone.kernel row @k (tensor<6x40xf32>) -> (tensor<6xf32>, tensor<2x40xf32>) attributes {spec = #halftone.blocks<rows = 2>} {
^bb0(%a: tensor<6x40xf32>):
  %0 = halftone.reduce sum %a {axes = array<i64: 1>} : tensor<6x40xf32> -> tensor<6xf32>
  // expected-error @below {{has tiles of 3 along axis 0, but blocks of the kernel have 2}}
  %1 = halftone.partial_reduce sum %a {axes = array<i64: 0>, tile = array<i64: 3>} : tensor<6x40xf32> -> tensor<2x40xf32>
  halftone.yield %0, %1 : tensor<6xf32>, tensor<2x40xf32>
}
