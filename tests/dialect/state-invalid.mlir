// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @below {{names @nowhere, which is not a variable}}
  %0 = halftone.read @nowhere : tensor<4xf32>
  return
}

// -----

halftone.variable @w : tensor<4xf32>
halftone.variable @i : tensor<4xi32>
func.func private @g()
func.func @f() {
  // expected-error @below {{names @g, which is not a variable}}
  %0 = halftone.read @g : tensor<4xf32>
  return
}

// -----

halftone.variable @w : tensor<4xf32>
halftone.variable @i : tensor<4xi32>
func.func private @g()
func.func @f() {
  // expected-error @below {{reads variable @w of type 'tensor<4xf32>' as 'tensor<5xf32>': the shapes differ}}
  %0 = halftone.read @w : tensor<5xf32>
  return
}

// -----

halftone.variable @w : tensor<4xf32>
halftone.variable @i : tensor<4xi32>
func.func private @g()
func.func @f() {
  // expected-error @below {{reads variable @w of type 'tensor<4xf32>' as 'tensor<4xi32>': only the dtypes of floats may differ}}
  %0 = halftone.read @w : tensor<4xi32>
  return
}

// -----

halftone.variable @w : tensor<4xf32>
halftone.variable @i : tensor<4xi32>
func.func private @g()
func.func @f() {
  // expected-error @below {{reads variable @i of type 'tensor<4xi32>' as 'tensor<4xf32>': only the dtypes of floats may differ}}
  %0 = halftone.read @i : tensor<4xf32>
  return
}

// -----

halftone.variable @w : tensor<4xf32>
halftone.variable @i : tensor<4xi32>
func.func private @g()
func.func @f(%x: tensor<4xf16>) {
  // expected-error @below {{assigns a value of type 'tensor<4xf16>' to variable @w of type 'tensor<4xf32>'}}
  halftone.assign @w, %x : tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf16>) {
  // expected-error @below {{names @nowhere, which is not a variable}}
  halftone.assign @nowhere, %x : tensor<4xf16>
  return
}

// -----

halftone.variable @w : tensor<4xf32>
// expected-error @below {{is a function of variable @w of type 'tensor<4xf32>', but its region takes 'tensor<8xf32>'}}
halftone.shadow @s of @w {
^bb0(%v: tensor<8xf32>):
  %0 = halftone.cast %v : tensor<8xf32> to tensor<8xf16>
  halftone.yield %0 : tensor<8xf16>
}

// -----

// expected-error @below {{names @nowhere, which is not a variable}}
halftone.shadow @s of @nowhere {
^bb0(%v: tensor<8xf32>):
  halftone.yield %v : tensor<8xf32>
}

// -----

halftone.variable @w : tensor<4xf32>
// expected-error @below {{is a function of shadow @s, which is not defined above it}}
halftone.shadow @t of @s {
^bb0(%v: tensor<4xf16>):
  halftone.yield %v : tensor<4xf16>
}
halftone.shadow @s of @w {
^bb0(%v: tensor<4xf32>):
  %0 = halftone.cast %v : tensor<4xf32> to tensor<4xf16>
  halftone.yield %0 : tensor<4xf16>
}

// -----

halftone.variable @w : tensor<4xf32>
halftone.shadow @s of @w {
^bb0(%v: tensor<4xf32>):
  %0 = halftone.cast %v : tensor<4xf32> to tensor<4xf16>
  halftone.yield %0 : tensor<4xf16>
}
// expected-error @below {{is a function of shadow @s of type 'tensor<4xf16>', but its region takes 'tensor<4xf32>'}}
halftone.shadow @t of @s {
^bb0(%v: tensor<4xf32>):
  halftone.yield %v : tensor<4xf32>
}

// -----

halftone.variable @w : tensor<4xf32>
// expected-error @below {{must yield one value, but yields 2}}
halftone.shadow @s of @w {
^bb0(%v: tensor<4xf32>):
  halftone.yield %v, %v : tensor<4xf32>, tensor<4xf32>
}

// -----

halftone.variable @w : tensor<4xf32>
// expected-error @below {{must be a function of one value, but has 0 arguments}}
halftone.shadow @s of @w {
}

// -----

// expected-error @below {{attribute 'type' failed to satisfy constraint}}
halftone.variable @v : tensor<?xf32>
