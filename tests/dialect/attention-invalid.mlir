// RUN: halftone-opt %s --split-input-file --verify-diagnostics

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x12xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error @below {{k must have the axes (b, s, m, h), but got 'tensor<2x5x12xf32>'}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x12xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x5x2x3xf16>) {
  // expected-error @below {{expects q, k and v of the same dtype, but got 'f32', 'f32' and 'f16'}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x5x2x3xf16>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<1x5x2x6xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error @below {{expects q, k and v with the same batch size}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<1x5x2x6xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x7xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error @below {{multiplies q and k over their last axes, but these have the extents 6 and 7}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x7xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x4x2x3xf32>) {
  // expected-error @below {{expects k and v to agree in length and heads}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x4x2x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x3x6xf32>, %v: tensor<2x5x3x3xf32>) {
  // expected-error @below {{expects the number of heads of q to be a multiple of that of k, but got 4 and 3}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x3x6xf32>, tensor<2x5x3x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x0x6xf32>, %v: tensor<2x5x0x3xf32>) {
  // expected-error @below {{expects the number of heads of q to be a multiple of that of k, but got 4 and 0}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x0x6xf32>, tensor<2x5x0x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x5x2x3xf32>, %bias: tensor<2x4x5x8xf32>) {
  // expected-error @below {{bias must have the extents (b, n, t, s) = [2, 4, 8, 5], each of which may be 1, but got 'tensor<2x4x5x8xf32>'}}
  %out, %lse = halftone.attention %q, %k, %v bias %bias {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x5x2x3xf32>, tensor<2x4x5x8xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x5x2x3xf32>, %mask: tensor<2x8x5xi1>) {
  // expected-error @below {{mask must have the extents (b, n, t, s) = [2, 4, 8, 5], each of which may be 1, but got 'tensor<2x8x5xi1>'}}
  %out, %lse = halftone.attention %q, %k, %v mask %mask {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x5x2x3xf32>, tensor<2x8x5xi1>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error @below {{expects a finite scale, but got INF}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 0x7FF0000000000000 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x5x2x3xf32>, %key: tensor<2xui32>) {
  // expected-error @below {{expects a rate of at least 0 and below 1, but got 1}}
  %out, %lse = halftone.attention %q, %k, %v key %key {scale = 1.0 : f64, rate = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x5x2x3xf32>, tensor<2xui32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error @below {{expects a key if and only if its rate is above 0}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 1.0 : f64, rate = 0.5 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x5x2x3xf32>, %key: tensor<2xui32>) {
  // expected-error @below {{expects a key if and only if its rate is above 0}}
  %out, %lse = halftone.attention %q, %k, %v key %key {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x5x2x3xf32>, tensor<2xui32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x5x2x3xf32>, %key: tensor<3xui32>) {
  // expected-error @below {{expects a key of 2 words}}
  %out, %lse = halftone.attention %q, %k, %v key %key {scale = 1.0 : f64, rate = 0.5 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x5x2x3xf32>, tensor<3xui32>) -> (tensor<2x8x4x3xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error @below {{results must be 'tensor<2x8x4x3xf32>' and 'tensor<2x4x8xf32>', but got 'tensor<2x8x4x6xf32>'}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x8x4x6xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x8x4x6xf16>, %k: tensor<2x5x2x6xf16>, %v: tensor<2x5x2x3xf16>) {
  // expected-error @below {{results must be 'tensor<2x8x4x3xf16>' and 'tensor<2x4x8xf32>'}}
  %out, %lse = halftone.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4x6xf16>, tensor<2x5x2x6xf16>, tensor<2x5x2x3xf16>) -> (tensor<2x8x4x3xf16>, tensor<2x4x8xf64>)
  return
}

// -----

func.func @f(%q: tensor<1x2x3x4xf16>, %lse: tensor<1x2x3xf32>, %g: tensor<1x2x3x4xf16>, %delta: tensor<1x3x2xf32>) {
  // expected-error @below {{lse must be 'tensor<1x3x2xf32>', but got 'tensor<1x2x3xf32>'}}
  %d:3 = halftone.attention_grad %q, %q, %q lse %lse, %g, %delta {scale = 1.0 : f64} : (tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3xf32>, tensor<1x2x3x4xf16>, tensor<1x3x2xf32>) -> (tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x2x3x4xf16>, %lse: tensor<1x3x2xf32>, %g: tensor<1x2x3x4xf32>, %delta: tensor<1x3x2xf32>) {
  // expected-error @below {{by_out must be 'tensor<1x2x3x4xf16>', but got 'tensor<1x2x3x4xf32>'}}
  %d:3 = halftone.attention_grad %q, %q, %q lse %lse, %g, %delta {scale = 1.0 : f64} : (tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x3x2xf32>, tensor<1x2x3x4xf32>, tensor<1x3x2xf32>) -> (tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x2x3x4xf16>, %lse: tensor<1x3x2xf32>, %g: tensor<1x2x3x4xf16>) {
  // expected-error @below {{result must be 'tensor<1x2x3x4xf16>', the type of the operand, but got 'tensor<1x2x3x4xf32>'}}
  %d:3 = halftone.attention_grad %q, %q, %q lse %lse, %g, %lse {scale = 1.0 : f64} : (tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x3x2xf32>, tensor<1x2x3x4xf16>, tensor<1x3x2xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x2x3x4xf16>, %lse: tensor<1x3x2xf32>, %g: tensor<1x2x3x4xf16>) {
  // expected-error @below {{result must be 'tensor<2x1x2x3x4xf32>', partial results as by_k, but got 'tensor<1x2x3x4xf16>'}}
  %d:3 = halftone.attention_grad %q, %q, %q lse %lse, %g, %lse {scale = 1.0 : f64} : (tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x3x2xf32>, tensor<1x2x3x4xf16>, tensor<1x3x2xf32>) -> (tensor<1x2x3x4xf16>, tensor<2x1x2x3x4xf32>, tensor<1x2x3x4xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x2x3x4xf16>, %lse: tensor<1x3x2xf32>, %g: tensor<1x2x3x4xf16>) {
  // expected-error @below {{result must be 'tensor<2x1x2x3x4xf32>', partial results as by_k, but got 'tensor<2x1x2x3x4xf16>'}}
  %d:3 = halftone.attention_grad %q, %q, %q lse %lse, %g, %lse {scale = 1.0 : f64} : (tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x3x2xf32>, tensor<1x2x3x4xf16>, tensor<1x3x2xf32>) -> (tensor<1x2x3x4xf16>, tensor<2x1x2x3x4xf16>, tensor<2x1x2x3x4xf16>)
  return
}

// -----

func.func @f(%q: tensor<1x2x3x4xf16>, %lse: tensor<1x3x2xf32>, %g: tensor<1x2x3x4xf16>) {
  // expected-error @below {{result must be 'tensor<1x2x3x4xf16>', the type of the operand, but got 'tensor<0x1x2x3x4xf32>'}}
  %d:3 = halftone.attention_grad %q, %q, %q lse %lse, %g, %lse {scale = 1.0 : f64} : (tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x3x2xf32>, tensor<1x2x3x4xf16>, tensor<1x3x2xf32>) -> (tensor<1x2x3x4xf16>, tensor<0x1x2x3x4xf32>, tensor<0x1x2x3x4xf32>)
  return
}
