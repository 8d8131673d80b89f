// RUN: halftone-opt %s --split-input-file --halftone-normalize --halftone-choose-layouts --halftone-round-decisions --halftone-form-kernels --halftone-outline-kernels --halftone-verify-stage=stage=kernel | FileCheck-22 %s

// Convolution, batch normalization, relu and the next convolution, in bfloat16. Memory holds the first convolution's result
// and the relu's, in bfloat16, and no other tensor of their size: four times one of the two is read or written before the
// second convolution. The mean is a partial reduction of the first convolution.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul @[[CONV:matmul_[0-9a-f]+]] ({{.*}}) -> (tensor<4x32x32x8xbf16>, tensor<{{[0-9]+}}x8xf32>)
// CHECK: halftone.window
// CHECK: halftone.contract
// CHECK: halftone.reshape {{.*}} : tensor<4x32x32x8xf32> to tensor<4096x8xf32>
// CHECK: halftone.partial_reduce sum {{.*}} : tensor<4096x8xf32>
// CHECK: halftone.kernel loop @[[SQUARES:loop_[0-9a-f]+]] ({{.*}}tensor<4x32x32x8xbf16>{{.*}}) -> tensor<{{[0-9]+}}x1x1x8xf32>
// CHECK: halftone.kernel loop @[[RELU:loop_[0-9a-f]+]] ({{.*}}tensor<4x32x32x8xbf16>{{.*}}) -> tensor<4x32x32x8xbf16>
// CHECK: func.func @main
// CHECK: %[[Y:.*]]:2 = halftone.launch @[[CONV]]
// CHECK: halftone.launch @[[SQUARES]]({{.*}}%[[Y]]#0
// CHECK: %[[Z:.*]] = halftone.launch @[[RELU]]({{.*}}%[[Y]]#0
// CHECK: halftone.launch @{{matmul_[0-9a-f]+}}(%[[Z]]
// CHECK-NOT: halftone.launch
func.func @main(%x: tensor<4x32x32x1x3xbf16> {halftone.name = "x"}, %w: tensor<3x3x1x3x8xbf16> {halftone.name = "w"}, %v: tensor<3x3x1x8x4xbf16> {halftone.name = "v"})
    -> (tensor<4x15x15x1x4xbf16> {halftone.name = "y"}) {
  %0 = halftone.convolution %x, %w {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>}
      : (tensor<4x32x32x1x3xbf16>, tensor<3x3x1x3x8xbf16>) -> tensor<4x32x32x1x8xbf16>
  %1 = halftone.reshape %0 : tensor<4x32x32x1x8xbf16> to tensor<4x32x32x8xbf16>
  %2 = halftone.cast %1 : tensor<4x32x32x8xbf16> to tensor<4x32x32x8xf32>
  %3 = halftone.reduce sum %2 {axes = array<i64: 0, 1, 2>} : tensor<4x32x32x8xf32> -> tensor<8xf32>
  %n = halftone.constant dense<4096.0> : tensor<8xf32>
  %mean = halftone.div %3, %n : tensor<8xf32>
  %4 = halftone.broadcast %mean {axes = array<i64: 3>} : tensor<8xf32> to tensor<4x32x32x8xf32>
  %5 = halftone.sub %2, %4 : tensor<4x32x32x8xf32>
  %6 = halftone.mul %5, %5 : tensor<4x32x32x8xf32>
  %7 = halftone.reduce sum %6 {axes = array<i64: 0, 1, 2>} : tensor<4x32x32x8xf32> -> tensor<8xf32>
  %8 = halftone.rsqrt %7 : tensor<8xf32>
  %9 = halftone.broadcast %8 {axes = array<i64: 3>} : tensor<8xf32> to tensor<4x32x32x8xf32>
  %10 = halftone.mul %5, %9 : tensor<4x32x32x8xf32>
  %11 = halftone.cast %10 : tensor<4x32x32x8xf32> to tensor<4x32x32x8xbf16>
  %12 = halftone.relu %11 : tensor<4x32x32x8xbf16>
  %13 = halftone.reshape %12 : tensor<4x32x32x8xbf16> to tensor<4x32x32x1x8xbf16>
  %14 = halftone.convolution %13, %v {stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, hole = array<i64: 1, 1>}
      : (tensor<4x32x32x1x8xbf16>, tensor<3x3x1x8x4xbf16>) -> tensor<4x15x15x1x4xbf16>
  return %14 : tensor<4x15x15x1x4xbf16>
}

// -----

// All of a product of several rows and columns of axes is summed: its pieces are the tiles. A sum over some axes of the rows
// alone is a kernel of its own.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul @{{.*}} -> (tensor<20x30x4x5xf32>, tensor<{{[0-9]+}}x{{[0-9]+}}xf32>)
// CHECK: halftone.partial_reduce sum {{.*}} : tensor<600x20xf32>
// CHECK: halftone.kernel reduction_loop @{{.*}} (tensor<20x30x4x5xf32>) -> tensor<30x4x5xf32>
func.func @main(%x: tensor<20x30x6xf32> {halftone.name = "x"}, %w: tensor<6x4x5xf32> {halftone.name = "w"})
    -> (tensor<f32> {halftone.name = "s"}, tensor<30x4x5xf32> {halftone.name = "t"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<20x30x6xf32>, tensor<6x4x5xf32>) -> tensor<20x30x4x5xf32>
  %1 = halftone.reduce sum %0 {axes = array<i64: 0, 1, 2, 3>} : tensor<20x30x4x5xf32> -> tensor<f32>
  %2 = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<20x30x4x5xf32> -> tensor<30x4x5xf32>
  return %1, %2 : tensor<f32>, tensor<30x4x5xf32>
}

// -----

// A long sum over leading axes of a tensor in memory, for few columns: the blocks of a loop kernel are runs of memory.
// CHECK-LABEL: module
// CHECK: halftone.kernel loop @{{.*}} (tensor<64x512x8xf32>) -> tensor<{{[0-9]+}}x1x8xf32>
// CHECK: halftone.kernel reduction_loop @{{.*}} -> tensor<8xf32>
func.func @main(%x: tensor<64x512x8xf32> {halftone.name = "x"}) -> (tensor<8xf32> {halftone.name = "y"}) {
  %0 = halftone.reduce sum %x {axes = array<i64: 0, 1>} : tensor<64x512x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A product less its column sums. Two kernels make it of the product, so it is not stored.
// CHECK-LABEL: module
// CHECK: halftone.kernel matmul @[[K:matmul_[0-9a-f]+]] ({{.*}}) -> (tensor<64x128xf32>, tensor<{{[0-9]+}}x128xf32>)
// CHECK: halftone.kernel loop @{{.*}} (tensor<128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
// CHECK: halftone.kernel row @{{.*}} (tensor<128xf32>, tensor<64x128xf32>) -> tensor<64xf32>
// CHECK: func.func @main
// CHECK-COUNT-4: halftone.launch
// CHECK-NOT: halftone.launch
func.func @main(%x: tensor<64x32xf32> {halftone.name = "x"}, %w: tensor<32x128xf32> {halftone.name = "w"})
    -> (tensor<64x128xf32> {halftone.name = "a"}, tensor<64xf32> {halftone.name = "b"}) {
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32>
  %1 = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<64x128xf32> -> tensor<128xf32>
  %2 = halftone.broadcast %1 {axes = array<i64: 1>} : tensor<128xf32> to tensor<64x128xf32>
  %3 = halftone.sub %0, %2 : tensor<64x128xf32>
  %4 = halftone.mul %3, %3 : tensor<64x128xf32>
  %5 = halftone.cast %3 : tensor<64x128xf32> to tensor<64x128xbf16>
  %6 = halftone.cast %5 : tensor<64x128xbf16> to tensor<64x128xf32>
  %7 = halftone.reduce sum %6 {axes = array<i64: 1>} : tensor<64x128xf32> -> tensor<64xf32>
  return %4, %7 : tensor<64x128xf32>, tensor<64xf32>
}

// -----

// A long sum of products of a window, which its own kernel makes, stays whole: the products are never stored.
// CHECK-LABEL: module
// CHECK: halftone.kernel reduction_loop @{{.*}} (tensor<8x64x16xf32>, tensor<8x64x16xf32>) -> tensor<3x16xf32>
// CHECK: func.func @main
// CHECK-COUNT-1: halftone.launch
// CHECK-NOT: halftone.launch
func.func @main(%x: tensor<8x64x16xf32> {halftone.name = "x"}, %dy: tensor<8x64x16xf32> {halftone.name = "dy"}) -> (tensor<3x16xf32> {halftone.name = "dw"}) {
  %0 = halftone.window %x {stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>}
      : tensor<8x64x16xf32> to tensor<8x64x3x16xf32>
  %1 = halftone.broadcast %dy {axes = array<i64: 0, 1, 3>} : tensor<8x64x16xf32> to tensor<8x64x3x16xf32>
  %2 = halftone.mul %0, %1 : tensor<8x64x3x16xf32>
  %3 = halftone.reduce sum %2 {axes = array<i64: 0, 1>} : tensor<8x64x3x16xf32> -> tensor<3x16xf32>
  return %3 : tensor<3x16xf32>
}

// -----

// A comparison depends on the largest of rounded numbers: the second half of the reduction gives it rounded.
// CHECK-LABEL: module
// CHECK: halftone.partial_reduce max
// CHECK: halftone.reduce max {{.*}} : tensor<1x31xf32>
// CHECK: halftone.cast {{.*}} {origin = "reduction"} : tensor<31xf32> to tensor<31xf16>
// CHECK: halftone.compare le
func.func @main(%x: tensor<257x31xf16> {halftone.name = "x"}, %y: tensor<31xf16> {halftone.name = "y"})
    -> (tensor<31xf16> {halftone.name = "z"}) {
  %0 = halftone.slice %x {start = array<i64: 55, 0>} : tensor<257x31xf16> to tensor<156x31xf16>
  %1 = halftone.log %0 : tensor<156x31xf16>
  %2 = halftone.constant dense<0.5> : tensor<156x31xf16>
  %3 = halftone.compare gt %1, %2 : tensor<156x31xf16>
  %4 = halftone.select %3, %1, %2 : tensor<156x31xf16>
  %5 = halftone.div %1, %4 : tensor<156x31xf16>
  %6 = halftone.reduce max %5 {axes = array<i64: 0>} : tensor<156x31xf16> -> tensor<31xf16>
  %7 = halftone.add %6, %y : tensor<31xf16>
  %8 = halftone.compare le %6, %y : tensor<31xf16>
  %9 = halftone.select %8, %6, %y : tensor<31xf16>
  %10 = halftone.sub %7, %9 : tensor<31xf16>
  return %10 : tensor<31xf16>
}
