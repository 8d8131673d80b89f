// The layers of modules, as regions in early stages and as a table in later ones.
// RUN: halftone-policy resolve %s | FileCheck %s
// RUN: halftone-opt %s --stop-after=cast -o %t.cast.mlir && halftone-policy resolve %t.cast.mlir | FileCheck %s
// RUN: halftone-opt %s --stop-after=kernel -o %t.kernel.mlir && halftone-policy resolve %t.kernel.mlir | FileCheck %s
// CHECK: layer class policy compute variable key
// CHECK-NEXT: net/first Custom mixed_float16 float16 float64 net/f.*
// CHECK-NEXT: net/second Softmax float32 float32 float32 -
// CHECK-NEXT: The loss is scaled.
// RUN: halftone-policy resolve %s --policy-map %S/net.json --json | FileCheck %s --check-prefix=MAP
// MAP: "loss_scaling":true,"unused_keys":["net/encoder_[0-9]+","net/norm","net/typo"],"layers":[{"path":"net/first","class":"Custom","key":null,"policy":"mixed_bfloat16","compute":"bfloat16","variable":"float64"}
// RUN: halftone-policy resolve %s -v 2>&1 | FileCheck %s --check-prefix=VERBOSE
// VERBOSE: a module in stage graph, 2 layers
// RUN: not halftone-policy resolve %S/lint.mlir.absent.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: IOError: cannot read

halftone.variable @w : tensor<4xf64> {path = "net/first/kernel"}
halftone.variable @scale : tensor<f32> {path = "scale", role = #halftone<role loss_scale>}
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %y = halftone.layer "net/first" policy "mixed_float16" (%x) {layer_class = "Custom", rule = "net/f.*"}
      : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    %0 = halftone.tanh %a : tensor<4xf16>
    halftone.yield %0 : tensor<4xf16>
  }
  %z = halftone.layer "net/second" policy "float32" (%y) {layer_class = "Softmax"} : (tensor<4xf16>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = halftone.exp %a : tensor<4xf32>
    halftone.yield %0 : tensor<4xf32>
  }
  %again = halftone.layer "net/second" policy "float32" (%z) {call = 1 : i64, layer_class = "Softmax"}
      : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = halftone.exp %a : tensor<4xf32>
    halftone.yield %0 : tensor<4xf32>
  }
  return %again : tensor<4xf32>
}
