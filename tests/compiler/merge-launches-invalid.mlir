// RUN: halftone-opt %s --split-input-file --verify-diagnostics --halftone-merge-launches
// RUN: not halftone-opt %s --halftone-form-kernels --split-input-file 2>&1 | FileCheck-22 %s
// RUN: not halftone-opt %s --halftone-hoist-shadows --split-input-file 2>&1 | FileCheck-22 %s
// CHECK: expected a function @main with a body
// CHECK: expected a function @main with a body

// expected-error@below {{expected a function @main with a body}}
module {
  func.func private @main(tensor<4xf32>) -> tensor<4xf32>
}

// -----

// expected-error@below {{expected a function @main with a body}}
module {
}
