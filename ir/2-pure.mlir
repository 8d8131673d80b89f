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
  func.func @main(%arg0: tensor<32x28x28xui8> {halftone.name = "arg0"}, %arg1: tensor<32xi32> {halftone.name = "arg1"}, %arg2: tensor<784x64xf32> {halftone.variable = @mlp_hidden_kernel}, %arg3: tensor<64xf32> {halftone.variable = @mlp_hidden_bias}, %arg4: tensor<64x10xf32> {halftone.variable = @mlp_head_kernel}, %arg5: tensor<10xf32> {halftone.variable = @mlp_head_bias}, %arg6: tensor<f32> {halftone.variable = @loss_count}, %arg7: tensor<f32> {halftone.variable = @loss_total}, %arg8: tensor<f32> {halftone.variable = @accuracy_count}, %arg9: tensor<f32> {halftone.variable = @accuracy_total}, %arg10: tensor<f32> {halftone.variable = @adam_learning_rate}, %arg11: tensor<i32> {halftone.variable = @adam_iteration}, %arg12: tensor<784x64xf32> {halftone.variable = @adam_mlp_hidden_kernel_momentum}, %arg13: tensor<784x64xf32> {halftone.variable = @adam_mlp_hidden_kernel_velocity}, %arg14: tensor<64xf32> {halftone.variable = @adam_mlp_hidden_bias_momentum}, %arg15: tensor<64xf32> {halftone.variable = @adam_mlp_hidden_bias_velocity}, %arg16: tensor<64x10xf32> {halftone.variable = @adam_mlp_head_kernel_momentum}, %arg17: tensor<64x10xf32> {halftone.variable = @adam_mlp_head_kernel_velocity}, %arg18: tensor<10xf32> {halftone.variable = @adam_mlp_head_bias_momentum}, %arg19: tensor<10xf32> {halftone.variable = @adam_mlp_head_bias_velocity}) -> (tensor<f32> {halftone.name = "loss"}, tensor<f32> {halftone.variable = @loss_total}, tensor<f32> {halftone.variable = @loss_count}, tensor<f32> {halftone.variable = @accuracy_total}, tensor<f32> {halftone.variable = @accuracy_count}, tensor<784x64xf32> {halftone.variable = @adam_mlp_hidden_kernel_momentum}, tensor<784x64xf32> {halftone.variable = @adam_mlp_hidden_kernel_velocity}, tensor<784x64xf32> {halftone.variable = @mlp_hidden_kernel}, tensor<64xf32> {halftone.variable = @adam_mlp_hidden_bias_momentum}, tensor<64xf32> {halftone.variable = @adam_mlp_hidden_bias_velocity}, tensor<64xf32> {halftone.variable = @mlp_hidden_bias}, tensor<64x10xf32> {halftone.variable = @adam_mlp_head_kernel_momentum}, tensor<64x10xf32> {halftone.variable = @adam_mlp_head_kernel_velocity}, tensor<64x10xf32> {halftone.variable = @mlp_head_kernel}, tensor<10xf32> {halftone.variable = @adam_mlp_head_bias_momentum}, tensor<10xf32> {halftone.variable = @adam_mlp_head_bias_velocity}, tensor<10xf32> {halftone.variable = @mlp_head_bias}, tensor<i32> {halftone.variable = @adam_iteration}) {
    %0 = halftone.constant dense<1.000000e-07> : tensor<10xf32>
    %1 = halftone.constant dense<1.000000e-03> : tensor<10xf32>
    %2 = halftone.constant dense<1.000000e-01> : tensor<10xf32>
    %3 = halftone.constant dense<1.000000e-07> : tensor<64x10xf32>
    %4 = halftone.constant dense<1.000000e-03> : tensor<64x10xf32>
    %5 = halftone.constant dense<1.000000e-01> : tensor<64x10xf32>
    %6 = halftone.constant dense<1.000000e-07> : tensor<64xf32>
    %7 = halftone.constant dense<1.000000e-03> : tensor<64xf32>
    %8 = halftone.constant dense<1.000000e-01> : tensor<64xf32>
    %9 = halftone.constant dense<1.000000e-07> : tensor<784x64xf32>
    %10 = halftone.constant dense<1.000000e-03> : tensor<784x64xf32>
    %11 = halftone.constant dense<1.000000e-01> : tensor<784x64xf32>
    %12 = halftone.constant dense<9.990000e-01> : tensor<f32>
    %13 = halftone.constant dense<0.899999976> : tensor<f32>
    %14 = halftone.constant dense<1> : tensor<i32>
    %15 = halftone.constant dense<1.000000e+00> : tensor<f32>
    %16 = halftone.constant dense<3.200000e+01> : tensor<f32>
    %17 = halftone.constant dense<0x7FC00000> : tensor<32xf32>
    %18 = halftone.constant dense<1.000000e+00> : tensor<32xf32>
    %19 = halftone.constant dense<10> : tensor<32xi32>
    %20 = halftone.constant dense<0> : tensor<32xi32>
    %21 = halftone.constant dense<0.000000e+00> : tensor<32x10xf32>
    %22 = halftone.constant dense<0.000000e+00> : tensor<32x64xf32>
    %23 = halftone.constant dense<0.000000e+00> : tensor<32x28x28xf32>
    %24 = halftone.constant dense<0.00392156886> : tensor<32x28x28xf32>
    %25 = halftone.cast %arg0 {origin = "user"} : tensor<32x28x28xui8> to tensor<32x28x28xf32>
    %26 = halftone.mul %25, %24 : tensor<32x28x28xf32>
    %27 = halftone.add %26, %23 : tensor<32x28x28xf32>
    %28 = halftone.reshape %27 : tensor<32x28x28xf32> to tensor<32x784xf32>
    %29 = halftone.contract %28, %arg2 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x784xf32>, tensor<784x64xf32>) -> tensor<32x64xf32>
    %30 = halftone.broadcast %arg3 {axes = array<i64: 1>} : tensor<64xf32> to tensor<32x64xf32>
    %31 = halftone.add %29, %30 : tensor<32x64xf32>
    %32 = halftone.maximum %31, %22 : tensor<32x64xf32>
    %33 = halftone.contract %32, %arg4 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x64xf32>, tensor<64x10xf32>) -> tensor<32x10xf32>
    %34 = halftone.broadcast %arg5 {axes = array<i64: 1>} : tensor<10xf32> to tensor<32x10xf32>
    %35 = halftone.add %33, %34 : tensor<32x10xf32>
    %36 = halftone.iota {axis = 1 : i64} : tensor<32x10xi32>
    %37 = halftone.broadcast %arg1 {axes = array<i64: 0>} : tensor<32xi32> to tensor<32x10xi32>
    %38 = halftone.compare eq %37, %36 : tensor<32x10xi32>
    %39 = halftone.reduce max %35 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %40 = halftone.broadcast %39 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
    %41 = halftone.sub %35, %40 : tensor<32x10xf32>
    %42 = halftone.exp %41 : tensor<32x10xf32>
    %43 = halftone.reduce sum %42 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %44 = halftone.log %43 : tensor<32xf32>
    %45 = halftone.select %38, %41, %21 : tensor<32x10xf32>
    %46 = halftone.reduce sum %45 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %47 = halftone.sub %44, %46 : tensor<32xf32>
    %48 = halftone.compare ge %arg1, %20 : tensor<32xi32>
    %49 = halftone.compare lt %arg1, %19 : tensor<32xi32>
    %50 = halftone.and %48, %49 : tensor<32xi1>
    %51 = halftone.select %50, %18, %17 : tensor<32xf32>
    %52 = halftone.mul %47, %51 : tensor<32xf32>
    %53 = halftone.reduce sum %52 {axes = array<i64: 0>} : tensor<32xf32> -> tensor<f32>
    %54 = halftone.div %53, %16 : tensor<f32>
    %55 = halftone.mul %54, %16 : tensor<f32>
    %56 = halftone.add %arg7, %55 : tensor<f32>
    %57 = halftone.add %arg6, %16 : tensor<f32>
    %58 = halftone.arg_reduce max %35 {axis = 1 : i64} : tensor<32x10xf32> -> tensor<32xi32>
    %59 = halftone.compare eq %arg1, %58 : tensor<32xi32>
    %60 = halftone.cast %59 {origin = "metric"} : tensor<32xi1> to tensor<32xf32>
    %61 = halftone.reduce sum %60 {axes = array<i64: 0>} : tensor<32xf32> -> tensor<f32>
    %62 = halftone.add %arg9, %61 : tensor<f32>
    %63 = halftone.add %arg8, %16 : tensor<f32>
    %64 = halftone.div %15, %16 : tensor<f32>
    %65 = halftone.broadcast %64 {axes = array<i64>} : tensor<f32> to tensor<32xf32>
    %66 = halftone.mul %65, %51 : tensor<32xf32>
    %67 = halftone.neg %66 : tensor<32xf32>
    %68 = halftone.broadcast %67 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
    %69 = halftone.select %38, %68, %21 : tensor<32x10xf32>
    %70 = halftone.div %66, %43 : tensor<32xf32>
    %71 = halftone.broadcast %70 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
    %72 = halftone.mul %71, %42 : tensor<32x10xf32>
    %73 = halftone.add %69, %72 : tensor<32x10xf32>
    %74 = halftone.reduce sum %73 {axes = array<i64: 0>} : tensor<32x10xf32> -> tensor<10xf32>
    %75 = halftone.contract %73, %arg4 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<32x10xf32>, tensor<64x10xf32>) -> tensor<32x64xf32>
    %76 = halftone.contract %32, %73 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<32x64xf32>, tensor<32x10xf32>) -> tensor<64x10xf32>
    %77 = halftone.compare ge %31, %22 : tensor<32x64xf32>
    %78 = halftone.compare ne %31, %31 : tensor<32x64xf32>
    %79 = halftone.or %77, %78 : tensor<32x64xi1>
    %80 = halftone.select %79, %75, %22 : tensor<32x64xf32>
    %81 = halftone.reduce sum %80 {axes = array<i64: 0>} : tensor<32x64xf32> -> tensor<64xf32>
    %82 = halftone.contract %28, %80 {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<32x784xf32>, tensor<32x64xf32>) -> tensor<784x64xf32>
    %83 = halftone.add %arg11, %14 : tensor<i32>
    %84 = halftone.cast %83 {origin = "optimizer"} : tensor<i32> to tensor<f32>
    %85 = halftone.pow %13, %84 : tensor<f32>
    %86 = halftone.pow %12, %84 : tensor<f32>
    %87 = halftone.sub %15, %86 : tensor<f32>
    %88 = halftone.sqrt %87 : tensor<f32>
    %89 = halftone.mul %arg10, %88 : tensor<f32>
    %90 = halftone.sub %15, %85 : tensor<f32>
    %91 = halftone.div %89, %90 : tensor<f32>
    %92 = halftone.sub %82, %arg12 : tensor<784x64xf32>
    %93 = halftone.mul %92, %11 : tensor<784x64xf32>
    %94 = halftone.add %arg12, %93 : tensor<784x64xf32>
    %95 = halftone.mul %82, %82 : tensor<784x64xf32>
    %96 = halftone.sub %95, %arg13 : tensor<784x64xf32>
    %97 = halftone.mul %96, %10 : tensor<784x64xf32>
    %98 = halftone.add %arg13, %97 : tensor<784x64xf32>
    %99 = halftone.broadcast %91 {axes = array<i64>} : tensor<f32> to tensor<784x64xf32>
    %100 = halftone.mul %94, %99 : tensor<784x64xf32>
    %101 = halftone.sqrt %98 : tensor<784x64xf32>
    %102 = halftone.add %101, %9 : tensor<784x64xf32>
    %103 = halftone.div %100, %102 : tensor<784x64xf32>
    %104 = halftone.sub %arg2, %103 : tensor<784x64xf32>
    %105 = halftone.sub %81, %arg14 : tensor<64xf32>
    %106 = halftone.mul %105, %8 : tensor<64xf32>
    %107 = halftone.add %arg14, %106 : tensor<64xf32>
    %108 = halftone.mul %81, %81 : tensor<64xf32>
    %109 = halftone.sub %108, %arg15 : tensor<64xf32>
    %110 = halftone.mul %109, %7 : tensor<64xf32>
    %111 = halftone.add %arg15, %110 : tensor<64xf32>
    %112 = halftone.broadcast %91 {axes = array<i64>} : tensor<f32> to tensor<64xf32>
    %113 = halftone.mul %107, %112 : tensor<64xf32>
    %114 = halftone.sqrt %111 : tensor<64xf32>
    %115 = halftone.add %114, %6 : tensor<64xf32>
    %116 = halftone.div %113, %115 : tensor<64xf32>
    %117 = halftone.sub %arg3, %116 : tensor<64xf32>
    %118 = halftone.sub %76, %arg16 : tensor<64x10xf32>
    %119 = halftone.mul %118, %5 : tensor<64x10xf32>
    %120 = halftone.add %arg16, %119 : tensor<64x10xf32>
    %121 = halftone.mul %76, %76 : tensor<64x10xf32>
    %122 = halftone.sub %121, %arg17 : tensor<64x10xf32>
    %123 = halftone.mul %122, %4 : tensor<64x10xf32>
    %124 = halftone.add %arg17, %123 : tensor<64x10xf32>
    %125 = halftone.broadcast %91 {axes = array<i64>} : tensor<f32> to tensor<64x10xf32>
    %126 = halftone.mul %120, %125 : tensor<64x10xf32>
    %127 = halftone.sqrt %124 : tensor<64x10xf32>
    %128 = halftone.add %127, %3 : tensor<64x10xf32>
    %129 = halftone.div %126, %128 : tensor<64x10xf32>
    %130 = halftone.sub %arg4, %129 : tensor<64x10xf32>
    %131 = halftone.sub %74, %arg18 : tensor<10xf32>
    %132 = halftone.mul %131, %2 : tensor<10xf32>
    %133 = halftone.add %arg18, %132 : tensor<10xf32>
    %134 = halftone.mul %74, %74 : tensor<10xf32>
    %135 = halftone.sub %134, %arg19 : tensor<10xf32>
    %136 = halftone.mul %135, %1 : tensor<10xf32>
    %137 = halftone.add %arg19, %136 : tensor<10xf32>
    %138 = halftone.broadcast %91 {axes = array<i64>} : tensor<f32> to tensor<10xf32>
    %139 = halftone.mul %133, %138 : tensor<10xf32>
    %140 = halftone.sqrt %137 : tensor<10xf32>
    %141 = halftone.add %140, %0 : tensor<10xf32>
    %142 = halftone.div %139, %141 : tensor<10xf32>
    %143 = halftone.sub %arg5, %142 : tensor<10xf32>
    return %54, %56, %57, %62, %63, %94, %98, %104, %107, %111, %117, %120, %124, %130, %133, %137, %143, %83 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<784x64xf32>, tensor<784x64xf32>, tensor<784x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x10xf32>, tensor<64x10xf32>, tensor<64x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<i32>
  }
}
