// One step of mixed_float16 training with loss scaling and Adam, as the frontend records it for a small classifier.
// Compiler.cpp
// plays it; this test checks the shape of its plan.
// RUN: halftone-opt %s --stop-after=kernel | FileCheck-22 %s
// The guarded update of one weight is one launch; so is the loss with its gradient. Matmuls check their own gradients
// in f32. No other
// op is a launch alone. Forward and backward pass read the weights' shadows, which the updates write.
// CHECK-COUNT-6: halftone.shadow
// CHECK-NOT: halftone.shadow @
// CHECK: halftone.kernel row @[[LOSS:row_[0-9a-f]+]] (tensor<8x10xf32>, tensor<8xi32>, tensor<f32>) -> (tensor<8xf32>, tensor<8x10xf16>, tensor<1x10xf32>)
// CHECK: halftone.kernel matmul @[[DW:matmul_[0-9a-f]+]] (tensor<8x12xui8>, tensor<8x16xf16>, tensor<f32>) -> (tensor<12x16xf32>, tensor<1x1xi1>)
// CHECK: func.func @main
// CHECK: halftone.launch @[[LOSS]]
// CHECK: halftone.launch @[[DW]]
// CHECK: %[[WHEN:[0-9]+]]:25 = halftone.when
// CHECK-COUNT-7: halftone.launch
// CHECK-NOT: halftone.launch
// CHECK: } else {
// CHECK-NOT: halftone.launch
// CHECK: return
module {
  halftone.variable @w0 : tensor<12x16xf32> {path = "w0"}
  halftone.variable @m_w0 : tensor<12x16xf32> {path = "m_w0"}
  halftone.variable @v_w0 : tensor<12x16xf32> {path = "v_w0"}
  halftone.variable @b0 : tensor<16xf32> {path = "b0"}
  halftone.variable @m_b0 : tensor<16xf32> {path = "m_b0"}
  halftone.variable @v_b0 : tensor<16xf32> {path = "v_b0"}
  halftone.variable @w1 : tensor<16x16xf32> {path = "w1"}
  halftone.variable @m_w1 : tensor<16x16xf32> {path = "m_w1"}
  halftone.variable @v_w1 : tensor<16x16xf32> {path = "v_w1"}
  halftone.variable @b1 : tensor<16xf32> {path = "b1"}
  halftone.variable @m_b1 : tensor<16xf32> {path = "m_b1"}
  halftone.variable @v_b1 : tensor<16xf32> {path = "v_b1"}
  halftone.variable @w2 : tensor<16x10xf32> {path = "w2"}
  halftone.variable @m_w2 : tensor<16x10xf32> {path = "m_w2"}
  halftone.variable @v_w2 : tensor<16x10xf32> {path = "v_w2"}
  halftone.variable @b2 : tensor<10xf32> {path = "b2"}
  halftone.variable @m_b2 : tensor<10xf32> {path = "m_b2"}
  halftone.variable @v_b2 : tensor<10xf32> {path = "v_b2"}
  halftone.variable @iter : tensor<i32> {role = #halftone<role iteration>, autocast=false}
  halftone.variable @scale : tensor<f32> {role = #halftone<role loss_scale>, autocast=false}
  halftone.variable @good : tensor<i32> {role = #halftone<role loss_scale>, autocast=false}
  halftone.variable @lr : tensor<f32> {role = #halftone<role learning_rate>, autocast=false}
  func.func @main(%x: tensor<8x12xui8> {halftone.name = "x"}, %y: tensor<8xi32> {halftone.name="y"}) -> (tensor<f32> {halftone.name = "loss"}) {
    %xf = halftone.cast %x : tensor<8x12xui8> to tensor<8x12xf32>
    %xs = halftone.layer "net/rescaling" policy "mixed_float16" (%xf) : (tensor<8x12xf32>) -> tensor<8x12xf16> {
    ^bb0(%a: tensor<8x12xf16>):
      %s = halftone.constant dense<0.00392156> : tensor<8x12xf16>
      %r = halftone.mul %a, %s : tensor<8x12xf16>
      halftone.yield %r : tensor<8x12xf16>
    }
    %h0 = halftone.layer "net/dense_0" policy "mixed_float16" (%xs) {layer_class = "Dense"} : (tensor<8x12xf16>) -> tensor<8x16xf16> {
    ^bb0(%a: tensor<8x12xf16>):
      %w = halftone.read @w0 : tensor<12x16xf16>
      %b = halftone.read @b0 : tensor<16xf16>
      %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x12xf16>, tensor<12x16xf16>) -> tensor<8x16xf16>
      %1 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<16xf16> to tensor<8x16xf16>
      %2 = halftone.add %0, %1 : tensor<8x16xf16>
      %z = halftone.constant dense<0.0> : tensor<8x16xf16>
      %3 = halftone.maximum %2, %z : tensor<8x16xf16>
      halftone.yield %3 : tensor<8x16xf16>
    }
    %h1 = halftone.layer "net/dense_1" policy "mixed_float16" (%h0) {layer_class = "Dense"} : (tensor<8x16xf16>) -> tensor<8x16xf16> {
    ^bb0(%a: tensor<8x16xf16>):
      %w = halftone.read @w1 : tensor<16x16xf16>
      %b = halftone.read @b1 : tensor<16xf16>
      %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf16>, tensor<16x16xf16>) -> tensor<8x16xf16>
      %1 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<16xf16> to tensor<8x16xf16>
      %2 = halftone.add %0, %1 : tensor<8x16xf16>
      %z = halftone.constant dense<0.0> : tensor<8x16xf16>
      %3 = halftone.maximum %2, %z : tensor<8x16xf16>
      halftone.yield %3 : tensor<8x16xf16>
    }
    %h2 = halftone.layer "net/dense_2" policy "mixed_float16" (%h1) {layer_class = "Dense"} : (tensor<8x16xf16>) -> tensor<8x10xf16> {
    ^bb0(%a: tensor<8x16xf16>):
      %w = halftone.read @w2 : tensor<16x10xf16>
      %b = halftone.read @b2 : tensor<10xf16>
      %0 = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf16>, tensor<16x10xf16>) -> tensor<8x10xf16>
      %1 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<10xf16> to tensor<8x10xf16>
      %2 = halftone.add %0, %1 : tensor<8x10xf16>
      halftone.yield %2 : tensor<8x10xf16>
    }
    %lf = halftone.cast %h2 {origin="loss"} : tensor<8x10xf16> to tensor<8x10xf32>
    %m = halftone.reduce max %lf {axes = array<i64: 1>} : tensor<8x10xf32> -> tensor<8xf32>
    %ms = halftone.stop_gradient %m : tensor<8xf32>
    %mb = halftone.broadcast %ms {axes = array<i64: 0>} : tensor<8xf32> to tensor<8x10xf32>
    %sh = halftone.sub %lf, %mb : tensor<8x10xf32>
    %e = halftone.exp %sh : tensor<8x10xf32>
    %se = halftone.reduce sum %e {axes = array<i64: 1>} : tensor<8x10xf32> -> tensor<8xf32>
    %ls = halftone.log %se : tensor<8xf32>
    %lsb = halftone.broadcast %ls {axes = array<i64: 0>} : tensor<8xf32> to tensor<8x10xf32>
    %lp = halftone.sub %sh, %lsb : tensor<8x10xf32>
    %io = halftone.iota {axis = 1 : i64} : tensor<8x10xi32>
    %yb = halftone.broadcast %y {axes = array<i64: 0>} : tensor<8xi32> to tensor<8x10xi32>
    %eq = halftone.compare eq %io, %yb : tensor<8x10xi32>
    %oh = halftone.cast %eq : tensor<8x10xi1> to tensor<8x10xf32>
    %pr = halftone.mul %lp, %oh : tensor<8x10xf32>
    %ce = halftone.reduce sum %pr {axes = array<i64: 1>} : tensor<8x10xf32> -> tensor<8xf32>
    %nce = halftone.neg %ce : tensor<8xf32>
    %su = halftone.reduce sum %nce {axes = array<i64: 0>} : tensor<8xf32> -> tensor<f32>
    %bf = halftone.constant dense<8.0> : tensor<f32>
    %loss = halftone.div %su, %bf : tensor<f32>
    %scale = halftone.read @scale : tensor<f32>
    %sl = halftone.mul %loss, %scale : tensor<f32>
    %g:6 = halftone.gradient %sl of [@w0, @b0, @w1, @b1, @w2, @b2] : tensor<f32> -> (tensor<12x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x10xf32>, tensor<10xf32>)
    %sb0 = halftone.broadcast %scale {axes = array<i64>} : tensor<f32> to tensor<12x16xf32>
    %u0 = halftone.div %g#0, %sb0 : tensor<12x16xf32>
    %sb1 = halftone.broadcast %scale {axes = array<i64>} : tensor<f32> to tensor<16xf32>
    %u1 = halftone.div %g#1, %sb1 : tensor<16xf32>
    %sb2 = halftone.broadcast %scale {axes = array<i64>} : tensor<f32> to tensor<16x16xf32>
    %u2 = halftone.div %g#2, %sb2 : tensor<16x16xf32>
    %sb3 = halftone.broadcast %scale {axes = array<i64>} : tensor<f32> to tensor<16xf32>
    %u3 = halftone.div %g#3, %sb3 : tensor<16xf32>
    %sb4 = halftone.broadcast %scale {axes = array<i64>} : tensor<f32> to tensor<16x10xf32>
    %u4 = halftone.div %g#4, %sb4 : tensor<16x10xf32>
    %sb5 = halftone.broadcast %scale {axes = array<i64>} : tensor<f32> to tensor<10xf32>
    %u5 = halftone.div %g#5, %sb5 : tensor<10xf32>
    %ok = halftone.reduce_all all_finite (%u0, %u1, %u2, %u3, %u4, %u5) : tensor<12x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x10xf32>, tensor<10xf32>
    halftone.when %ok : () {
    %it = halftone.read @iter : tensor<i32>
    %one = halftone.constant dense<1> : tensor<i32>
    %it1 = halftone.add %it, %one : tensor<i32>
    halftone.assign @iter, %it1 : tensor<i32>
    %tf = halftone.cast %it1 : tensor<i32> to tensor<f32>
    %b1 = halftone.constant dense<0.9> : tensor<f32>
    %b2 = halftone.constant dense<0.999> : tensor<f32>
    %p1 = halftone.pow %b1, %tf : tensor<f32>
    %p2 = halftone.pow %b2, %tf : tensor<f32>
    %o = halftone.constant dense<1.0> : tensor<f32>
    %q1 = halftone.sub %o, %p1 : tensor<f32>
    %q2 = halftone.sub %o, %p2 : tensor<f32>
    %lr = halftone.read @lr : tensor<f32>
    %sq = halftone.sqrt %q2 : tensor<f32>
    %al0 = halftone.mul %lr, %sq : tensor<f32>
    %al = halftone.div %al0, %q1 : tensor<f32>
    %m0 = halftone.read @m_w0 : tensor<12x16xf32>
    %v0 = halftone.read @v_w0 : tensor<12x16xf32>
    %w0 = halftone.read @w0 : tensor<12x16xf32>
    %cb1_0 = halftone.constant dense<0.1> : tensor<12x16xf32>
    %cb2_0 = halftone.constant dense<0.001> : tensor<12x16xf32>
    %eps0 = halftone.constant dense<1.0e-7> : tensor<12x16xf32>
    %d1_0 = halftone.sub %u0, %m0 : tensor<12x16xf32>
    %d2_0 = halftone.mul %d1_0, %cb1_0 : tensor<12x16xf32>
    %mn0 = halftone.add %m0, %d2_0 : tensor<12x16xf32>
    %g2_0 = halftone.mul %u0, %u0 : tensor<12x16xf32>
    %e1_0 = halftone.sub %g2_0, %v0 : tensor<12x16xf32>
    %e2_0 = halftone.mul %e1_0, %cb2_0 : tensor<12x16xf32>
    %vn0 = halftone.add %v0, %e2_0 : tensor<12x16xf32>
    %alb0 = halftone.broadcast %al {axes = array<i64>} : tensor<f32> to tensor<12x16xf32>
    %st0 = halftone.mul %alb0, %mn0 : tensor<12x16xf32>
    %rt0 = halftone.sqrt %vn0 : tensor<12x16xf32>
    %de0 = halftone.add %rt0, %eps0 : tensor<12x16xf32>
    %up0 = halftone.div %st0, %de0 : tensor<12x16xf32>
    %wn0 = halftone.sub %w0, %up0 : tensor<12x16xf32>
    halftone.assign @m_w0, %mn0 : tensor<12x16xf32>
    halftone.assign @v_w0, %vn0 : tensor<12x16xf32>
    halftone.assign @w0, %wn0 : tensor<12x16xf32>
    %m1 = halftone.read @m_b0 : tensor<16xf32>
    %v1 = halftone.read @v_b0 : tensor<16xf32>
    %w1 = halftone.read @b0 : tensor<16xf32>
    %cb1_1 = halftone.constant dense<0.1> : tensor<16xf32>
    %cb2_1 = halftone.constant dense<0.001> : tensor<16xf32>
    %eps1 = halftone.constant dense<1.0e-7> : tensor<16xf32>
    %d1_1 = halftone.sub %u1, %m1 : tensor<16xf32>
    %d2_1 = halftone.mul %d1_1, %cb1_1 : tensor<16xf32>
    %mn1 = halftone.add %m1, %d2_1 : tensor<16xf32>
    %g2_1 = halftone.mul %u1, %u1 : tensor<16xf32>
    %e1_1 = halftone.sub %g2_1, %v1 : tensor<16xf32>
    %e2_1 = halftone.mul %e1_1, %cb2_1 : tensor<16xf32>
    %vn1 = halftone.add %v1, %e2_1 : tensor<16xf32>
    %alb1 = halftone.broadcast %al {axes = array<i64>} : tensor<f32> to tensor<16xf32>
    %st1 = halftone.mul %alb1, %mn1 : tensor<16xf32>
    %rt1 = halftone.sqrt %vn1 : tensor<16xf32>
    %de1 = halftone.add %rt1, %eps1 : tensor<16xf32>
    %up1 = halftone.div %st1, %de1 : tensor<16xf32>
    %wn1 = halftone.sub %w1, %up1 : tensor<16xf32>
    halftone.assign @m_b0, %mn1 : tensor<16xf32>
    halftone.assign @v_b0, %vn1 : tensor<16xf32>
    halftone.assign @b0, %wn1 : tensor<16xf32>
    %m2 = halftone.read @m_w1 : tensor<16x16xf32>
    %v2 = halftone.read @v_w1 : tensor<16x16xf32>
    %w2 = halftone.read @w1 : tensor<16x16xf32>
    %cb1_2 = halftone.constant dense<0.1> : tensor<16x16xf32>
    %cb2_2 = halftone.constant dense<0.001> : tensor<16x16xf32>
    %eps2 = halftone.constant dense<1.0e-7> : tensor<16x16xf32>
    %d1_2 = halftone.sub %u2, %m2 : tensor<16x16xf32>
    %d2_2 = halftone.mul %d1_2, %cb1_2 : tensor<16x16xf32>
    %mn2 = halftone.add %m2, %d2_2 : tensor<16x16xf32>
    %g2_2 = halftone.mul %u2, %u2 : tensor<16x16xf32>
    %e1_2 = halftone.sub %g2_2, %v2 : tensor<16x16xf32>
    %e2_2 = halftone.mul %e1_2, %cb2_2 : tensor<16x16xf32>
    %vn2 = halftone.add %v2, %e2_2 : tensor<16x16xf32>
    %alb2 = halftone.broadcast %al {axes = array<i64>} : tensor<f32> to tensor<16x16xf32>
    %st2 = halftone.mul %alb2, %mn2 : tensor<16x16xf32>
    %rt2 = halftone.sqrt %vn2 : tensor<16x16xf32>
    %de2 = halftone.add %rt2, %eps2 : tensor<16x16xf32>
    %up2 = halftone.div %st2, %de2 : tensor<16x16xf32>
    %wn2 = halftone.sub %w2, %up2 : tensor<16x16xf32>
    halftone.assign @m_w1, %mn2 : tensor<16x16xf32>
    halftone.assign @v_w1, %vn2 : tensor<16x16xf32>
    halftone.assign @w1, %wn2 : tensor<16x16xf32>
    %m3 = halftone.read @m_b1 : tensor<16xf32>
    %v3 = halftone.read @v_b1 : tensor<16xf32>
    %w3 = halftone.read @b1 : tensor<16xf32>
    %cb1_3 = halftone.constant dense<0.1> : tensor<16xf32>
    %cb2_3 = halftone.constant dense<0.001> : tensor<16xf32>
    %eps3 = halftone.constant dense<1.0e-7> : tensor<16xf32>
    %d1_3 = halftone.sub %u3, %m3 : tensor<16xf32>
    %d2_3 = halftone.mul %d1_3, %cb1_3 : tensor<16xf32>
    %mn3 = halftone.add %m3, %d2_3 : tensor<16xf32>
    %g2_3 = halftone.mul %u3, %u3 : tensor<16xf32>
    %e1_3 = halftone.sub %g2_3, %v3 : tensor<16xf32>
    %e2_3 = halftone.mul %e1_3, %cb2_3 : tensor<16xf32>
    %vn3 = halftone.add %v3, %e2_3 : tensor<16xf32>
    %alb3 = halftone.broadcast %al {axes = array<i64>} : tensor<f32> to tensor<16xf32>
    %st3 = halftone.mul %alb3, %mn3 : tensor<16xf32>
    %rt3 = halftone.sqrt %vn3 : tensor<16xf32>
    %de3 = halftone.add %rt3, %eps3 : tensor<16xf32>
    %up3 = halftone.div %st3, %de3 : tensor<16xf32>
    %wn3 = halftone.sub %w3, %up3 : tensor<16xf32>
    halftone.assign @m_b1, %mn3 : tensor<16xf32>
    halftone.assign @v_b1, %vn3 : tensor<16xf32>
    halftone.assign @b1, %wn3 : tensor<16xf32>
    %m4 = halftone.read @m_w2 : tensor<16x10xf32>
    %v4 = halftone.read @v_w2 : tensor<16x10xf32>
    %w4 = halftone.read @w2 : tensor<16x10xf32>
    %cb1_4 = halftone.constant dense<0.1> : tensor<16x10xf32>
    %cb2_4 = halftone.constant dense<0.001> : tensor<16x10xf32>
    %eps4 = halftone.constant dense<1.0e-7> : tensor<16x10xf32>
    %d1_4 = halftone.sub %u4, %m4 : tensor<16x10xf32>
    %d2_4 = halftone.mul %d1_4, %cb1_4 : tensor<16x10xf32>
    %mn4 = halftone.add %m4, %d2_4 : tensor<16x10xf32>
    %g2_4 = halftone.mul %u4, %u4 : tensor<16x10xf32>
    %e1_4 = halftone.sub %g2_4, %v4 : tensor<16x10xf32>
    %e2_4 = halftone.mul %e1_4, %cb2_4 : tensor<16x10xf32>
    %vn4 = halftone.add %v4, %e2_4 : tensor<16x10xf32>
    %alb4 = halftone.broadcast %al {axes = array<i64>} : tensor<f32> to tensor<16x10xf32>
    %st4 = halftone.mul %alb4, %mn4 : tensor<16x10xf32>
    %rt4 = halftone.sqrt %vn4 : tensor<16x10xf32>
    %de4 = halftone.add %rt4, %eps4 : tensor<16x10xf32>
    %up4 = halftone.div %st4, %de4 : tensor<16x10xf32>
    %wn4 = halftone.sub %w4, %up4 : tensor<16x10xf32>
    halftone.assign @m_w2, %mn4 : tensor<16x10xf32>
    halftone.assign @v_w2, %vn4 : tensor<16x10xf32>
    halftone.assign @w2, %wn4 : tensor<16x10xf32>
    %m5 = halftone.read @m_b2 : tensor<10xf32>
    %v5 = halftone.read @v_b2 : tensor<10xf32>
    %w5 = halftone.read @b2 : tensor<10xf32>
    %cb1_5 = halftone.constant dense<0.1> : tensor<10xf32>
    %cb2_5 = halftone.constant dense<0.001> : tensor<10xf32>
    %eps5 = halftone.constant dense<1.0e-7> : tensor<10xf32>
    %d1_5 = halftone.sub %u5, %m5 : tensor<10xf32>
    %d2_5 = halftone.mul %d1_5, %cb1_5 : tensor<10xf32>
    %mn5 = halftone.add %m5, %d2_5 : tensor<10xf32>
    %g2_5 = halftone.mul %u5, %u5 : tensor<10xf32>
    %e1_5 = halftone.sub %g2_5, %v5 : tensor<10xf32>
    %e2_5 = halftone.mul %e1_5, %cb2_5 : tensor<10xf32>
    %vn5 = halftone.add %v5, %e2_5 : tensor<10xf32>
    %alb5 = halftone.broadcast %al {axes = array<i64>} : tensor<f32> to tensor<10xf32>
    %st5 = halftone.mul %alb5, %mn5 : tensor<10xf32>
    %rt5 = halftone.sqrt %vn5 : tensor<10xf32>
    %de5 = halftone.add %rt5, %eps5 : tensor<10xf32>
    %up5 = halftone.div %st5, %de5 : tensor<10xf32>
    %wn5 = halftone.sub %w5, %up5 : tensor<10xf32>
    halftone.assign @m_b2, %mn5 : tensor<10xf32>
    halftone.assign @v_b2, %vn5 : tensor<10xf32>
    halftone.assign @b2, %wn5 : tensor<10xf32>
    halftone.yield
    } else {
    halftone.yield
    }
    %half = halftone.constant dense<0.5> : tensor<f32>
    %two = halftone.constant dense<2.0> : tensor<f32>
    %good = halftone.read @good : tensor<i32>
    %i1 = halftone.constant dense<1> : tensor<i32>
    %i0 = halftone.constant dense<0> : tensor<i32>
    %lim = halftone.constant dense<2000> : tensor<i32>
    %g1 = halftone.add %good, %i1 : tensor<i32>
    %grow = halftone.compare ge %g1, %lim : tensor<i32>
    %dbl = halftone.mul %scale, %two : tensor<f32>
    %hlf = halftone.mul %scale, %half : tensor<f32>
    %up = halftone.select %grow, %dbl, %scale : tensor<f32>
    %ns = halftone.select %ok, %up, %hlf : tensor<f32>
    %gz = halftone.select %grow, %i0, %g1 : tensor<i32>
    %ng = halftone.select %ok, %gz, %i0 : tensor<i32>
    halftone.assign @scale, %ns : tensor<f32>
    halftone.assign @good, %ng : tensor<i32>
    return %loss : tensor<f32>
  }
}
