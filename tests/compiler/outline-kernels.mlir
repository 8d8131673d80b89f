// RUN: halftone-opt %s --halftone-form-kernels=strict --halftone-outline-kernels --halftone-verify-stage=stage=kernel | FileCheck-22 %s

// Equal kernels are one, wherever their ops were and whatever their locations are.
// CHECK-COUNT-1: halftone.kernel loop @[[NEG:loop_[0-9a-f]+]] (tensor<8xf32>) -> tensor<8xf32>
// CHECK: halftone.kernel loop @[[EXP:loop_[0-9a-f]+]] (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NOT: halftone.kernel
// CHECK: func.func @main
// CHECK: halftone.launch @[[NEG]](%arg0) {site = "net/a (x.cpp:3): neg"}
// CHECK: halftone.launch @[[NEG]](%arg1) {site = "(x.cpp:4): neg"}
// CHECK: halftone.launch @[[EXP]](
func.func @main(%x: tensor<8xf32> {halftone.name = "x"}, %y: tensor<8xf32> {halftone.name = "y"}) -> (tensor<8xf32> {halftone.name = "a"}, tensor<8xf32> {halftone.name = "b"}) {
  %0 = halftone.neg %x : tensor<8xf32> loc("net/a"("dir/x.cpp":3:1))
  %1 = halftone.neg %y : tensor<8xf32> loc("x.cpp":4:1)
  %2 = halftone.exp %1 : tensor<8xf32>
  return %0, %2 : tensor<8xf32>, tensor<8xf32>
}
