// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @below {{expects at least one value}}
  "halftone.all_reduce"() {kind = #halftone<collective_kind sum>} : () -> ()
  return
}

// -----

func.func @f(%p: tensor<i1>, %x: tensor<4xf32>) {
  halftone.when %p : () {
    // expected-error @below {{is nested in a 'halftone.when', but every process must run the same collectives}}
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

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{has 1 values, but borders for 2}}
  %0 = halftone.reduce_scatter (%x) rank 0 borders [array<i64: 0, 4, 8>, array<i64: 0, 4, 8>] : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected ascending borders that begin with 0, equally many for each value, but got array<i64: 0, 5, 4, 8>}}
  %0 = halftone.reduce_scatter (%x) rank 0 borders [array<i64: 0, 5, 4, 8>] : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected ascending borders that begin with 0, equally many for each value, but got array<i64: 1, 8>}}
  %0 = halftone.reduce_scatter (%x) rank 0 borders [array<i64: 1, 8>] : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{has rank 2, but borders for 2 processes}}
  %0 = halftone.all_gather (%x) rank 2 borders [array<i64: 0, 8, 16>] : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<9xf32>) {
  // expected-error @below {{expected a value of 8 elements, according to its borders, but got 'tensor<9xf32>'}}
  %0 = halftone.all_gather (%x) rank 0 borders [array<i64: 0, 8, 16>] : tensor<9xf32>
  return
}

// -----

func.func @f(%x: tensor<9xf32>) {
  // expected-error @below {{expected a value of 8 elements, according to its borders, but got 'tensor<9xf32>'}}
  %0 = halftone.reduce_scatter (%x) rank 0 borders [array<i64: 0, 4, 8>] : tensor<9xf32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %x: tensor<4xf32>) {
  halftone.when %p : () {
    // expected-error @below {{is nested in a 'halftone.when', but every process must run the same collectives}}
    %0 = halftone.all_gather (%x) rank 0 borders [array<i64: 0, 4>] : tensor<4xf32>
    halftone.yield
  } else {
    halftone.yield
  }
  return
}
