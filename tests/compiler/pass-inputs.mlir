// Every pass on a module of every stage: a module, or one error that names the pass; never an empty module.
// RUN: rm -rf %t && mkdir %t
// RUN: cp %s %t/graph.mlir
// RUN: halftone-opt %s --stop-after=cast -o %t/cast.mlir
// RUN: halftone-opt %t/cast.mlir --halftone-lift-variables -o %t/lifted.mlir
// RUN: halftone-opt %s --stop-after=pure -o %t/pure.mlir
// RUN: halftone-opt %s --stop-after=kernel -o %t/kernel.mlir
// RUN: halftone-opt %t/kernel.mlir --halftone-lower-to-linalg -o %t/linalg.mlir
// RUN: %python %S/pass_inputs.py %t
// RUN: not halftone-opt %s --halftone-lower-to-linalg 2>&1 | FileCheck-22 %s
// CHECK: pass-inputs.mlir:[[@LINE+5]]:{{[0-9]+}}: error: halftone-lower-to-linalg expects a module in stage kernel; 'halftone.layer' occurs in modules in stage graph
// CHECK-NOT: {{(error|module)}}
halftone.variable @w : tensor<4xf32> {path = "net/w"}
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "loss"}) {
  %w = halftone.read @w : tensor<4xf32>
  %y = halftone.layer "net/scale" policy "mixed_float16" (%x) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    %v = halftone.read @w : tensor<4xf16>
    %0 = halftone.mul %a, %v : tensor<4xf16>
    halftone.yield %0 : tensor<4xf16>
  }
  %f = halftone.cast %y {origin = "user"} : tensor<4xf16> to tensor<4xf32>
  %loss = halftone.reduce sum %f {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %d = halftone.gradient %loss of [@w] : tensor<f32> -> tensor<4xf32>
  %new = halftone.sub %w, %d : tensor<4xf32>
  halftone.assign @w, %new : tensor<4xf32>
  return %loss : tensor<f32>
}
