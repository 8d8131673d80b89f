// Passes that take a module out of its stage drop the stage that it declares; all others keep it.
// RUN: halftone-opt %s --halftone-verify-stage=stage=graph | FileCheck-22 %s --check-prefix=KEPT
// RUN: halftone-opt %s --halftone-insert-casts | FileCheck-22 %s --check-prefix=KEPT
// RUN: halftone-opt %s --halftone-simplify --halftone-normalize | FileCheck-22 %s --check-prefix=KEPT
// RUN: halftone-opt %s --halftone-inline-layers | FileCheck-22 %s --check-prefix=GONE
// RUN: halftone-opt %s --halftone-lift-variables | FileCheck-22 %s --check-prefix=GONE
// RUN: halftone-opt %s --halftone-hoist-shadows | FileCheck-22 %s --check-prefix=GONE
// RUN: halftone-opt %s --halftone-form-kernels | FileCheck-22 %s --check-prefix=GONE
// RUN: halftone-opt %s --stop-after=kernel | FileCheck-22 %s --check-prefix=GONE

// KEPT: module attributes {halftone.stage = "graph"}
// GONE-NOT: halftone.stage
// GONE: func.func @main
// GONE-NOT: halftone.stage
module attributes {halftone.stage = "graph"} {
  func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
    %y = halftone.tanh %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
