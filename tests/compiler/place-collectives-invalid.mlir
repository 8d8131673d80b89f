// RUN: halftone-opt %s --split-input-file --verify-diagnostics --halftone-place-collectives

func.func @main(%x: tensor<8xf32> {halftone.name = "x"}) -> (tensor<8xf32> {halftone.name = "y"}) {
  // expected-error @below {{has no order; expected bucket-collectives to run first}}
  %0 = halftone.all_reduce sum (%x) : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32> {halftone.name = "x"}) -> (tensor<8xf32> {halftone.name = "y"}) {
  %0 = halftone.all_reduce sum (%x) {order = 1 : i64} : tensor<8xf32>
  // expected-error @below {{depends on a collective of a higher order}}
  %1 = halftone.all_reduce sum (%0) {order = 0 : i64} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
