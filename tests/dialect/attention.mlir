// RUN: halftone-opt %s | halftone-opt | FileCheck %s
// RUN: halftone-opt %s --mlir-print-op-generic | halftone-opt | FileCheck %s

// CHECK-LABEL: func.func @masked
// CHECK: halftone.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} {causal, scale = 1.250000e-01 : f64} : (tensor<2x8x4x64xf16>, tensor<2x16x2x64xf16>, tensor<2x16x2x32xf16>, tensor<2x1x1x16xi1>) -> (tensor<2x8x4x32xf16>, tensor<2x4x8xf32>)
func.func @masked(%q: tensor<2x8x4x64xf16>, %k: tensor<2x16x2x64xf16>, %v: tensor<2x16x2x32xf16>, %mask: tensor<2x1x1x16xi1>) {
  %out, %lse = halftone.attention %q, %k, %v mask %mask {causal, scale = 0.125 : f64}
      : (tensor<2x8x4x64xf16>, tensor<2x16x2x64xf16>, tensor<2x16x2x32xf16>, tensor<2x1x1x16xi1>) -> (tensor<2x8x4x32xf16>, tensor<2x4x8xf32>)
  return
}
// CHECK-LABEL: func.func @plain
// CHECK: halftone.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.000000e+00 : f64} : (tensor<2x8x4x6xf64>
func.func @plain(%q: tensor<2x8x4x6xf64>) {
  %out, %lse = halftone.attention %q, %q, %q {scale = 1.0 : f64}
      : (tensor<2x8x4x6xf64>, tensor<2x8x4x6xf64>, tensor<2x8x4x6xf64>) -> (tensor<2x8x4x6xf64>, tensor<2x4x8xf64>)
  return
}
// CHECK-LABEL: func.func @dropped
// CHECK: halftone.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} key %{{.*}} {rate = 2.500000e-01 : f64, scale = 1.000000e+00 : f64}
func.func @dropped(%q: tensor<2x8x4x6xbf16>, %bias: tensor<1x4x1x8xf32>, %key: tensor<2xui32>) {
  %out, %lse = halftone.attention %q, %q, %q bias %bias key %key {scale = 1.0 : f64, rate = 0.25 : f64}
      : (tensor<2x8x4x6xbf16>, tensor<2x8x4x6xbf16>, tensor<2x8x4x6xbf16>, tensor<1x4x1x8xf32>, tensor<2xui32>) -> (tensor<2x8x4x6xbf16>, tensor<2x4x8xf32>)
  return
}
// CHECK-LABEL: func.func @grad
// CHECK: halftone.attention_grad %{{.*}}, %{{.*}}, %{{.*}} lse %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 1.250000e-01 : f64}
func.func @grad(%q: tensor<2x8x4x64xf16>, %k: tensor<2x16x2x64xf16>, %v: tensor<2x16x2x32xf16>, %lse: tensor<2x4x8xf32>,
                %by_out: tensor<2x8x4x32xf16>, %delta: tensor<2x4x8xf32>) {
  %by_q, %by_k, %by_v = halftone.attention_grad %q, %k, %v lse %lse, %by_out, %delta {causal, scale = 0.125 : f64}
      : (tensor<2x8x4x64xf16>, tensor<2x16x2x64xf16>, tensor<2x16x2x32xf16>, tensor<2x4x8xf32>, tensor<2x8x4x32xf16>, tensor<2x4x8xf32>)
      -> (tensor<2x8x4x64xf16>, tensor<2x16x2x64xf16>, tensor<2x16x2x32xf16>)
  return
}
// CHECK-LABEL: func.func @grad_in_pieces
// CHECK: -> (tensor<1x8x2x4xf16>, tensor<3x1x9x1x4xf32>, tensor<3x1x9x1x5xf32>)
func.func @grad_in_pieces(%q: tensor<1x8x2x4xf16>, %k: tensor<1x9x1x4xf16>, %v: tensor<1x9x1x5xf16>, %lse: tensor<1x2x8xf32>,
                         %by_out: tensor<1x8x2x5xf16>) {
  %by_q, %by_k, %by_v = halftone.attention_grad %q, %k, %v lse %lse, %by_out, %lse {scale = 1.0 : f64}
      : (tensor<1x8x2x4xf16>, tensor<1x9x1x4xf16>, tensor<1x9x1x5xf16>, tensor<1x2x8xf32>, tensor<1x8x2x5xf16>, tensor<1x2x8xf32>)
      -> (tensor<1x8x2x4xf16>, tensor<3x1x9x1x4xf32>, tensor<3x1x9x1x5xf32>)
  return
}
