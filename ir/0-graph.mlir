module @mlp.train {
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
  func.func @main(%arg0: tensor<32x28x28xui8> {halftone.name = "arg0"}, %arg1: tensor<32xi32> {halftone.name = "arg1"}) -> (tensor<f32> {halftone.name = "loss"}) {
    %0 = halftone.layer "mlp/rescaling_5" policy "float32"(%arg0) {layer_class = "Rescaling"} : (tensor<32x28x28xui8>) -> tensor<32x28x28xf32> {
    ^bb0(%arg2: tensor<32x28x28xui8>):
      %144 = halftone.cast %arg2 {origin = "user"} : tensor<32x28x28xui8> to tensor<32x28x28xf32>
      %145 = halftone.constant dense<0.00392156886> : tensor<32x28x28xf32>
      %146 = halftone.mul %144, %145 : tensor<32x28x28xf32>
      %147 = halftone.constant dense<0.000000e+00> : tensor<32x28x28xf32>
      %148 = halftone.add %146, %147 : tensor<32x28x28xf32>
      halftone.yield %148 : tensor<32x28x28xf32>
    }
    %1 = halftone.layer "mlp/flatten_5" policy "float32"(%0) {layer_class = "Flatten"} : (tensor<32x28x28xf32>) -> tensor<32x784xf32> {
    ^bb0(%arg2: tensor<32x28x28xf32>):
      %144 = halftone.reshape %arg2 : tensor<32x28x28xf32> to tensor<32x784xf32>
      halftone.yield %144 : tensor<32x784xf32>
    }
    %2 = halftone.layer "mlp/hidden" policy "float32"(%1) {layer_class = "Dense"} : (tensor<32x784xf32>) -> tensor<32x64xf32> {
    ^bb0(%arg2: tensor<32x784xf32>):
      %144 = halftone.read @mlp_hidden_kernel : tensor<784x64xf32>
      %145 = halftone.contract %arg2, %144 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x784xf32>, tensor<784x64xf32>) -> tensor<32x64xf32>
      %146 = halftone.read @mlp_hidden_bias : tensor<64xf32>
      %147 = halftone.broadcast %146 {axes = array<i64: 1>} : tensor<64xf32> to tensor<32x64xf32>
      %148 = halftone.add %145, %147 : tensor<32x64xf32>
      %149 = halftone.constant dense<0.000000e+00> : tensor<32x64xf32>
      %150 = halftone.maximum %148, %149 : tensor<32x64xf32>
      halftone.yield %150 : tensor<32x64xf32>
    }
    %3 = halftone.layer "mlp/head" policy "float32"(%2) {layer_class = "Dense"} : (tensor<32x64xf32>) -> tensor<32x10xf32> {
    ^bb0(%arg2: tensor<32x64xf32>):
      %144 = halftone.read @mlp_head_kernel : tensor<64x10xf32>
      %145 = halftone.contract %arg2, %144 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x64xf32>, tensor<64x10xf32>) -> tensor<32x10xf32>
      %146 = halftone.read @mlp_head_bias : tensor<10xf32>
      %147 = halftone.broadcast %146 {axes = array<i64: 1>} : tensor<10xf32> to tensor<32x10xf32>
      %148 = halftone.add %145, %147 : tensor<32x10xf32>
      halftone.yield %148 : tensor<32x10xf32>
    }
    %4 = halftone.iota {axis = 1 : i64} : tensor<32x10xi32>
    %5 = halftone.reshape %arg1 : tensor<32xi32> to tensor<32x1xi32>
    %6 = halftone.reshape %5 : tensor<32x1xi32> to tensor<32xi32>
    %7 = halftone.broadcast %6 {axes = array<i64: 0>} : tensor<32xi32> to tensor<32x10xi32>
    %8 = halftone.compare eq %7, %4 : tensor<32x10xi32>
    %9 = halftone.reduce max %3 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %10 = halftone.reshape %9 : tensor<32xf32> to tensor<32x1xf32>
    %11 = halftone.stop_gradient %10 : tensor<32x1xf32>
    %12 = halftone.reshape %11 : tensor<32x1xf32> to tensor<32xf32>
    %13 = halftone.broadcast %12 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
    %14 = halftone.sub %3, %13 : tensor<32x10xf32>
    %15 = halftone.exp %14 : tensor<32x10xf32>
    %16 = halftone.reduce sum %15 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %17 = halftone.log %16 : tensor<32xf32>
    %18 = halftone.constant dense<0.000000e+00> : tensor<32x10xf32>
    %19 = halftone.select %8, %14, %18 : tensor<32x10xf32>
    %20 = halftone.reduce sum %19 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %21 = halftone.sub %17, %20 : tensor<32xf32>
    %22 = halftone.constant dense<0> : tensor<32xi32>
    %23 = halftone.compare ge %arg1, %22 : tensor<32xi32>
    %24 = halftone.constant dense<10> : tensor<32xi32>
    %25 = halftone.compare lt %arg1, %24 : tensor<32xi32>
    %26 = halftone.and %23, %25 : tensor<32xi1>
    %27 = halftone.constant dense<1.000000e+00> : tensor<32xf32>
    %28 = halftone.constant dense<0x7FC00000> : tensor<32xf32>
    %29 = halftone.select %26, %27, %28 : tensor<32xf32>
    %30 = halftone.mul %21, %29 : tensor<32xf32>
    %31 = halftone.reduce sum %30 {axes = array<i64: 0>} : tensor<32xf32> -> tensor<f32>
    %32 = halftone.constant dense<3.200000e+01> : tensor<f32>
    %33 = halftone.div %31, %32 : tensor<f32>
    %34 = halftone.constant dense<3.200000e+01> : tensor<f32>
    %35 = halftone.mul %33, %34 : tensor<f32>
    %36 = halftone.read @loss_count : tensor<f32>
    %37 = halftone.read @loss_total : tensor<f32>
    %38 = halftone.add %37, %35 : tensor<f32>
    halftone.assign @loss_total, %38 : tensor<f32>
    %39 = halftone.add %36, %34 : tensor<f32>
    halftone.assign @loss_count, %39 : tensor<f32>
    %40 = halftone.arg_reduce max %3 {axis = 1 : i64} : tensor<32x10xf32> -> tensor<32xi32>
    %41 = halftone.compare eq %arg1, %40 : tensor<32xi32>
    %42 = halftone.cast %41 {origin = "metric"} : tensor<32xi1> to tensor<32xf32>
    %43 = halftone.reduce sum %42 {axes = array<i64: 0>} : tensor<32xf32> -> tensor<f32>
    %44 = halftone.read @accuracy_count : tensor<f32>
    %45 = halftone.constant dense<3.200000e+01> : tensor<f32>
    %46 = halftone.read @accuracy_total : tensor<f32>
    %47 = halftone.add %46, %43 : tensor<f32>
    halftone.assign @accuracy_total, %47 : tensor<f32>
    %48 = halftone.add %44, %45 : tensor<f32>
    halftone.assign @accuracy_count, %48 : tensor<f32>
    %49:4 = halftone.gradient %33 of [@mlp_hidden_kernel, @mlp_hidden_bias, @mlp_head_kernel, @mlp_head_bias] : tensor<f32> -> (tensor<784x64xf32>, tensor<64xf32>, tensor<64x10xf32>, tensor<10xf32>)
    %50 = halftone.read @adam_learning_rate : tensor<f32>
    %51 = halftone.read @adam_iteration : tensor<i32>
    %52 = halftone.constant dense<1> : tensor<i32>
    %53 = halftone.add %51, %52 : tensor<i32>
    %54 = halftone.cast %53 {origin = "optimizer"} : tensor<i32> to tensor<f32>
    %55 = halftone.constant dense<0.899999976> : tensor<f32>
    %56 = halftone.pow %55, %54 : tensor<f32>
    %57 = halftone.constant dense<9.990000e-01> : tensor<f32>
    %58 = halftone.pow %57, %54 : tensor<f32>
    %59 = halftone.constant dense<1.000000e+00> : tensor<f32>
    %60 = halftone.sub %59, %58 : tensor<f32>
    %61 = halftone.sqrt %60 : tensor<f32>
    %62 = halftone.mul %50, %61 : tensor<f32>
    %63 = halftone.constant dense<1.000000e+00> : tensor<f32>
    %64 = halftone.sub %63, %56 : tensor<f32>
    %65 = halftone.div %62, %64 : tensor<f32>
    %66 = halftone.read @adam_mlp_hidden_kernel_momentum : tensor<784x64xf32>
    %67 = halftone.read @adam_mlp_hidden_kernel_velocity : tensor<784x64xf32>
    %68 = halftone.sub %49#0, %66 : tensor<784x64xf32>
    %69 = halftone.constant dense<1.000000e-01> : tensor<784x64xf32>
    %70 = halftone.mul %68, %69 : tensor<784x64xf32>
    %71 = halftone.add %66, %70 : tensor<784x64xf32>
    %72 = halftone.mul %49#0, %49#0 : tensor<784x64xf32>
    %73 = halftone.sub %72, %67 : tensor<784x64xf32>
    %74 = halftone.constant dense<1.000000e-03> : tensor<784x64xf32>
    %75 = halftone.mul %73, %74 : tensor<784x64xf32>
    %76 = halftone.add %67, %75 : tensor<784x64xf32>
    halftone.assign @adam_mlp_hidden_kernel_momentum, %71 : tensor<784x64xf32>
    halftone.assign @adam_mlp_hidden_kernel_velocity, %76 : tensor<784x64xf32>
    %77 = halftone.read @mlp_hidden_kernel : tensor<784x64xf32>
    %78 = halftone.broadcast %65 {axes = array<i64>} : tensor<f32> to tensor<784x64xf32>
    %79 = halftone.mul %71, %78 : tensor<784x64xf32>
    %80 = halftone.sqrt %76 : tensor<784x64xf32>
    %81 = halftone.constant dense<1.000000e-07> : tensor<784x64xf32>
    %82 = halftone.add %80, %81 : tensor<784x64xf32>
    %83 = halftone.div %79, %82 : tensor<784x64xf32>
    %84 = halftone.sub %77, %83 : tensor<784x64xf32>
    halftone.assign @mlp_hidden_kernel, %84 : tensor<784x64xf32>
    %85 = halftone.read @adam_mlp_hidden_bias_momentum : tensor<64xf32>
    %86 = halftone.read @adam_mlp_hidden_bias_velocity : tensor<64xf32>
    %87 = halftone.sub %49#1, %85 : tensor<64xf32>
    %88 = halftone.constant dense<1.000000e-01> : tensor<64xf32>
    %89 = halftone.mul %87, %88 : tensor<64xf32>
    %90 = halftone.add %85, %89 : tensor<64xf32>
    %91 = halftone.mul %49#1, %49#1 : tensor<64xf32>
    %92 = halftone.sub %91, %86 : tensor<64xf32>
    %93 = halftone.constant dense<1.000000e-03> : tensor<64xf32>
    %94 = halftone.mul %92, %93 : tensor<64xf32>
    %95 = halftone.add %86, %94 : tensor<64xf32>
    halftone.assign @adam_mlp_hidden_bias_momentum, %90 : tensor<64xf32>
    halftone.assign @adam_mlp_hidden_bias_velocity, %95 : tensor<64xf32>
    %96 = halftone.read @mlp_hidden_bias : tensor<64xf32>
    %97 = halftone.broadcast %65 {axes = array<i64>} : tensor<f32> to tensor<64xf32>
    %98 = halftone.mul %90, %97 : tensor<64xf32>
    %99 = halftone.sqrt %95 : tensor<64xf32>
    %100 = halftone.constant dense<1.000000e-07> : tensor<64xf32>
    %101 = halftone.add %99, %100 : tensor<64xf32>
    %102 = halftone.div %98, %101 : tensor<64xf32>
    %103 = halftone.sub %96, %102 : tensor<64xf32>
    halftone.assign @mlp_hidden_bias, %103 : tensor<64xf32>
    %104 = halftone.read @adam_mlp_head_kernel_momentum : tensor<64x10xf32>
    %105 = halftone.read @adam_mlp_head_kernel_velocity : tensor<64x10xf32>
    %106 = halftone.sub %49#2, %104 : tensor<64x10xf32>
    %107 = halftone.constant dense<1.000000e-01> : tensor<64x10xf32>
    %108 = halftone.mul %106, %107 : tensor<64x10xf32>
    %109 = halftone.add %104, %108 : tensor<64x10xf32>
    %110 = halftone.mul %49#2, %49#2 : tensor<64x10xf32>
    %111 = halftone.sub %110, %105 : tensor<64x10xf32>
    %112 = halftone.constant dense<1.000000e-03> : tensor<64x10xf32>
    %113 = halftone.mul %111, %112 : tensor<64x10xf32>
    %114 = halftone.add %105, %113 : tensor<64x10xf32>
    halftone.assign @adam_mlp_head_kernel_momentum, %109 : tensor<64x10xf32>
    halftone.assign @adam_mlp_head_kernel_velocity, %114 : tensor<64x10xf32>
    %115 = halftone.read @mlp_head_kernel : tensor<64x10xf32>
    %116 = halftone.broadcast %65 {axes = array<i64>} : tensor<f32> to tensor<64x10xf32>
    %117 = halftone.mul %109, %116 : tensor<64x10xf32>
    %118 = halftone.sqrt %114 : tensor<64x10xf32>
    %119 = halftone.constant dense<1.000000e-07> : tensor<64x10xf32>
    %120 = halftone.add %118, %119 : tensor<64x10xf32>
    %121 = halftone.div %117, %120 : tensor<64x10xf32>
    %122 = halftone.sub %115, %121 : tensor<64x10xf32>
    halftone.assign @mlp_head_kernel, %122 : tensor<64x10xf32>
    %123 = halftone.read @adam_mlp_head_bias_momentum : tensor<10xf32>
    %124 = halftone.read @adam_mlp_head_bias_velocity : tensor<10xf32>
    %125 = halftone.sub %49#3, %123 : tensor<10xf32>
    %126 = halftone.constant dense<1.000000e-01> : tensor<10xf32>
    %127 = halftone.mul %125, %126 : tensor<10xf32>
    %128 = halftone.add %123, %127 : tensor<10xf32>
    %129 = halftone.mul %49#3, %49#3 : tensor<10xf32>
    %130 = halftone.sub %129, %124 : tensor<10xf32>
    %131 = halftone.constant dense<1.000000e-03> : tensor<10xf32>
    %132 = halftone.mul %130, %131 : tensor<10xf32>
    %133 = halftone.add %124, %132 : tensor<10xf32>
    halftone.assign @adam_mlp_head_bias_momentum, %128 : tensor<10xf32>
    halftone.assign @adam_mlp_head_bias_velocity, %133 : tensor<10xf32>
    %134 = halftone.read @mlp_head_bias : tensor<10xf32>
    %135 = halftone.broadcast %65 {axes = array<i64>} : tensor<f32> to tensor<10xf32>
    %136 = halftone.mul %128, %135 : tensor<10xf32>
    %137 = halftone.sqrt %133 : tensor<10xf32>
    %138 = halftone.constant dense<1.000000e-07> : tensor<10xf32>
    %139 = halftone.add %137, %138 : tensor<10xf32>
    %140 = halftone.div %136, %139 : tensor<10xf32>
    %141 = halftone.sub %134, %140 : tensor<10xf32>
    halftone.assign @mlp_head_bias, %141 : tensor<10xf32>
    %142 = halftone.constant dense<1> : tensor<i32>
    %143 = halftone.add %51, %142 : tensor<i32>
    halftone.assign @adam_iteration, %143 : tensor<i32>
    return %33 : tensor<f32>
  }
}
