// RUN: halftone-opt %s --halftone-verify-stage=stage=graph | FileCheck-22 %s --check-prefix=GRAPH
// RUN: halftone-opt %s --stop-after=graph | FileCheck-22 %s --check-prefix=GRAPH
// RUN: halftone-opt %s --stop-after=cast | halftone-opt --halftone-verify-stage=stage=cast | FileCheck-22 %s --check-prefix=CAST
// RUN: halftone-opt %s --stop-after=cast | halftone-opt --start-from=cast --stop-after=pure | halftone-opt --halftone-verify-stage=stage=pure | FileCheck-22 %s --check-prefix=PURE
// RUN: halftone-opt %s --start-from=graph --stop-after=pure -o %t.mlir
// RUN: halftone-opt %t.mlir --start-from pure --stop-after pure | FileCheck-22 %s --check-prefix=PURE
// RUN: not halftone-opt %s --start-from=pure --stop-after=graph 2>&1 | FileCheck-22 %s --check-prefix=ORDER
// RUN: not halftone-opt %s --stop-after=soup 2>&1 | FileCheck-22 %s --check-prefix=SOUP
// RUN: not halftone-opt %s --start-from=pure --stop-after=pure 2>&1 | FileCheck-22 %s --check-prefix=WRONG

// A training step keeps the contract of each stage that it passes.
// GRAPH: halftone.layer
// CAST-NOT: halftone.layer "
// CAST: halftone.cast
// CAST: halftone.gradient
// CAST: halftone.assign
// PURE-NOT: halftone.gradient
// PURE-NOT: halftone.assign
// PURE: halftone.when
// ORDER: --start-from=pure comes after --stop-after=graph
// SOUP: Cannot find option named 'soup'
// WRONG: 'halftone.layer' op is not legal in stage pure: expected no layer after inline-layers
// WRONG: 'halftone.assign' op is not legal in stage pure: expected state to be arguments and results after lift-variables
halftone.variable @w : tensor<4x2xf32> {path = "net/dense/kernel"}
func.func @main(%x: tensor<8x4xf32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "loss"}) {
  %y = halftone.layer "net/dense" policy "mixed_float16" (%x) {layer_class = "Dense"} : (tensor<8x4xf32>) -> tensor<8x2xf16> {
  ^bb0(%a: tensor<8x4xf16>):
    %w = halftone.read @w : tensor<4x2xf16>
    %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf16>, tensor<4x2xf16>) -> tensor<8x2xf16>
    halftone.yield %0 : tensor<8x2xf16>
  }
  %f = halftone.cast %y {origin = "loss"} : tensor<8x2xf16> to tensor<8x2xf32>
  %s = halftone.mul %f, %f : tensor<8x2xf32>
  %loss = halftone.reduce sum %s {axes = array<i64: 0, 1>} : tensor<8x2xf32> -> tensor<f32>
  %dw = halftone.gradient %loss of [@w] : tensor<f32> -> tensor<4x2xf32>
  %ok = halftone.reduce_all all_finite (%dw) : tensor<4x2xf32>
  halftone.when %ok : () {
    %w0 = halftone.read @w : tensor<4x2xf32>
    %w1 = halftone.sub %w0, %dw : tensor<4x2xf32>
    halftone.assign @w, %w1 : tensor<4x2xf32>
  } else {
  }
  return %loss : tensor<f32>
}
