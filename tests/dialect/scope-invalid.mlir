// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{has 1 operands, but its region has 0 arguments}}
  halftone.layer "l" policy "float32" (%x) : (tensor<4xf32>) -> () {
  
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{operand #0 of type 'tensor<4xi32>' cannot be passed to the region's argument of type 'tensor<4xf32>': only the dtypes of floats may differ}}
  halftone.layer "l" policy "float32" (%i) : (tensor<4xi32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{operand #0 of type 'tensor<4xf32>' cannot be passed to the region's argument of type 'tensor<5xf16>'}}
  halftone.layer "l" policy "float32" (%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<5xf16>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{region yields 'tensor<4xf32>' as value #0, but the result is 'tensor<4xf16>'}}
  %y = halftone.layer "l" policy "float32" (%x) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf32>):
    halftone.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{region yields 0 values, but there are 1 results}}
  %y = halftone.layer "l" policy "float32" (%x) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf32>):
    halftone.yield
  }
  return
}

// -----

func.func @f(%p: tensor<i1>, %w: tensor<4xf32>) {
  // expected-error @below {{second region yields 0 values, but there are 1 results}}
  %0 = halftone.when %p : (tensor<4xf32>) {
    halftone.yield %w : tensor<4xf32>
  } else {
    halftone.yield
  }
  return
}

// -----

func.func @f(%p: tensor<i1>, %w: tensor<4xf32>) {
  // expected-error @below {{first region yields 'tensor<4xf32>' as value #0, but the result is 'tensor<4xf16>'}}
  %0 = halftone.when %p : (tensor<4xf16>) {
    halftone.yield %w : tensor<4xf32>
  } else {
    halftone.yield %w : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%p: tensor<i1>) {
  // expected-error @below {{first region takes no arguments, but has 1}}
  halftone.when %p : () {
  ^bb0(%a: tensor<4xf32>):
    halftone.yield
  } else {
  }
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @below {{expects parent op to be one of 'halftone.layer, halftone.when, halftone.scan, halftone.while, halftone.kernel, halftone.shadow, halftone.custom_gradient'}}
  "halftone.yield"(%x) : (tensor<f32>) -> ()
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{differentiates a scalar, but got 'tensor<4xf32>'}}
  %d = halftone.gradient %x at (%x : tensor<4xf32>) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @below {{expects a variable or a value to differentiate with respect to}}
  halftone.gradient %x : tensor<f32> -> ()
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @below {{differentiates with respect to 0 variables and 0 values, but has 1 results}}
  %d = halftone.gradient %x : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @below {{result #0 is the derivative with respect to a value of type 'tensor<f32>', but has type 'tensor<f16>'}}
  %d = halftone.gradient %x at (%x : tensor<f32>) : tensor<f32> -> tensor<f16>
  return
}

// -----

halftone.variable @w : tensor<4xf32>
halftone.variable @i : tensor<4xi32>
func.func private @g()
func.func @f(%x: tensor<f32>) {
  // expected-error @below {{names variable @w twice}}
  %d:2 = halftone.gradient %x of [@w, @w] : tensor<f32> -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @below {{names @nowhere, which is not a variable}}
  %d = halftone.gradient %x of [@nowhere] : tensor<f32> -> tensor<f32>
  return
}

// -----

halftone.variable @w : tensor<4xf32>
halftone.variable @i : tensor<4xi32>
func.func private @g()
func.func @f(%x: tensor<f32>) {
  // expected-error @below {{result #0 is the derivative with respect to variable @w of type 'tensor<4xf32>', but has type 'tensor<4xf16>'}}
  %d = halftone.gradient %x of [@w] : tensor<f32> -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @below {{expected the name of a variable}}
  %d = halftone.gradient %x of [@w::@v] : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @f(%y: tensor<4xf32>, %x: tensor<2xf32>) {
  // expected-error @below {{region yields 'tensor<4xf32>' as value #0, but the result is 'tensor<2xf32>'}}
  %0 = halftone.custom_gradient %y at (%x : tensor<2xf32>) : tensor<4xf32> {
  ^bb0(%dy: tensor<4xf32>):
    halftone.yield %dy : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%y: tensor<4xf32>, %x: tensor<2xf32>) {
  // expected-error @below {{region must take only the cotangent, of type 'tensor<4xf32>', but has 1 arguments of another type}}
  %0 = halftone.custom_gradient %y at (%x : tensor<2xf32>) : tensor<4xf32> {
  ^bb0(%dy: tensor<2xf32>):
    halftone.yield %dy : tensor<2xf32>
  }
  return
}

// -----

halftone.variable @w : tensor<4xf32>
func.func @f(%y: tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error @below {{region must only compute cotangents, but contains 'halftone.assign'}}
  %0 = halftone.custom_gradient %y at (%x : tensor<4xf32>) : tensor<4xf32> {
  ^bb0(%dy: tensor<4xf32>):
    halftone.assign @w, %dy : tensor<4xf32>
    halftone.yield %dy : tensor<4xf32>
  }
  return
}
