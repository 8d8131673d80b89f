// RUN: halftone-opt %s --split-input-file --verify-diagnostics --halftone-attach-target
// RUN: halftone-opt %s --split-input-file --verify-diagnostics --halftone-normalize
// RUN: halftone-opt %s --split-input-file --verify-diagnostics --halftone-choose-layouts
// RUN: halftone-opt %s --split-input-file --verify-diagnostics --halftone-form-kernels
// RUN: halftone-opt %s --split-input-file --verify-diagnostics --halftone-lower-to-linalg
// RUN: halftone-opt %s --split-input-file --verify-diagnostics --start-from=pure --stop-after=target

// expected-error @below {{attribute 'halftone.target': unknown target "toaster"}}
module attributes {halftone.target = "toaster"} {
  func.func @main() {
    return
  }
}

// -----

// expected-error @below {{attribute 'halftone.target': unknown target "": }}
module attributes {halftone.target = ""} {
  func.func @main() {
    return
  }
}

// -----

// expected-error @below {{attribute 'halftone.target' of a module must be a string, but got 7 : i64}}
module attributes {halftone.target = 7} {
  func.func @main() {
    return
  }
}

// -----

// expected-error @below {{attribute 'halftone.target' is not known on a function: it belongs on a module}}
func.func @main() attributes {halftone.target = "host"} {
  return
}

// -----

// expected-error @below {{attribute 'halftone.numerics' of a module must be "fast" or "strict", but got "exact"}}
module attributes {halftone.numerics = "exact"} {
  func.func @main() {
    return
  }
}

// -----

// expected-error @below {{attribute 'halftone.numerics' of a module must be "fast" or "strict", but got unit}}
module attributes {halftone.numerics} {
  func.func @main() {
    return
  }
}

// -----

// expected-error @below {{attribute 'halftone.numerics' of a function must be "fast" or "strict", but got "Strict"}}
func.func @kernel() attributes {halftone.numerics = "Strict"} {
  return
}
