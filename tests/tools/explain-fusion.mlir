// Which rules form the kernels of seven nets, and why kernels stay apart. The report consists of comments: what is printed is a module.
// RUN: halftone-opt %s --split-input-file --target=x86-64-v3 --explain-fusion -o %t.mlir
// RUN: FileCheck-22 %s --input-file=%t.mlir
// RUN: halftone-opt %t.mlir --split-input-file --start-from=kernel -o %t.again.mlir
// RUN: halftone-opt %s --split-input-file --target=x86-64-v3 --stop-after=kernel | cmp - %t.again.mlir

// A classifier: the bias and the activation join the product, and the reductions of the softmax start a kernel of rows.
// CHECK: // kernel @matmul_{{[0-9a-f]+}}: net/hidden (explain-fusion.mlir:{{[0-9]+}}): contract, add, relu
// CHECK-NEXT: //   op contract [net/hidden]: contraction
// CHECK-NEXT: //   clone broadcast [net/hidden]: always cloned
// CHECK-NEXT: //   op add [net/hidden]: join producers
// CHECK-NEXT: //   op relu [net/hidden]: join producers
// CHECK-NEXT: //   start contract [net/hidden]: contraction: a kernel computes only cloned producers before a contraction
// CHECK-NEXT: //   store relu [net/hidden]: recompute results: a kernel does not read it elementwise
// CHECK-NEXT: // kernel @matmul_{{[0-9a-f]+}}: [[PRODUCT:.*]]
// CHECK: //   not fused with "[[ROW:.*]]": reduce [net/head]: join producers: matmul: a reduction is not partial (reduce)
// CHECK: // kernel @row_{{[0-9a-f]+}}: [[ROW]]
// CHECK-NEXT: //   op reduce [net/head]: start
// CHECK: //   start reduce [net/head]: join producers: it cannot be fused with any kernel that computes an operand
// CHECK-NEXT: //   start reduce [net/head]: partial reduction in producer: no kernel computes the operand in blocks along the reduced axes, and one block can reduce it
// CHECK-NEXT: //   not fused with "[[PRODUCT]]": reduce [net/head]: join producers: matmul: a reduction is not partial (reduce)
halftone.variable @w0 : tensor<64x128xf32> {path = "net/hidden/kernel"}
halftone.variable @b0 : tensor<128xf32> {path = "net/hidden/bias"}
halftone.variable @w1 : tensor<128x10xf32> {path = "net/head/kernel"}
func.func @main(%x: tensor<32x64xf32> {halftone.name = "x"}) -> (tensor<32x10xf32> {halftone.name = "y"}) {
  %h = halftone.layer "net/hidden" policy "float32" (%x) {layer_class = "Dense"} : (tensor<32x64xf32>) -> tensor<32x128xf32> {
  ^bb0(%a: tensor<32x64xf32>):
    %w = halftone.read @w0 : tensor<64x128xf32>
    %b = halftone.read @b0 : tensor<128xf32>
    %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x64xf32>, tensor<64x128xf32>) -> tensor<32x128xf32>
    %1 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<128xf32> to tensor<32x128xf32>
    %2 = halftone.add %0, %1 : tensor<32x128xf32>
    %3 = halftone.relu %2 : tensor<32x128xf32>
    halftone.yield %3 : tensor<32x128xf32>
  }
  %y = halftone.layer "net/head" policy "float32" (%h) {layer_class = "Dense"} : (tensor<32x128xf32>) -> tensor<32x10xf32> {
  ^bb0(%a: tensor<32x128xf32>):
    %w = halftone.read @w1 : tensor<128x10xf32>
    %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x128xf32>, tensor<128x10xf32>) -> tensor<32x10xf32>
    %1 = halftone.reduce max %0 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %2 = halftone.broadcast %1 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
    %3 = halftone.sub %0, %2 : tensor<32x10xf32>
    %4 = halftone.exp %3 : tensor<32x10xf32>
    %5 = halftone.reduce sum %4 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %6 = halftone.broadcast %5 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
    %7 = halftone.div %4, %6 : tensor<32x10xf32>
    halftone.yield %7 : tensor<32x10xf32>
  }
  return %y : tensor<32x10xf32>
}

// -----

// A training step of one layer: the gradient of the bias is a partial reduction in the kernel that makes its operand.
// CHECK: // kernel @matmul_{{[0-9a-f]+}}: [[PRODUCT:net/dense .*: contract, add, tanh.*]]
// CHECK: //   op partial_reduce: partial reduction in producer
// CHECK: //   op partial_reduce [net/dense]: partial reduction in producer
// CHECK: // kernel @row_{{[0-9a-f]+}}: (explain-fusion.mlir:{{[0-9]+}}): reduce
// CHECK: //   not fused with "[[PRODUCT]]": reduce: join producers: the kernel of a partial reduction reads its result (partial_reduce)
// CHECK-NEXT: //   not fused with "[[PRODUCT]]": reduce: partial reduction in producer: the operand differs in shape from the kernel
// CHECK: // kernel @reduction_loop_{{[0-9a-f]+}}: net/dense
// CHECK-NEXT: //   op reduce [net/dense]: start
// CHECK-NEXT: //   op sub: join producers
halftone.variable @w : tensor<64x32xf32> {path = "net/dense/kernel"}
halftone.variable @b : tensor<32xf32> {path = "net/dense/bias"}
func.func @main(%x: tensor<256x64xf32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "loss"}) {
  %h = halftone.layer "net/dense" policy "float32" (%x) {layer_class = "Dense"} : (tensor<256x64xf32>) -> tensor<256x32xf32> {
  ^bb0(%a: tensor<256x64xf32>):
    %w = halftone.read @w : tensor<64x32xf32>
    %b = halftone.read @b : tensor<32xf32>
    %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<256x64xf32>, tensor<64x32xf32>) -> tensor<256x32xf32>
    %1 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<32xf32> to tensor<256x32xf32>
    %2 = halftone.add %0, %1 : tensor<256x32xf32>
    %3 = halftone.tanh %2 : tensor<256x32xf32>
    halftone.yield %3 : tensor<256x32xf32>
  }
  %square = halftone.mul %h, %h : tensor<256x32xf32>
  %loss = halftone.reduce sum %square {axes = array<i64: 0, 1>} : tensor<256x32xf32> -> tensor<f32>
  %gw = halftone.gradient %loss of [@w] : tensor<f32> -> tensor<64x32xf32>
  %gb = halftone.gradient %loss of [@b] : tensor<f32> -> tensor<32xf32>
  %w = halftone.read @w : tensor<64x32xf32>
  %b = halftone.read @b : tensor<32xf32>
  %w1 = halftone.sub %w, %gw : tensor<64x32xf32>
  %b1 = halftone.sub %b, %gb : tensor<32xf32>
  halftone.assign @w, %w1 : tensor<64x32xf32>
  halftone.assign @b, %b1 : tensor<32xf32>
  return %loss : tensor<f32>
}

// -----

// A convolution: the product reads the image through its window.
// CHECK: // kernel @matmul_{{[0-9a-f]+}}: net/conv
// CHECK-NEXT: //   clone window [net/conv]: window read in place
// CHECK-NEXT: //   op contract [net/conv]: contraction
// CHECK-NEXT: //   op relu [net/conv]: join producers
halftone.variable @k : tensor<3x3x1x8x16xf32> {path = "net/conv/kernel"}
func.func @main(%x: tensor<4x16x16x1x8xf32> {halftone.name = "x"}) -> (tensor<4x16x16x1x16xf32> {halftone.name = "y"}) {
  %y = halftone.layer "net/conv" policy "float32" (%x) {layer_class = "Conv2D"} : (tensor<4x16x16x1x8xf32>) -> tensor<4x16x16x1x16xf32> {
  ^bb0(%a: tensor<4x16x16x1x8xf32>):
    %k = halftone.read @k : tensor<3x3x1x8x16xf32>
    %0 = halftone.convolution %a, %k {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>}
        : (tensor<4x16x16x1x8xf32>, tensor<3x3x1x8x16xf32>) -> tensor<4x16x16x1x16xf32>
    %1 = halftone.relu %0 : tensor<4x16x16x1x16xf32>
    halftone.yield %1 : tensor<4x16x16x1x16xf32>
  }
  return %y : tensor<4x16x16x1x16xf32>
}

// -----

// The gradient of a gelu: the kernel of the last product recomputes the slope, so the first one stores the argument alone.
// CHECK: // kernel @matmul_{{[0-9a-f]+}}: [[FIRST:.*]]
// CHECK: // kernel @matmul
// CHECK: // kernel @matmul_{{[0-9a-f]+}}: {{.*}}: erf, contract, exp, mul, sub
// CHECK-NEXT: //   clone erf: recompute results
// CHECK-NEXT: //   op contract: contraction
// CHECK-NEXT: //   clone exp: recompute results
// CHECK: //   not fused with "[[FIRST]]": mul: join producers: fusion would create a dependency cycle
func.func @main(%x: tensor<1024x8xf32> {halftone.name = "x"}, %w: tensor<8x1024xf32> {halftone.name = "w"}, %v: tensor<1024x8xf32> {halftone.name = "v"}) -> (tensor<1024x1024xf32> {halftone.name = "d"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x8xf32>, tensor<8x1024xf32>) -> tensor<1024x1024xf32>
  %1 = halftone.erf %0 : tensor<1024x1024xf32>
  %2 = halftone.mul %0, %1 : tensor<1024x1024xf32>
  %3 = halftone.contract %2, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %4 = halftone.contract %3, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<1024x8xf32>, tensor<1024x8xf32>) -> tensor<1024x1024xf32>
  %5 = halftone.exp %0 : tensor<1024x1024xf32>
  %6 = halftone.mul %4, %1 : tensor<1024x1024xf32>
  %7 = halftone.mul %4, %5 : tensor<1024x1024xf32>
  %8 = halftone.sub %6, %7 : tensor<1024x1024xf32>
  return %8 : tensor<1024x1024xf32>
}

// -----

// Attention computes its mask itself.
// CHECK: // kernel @attention_{{[0-9a-f]+}}: {{.*}}: sub, compare, and, attention
// CHECK: //   clone iota: always cloned
// CHECK: //   clone sub: cheap chain
// CHECK: //   clone and: cheap chain
// CHECK-NEXT: //   op attention: attention
func.func @main(%q: tensor<2x64x4x16xf32> {halftone.name = "q"}, %seen: tensor<2x64xi1> {halftone.name = "seen"}) -> (tensor<2x64x4x16xf32> {halftone.name = "out"}) {
  %query = halftone.iota {axis = 2 : i64} : tensor<2x1x64x64xi32>
  %key = halftone.iota {axis = 3 : i64} : tensor<2x1x64x64xi32>
  %distance = halftone.sub %query, %key : tensor<2x1x64x64xi32>
  %window = halftone.constant dense<9> : tensor<2x1x64x64xi32>
  %near = halftone.compare lt %distance, %window : tensor<2x1x64x64xi32>
  %keys = halftone.broadcast %seen {axes = array<i64: 0, 3>} : tensor<2x64xi1> to tensor<2x1x64x64xi1>
  %mask = halftone.and %near, %keys : tensor<2x1x64x64xi1>
  %out, %lse = halftone.attention %q, %q, %q mask %mask {scale = 0.25 : f64} : (tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>, tensor<2x1x64x64xi1>) -> (tensor<2x64x4x16xf32>, tensor<2x4x64xf32>)
  return %out : tensor<2x64x4x16xf32>
}

// -----

// A recurrent layer: one kernel runs the loop.
// CHECK: // kernel @loop_{{[0-9a-f]+}}: net/rnn
// CHECK-NEXT: //   op constant [net/rnn]: start
// CHECK-NEXT: //   start constant [net/rnn]: always cloned: its value is read from memory
// CHECK-NEXT: //   start constant [net/rnn]: join producers: no kernel computes an operand, except through a reshape or another op outside of kernels
// CHECK: // kernel @recurrence_{{[0-9a-f]+}}: net/rnn
// CHECK-NEXT: //   op scan [net/rnn]: recurrence
halftone.variable @r : tensor<20x20xf32> {path = "net/rnn/recurrent_kernel"}
func.func @main(%x: tensor<5x65x20xf32> {halftone.name = "x"}) -> (tensor<5x65x20xf32> {halftone.name = "y"}) {
  %y = halftone.layer "net/rnn" policy "float32" (%x) {layer_class = "SimpleRNN"} : (tensor<5x65x20xf32>) -> tensor<5x65x20xf32> {
  ^bb0(%a: tensor<5x65x20xf32>):
    %r = halftone.read @r : tensor<20x20xf32>
    %zero = halftone.constant dense<0.0> : tensor<65x20xf32>
    %0:2 = halftone.scan (%zero) over (%a) {length = 5 : i64} : (tensor<65x20xf32>, tensor<5x65x20xf32>) -> (tensor<65x20xf32>, tensor<5x65x20xf32>) {
    ^bb0(%i: tensor<i32>, %h: tensor<65x20xf32>, %s: tensor<65x20xf32>):
      %1 = halftone.contract %h, %r {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<65x20xf32>, tensor<20x20xf32>) -> tensor<65x20xf32>
      %2 = halftone.add %1, %s : tensor<65x20xf32>
      %3 = halftone.tanh %2 : tensor<65x20xf32>
      halftone.yield %3, %3 : tensor<65x20xf32>, tensor<65x20xf32>
    }
    halftone.yield %0#1 : tensor<5x65x20xf32>
  }
  return %y : tensor<5x65x20xf32>
}

// -----

// A product reads a sum of two tensors from memory. A mean over few rows gets no kernel of partial results.
// CHECK: // kernel @loop_{{[0-9a-f]+}}: {{.*}}: add
// CHECK-NEXT: //   op add: start
// CHECK-NEXT: //   start add: contraction: it is not a prologue: elementwise ops, none of them transcendental, on scalars and one tensor of its size
// CHECK: // kernel @reduction_loop
// CHECK: //   start reduce: reductions to readers: the operand is too small for a kernel of partial results, or the result too large
func.func @main(%x: tensor<64x128xf32> {halftone.name = "x"}, %z: tensor<64x128xf32> {halftone.name = "z"}, %w: tensor<128x32xf32> {halftone.name = "w"}, %u: tensor<64x128xf32> {halftone.name = "u"}) -> (tensor<64x32xf32> {halftone.name = "y"}, tensor<128xf32> {halftone.name = "s"}) {
  %0 = halftone.add %x, %z : tensor<64x128xf32>
  %1 = halftone.contract %0, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  %2 = halftone.reduce sum %u {axes = array<i64: 0>} : tensor<64x128xf32> -> tensor<128xf32>
  return %1, %2 : tensor<64x32xf32>, tensor<128xf32>
}
