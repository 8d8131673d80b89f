// RUN: halftone-opt %s | halftone-opt --mlir-print-op-generic | halftone-opt | FileCheck-22 %s

halftone.variable @w : tensor<4xf32>

// CHECK-LABEL: func.func @layer
// CHECK: %[[Y:.*]] = halftone.layer "net/dense" policy "mixed_float16"(%{{.*}}) {layer_class = "Dense"}
// CHECK-SAME: : (tensor<8x4xf32>) -> tensor<8x4xf16> {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<8x4xf16>):
// CHECK: halftone.yield %{{.*}} : tensor<8x4xf16>
// CHECK: halftone.layer "net" policy "float32"() {call = 2 : i64, rule = "net.*"} : () -> () {
func.func @layer(%x: tensor<8x4xf32>) {
  %y = halftone.layer "net/dense" policy "mixed_float16" (%x) {call = 0 : i64, layer_class = "Dense"}
      : (tensor<8x4xf32>) -> tensor<8x4xf16> {
  ^bb0(%a: tensor<8x4xf16>):
    %0 = halftone.tanh %a : tensor<8x4xf16>
    halftone.yield %0 : tensor<8x4xf16>
  }
  halftone.layer "net" policy "float32" () {call = 2 : i64, rule = "net.*"} : () -> () {
    halftone.yield
  }
  return
}

// CHECK-LABEL: func.func @when
// CHECK: halftone.when %{{.*}} : (tensor<4xf32>) {
// CHECK: halftone.yield %{{.*}} : tensor<4xf32>
// CHECK: } else {
// CHECK: halftone.when %{{.*}} : () {
// CHECK-NEXT: } else {
func.func @when(%finite: tensor<i1>, %w: tensor<4xf32>, %d: tensor<4xf32>) {
  %w1 = halftone.when %finite : (tensor<4xf32>) {
    %0 = halftone.sub %w, %d : tensor<4xf32>
    halftone.yield %0 : tensor<4xf32>
  } else {
    halftone.yield %w : tensor<4xf32>
  }
  halftone.when %finite : () {
  } else {
  }
  return
}

// CHECK-LABEL: func.func @gradient
// CHECK: halftone.gradient %{{.*}} of [@w] : tensor<f32> -> tensor<4xf32>
// CHECK: halftone.gradient %{{.*}} at (%{{.*}} : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
// CHECK: halftone.gradient %{{.*}} of [@w] at (%{{.*}} : tensor<4xf32>, %{{.*}} : tensor<f32>) {note = "kept"} : tensor<f32> -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>)
func.func @gradient(%loss: tensor<f32>, %x: tensor<4xf32>) {
  %dw = halftone.gradient %loss of [@w] : tensor<f32> -> tensor<4xf32>
  %dx = halftone.gradient %loss at (%x : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
  %all:3 = halftone.gradient %loss of [@w] at (%x : tensor<4xf32>, %loss : tensor<f32>) {note = "kept"}
      : tensor<f32> -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>)
  return
}

// CHECK-LABEL: func.func @yield
// CHECK: halftone.yield %{{.*}} : tensor<f32>
func.func @yield(%x: tensor<f32>) {
  %y = halftone.layer "l" policy "float32" (%x) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%0: tensor<f32>):
    halftone.yield %0 : tensor<f32>
  }
  return
}

// CHECK-LABEL: func.func @hold
// CHECK: halftone.hold %{{.*}} : tensor<4xf32>
func.func @hold(%0: tensor<4xf32>) {
  %1 = halftone.hold %0 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @rematerialized
// CHECK: halftone.layer "net/act" policy "float32"(%{{.*}}) {rematerialize}
func.func @rematerialized(%0: tensor<4xf32>) -> tensor<4xf32> {
  %1 = halftone.layer "net/act" policy "float32" (%0) {rematerialize}
      : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %2 = halftone.tanh %a : tensor<4xf32>
    halftone.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @stop_gradient
// CHECK: halftone.stop_gradient %{{.*}} : tensor<4xf32>
func.func @stop_gradient(%0: tensor<4xf32>) {
  %1 = halftone.stop_gradient %0 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @custom_gradient
// CHECK: halftone.custom_gradient %{{.*}} at (%{{.*}} : tensor<4xf32>) : tensor<4xf32> {
// CHECK-NEXT: ^bb0(%[[DY:.*]]: tensor<4xf32>):
// CHECK-NEXT: %[[D:.*]] = halftone.neg %[[DY]] : tensor<4xf32>
// CHECK-NEXT: halftone.yield %[[D]] : tensor<4xf32>
// CHECK: halftone.custom_gradient %{{.*}} at (%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<2xf16>) : tensor<4xf32> {
func.func @custom_gradient(%y: tensor<4xf32>, %x: tensor<4xf32>, %z: tensor<2xf16>) {
  %r = halftone.custom_gradient %y at (%x : tensor<4xf32>) : tensor<4xf32> {
  ^bb0(%dy: tensor<4xf32>):
    %0 = halftone.neg %dy : tensor<4xf32>
    halftone.yield %0 : tensor<4xf32>
  }
  %both = halftone.custom_gradient %y at (%x, %z : tensor<4xf32>, tensor<2xf16>) : tensor<4xf32> {
  ^bb0(%dy: tensor<4xf32>):
    halftone.yield %dy, %z : tensor<4xf32>, tensor<2xf16>
  }
  return
}
