// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{has length = -1; expected 0 to 2147483647}}
  halftone.scan () {length = -1 : i64} : () -> () {
  ^bb0(%i: tensor<i32>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{has length = 2147483648; expected 0 to 2147483647}}
  halftone.scan () {length = 2147483648 : i64} : () -> () {
  ^bb0(%i: tensor<i32>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{scans #0 of the xs, of type 'tensor<3x4xf32>'; expected a leading extent of 2}}
  halftone.scan () over (%xs) {length = 2 : i64} : (tensor<3x4xf32>) -> () {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{scans #1 of the xs, of type 'tensor<f32>'; expected a leading extent of 3}}
  halftone.scan () over (%xs, %s) {length = 3 : i64} : (tensor<3x4xf32>, tensor<f32>) -> () {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>, %b: tensor<f32>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{body has 1 arguments; expected 2}}
  halftone.scan () over (%xs) {length = 3 : i64} : (tensor<3x4xf32>) -> () {
  ^bb0(%i: tensor<i32>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{body has the index as its first argument, of type 'tensor<i64>'; expected 'tensor<i32>'}}
  halftone.scan () {length = 3 : i64} : () -> () {
  ^bb0(%i: tensor<i64>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{body has argument #1 of type 'tensor<4xf16>'; expected 'tensor<4xf32>'}}
  %0 = halftone.scan (%x) {length = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf16>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{body has argument #2 of type 'tensor<3x4xf32>'; expected 'tensor<4xf32>'}}
  %0 = halftone.scan (%x) over (%xs) {length = 3 : i64} : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>, %a: tensor<3x4xf32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{has 1 carries, but only 0 results}}
  halftone.scan (%x) {length = 3 : i64} : (tensor<4xf32>) -> () {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{result #0 is a carry of type 'tensor<4xf32>', but has type 'tensor<4xf16>'}}
  %0 = halftone.scan (%x) {length = 3 : i64} : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{result #1 is a stack of slices, of type 'tensor<4xf32>'; expected a leading extent of 3}}
  %0:2 = halftone.scan (%x) {length = 3 : i64} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %x, %x : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{body yields 0 values; expected 1}}
  %0 = halftone.scan (%x) {length = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{body yields 'tensor<f32>' as value #0; expected 'tensor<4xf32>'}}
  %0 = halftone.scan (%x) {length = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %s: tensor<f32>) {
  // expected-error @below {{body yields 'tensor<3x4xf32>' as value #0; expected 'tensor<4xf32>'}}
  %0 = halftone.scan () {length = 3 : i64} : () -> tensor<3x4xf32> {
  ^bb0(%i: tensor<i32>):
    halftone.yield %xs : tensor<3x4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  halftone.scan () {length = 3 : i64} : () -> () {
  ^bb0(%i: tensor<i32>):
    // expected-error @below {{is nested in a 'halftone.scan', but every process must run the same collectives}}
    %0 = halftone.all_reduce sum(%x) : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32>) {
  // expected-error @below {{has maximum = -1; expected 0 or more}}
  halftone.while () {maximum = -1 : i64} : () -> () {
    halftone.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32>) {
  // expected-error @below {{condition has 0 arguments; expected 1}}
  %0 = halftone.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
    halftone.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32>) {
  // expected-error @below {{condition has argument #0 of type 'tensor<f32>'; expected 'tensor<4xf32>'}}
  %0 = halftone.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%c: tensor<f32>):
    halftone.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32>) {
  // expected-error @below {{body has 1 arguments; expected 2}}
  %0 = halftone.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%c: tensor<4xf32>):
    halftone.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32>) {
  // expected-error @below {{has 1 carries, but 0 results}}
  halftone.while (%x) : (tensor<4xf32>) -> () {
  ^bb0(%c: tensor<4xf32>):
    halftone.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32>) {
  // expected-error @below {{result #0 is a carry of type 'tensor<4xf32>', but has type 'tensor<f32>'}}
  %0 = halftone.while (%x) : (tensor<4xf32>) -> tensor<f32> {
  ^bb0(%c: tensor<4xf32>):
    halftone.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32>) {
  // expected-error @below {{condition yields 0 values; expected 1}}
  %0 = halftone.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%c: tensor<4xf32>):
    halftone.yield
  } do {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32>) {
  // expected-error @below {{condition yields 'tensor<4xf32>' as value #0; expected 'tensor<i1>'}}
  %0 = halftone.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%c: tensor<4xf32>):
    halftone.yield %x : tensor<4xf32>
  } do {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32>) {
  // expected-error @below {{body yields 'tensor<f32>' as value #0; expected 'tensor<4xf32>'}}
  %0 = halftone.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%c: tensor<4xf32>):
    halftone.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %s : tensor<f32>
  }
  return
}

// -----

halftone.variable @w : tensor<4xf32>
func.func @f(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32>) {
  // expected-error @below {{condition must be pure, but contains 'halftone.assign'}}
  %0 = halftone.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%c: tensor<4xf32>):
    halftone.assign @w, %c : tensor<4xf32>
    halftone.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    halftone.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  halftone.while () : () -> () {
    halftone.yield %p : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>):
    // expected-error @below {{is nested in a 'halftone.while', but every process must run the same collectives}}
    %0 = halftone.all_reduce sum(%x) : tensor<4xf32>
  }
  return
}

// -----
func.func @deep(%h: tensor<f32>) {
  %r0 = halftone.scan (%h) {length = 1 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i0: tensor<i32>, %c0: tensor<f32>):
  %r1 = halftone.scan (%c0) {length = 1 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i1: tensor<i32>, %c1: tensor<f32>):
  %r2 = halftone.scan (%c1) {length = 1 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i2: tensor<i32>, %c2: tensor<f32>):
  %r3 = halftone.scan (%c2) {length = 1 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i3: tensor<i32>, %c3: tensor<f32>):
  %r4 = halftone.scan (%c3) {length = 1 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i4: tensor<i32>, %c4: tensor<f32>):
  %r5 = halftone.scan (%c4) {length = 1 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i5: tensor<i32>, %c5: tensor<f32>):
  %r6 = halftone.scan (%c5) {length = 1 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i6: tensor<i32>, %c6: tensor<f32>):
  %r7 = halftone.scan (%c6) {length = 1 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i7: tensor<i32>, %c7: tensor<f32>):
  // expected-error @below {{is in 8 nested loops; expected fewer than 8}}
  %r8 = halftone.scan (%c7) {length = 1 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i8: tensor<i32>, %c8: tensor<f32>):
    halftone.yield %c8 : tensor<f32>
  }
    halftone.yield %r8 : tensor<f32>
  }
    halftone.yield %r7 : tensor<f32>
  }
    halftone.yield %r6 : tensor<f32>
  }
    halftone.yield %r5 : tensor<f32>
  }
    halftone.yield %r4 : tensor<f32>
  }
    halftone.yield %r3 : tensor<f32>
  }
    halftone.yield %r2 : tensor<f32>
  }
    halftone.yield %r1 : tensor<f32>
  }
  return
}
