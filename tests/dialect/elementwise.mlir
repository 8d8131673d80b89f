// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

// CHECK-LABEL: func.func @abs
// CHECK: halftone.abs %{{.*}} : tensor<4xf32>
func.func @abs(%0: tensor<4xf32>) {
  %1 = halftone.abs %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @neg
// CHECK: halftone.neg %{{.*}} : tensor<4xf32>
func.func @neg(%0: tensor<4xf32>) {
  %1 = halftone.neg %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @sign
// CHECK: halftone.sign %{{.*}} : tensor<4xf32>
func.func @sign(%0: tensor<4xf32>) {
  %1 = halftone.sign %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @relu
// CHECK: halftone.relu %{{.*}} : tensor<4xf32>
func.func @relu(%0: tensor<4xf32>) {
  %1 = halftone.relu %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @exp
// CHECK: halftone.exp %{{.*}} : tensor<4xf32>
func.func @exp(%0: tensor<4xf32>) {
  %1 = halftone.exp %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @expm1
// CHECK: halftone.expm1 %{{.*}} : tensor<4xf32>
func.func @expm1(%0: tensor<4xf32>) {
  %1 = halftone.expm1 %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @log
// CHECK: halftone.log %{{.*}} : tensor<4xf32>
func.func @log(%0: tensor<4xf32>) {
  %1 = halftone.log %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @log1p
// CHECK: halftone.log1p %{{.*}} : tensor<4xf32>
func.func @log1p(%0: tensor<4xf32>) {
  %1 = halftone.log1p %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @sqrt
// CHECK: halftone.sqrt %{{.*}} : tensor<4xf32>
func.func @sqrt(%0: tensor<4xf32>) {
  %1 = halftone.sqrt %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @rsqrt
// CHECK: halftone.rsqrt %{{.*}} : tensor<4xf32>
func.func @rsqrt(%0: tensor<4xf32>) {
  %1 = halftone.rsqrt %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @tanh
// CHECK: halftone.tanh %{{.*}} : tensor<4xf32>
func.func @tanh(%0: tensor<4xf32>) {
  %1 = halftone.tanh %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @logistic
// CHECK: halftone.logistic %{{.*}} : tensor<4xf32>
func.func @logistic(%0: tensor<4xf32>) {
  %1 = halftone.logistic %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @erf
// CHECK: halftone.erf %{{.*}} : tensor<4xf32>
func.func @erf(%0: tensor<4xf32>) {
  %1 = halftone.erf %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @sin
// CHECK: halftone.sin %{{.*}} : tensor<4xf32>
func.func @sin(%0: tensor<4xf32>) {
  %1 = halftone.sin %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @cos
// CHECK: halftone.cos %{{.*}} : tensor<4xf32>
func.func @cos(%0: tensor<4xf32>) {
  %1 = halftone.cos %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @exp2
// CHECK: halftone.exp2 %{{.*}} : tensor<4xf32>
func.func @exp2(%0: tensor<4xf32>) {
  %1 = halftone.exp2 %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @log2
// CHECK: halftone.log2 %{{.*}} : tensor<4xf32>
func.func @log2(%0: tensor<4xf32>) {
  %1 = halftone.log2 %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @log10
// CHECK: halftone.log10 %{{.*}} : tensor<4xf32>
func.func @log10(%0: tensor<4xf32>) {
  %1 = halftone.log10 %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @cbrt
// CHECK: halftone.cbrt %{{.*}} : tensor<4xf32>
func.func @cbrt(%0: tensor<4xf32>) {
  %1 = halftone.cbrt %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @sinh
// CHECK: halftone.sinh %{{.*}} : tensor<4xf32>
func.func @sinh(%0: tensor<4xf32>) {
  %1 = halftone.sinh %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @cosh
// CHECK: halftone.cosh %{{.*}} : tensor<4xf32>
func.func @cosh(%0: tensor<4xf32>) {
  %1 = halftone.cosh %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @asinh
// CHECK: halftone.asinh %{{.*}} : tensor<4xf32>
func.func @asinh(%0: tensor<4xf32>) {
  %1 = halftone.asinh %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @acosh
// CHECK: halftone.acosh %{{.*}} : tensor<4xf32>
func.func @acosh(%0: tensor<4xf32>) {
  %1 = halftone.acosh %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @atanh
// CHECK: halftone.atanh %{{.*}} : tensor<4xf32>
func.func @atanh(%0: tensor<4xf32>) {
  %1 = halftone.atanh %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @tan
// CHECK: halftone.tan %{{.*}} : tensor<4xf32>
func.func @tan(%0: tensor<4xf32>) {
  %1 = halftone.tan %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @asin
// CHECK: halftone.asin %{{.*}} : tensor<4xf32>
func.func @asin(%0: tensor<4xf32>) {
  %1 = halftone.asin %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @acos
// CHECK: halftone.acos %{{.*}} : tensor<4xf32>
func.func @acos(%0: tensor<4xf32>) {
  %1 = halftone.acos %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @atan
// CHECK: halftone.atan %{{.*}} : tensor<4xf32>
func.func @atan(%0: tensor<4xf32>) {
  %1 = halftone.atan %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @atan2
// CHECK: halftone.atan2 %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @atan2(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = halftone.atan2 %0, %1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @floor
// CHECK: halftone.floor %{{.*}} : tensor<4xf32>
func.func @floor(%0: tensor<4xf32>) {
  %1 = halftone.floor %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @ceil
// CHECK: halftone.ceil %{{.*}} : tensor<4xf32>
func.func @ceil(%0: tensor<4xf32>) {
  %1 = halftone.ceil %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @round_even
// CHECK: halftone.round_even %{{.*}} : tensor<4xf32>
func.func @round_even(%0: tensor<4xf32>) {
  %1 = halftone.round_even %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @is_finite
// CHECK: halftone.is_finite %{{.*}} : tensor<4xf32>
func.func @is_finite(%0: tensor<4xf32>) {
  %1 = halftone.is_finite %0 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @not
// CHECK: halftone.not %{{.*}} : tensor<4xi1>
func.func @not(%0: tensor<4xi1>) {
  %1 = halftone.not %0 : tensor<4xi1>
  return
}
// CHECK-LABEL: func.func @add
// CHECK: halftone.add %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @add(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = halftone.add %0, %1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @sub
// CHECK: halftone.sub %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @sub(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = halftone.sub %0, %1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @mul
// CHECK: halftone.mul %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @mul(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = halftone.mul %0, %1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @div
// CHECK: halftone.div %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @div(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = halftone.div %0, %1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @rem
// CHECK: halftone.rem %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @rem(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = halftone.rem %0, %1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @pow
// CHECK: halftone.pow %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @pow(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = halftone.pow %0, %1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @maximum
// CHECK: halftone.maximum %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @maximum(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = halftone.maximum %0, %1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @minimum
// CHECK: halftone.minimum %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @minimum(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = halftone.minimum %0, %1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @and
// CHECK: halftone.and %{{.*}}, %{{.*}} : tensor<4xui32>
func.func @and(%0: tensor<4xui32>, %1: tensor<4xui32>) {
  %2 = halftone.and %0, %1 : tensor<4xui32>
  return
}
// CHECK-LABEL: func.func @or
// CHECK: halftone.or %{{.*}}, %{{.*}} : tensor<4xui32>
func.func @or(%0: tensor<4xui32>, %1: tensor<4xui32>) {
  %2 = halftone.or %0, %1 : tensor<4xui32>
  return
}
// CHECK-LABEL: func.func @xor
// CHECK: halftone.xor %{{.*}}, %{{.*}} : tensor<4xui32>
func.func @xor(%0: tensor<4xui32>, %1: tensor<4xui32>) {
  %2 = halftone.xor %0, %1 : tensor<4xui32>
  return
}
// CHECK-LABEL: func.func @shl
// CHECK: halftone.shl %{{.*}}, %{{.*}} : tensor<4xui32>
func.func @shl(%0: tensor<4xui32>, %1: tensor<4xui32>) {
  %2 = halftone.shl %0, %1 : tensor<4xui32>
  return
}
// CHECK-LABEL: func.func @shr
// CHECK: halftone.shr %{{.*}}, %{{.*}} : tensor<4xui32>
func.func @shr(%0: tensor<4xui32>, %1: tensor<4xui32>) {
  %2 = halftone.shr %0, %1 : tensor<4xui32>
  return
}
// CHECK-LABEL: func.func @compare
// CHECK: halftone.compare lt %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @compare(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = halftone.compare lt %0, %1 : tensor<4xf32>
  return
}
// All predicates, and their results are i1.
// CHECK-LABEL: func.func @predicates
// CHECK: halftone.compare eq 
// CHECK: halftone.compare ne 
// CHECK: halftone.compare lt 
// CHECK: halftone.compare le 
// CHECK: halftone.compare gt 
// CHECK: halftone.compare ge 
func.func @predicates(%a: tensor<2xi1>, %b: tensor<2xui8>) {
  %0 = halftone.compare eq %b, %b : tensor<2xui8>
  %1 = halftone.compare ne %b, %b : tensor<2xui8>
  %2 = halftone.compare lt %b, %b : tensor<2xui8>
  %3 = halftone.compare le %b, %b : tensor<2xui8>
  %4 = halftone.compare gt %b, %b : tensor<2xui8>
  %5 = halftone.compare ge %b, %b : tensor<2xui8>
  %n = halftone.not %0 : tensor<2xi1>
  return
}
// CHECK-LABEL: func.func @select
// CHECK: halftone.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @select(%p: tensor<4xi1>, %0: tensor<4xf32>, %1: tensor<4xf32>) {
  %3 = halftone.select %p, %0, %1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @dtypes
// CHECK: halftone.add {{.*}} : tensor<4xf16>
// CHECK: halftone.tanh {{.*}} : tensor<4xbf16>
// CHECK: halftone.mul {{.*}} : tensor<f64>
// CHECK: halftone.neg {{.*}} : tensor<2x3xi8>
// CHECK: halftone.maximum {{.*}} : tensor<0xui64>
func.func @dtypes(%h: tensor<4xf16>, %b: tensor<4xbf16>, %d: tensor<f64>, %i: tensor<2x3xi8>, %u: tensor<0xui64>) {
  %0 = halftone.add %h, %h : tensor<4xf16>
  %1 = halftone.tanh %b : tensor<4xbf16>
  %2 = halftone.mul %d, %d : tensor<f64>
  %3 = halftone.neg %i : tensor<2x3xi8>
  %4 = halftone.maximum %u, %u : tensor<0xui64>
  return
}
