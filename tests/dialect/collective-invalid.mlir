// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @below {{combines at least one value}}
  "halftone.all_reduce"() {kind = #halftone<collective_kind sum>} : () -> ()
  return
}

// -----

func.func @f(%p: tensor<i1>, %x: tensor<4xf32>) {
  halftone.when %p : () {
    // expected-error @below {{stands in a 'halftone.when', but every process runs the same all_reduces}}
    %0 = halftone.all_reduce sum (%x) : tensor<4xf32>
    halftone.yield
  } else {
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @below {{must be variadic of statically shaped tensor of integer or float (not float8) values, but got 'tensor<4xi1>'}}
  %0 = halftone.all_reduce sum (%x) : tensor<4xi1>
  return
}
