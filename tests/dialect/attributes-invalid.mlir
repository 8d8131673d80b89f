// RUN: halftone-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{attribute 'halftone.nmae' is not known on argument 0; expected halftone.name, halftone.variable, halftone.shadow, halftone.panels}}
func.func @main(%x: tensor<2xf32> {halftone.nmae = "x"}) {
  return
}

// -----

// expected-error @below {{attribute 'halftone.name' of argument 1 must be a string, but got 3 : i64}}
func.func @main(%x: tensor<2xf32> {halftone.name = "x"}, %y: tensor<2xf32> {halftone.name = 3}) {
  return
}

// -----

// expected-error @below {{attribute 'halftone.role' is not known on result 0; expected halftone.name, halftone.variable, halftone.shadow, halftone.panels, halftone.partial}}
func.func @main(%x: tensor<2xf32> {halftone.name = "x"}) -> (tensor<2xf32> {halftone.role = "x"}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error @below {{attribute 'halftone.variable' of result 0 must be a symbol, but got "w"}}
func.func @main(%x: tensor<2xf32> {halftone.name = "x"}) -> (tensor<2xf32> {halftone.variable = "w"}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error @below {{attribute 'halftone.panels' is not known on a function: it belongs on a function's argument, a function's result; expected halftone.kind}}
func.func @main() attributes {halftone.panels = array<i64: 0, 1, 1>} {
  return
}

// -----

// expected-error @below {{attribute 'halftone.layer' is not known on a module; expected halftone.layers}}
module attributes {halftone.layer = {}} {
}

// -----

// expected-error @below {{attribute 'halftone.kind' of a function must be the kind of a kernel, but got "poem"}}
func.func @main() attributes {halftone.kind = "poem"} {
  return
}

// -----

// expected-error @below {{attribute 'halftone.layers' of a module must be a dictionary, but got 1 : i64}}
module attributes {halftone.layers = 1} {
}

// -----

func.func @main(%x: tensor<2xf32> {halftone.name = "x"}) {
  // expected-error @below {{attribute 'halftone.dims' is not known on an op of the dialect: it belongs on a linalg.generic, a tensor.extract_slice; expected halftone.rematerialize}}
  %0 = halftone.neg %x {halftone.dims = array<i64: 1, 1>} : tensor<2xf32>
  return
}

// -----

func.func @main(%x: tensor<2x2xf32> {halftone.name = "x"}) {
  // expected-error @below {{attribute 'halftone.tiling' is not known on an op of the dialect; expected halftone.rematerialize}}
  %0 = halftone.contract %x, %x {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, halftone.tiling = array<i64: 8, 8>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @main(%x: tensor<2x2xf32> {halftone.name = "x"}) {
  // expected-error @below {{'halftone.contract' op tile holds the rows and columns of a block, each 1 to 1024, but got [64]}}
  %0 = halftone.contract %x, %x {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, tile = array<i64: 64>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

// expected-error @below {{attribute 'halftone.stage' must be "graph", "cast", "pure" or "kernel", but got "plan"}}
module attributes {halftone.stage = "plan"} {
}

// -----

// expected-error @below {{attribute 'halftone.stage' of a module must be a string, but got 1 : i64}}
module attributes {halftone.stage = 1} {
}

// -----

// expected-error @below {{attribute 'halftone.stage' is not known on a function: it belongs on a module; expected halftone.kind}}
func.func @main() attributes {halftone.stage = "graph"} {
  return
}
