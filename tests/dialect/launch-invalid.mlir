// RUN: halftone-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{has a function type, but got}}
"halftone.kernel"() ({
  "halftone.yield"() : () -> ()
}) {function_type = i32, kind = #halftone<kernel_kind loop>, sym_name = "k"} : () -> ()

// -----

// expected-error @below {{takes and gives tensors of static shape, but got 'tensor<?xf32>'}}
halftone.kernel loop @k (tensor<?xf32>) -> () {
^bb0(%a: tensor<?xf32>):
}

// -----

// expected-error @below {{has a region whose arguments do not have the types of its inputs}}
halftone.kernel loop @k (tensor<8xf32>) -> () {
^bb0(%a: tensor<8xf16>):
}

// -----

// expected-error @below {{has a region that does not yield the types of its results}}
halftone.kernel loop @k (tensor<8xf32>) -> tensor<8xf16> {
^bb0(%a: tensor<8xf32>):
  halftone.yield %a : tensor<8xf32>
}

// -----

halftone.variable @w : tensor<8xf32>
halftone.kernel loop @k () -> () {
  // expected-error @below {{is not legal in a kernel: its ops are pure and have no regions}}
  %0 = halftone.read @w : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{names @nowhere, which is not a kernel}}
  %0 = halftone.launch @nowhere(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

halftone.kernel loop @k (tensor<8xf32>) -> tensor<8xf32> {
^bb0(%a: tensor<8xf32>):
  halftone.yield %a : tensor<8xf32>
}
func.func @f(%x: tensor<8xf16>) {
  // expected-error @below {{has the type '(tensor<8xf16>) -> tensor<8xf32>', but kernel @k has '(tensor<8xf32>) -> tensor<8xf32>'}}
  %0 = halftone.launch @k(%x) : (tensor<8xf16>) -> tensor<8xf32>
  return
}
