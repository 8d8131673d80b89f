module @mlp.train attributes {halftone.layers = {"mlp/flatten_5" = {class = "Flatten", policy = "float32", rule = ""}, "mlp/head" = {class = "Dense", policy = "float32", rule = ""}, "mlp/hidden" = {class = "Dense", policy = "float32", rule = ""}, "mlp/rescaling_5" = {class = "Rescaling", policy = "float32", rule = ""}}} {
  halftone.variable @mlp_hidden_kernel : tensor<784x64xf32> {path = "mlp/hidden/kernel"}
  halftone.variable @mlp_hidden_bias : tensor<64xf32> {path = "mlp/hidden/bias"}
  halftone.variable @mlp_head_kernel : tensor<64x10xf32> {path = "mlp/head/kernel"}
  halftone.variable @mlp_head_bias : tensor<10xf32> {path = "mlp/head/bias"}
  halftone.variable @loss_count : tensor<f32> {autocast = false, path = "loss/count", role = #halftone<role metric>, trainable = false, update = #halftone<update assign>}
  halftone.variable @loss_total : tensor<f32> {autocast = false, path = "loss/total", role = #halftone<role metric>, trainable = false, update = #halftone<update assign>}
  halftone.variable @accuracy_count : tensor<f32> {autocast = false, path = "accuracy/count", role = #halftone<role metric>, trainable = false, update = #halftone<update assign>}
  halftone.variable @accuracy_total : tensor<f32> {autocast = false, path = "accuracy/total", role = #halftone<role metric>, trainable = false, update = #halftone<update assign>}
  halftone.variable @adam_learning_rate : tensor<f32> {autocast = false, path = "adam/learning_rate", role = #halftone<role learning_rate>, trainable = false, update = #halftone<update assign>}
  halftone.variable @adam_iteration : tensor<i32> {autocast = false, path = "adam/iteration", role = #halftone<role iteration>, trainable = false, update = #halftone<update assign>}
  halftone.variable @adam_mlp_hidden_kernel_momentum : tensor<784x64xf32> {autocast = false, path = "adam/mlp_hidden_kernel_momentum", role = #halftone<role slot>, trainable = false, update = #halftone<update assign>}
  halftone.variable @adam_mlp_hidden_kernel_velocity : tensor<784x64xf32> {autocast = false, path = "adam/mlp_hidden_kernel_velocity", role = #halftone<role slot>, trainable = false, update = #halftone<update assign>}
  halftone.variable @adam_mlp_hidden_bias_momentum : tensor<64xf32> {autocast = false, path = "adam/mlp_hidden_bias_momentum", role = #halftone<role slot>, trainable = false, update = #halftone<update assign>}
  halftone.variable @adam_mlp_hidden_bias_velocity : tensor<64xf32> {autocast = false, path = "adam/mlp_hidden_bias_velocity", role = #halftone<role slot>, trainable = false, update = #halftone<update assign>}
  halftone.variable @adam_mlp_head_kernel_momentum : tensor<64x10xf32> {autocast = false, path = "adam/mlp_head_kernel_momentum", role = #halftone<role slot>, trainable = false, update = #halftone<update assign>}
  halftone.variable @adam_mlp_head_kernel_velocity : tensor<64x10xf32> {autocast = false, path = "adam/mlp_head_kernel_velocity", role = #halftone<role slot>, trainable = false, update = #halftone<update assign>}
  halftone.variable @adam_mlp_head_bias_momentum : tensor<10xf32> {autocast = false, path = "adam/mlp_head_bias_momentum", role = #halftone<role slot>, trainable = false, update = #halftone<update assign>}
  halftone.variable @adam_mlp_head_bias_velocity : tensor<10xf32> {autocast = false, path = "adam/mlp_head_bias_velocity", role = #halftone<role slot>, trainable = false, update = #halftone<update assign>}
  halftone.kernel matmul @matmul_274817b77a2b3b80 (tensor<32x784xui8>, tensor<784x64xf32>, tensor<64xf32>) -> (tensor<32x64xf32>, tensor<32x64xi1>) attributes {spec = {tile = array<i64: 48, 64>}} {
  ^bb0(%arg0: tensor<32x784xui8>, %arg1: tensor<784x64xf32>, %arg2: tensor<64xf32>):
    %0 = halftone.cast %arg0 {origin = "user"} : tensor<32x784xui8> to tensor<32x784xf32>
    %1 = halftone.constant dense<0.00392156886> : tensor<32x784xf32>
    %2 = halftone.mul %0, %1 : tensor<32x784xf32>
    %3 = halftone.constant dense<0.000000e+00> : tensor<32x784xf32>
    %4 = halftone.add %2, %3 : tensor<32x784xf32>
    %5 = halftone.contract %4, %arg1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x784xf32>, tensor<784x64xf32>) -> tensor<32x64xf32>
    %6 = halftone.broadcast %arg2 {axes = array<i64: 1>} : tensor<64xf32> to tensor<32x64xf32>
    %7 = halftone.add %5, %6 : tensor<32x64xf32>
    %8 = halftone.constant dense<0.000000e+00> : tensor<32x64xf32>
    %9 = halftone.maximum %7, %8 : tensor<32x64xf32>
    %10 = halftone.compare ge %7, %8 : tensor<32x64xf32>
    %11 = halftone.compare ne %7, %7 : tensor<32x64xf32>
    %12 = halftone.or %10, %11 : tensor<32x64xi1>
    halftone.yield %9, %12 : tensor<32x64xf32>, tensor<32x64xi1>
  }
  halftone.kernel matmul @matmul_d19ae2ba04434abd (tensor<32x64xf32>, tensor<64x10xf32>, tensor<10xf32>) -> tensor<32x10xf32> attributes {spec = {tile = array<i64: 48, 32>}} {
  ^bb0(%arg0: tensor<32x64xf32>, %arg1: tensor<64x10xf32>, %arg2: tensor<10xf32>):
    %0 = halftone.contract %arg0, %arg1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x64xf32>, tensor<64x10xf32>) -> tensor<32x10xf32>
    %1 = halftone.broadcast %arg2 {axes = array<i64: 1>} : tensor<10xf32> to tensor<32x10xf32>
    %2 = halftone.add %0, %1 : tensor<32x10xf32>
    halftone.yield %2 : tensor<32x10xf32>
  }
  halftone.kernel row @row_5f59fd8aa860d04b (tensor<32x10xf32>, tensor<32xi32>) -> (tensor<32xf32>, tensor<32x10xf32>, tensor<1x10xf32>) attributes {spec = {rows = 32 : i64}} {
  ^bb0(%arg0: tensor<32x10xf32>, %arg1: tensor<32xi32>):
    %0 = halftone.reduce max %arg0 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %1 = halftone.broadcast %0 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
    %2 = halftone.sub %arg0, %1 : tensor<32x10xf32>
    %3 = halftone.exp %2 : tensor<32x10xf32>
    %4 = halftone.reduce sum %3 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %5 = halftone.log %4 : tensor<32xf32>
    %6 = halftone.broadcast %arg1 {axes = array<i64: 0>} : tensor<32xi32> to tensor<32x10xi32>
    %7 = halftone.iota {axis = 1 : i64} : tensor<32x10xi32>
    %8 = halftone.compare eq %6, %7 : tensor<32x10xi32>
    %9 = halftone.constant dense<0.000000e+00> : tensor<32x10xf32>
    %10 = halftone.select %8, %2, %9 : tensor<32x10xf32>
    %11 = halftone.reduce sum %10 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %12 = halftone.sub %5, %11 : tensor<32xf32>
    %13 = halftone.constant dense<0> : tensor<32xi32>
    %14 = halftone.compare ge %arg1, %13 : tensor<32xi32>
    %15 = halftone.constant dense<10> : tensor<32xi32>
    %16 = halftone.compare lt %arg1, %15 : tensor<32xi32>
    %17 = halftone.and %14, %16 : tensor<32xi1>
    %18 = halftone.constant dense<1.000000e+00> : tensor<32xf32>
    %19 = halftone.constant dense<0x7FC00000> : tensor<32xf32>
    %20 = halftone.select %17, %18, %19 : tensor<32xf32>
    %21 = halftone.mul %12, %20 : tensor<32xf32>
    %22 = halftone.constant dense<1.000000e+00> : tensor<f32>
    %23 = halftone.constant dense<3.200000e+01> : tensor<f32>
    %24 = halftone.div %22, %23 : tensor<f32>
    %25 = halftone.broadcast %24 {axes = array<i64>} : tensor<f32> to tensor<32xf32>
    %26 = halftone.mul %25, %20 : tensor<32xf32>
    %27 = halftone.neg %26 : tensor<32xf32>
    %28 = halftone.broadcast %27 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
    %29 = halftone.select %8, %28, %9 : tensor<32x10xf32>
    %30 = halftone.div %26, %4 : tensor<32xf32>
    %31 = halftone.broadcast %30 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
    %32 = halftone.mul %31, %3 : tensor<32x10xf32>
    %33 = halftone.add %29, %32 : tensor<32x10xf32>
    %34 = halftone.partial_reduce sum %33 {axes = array<i64: 0>, tile = array<i64: 32>} : tensor<32x10xf32> -> tensor<1x10xf32>
    halftone.yield %21, %33, %34 : tensor<32xf32>, tensor<32x10xf32>, tensor<1x10xf32>
  }
  halftone.kernel row @row_05d8d5f3ca6026d5 (tensor<32xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%arg0: tensor<32xf32>, %arg1: tensor<f32>):
    %0 = halftone.reduce sum %arg0 {axes = array<i64: 0>} : tensor<32xf32> -> tensor<f32>
    %1 = halftone.constant dense<3.200000e+01> : tensor<f32>
    %2 = halftone.div %0, %1 : tensor<f32>
    %3 = halftone.mul %2, %1 : tensor<f32>
    %4 = halftone.add %arg1, %3 : tensor<f32>
    halftone.yield %2, %4 : tensor<f32>, tensor<f32>
  }
  halftone.kernel loop @loop_abd0c79dd2de5545 (tensor<f32>) -> tensor<f32> {
  ^bb0(%arg0: tensor<f32>):
    %0 = halftone.constant dense<3.200000e+01> : tensor<f32>
    %1 = halftone.add %arg0, %0 : tensor<f32>
    halftone.yield %1 : tensor<f32>
  }
  halftone.kernel row @row_aabea611ce03024e (tensor<32x10xf32>, tensor<32xi32>) -> tensor<32xf32> {
  ^bb0(%arg0: tensor<32x10xf32>, %arg1: tensor<32xi32>):
    %0 = halftone.arg_reduce max %arg0 {axis = 1 : i64} : tensor<32x10xf32> -> tensor<32xi32>
    %1 = halftone.compare eq %arg1, %0 : tensor<32xi32>
    %2 = halftone.cast %1 {origin = "metric"} : tensor<32xi1> to tensor<32xf32>
    halftone.yield %2 : tensor<32xf32>
  }
  halftone.kernel row @row_bd9196240c5107eb (tensor<32xf32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%arg0: tensor<32xf32>, %arg1: tensor<f32>):
    %0 = halftone.reduce sum %arg0 {axes = array<i64: 0>} : tensor<32xf32> -> tensor<f32>
    %1 = halftone.add %arg1, %0 : tensor<f32>
    halftone.yield %1 : tensor<f32>
  }
  halftone.kernel matmul @matmul_af99c6b60eacb3e4 (tensor<32x10xf32>, tensor<64x10xf32>, tensor<32x64xi1>) -> (tensor<32x64xf32>, tensor<1x64xf32>) attributes {spec = {tile = array<i64: 48, 64>}} {
  ^bb0(%arg0: tensor<32x10xf32>, %arg1: tensor<64x10xf32>, %arg2: tensor<32x64xi1>):
    %0 = halftone.contract %arg0, %arg1 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<32x10xf32>, tensor<64x10xf32>) -> tensor<32x64xf32>
    %1 = halftone.constant dense<0.000000e+00> : tensor<32x64xf32>
    %2 = halftone.select %arg2, %0, %1 : tensor<32x64xf32>
    %3 = halftone.partial_reduce sum %2 {axes = array<i64: 0>, tile = array<i64: 48>} : tensor<32x64xf32> -> tensor<1x64xf32>
    halftone.yield %2, %3 : tensor<32x64xf32>, tensor<1x64xf32>
  }
  halftone.kernel loop @loop_8bf170d707a7a711 (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<f32>):
    %0 = halftone.constant dense<1> : tensor<i32>
    %1 = halftone.add %arg0, %0 : tensor<i32>
    %2 = halftone.constant dense<1.000000e+00> : tensor<f32>
    %3 = halftone.constant dense<9.990000e-01> : tensor<f32>
    %4 = halftone.cast %1 {origin = "optimizer"} : tensor<i32> to tensor<f32>
    %5 = halftone.pow %3, %4 : tensor<f32>
    %6 = halftone.sub %2, %5 : tensor<f32>
    %7 = halftone.sqrt %6 : tensor<f32>
    %8 = halftone.mul %arg1, %7 : tensor<f32>
    %9 = halftone.constant dense<0.899999976> : tensor<f32>
    %10 = halftone.pow %9, %4 : tensor<f32>
    %11 = halftone.sub %2, %10 : tensor<f32>
    %12 = halftone.div %8, %11 : tensor<f32>
    halftone.yield %1, %12 : tensor<i32>, tensor<f32>
  }
  halftone.kernel matmul @matmul_f1d4ebe6e8ae088f (tensor<32x784xui8>, tensor<32x64xf32>, tensor<784x64xf32>, tensor<784x64xf32>, tensor<f32>, tensor<784x64xf32>) -> (tensor<784x64xf32>, tensor<784x64xf32>, tensor<784x64xf32>) attributes {spec = {tile = array<i64: 96, 64>}} {
  ^bb0(%arg0: tensor<32x784xui8>, %arg1: tensor<32x64xf32>, %arg2: tensor<784x64xf32>, %arg3: tensor<784x64xf32>, %arg4: tensor<f32>, %arg5: tensor<784x64xf32>):
    %0 = halftone.cast %arg0 {origin = "user"} : tensor<32x784xui8> to tensor<32x784xf32>
    %1 = halftone.constant dense<0.00392156886> : tensor<32x784xf32>
    %2 = halftone.mul %0, %1 : tensor<32x784xf32>
    %3 = halftone.constant dense<0.000000e+00> : tensor<32x784xf32>
    %4 = halftone.add %2, %3 : tensor<32x784xf32>
    %5 = halftone.contract %4, %arg1 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<32x784xf32>, tensor<32x64xf32>) -> tensor<784x64xf32>
    %6 = halftone.sub %5, %arg2 : tensor<784x64xf32>
    %7 = halftone.constant dense<1.000000e-01> : tensor<784x64xf32>
    %8 = halftone.mul %6, %7 : tensor<784x64xf32>
    %9 = halftone.add %arg2, %8 : tensor<784x64xf32>
    %10 = halftone.mul %5, %5 : tensor<784x64xf32>
    %11 = halftone.sub %10, %arg3 : tensor<784x64xf32>
    %12 = halftone.constant dense<1.000000e-03> : tensor<784x64xf32>
    %13 = halftone.mul %11, %12 : tensor<784x64xf32>
    %14 = halftone.add %arg3, %13 : tensor<784x64xf32>
    %15 = halftone.broadcast %arg4 {axes = array<i64>} : tensor<f32> to tensor<784x64xf32>
    %16 = halftone.mul %9, %15 : tensor<784x64xf32>
    %17 = halftone.sqrt %14 : tensor<784x64xf32>
    %18 = halftone.constant dense<1.000000e-07> : tensor<784x64xf32>
    %19 = halftone.add %17, %18 : tensor<784x64xf32>
    %20 = halftone.div %16, %19 : tensor<784x64xf32>
    %21 = halftone.sub %arg5, %20 : tensor<784x64xf32>
    halftone.yield %9, %14, %21 : tensor<784x64xf32>, tensor<784x64xf32>, tensor<784x64xf32>
  }
  halftone.kernel loop @loop_fe0b8420993b624b (tensor<1x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%arg0: tensor<1x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64xf32>, %arg3: tensor<f32>, %arg4: tensor<64xf32>):
    %0 = halftone.reduce sum %arg0 {axes = array<i64: 0>} : tensor<1x64xf32> -> tensor<64xf32>
    %1 = halftone.sub %0, %arg1 : tensor<64xf32>
    %2 = halftone.constant dense<1.000000e-01> : tensor<64xf32>
    %3 = halftone.mul %1, %2 : tensor<64xf32>
    %4 = halftone.add %arg1, %3 : tensor<64xf32>
    %5 = halftone.mul %0, %0 : tensor<64xf32>
    %6 = halftone.sub %5, %arg2 : tensor<64xf32>
    %7 = halftone.constant dense<1.000000e-03> : tensor<64xf32>
    %8 = halftone.mul %6, %7 : tensor<64xf32>
    %9 = halftone.add %arg2, %8 : tensor<64xf32>
    %10 = halftone.broadcast %arg3 {axes = array<i64>} : tensor<f32> to tensor<64xf32>
    %11 = halftone.mul %4, %10 : tensor<64xf32>
    %12 = halftone.sqrt %9 : tensor<64xf32>
    %13 = halftone.constant dense<1.000000e-07> : tensor<64xf32>
    %14 = halftone.add %12, %13 : tensor<64xf32>
    %15 = halftone.div %11, %14 : tensor<64xf32>
    %16 = halftone.sub %arg4, %15 : tensor<64xf32>
    halftone.yield %4, %9, %16 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  halftone.kernel matmul @matmul_1748f0f0f518c7c2 (tensor<32x64xf32>, tensor<32x10xf32>, tensor<64x10xf32>, tensor<64x10xf32>, tensor<f32>, tensor<64x10xf32>) -> (tensor<64x10xf32>, tensor<64x10xf32>, tensor<64x10xf32>) attributes {spec = {tile = array<i64: 96, 32>}} {
  ^bb0(%arg0: tensor<32x64xf32>, %arg1: tensor<32x10xf32>, %arg2: tensor<64x10xf32>, %arg3: tensor<64x10xf32>, %arg4: tensor<f32>, %arg5: tensor<64x10xf32>):
    %0 = halftone.contract %arg0, %arg1 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<32x64xf32>, tensor<32x10xf32>) -> tensor<64x10xf32>
    %1 = halftone.sub %0, %arg2 : tensor<64x10xf32>
    %2 = halftone.constant dense<1.000000e-01> : tensor<64x10xf32>
    %3 = halftone.mul %1, %2 : tensor<64x10xf32>
    %4 = halftone.add %arg2, %3 : tensor<64x10xf32>
    %5 = halftone.mul %0, %0 : tensor<64x10xf32>
    %6 = halftone.sub %5, %arg3 : tensor<64x10xf32>
    %7 = halftone.constant dense<1.000000e-03> : tensor<64x10xf32>
    %8 = halftone.mul %6, %7 : tensor<64x10xf32>
    %9 = halftone.add %arg3, %8 : tensor<64x10xf32>
    %10 = halftone.broadcast %arg4 {axes = array<i64>} : tensor<f32> to tensor<64x10xf32>
    %11 = halftone.mul %4, %10 : tensor<64x10xf32>
    %12 = halftone.sqrt %9 : tensor<64x10xf32>
    %13 = halftone.constant dense<1.000000e-07> : tensor<64x10xf32>
    %14 = halftone.add %12, %13 : tensor<64x10xf32>
    %15 = halftone.div %11, %14 : tensor<64x10xf32>
    %16 = halftone.sub %arg5, %15 : tensor<64x10xf32>
    halftone.yield %4, %9, %16 : tensor<64x10xf32>, tensor<64x10xf32>, tensor<64x10xf32>
  }
  halftone.kernel loop @loop_c73235b9dd236b4f (tensor<1x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<f32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) {
  ^bb0(%arg0: tensor<1x10xf32>, %arg1: tensor<10xf32>, %arg2: tensor<10xf32>, %arg3: tensor<f32>, %arg4: tensor<10xf32>):
    %0 = halftone.reduce sum %arg0 {axes = array<i64: 0>} : tensor<1x10xf32> -> tensor<10xf32>
    %1 = halftone.sub %0, %arg1 : tensor<10xf32>
    %2 = halftone.constant dense<1.000000e-01> : tensor<10xf32>
    %3 = halftone.mul %1, %2 : tensor<10xf32>
    %4 = halftone.add %arg1, %3 : tensor<10xf32>
    %5 = halftone.mul %0, %0 : tensor<10xf32>
    %6 = halftone.sub %5, %arg2 : tensor<10xf32>
    %7 = halftone.constant dense<1.000000e-03> : tensor<10xf32>
    %8 = halftone.mul %6, %7 : tensor<10xf32>
    %9 = halftone.add %arg2, %8 : tensor<10xf32>
    %10 = halftone.broadcast %arg3 {axes = array<i64>} : tensor<f32> to tensor<10xf32>
    %11 = halftone.mul %4, %10 : tensor<10xf32>
    %12 = halftone.sqrt %9 : tensor<10xf32>
    %13 = halftone.constant dense<1.000000e-07> : tensor<10xf32>
    %14 = halftone.add %12, %13 : tensor<10xf32>
    %15 = halftone.div %11, %14 : tensor<10xf32>
    %16 = halftone.sub %arg4, %15 : tensor<10xf32>
    halftone.yield %4, %9, %16 : tensor<10xf32>, tensor<10xf32>, tensor<10xf32>
  }
  func.func @main(%arg0: tensor<32x28x28xui8> {halftone.name = "arg0"}, %arg1: tensor<32xi32> {halftone.name = "arg1"}, %arg2: tensor<784x64xf32> {halftone.variable = @mlp_hidden_kernel}, %arg3: tensor<64xf32> {halftone.variable = @mlp_hidden_bias}, %arg4: tensor<64x10xf32> {halftone.variable = @mlp_head_kernel}, %arg5: tensor<10xf32> {halftone.variable = @mlp_head_bias}, %arg6: tensor<f32> {halftone.variable = @loss_count}, %arg7: tensor<f32> {halftone.variable = @loss_total}, %arg8: tensor<f32> {halftone.variable = @accuracy_count}, %arg9: tensor<f32> {halftone.variable = @accuracy_total}, %arg10: tensor<f32> {halftone.variable = @adam_learning_rate}, %arg11: tensor<i32> {halftone.variable = @adam_iteration}, %arg12: tensor<784x64xf32> {halftone.variable = @adam_mlp_hidden_kernel_momentum}, %arg13: tensor<784x64xf32> {halftone.variable = @adam_mlp_hidden_kernel_velocity}, %arg14: tensor<64xf32> {halftone.variable = @adam_mlp_hidden_bias_momentum}, %arg15: tensor<64xf32> {halftone.variable = @adam_mlp_hidden_bias_velocity}, %arg16: tensor<64x10xf32> {halftone.variable = @adam_mlp_head_kernel_momentum}, %arg17: tensor<64x10xf32> {halftone.variable = @adam_mlp_head_kernel_velocity}, %arg18: tensor<10xf32> {halftone.variable = @adam_mlp_head_bias_momentum}, %arg19: tensor<10xf32> {halftone.variable = @adam_mlp_head_bias_velocity}) -> (tensor<f32> {halftone.name = "loss"}, tensor<f32> {halftone.variable = @loss_total}, tensor<f32> {halftone.variable = @loss_count}, tensor<f32> {halftone.variable = @accuracy_total}, tensor<f32> {halftone.variable = @accuracy_count}, tensor<784x64xf32> {halftone.variable = @adam_mlp_hidden_kernel_momentum}, tensor<784x64xf32> {halftone.variable = @adam_mlp_hidden_kernel_velocity}, tensor<784x64xf32> {halftone.variable = @mlp_hidden_kernel}, tensor<64xf32> {halftone.variable = @adam_mlp_hidden_bias_momentum}, tensor<64xf32> {halftone.variable = @adam_mlp_hidden_bias_velocity}, tensor<64xf32> {halftone.variable = @mlp_hidden_bias}, tensor<64x10xf32> {halftone.variable = @adam_mlp_head_kernel_momentum}, tensor<64x10xf32> {halftone.variable = @adam_mlp_head_kernel_velocity}, tensor<64x10xf32> {halftone.variable = @mlp_head_kernel}, tensor<10xf32> {halftone.variable = @adam_mlp_head_bias_momentum}, tensor<10xf32> {halftone.variable = @adam_mlp_head_bias_velocity}, tensor<10xf32> {halftone.variable = @mlp_head_bias}, tensor<i32> {halftone.variable = @adam_iteration}) {
    %0 = halftone.reshape %arg0 : tensor<32x28x28xui8> to tensor<32x784xui8>
    %1:2 = halftone.launch @matmul_274817b77a2b3b80(%0, %arg2, %arg3) {site = "mlp/rescaling_5, mlp/hidden (Mlp.h:22): cast, mul, add, contract, add, maximum, compare, or"} : (tensor<32x784xui8>, tensor<784x64xf32>, tensor<64xf32>) -> (tensor<32x64xf32>, tensor<32x64xi1>)
    %2 = halftone.launch @matmul_d19ae2ba04434abd(%1#0, %arg4, %arg5) {site = "mlp/head (Mlp.h:23): contract, add"} : (tensor<32x64xf32>, tensor<64x10xf32>, tensor<10xf32>) -> tensor<32x10xf32>
    %3:3 = halftone.launch @row_5f59fd8aa860d04b(%2, %arg1) {site = "mlp/head (Mlp.h:23): compare, reduce, sub, exp, reduce, log, select, reduce, sub, compare, and, select, ..."} : (tensor<32x10xf32>, tensor<32xi32>) -> (tensor<32xf32>, tensor<32x10xf32>, tensor<1x10xf32>)
    %4:2 = halftone.launch @row_05d8d5f3ca6026d5(%3#0, %arg7) {site = "reduce, div, mul, add"} : (tensor<32xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %5 = halftone.launch @loop_abd0c79dd2de5545(%arg6) {site = "add"} : (tensor<f32>) -> tensor<f32>
    %6 = halftone.launch @loop_abd0c79dd2de5545(%arg8) {site = "add"} : (tensor<f32>) -> tensor<f32>
    %7 = halftone.launch @row_aabea611ce03024e(%2, %arg1) {site = "arg_reduce, compare, cast"} : (tensor<32x10xf32>, tensor<32xi32>) -> tensor<32xf32>
    %8 = halftone.launch @row_bd9196240c5107eb(%7, %arg9) {site = "reduce, add"} : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    %9:2 = halftone.launch @matmul_af99c6b60eacb3e4(%3#1, %arg4, %1#1) {site = "mlp/head, mlp/hidden (Mlp.h:23): contract, select, partial_reduce"} : (tensor<32x10xf32>, tensor<64x10xf32>, tensor<32x64xi1>) -> (tensor<32x64xf32>, tensor<1x64xf32>)
    %10:2 = halftone.launch @loop_8bf170d707a7a711(%arg11, %arg10) {site = "add, cast, pow, sub, sqrt, mul, sub, div"} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
    %11:3 = halftone.launch @matmul_f1d4ebe6e8ae088f(%0, %9#0, %arg12, %arg13, %10#1, %arg2) {site = "mlp/rescaling_5, mlp/hidden (Mlp.h:22): cast, mul, add, contract, sub, mul, add, mul, sub, mul, add, mul, ..."} : (tensor<32x784xui8>, tensor<32x64xf32>, tensor<784x64xf32>, tensor<784x64xf32>, tensor<f32>, tensor<784x64xf32>) -> (tensor<784x64xf32>, tensor<784x64xf32>, tensor<784x64xf32>)
    %12:3 = halftone.launch @loop_fe0b8420993b624b(%9#1, %arg14, %arg15, %10#1, %arg3) {site = "mlp/hidden (Mlp.h:23): reduce, sub, mul, add, mul, sub, mul, add, mul, sqrt, add, div, ..."} : (tensor<1x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
    %13:3 = halftone.launch @loop_c73235b9dd236b4f(%3#2, %arg18, %arg19, %10#1, %arg5) {site = "mlp/head (Mlp.h:23): reduce, sub, mul, add, mul, sub, mul, add, mul, sqrt, add, div, ..."} : (tensor<1x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<f32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>)
    %14:3 = halftone.launch @matmul_1748f0f0f518c7c2(%1#0, %3#1, %arg16, %arg17, %10#1, %arg4) {site = "mlp/head (Mlp.h:23): contract, sub, mul, add, mul, sub, mul, add, mul, sqrt, add, div, ..."} : (tensor<32x64xf32>, tensor<32x10xf32>, tensor<64x10xf32>, tensor<64x10xf32>, tensor<f32>, tensor<64x10xf32>) -> (tensor<64x10xf32>, tensor<64x10xf32>, tensor<64x10xf32>)
    return %4#0, %4#1, %5, %8, %6, %11#0, %11#1, %11#2, %12#0, %12#1, %12#2, %14#0, %14#1, %14#2, %13#0, %13#1, %13#2, %10#0 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<784x64xf32>, tensor<784x64xf32>, tensor<784x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x10xf32>, tensor<64x10xf32>, tensor<64x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<i32>
  }
}
