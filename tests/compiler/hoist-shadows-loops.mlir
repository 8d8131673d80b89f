// RUN: halftone-opt %s --split-input-file --check-passes --halftone-hoist-shadows | FileCheck-22 %s

// A weight that a loop reads: each step reads the shadow. A weight that the loop assigns is a carry there, which has no shadow; where
// it is read in front of the loop there is one, and behind the loop the shadow of the new value is made.
// CHECK: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32> {halftone.variable = @w}, %[[V:[a-z0-9]+]]: tensor<4xf32> {halftone.variable = @v}, %[[WS:[a-z0-9]+]]: tensor<4xbf16> {halftone.shadow = @w_bfloat16}, %[[VS:[a-z0-9]+]]: tensor<4xbf16> {halftone.shadow = @v_bfloat16})
// CHECK: halftone.add %{{.*}}, %[[VS]]
// CHECK: %[[S:.*]]:2 = halftone.scan(%{{.*}}, %[[V]])
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[A:.*]]: tensor<4xbf16>, %[[C:.*]]: tensor<4xf32>):
// CHECK-NEXT:   %[[M:.*]] = halftone.mul %[[A]], %[[WS]]
// CHECK-NEXT:   %[[CC:.*]] = halftone.cast %[[C]] {origin = "variable read"}
// CHECK-NEXT:   halftone.add %[[M]], %[[CC]]
// CHECK: %[[N:.*]] = halftone.cast %[[S]]#1 {origin = "variable read"}
// CHECK: return %[[S]]#0, %[[S]]#1, %[[N]]
halftone.variable @w : tensor<4xf32>
halftone.variable @v : tensor<4xf32>
func.func @main(%x: tensor<4xbf16> {halftone.name = "x"}, %w: tensor<4xf32> {halftone.variable = @w}, %v: tensor<4xf32> {halftone.variable = @v})
    -> (tensor<4xbf16> {halftone.name = "y"}, tensor<4xf32> {halftone.variable = @v}) {
  %v0 = halftone.cast %v {origin = "variable read"} : tensor<4xf32> to tensor<4xbf16>
  %x0 = halftone.add %x, %v0 : tensor<4xbf16>
  %0:2 = halftone.scan (%x0, %v) {length = 3 : i64} : (tensor<4xbf16>, tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %a: tensor<4xbf16>, %c: tensor<4xf32>):
    %w0 = halftone.cast %w {origin = "variable read"} : tensor<4xf32> to tensor<4xbf16>
    %1 = halftone.mul %a, %w0 : tensor<4xbf16>
    %c0 = halftone.cast %c {origin = "variable read"} : tensor<4xf32> to tensor<4xbf16>
    %2 = halftone.add %1, %c0 : tensor<4xbf16>
    %3 = halftone.neg %c : tensor<4xf32>
    halftone.yield %2, %3 : tensor<4xbf16>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xbf16>, tensor<4xf32>
}
