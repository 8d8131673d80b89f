// RUN: halftone-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects a function type, but got}}
"halftone.kernel"() ({
  "halftone.yield"() : () -> ()
}) {function_type = i32, kind = #halftone<kernel_kind loop>, sym_name = "k"} : () -> ()

// -----

// A kernel's region is verified behind its ops, so it looks at ops that are whole.
"halftone.kernel"() ({
^bb0(%a: tensor<8xf32>):
  // expected-error @below {{operand count (1) does not match with the total size (2)}}
  %0 = "linalg.generic"(%a) <{indexing_maps = [], iterator_types = [], operandSegmentSizes = array<i32: 1, 1>}> ({
  }) : (tensor<8xf32>) -> tensor<8xf32>
  "halftone.yield"(%0) : (tensor<8xf32>) -> ()
}) {function_type = (tensor<8xf32>) -> tensor<8xf32>, kind = #halftone<kernel_kind loop>, sym_name = "k"} : () -> ()

// -----

// The same of a shadow.
halftone.variable @w : tensor<8xf32> {role = #halftone<role weight>, path = "w"}
"halftone.shadow"() ({
^bb0(%a: tensor<8xf32>):
  // expected-error @below {{operand count (1) does not match with the total size (2)}}
  %0 = "linalg.generic"(%a) <{indexing_maps = [], iterator_types = [], operandSegmentSizes = array<i32: 1, 1>}> ({
  }) : (tensor<8xf32>) -> tensor<8xf32>
  "halftone.yield"(%0) : (tensor<8xf32>) -> ()
}) {source = @w, sym_name = "s"} : () -> ()

// -----

// expected-error @below {{expects operands and results of static shape, but got 'tensor<?xf32>'}}
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
  // expected-error @below {{is not legal in a kernel, whose ops must be pure and, except scans, have no regions}}
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

// -----

halftone.kernel row @k (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) attributes {spec = #halftone.blocks<rows = 3>} {
^bb0(%v: tensor<4x4xf32>):
  %0 = halftone.reduce sum %v {axes = array<i64: 1>} : tensor<4x4xf32> -> tensor<4xf32>
  // expected-error @below {{has tiles of 2 along axis 0, but blocks of the kernel have 3}}
  %p = halftone.partial_reduce sum %v {axes = array<i64: 0>, tile = array<i64: 2>} : tensor<4x4xf32> -> tensor<2x4xf32>
  halftone.yield %0, %p : tensor<4xf32>, tensor<2x4xf32>
}

// -----

halftone.kernel loop @k (tensor<4x6xf32>) -> tensor<2x2xf32> attributes {spec = #halftone.blocks<rows = 2>} {
^bb0(%v: tensor<4x6xf32>):
  // expected-error @below {{has tiles of 3 along axis 1, but blocks of the kernel have 6}}
  %p = halftone.partial_reduce sum %v {axes = array<i64: 0, 1>, tile = array<i64: 2, 3>} : tensor<4x6xf32> -> tensor<2x2xf32>
  halftone.yield %p : tensor<2x2xf32>
}

// -----

halftone.kernel loop @k (tensor<4x6xf32>) -> tensor<4x1xf32> attributes {spec = #halftone.blocks<rows = 2>} {
^bb0(%v: tensor<4x6xf32>):
  // expected-error @below {{keeps axis 0, along which the kernel is cut into blocks}}
  %p = halftone.partial_reduce sum %v {axes = array<i64: 1>, tile = array<i64: 6>} : tensor<4x6xf32> -> tensor<4x1xf32>
  halftone.yield %p : tensor<4x1xf32>
}

// -----

halftone.kernel loop @k (tensor<4x6xf32>) -> (tensor<2x6xf32>, tensor<12xf32>) attributes {spec = #halftone.blocks<rows = 2>} {
^bb0(%v: tensor<4x6xf32>):
  %p = halftone.partial_reduce sum %v {axes = array<i64: 0>, tile = array<i64: 2>} : tensor<4x6xf32> -> tensor<2x6xf32>
  %r = halftone.reshape %v : tensor<4x6xf32> to tensor<24xf32>
  // expected-error @below {{reduces [24], but the kernel's shape is [4, 6]}}
  %q = halftone.partial_reduce sum %r {axes = array<i64: 0>, tile = array<i64: 2>} : tensor<24xf32> -> tensor<12xf32>
  halftone.yield %p, %q : tensor<2x6xf32>, tensor<12xf32>
}

// -----

halftone.kernel loop @k (tensor<4x6xf32>) -> tensor<2x6xf32> {
^bb0(%v: tensor<4x6xf32>):
  // expected-error @below {{is a partial reduction; expected the kernel to have a spec, #halftone.blocks, whose blocks its tiles follow}}
  %p = halftone.partial_reduce sum %v {axes = array<i64: 0>, tile = array<i64: 2>} : tensor<4x6xf32> -> tensor<2x6xf32>
  halftone.yield %p : tensor<2x6xf32>
}

// -----

// expected-error @below {{has the spec #halftone.blocks<rows = 2>, but no partial reduction, the only use of a spec}}
halftone.kernel loop @k (tensor<4xf32>) -> tensor<4xf32> attributes {spec = #halftone.blocks<rows = 2>} {
^bb0(%v: tensor<4xf32>):
  halftone.yield %v : tensor<4xf32>
}

// -----

// expected-error @below {{of kind loop has the spec #halftone.blocks<tile = [4, 4]>; expected rows}}
halftone.kernel loop @k (tensor<4xf32>) -> tensor<4xf32> attributes {spec = #halftone.blocks<tile = [4, 4]>} {
^bb0(%v: tensor<4xf32>):
  halftone.yield %v : tensor<4xf32>
}

// -----

// expected-error @below {{of kind matmul has the spec #halftone.blocks<rows = 4>; expected a tile}}
halftone.kernel matmul @k (tensor<4xf32>) -> tensor<4xf32> attributes {spec = #halftone.blocks<rows = 4>} {
^bb0(%v: tensor<4xf32>):
  halftone.yield %v : tensor<4xf32>
}

// -----

// expected-error @below {{has a tile but no contraction}}
halftone.kernel matmul @k (tensor<4xf32>) -> tensor<4xf32> attributes {spec = #halftone.blocks<tile = [4, 4]>} {
^bb0(%v: tensor<4xf32>):
  halftone.yield %v : tensor<4xf32>
}

// -----

halftone.kernel matmul @k (tensor<40x40xf32>) -> (tensor<40x40xf32>, tensor<4x40xf32>) attributes {spec = #halftone.blocks<tile = [12, 64]>} {
^bb0(%v: tensor<40x40xf32>):
  %0 = halftone.contract %v, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  // expected-error @below {{has tiles of 10 along axis 0, but blocks of the kernel have 12}}
  %p = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 10>} : tensor<40x40xf32> -> tensor<4x40xf32>
  halftone.yield %0, %p : tensor<40x40xf32>, tensor<4x40xf32>
}

// -----

halftone.kernel matmul @k (tensor<5x8x40xf32>, tensor<40x40xf32>) -> tensor<4x40xf32> attributes {spec = #halftone.blocks<tile = [12, 64]>} {
^bb0(%v: tensor<5x8x40xf32>, %w: tensor<40x40xf32>):
  %0 = halftone.contract %v, %w {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<5x8x40xf32>, tensor<40x40xf32>) -> tensor<5x8x40xf32>
  %r = halftone.reshape %0 : tensor<5x8x40xf32> to tensor<40x40xf32>
  // expected-error @below {{has tiles of 10 along axis 0, but blocks of the kernel have 12}}
  %p = halftone.partial_reduce sum %r {axes = array<i64: 0>, tile = array<i64: 10>} : tensor<40x40xf32> -> tensor<4x40xf32>
  halftone.yield %p : tensor<4x40xf32>
}

// -----

// expected-error @below {{a tile has 1 to 1024 rows and columns, but got [4611686018427387904, 16]}}
halftone.kernel matmul @k (tensor<4xf32>) -> tensor<4xf32> attributes {spec = #halftone.blocks<tile = [4611686018427387904, 16]>} {
^bb0(%v: tensor<4xf32>):
  halftone.yield %v : tensor<4xf32>
}

// -----

// expected-error @below {{a tile has 1 to 1024 rows and columns, but got [0, 0]}}
halftone.kernel matmul @k (tensor<4xf32>) -> tensor<4xf32> attributes {spec = #halftone.blocks<tile = [0, 0]>} {
^bb0(%v: tensor<4xf32>):
  halftone.yield %v : tensor<4xf32>
}

// -----

// expected-error @below {{blocks have at least one row, but got rows = -1}}
halftone.kernel loop @k (tensor<4xf32>) -> tensor<4xf32> attributes {spec = #halftone.blocks<rows = -1>} {
^bb0(%v: tensor<4xf32>):
  halftone.yield %v : tensor<4xf32>
}

// -----

// expected-error @below {{blocks are given by rows or tile}}
halftone.kernel loop @k (tensor<4xf32>) -> tensor<4xf32> attributes {spec = #halftone.blocks<columns = 1>} {
^bb0(%v: tensor<4xf32>):
  halftone.yield %v : tensor<4xf32>
}
