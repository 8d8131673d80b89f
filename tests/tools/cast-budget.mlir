// RUN: not halftone-opt %s --stop-after=kernel --max-standalone-casts=1 2>&1 | FileCheck-22 %s
// RUN: halftone-opt %s --stop-after=kernel --max-standalone-casts=2

// CHECK: error: 2 casts are standalone kernels; expected at most 1
// CHECK-NEXT: net/identity: float32 > float16, layer input (4)
// CHECK-NEXT: net/identity: float16 > float16, layer output (4)
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf16> {halftone.name = "y"}) {
  %y = halftone.layer "net/identity" policy "float16" (%x) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    halftone.yield %a : tensor<4xf16>
  }
  return %y : tensor<4xf16>
}
