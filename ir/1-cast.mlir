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
  func.func @main(%arg0: tensor<32x28x28xui8> {halftone.name = "arg0"}, %arg1: tensor<32xi32> {halftone.name = "arg1"}) -> (tensor<f32> {halftone.name = "loss"}) {
    %0 = halftone.cast %arg0 {origin = "user"} : tensor<32x28x28xui8> to tensor<32x28x28xf32>
    %1 = halftone.constant dense<0.00392156886> : tensor<32x28x28xf32>
    %2 = halftone.mul %0, %1 : tensor<32x28x28xf32>
    %3 = halftone.constant dense<0.000000e+00> : tensor<32x28x28xf32>
    %4 = halftone.add %2, %3 : tensor<32x28x28xf32>
    %5 = halftone.reshape %4 : tensor<32x28x28xf32> to tensor<32x784xf32>
    %6 = halftone.read @mlp_hidden_kernel : tensor<784x64xf32>
    %7 = halftone.contract %5, %6 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x784xf32>, tensor<784x64xf32>) -> tensor<32x64xf32>
    %8 = halftone.read @mlp_hidden_bias : tensor<64xf32>
    %9 = halftone.broadcast %8 {axes = array<i64: 1>} : tensor<64xf32> to tensor<32x64xf32>
    %10 = halftone.add %7, %9 : tensor<32x64xf32>
    %11 = halftone.constant dense<0.000000e+00> : tensor<32x64xf32>
    %12 = halftone.maximum %10, %11 : tensor<32x64xf32>
    %13 = halftone.read @mlp_head_kernel : tensor<64x10xf32>
    %14 = halftone.contract %12, %13 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<32x64xf32>, tensor<64x10xf32>) -> tensor<32x10xf32>
    %15 = halftone.read @mlp_head_bias : tensor<10xf32>
    %16 = halftone.broadcast %15 {axes = array<i64: 1>} : tensor<10xf32> to tensor<32x10xf32>
    %17 = halftone.add %14, %16 : tensor<32x10xf32>
    %18 = halftone.iota {axis = 1 : i64} : tensor<32x10xi32>
    %19 = halftone.reshape %arg1 : tensor<32xi32> to tensor<32x1xi32>
    %20 = halftone.reshape %19 : tensor<32x1xi32> to tensor<32xi32>
    %21 = halftone.broadcast %20 {axes = array<i64: 0>} : tensor<32xi32> to tensor<32x10xi32>
    %22 = halftone.compare eq %21, %18 : tensor<32x10xi32>
    %23 = halftone.reduce max %17 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %24 = halftone.reshape %23 : tensor<32xf32> to tensor<32x1xf32>
    %25 = halftone.stop_gradient %24 : tensor<32x1xf32>
    %26 = halftone.reshape %25 : tensor<32x1xf32> to tensor<32xf32>
    %27 = halftone.broadcast %26 {axes = array<i64: 0>} : tensor<32xf32> to tensor<32x10xf32>
    %28 = halftone.sub %17, %27 : tensor<32x10xf32>
    %29 = halftone.exp %28 : tensor<32x10xf32>
    %30 = halftone.reduce sum %29 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %31 = halftone.log %30 : tensor<32xf32>
    %32 = halftone.constant dense<0.000000e+00> : tensor<32x10xf32>
    %33 = halftone.select %22, %28, %32 : tensor<32x10xf32>
    %34 = halftone.reduce sum %33 {axes = array<i64: 1>} : tensor<32x10xf32> -> tensor<32xf32>
    %35 = halftone.sub %31, %34 : tensor<32xf32>
    %36 = halftone.constant dense<0> : tensor<32xi32>
    %37 = halftone.compare ge %arg1, %36 : tensor<32xi32>
    %38 = halftone.constant dense<10> : tensor<32xi32>
    %39 = halftone.compare lt %arg1, %38 : tensor<32xi32>
    %40 = halftone.and %37, %39 : tensor<32xi1>
    %41 = halftone.constant dense<1.000000e+00> : tensor<32xf32>
    %42 = halftone.constant dense<0x7FC00000> : tensor<32xf32>
    %43 = halftone.select %40, %41, %42 : tensor<32xf32>
    %44 = halftone.mul %35, %43 : tensor<32xf32>
    %45 = halftone.reduce sum %44 {axes = array<i64: 0>} : tensor<32xf32> -> tensor<f32>
    %46 = halftone.constant dense<3.200000e+01> : tensor<f32>
    %47 = halftone.div %45, %46 : tensor<f32>
    %48 = halftone.constant dense<3.200000e+01> : tensor<f32>
    %49 = halftone.mul %47, %48 : tensor<f32>
    %50 = halftone.read @loss_count : tensor<f32>
    %51 = halftone.read @loss_total : tensor<f32>
    %52 = halftone.add %51, %49 : tensor<f32>
    halftone.assign @loss_total, %52 : tensor<f32>
    %53 = halftone.add %50, %48 : tensor<f32>
    halftone.assign @loss_count, %53 : tensor<f32>
    %54 = halftone.arg_reduce max %17 {axis = 1 : i64} : tensor<32x10xf32> -> tensor<32xi32>
    %55 = halftone.compare eq %arg1, %54 : tensor<32xi32>
    %56 = halftone.cast %55 {origin = "metric"} : tensor<32xi1> to tensor<32xf32>
    %57 = halftone.reduce sum %56 {axes = array<i64: 0>} : tensor<32xf32> -> tensor<f32>
    %58 = halftone.read @accuracy_count : tensor<f32>
    %59 = halftone.constant dense<3.200000e+01> : tensor<f32>
    %60 = halftone.read @accuracy_total : tensor<f32>
    %61 = halftone.add %60, %57 : tensor<f32>
    halftone.assign @accuracy_total, %61 : tensor<f32>
    %62 = halftone.add %58, %59 : tensor<f32>
    halftone.assign @accuracy_count, %62 : tensor<f32>
    %63:4 = halftone.gradient %47 of [@mlp_hidden_kernel, @mlp_hidden_bias, @mlp_head_kernel, @mlp_head_bias] : tensor<f32> -> (tensor<784x64xf32>, tensor<64xf32>, tensor<64x10xf32>, tensor<10xf32>)
    %64 = halftone.read @adam_learning_rate : tensor<f32>
    %65 = halftone.read @adam_iteration : tensor<i32>
    %66 = halftone.constant dense<1> : tensor<i32>
    %67 = halftone.add %65, %66 : tensor<i32>
    %68 = halftone.cast %67 {origin = "optimizer"} : tensor<i32> to tensor<f32>
    %69 = halftone.constant dense<0.899999976> : tensor<f32>
    %70 = halftone.pow %69, %68 : tensor<f32>
    %71 = halftone.constant dense<9.990000e-01> : tensor<f32>
    %72 = halftone.pow %71, %68 : tensor<f32>
    %73 = halftone.constant dense<1.000000e+00> : tensor<f32>
    %74 = halftone.sub %73, %72 : tensor<f32>
    %75 = halftone.sqrt %74 : tensor<f32>
    %76 = halftone.mul %64, %75 : tensor<f32>
    %77 = halftone.constant dense<1.000000e+00> : tensor<f32>
    %78 = halftone.sub %77, %70 : tensor<f32>
    %79 = halftone.div %76, %78 : tensor<f32>
    %80 = halftone.read @adam_mlp_hidden_kernel_momentum : tensor<784x64xf32>
    %81 = halftone.read @adam_mlp_hidden_kernel_velocity : tensor<784x64xf32>
    %82 = halftone.sub %63#0, %80 : tensor<784x64xf32>
    %83 = halftone.constant dense<1.000000e-01> : tensor<784x64xf32>
    %84 = halftone.mul %82, %83 : tensor<784x64xf32>
    %85 = halftone.add %80, %84 : tensor<784x64xf32>
    %86 = halftone.mul %63#0, %63#0 : tensor<784x64xf32>
    %87 = halftone.sub %86, %81 : tensor<784x64xf32>
    %88 = halftone.constant dense<1.000000e-03> : tensor<784x64xf32>
    %89 = halftone.mul %87, %88 : tensor<784x64xf32>
    %90 = halftone.add %81, %89 : tensor<784x64xf32>
    halftone.assign @adam_mlp_hidden_kernel_momentum, %85 : tensor<784x64xf32>
    halftone.assign @adam_mlp_hidden_kernel_velocity, %90 : tensor<784x64xf32>
    %91 = halftone.read @mlp_hidden_kernel : tensor<784x64xf32>
    %92 = halftone.broadcast %79 {axes = array<i64>} : tensor<f32> to tensor<784x64xf32>
    %93 = halftone.mul %85, %92 : tensor<784x64xf32>
    %94 = halftone.sqrt %90 : tensor<784x64xf32>
    %95 = halftone.constant dense<1.000000e-07> : tensor<784x64xf32>
    %96 = halftone.add %94, %95 : tensor<784x64xf32>
    %97 = halftone.div %93, %96 : tensor<784x64xf32>
    %98 = halftone.sub %91, %97 : tensor<784x64xf32>
    halftone.assign @mlp_hidden_kernel, %98 : tensor<784x64xf32>
    %99 = halftone.read @adam_mlp_hidden_bias_momentum : tensor<64xf32>
    %100 = halftone.read @adam_mlp_hidden_bias_velocity : tensor<64xf32>
    %101 = halftone.sub %63#1, %99 : tensor<64xf32>
    %102 = halftone.constant dense<1.000000e-01> : tensor<64xf32>
    %103 = halftone.mul %101, %102 : tensor<64xf32>
    %104 = halftone.add %99, %103 : tensor<64xf32>
    %105 = halftone.mul %63#1, %63#1 : tensor<64xf32>
    %106 = halftone.sub %105, %100 : tensor<64xf32>
    %107 = halftone.constant dense<1.000000e-03> : tensor<64xf32>
    %108 = halftone.mul %106, %107 : tensor<64xf32>
    %109 = halftone.add %100, %108 : tensor<64xf32>
    halftone.assign @adam_mlp_hidden_bias_momentum, %104 : tensor<64xf32>
    halftone.assign @adam_mlp_hidden_bias_velocity, %109 : tensor<64xf32>
    %110 = halftone.read @mlp_hidden_bias : tensor<64xf32>
    %111 = halftone.broadcast %79 {axes = array<i64>} : tensor<f32> to tensor<64xf32>
    %112 = halftone.mul %104, %111 : tensor<64xf32>
    %113 = halftone.sqrt %109 : tensor<64xf32>
    %114 = halftone.constant dense<1.000000e-07> : tensor<64xf32>
    %115 = halftone.add %113, %114 : tensor<64xf32>
    %116 = halftone.div %112, %115 : tensor<64xf32>
    %117 = halftone.sub %110, %116 : tensor<64xf32>
    halftone.assign @mlp_hidden_bias, %117 : tensor<64xf32>
    %118 = halftone.read @adam_mlp_head_kernel_momentum : tensor<64x10xf32>
    %119 = halftone.read @adam_mlp_head_kernel_velocity : tensor<64x10xf32>
    %120 = halftone.sub %63#2, %118 : tensor<64x10xf32>
    %121 = halftone.constant dense<1.000000e-01> : tensor<64x10xf32>
    %122 = halftone.mul %120, %121 : tensor<64x10xf32>
    %123 = halftone.add %118, %122 : tensor<64x10xf32>
    %124 = halftone.mul %63#2, %63#2 : tensor<64x10xf32>
    %125 = halftone.sub %124, %119 : tensor<64x10xf32>
    %126 = halftone.constant dense<1.000000e-03> : tensor<64x10xf32>
    %127 = halftone.mul %125, %126 : tensor<64x10xf32>
    %128 = halftone.add %119, %127 : tensor<64x10xf32>
    halftone.assign @adam_mlp_head_kernel_momentum, %123 : tensor<64x10xf32>
    halftone.assign @adam_mlp_head_kernel_velocity, %128 : tensor<64x10xf32>
    %129 = halftone.read @mlp_head_kernel : tensor<64x10xf32>
    %130 = halftone.broadcast %79 {axes = array<i64>} : tensor<f32> to tensor<64x10xf32>
    %131 = halftone.mul %123, %130 : tensor<64x10xf32>
    %132 = halftone.sqrt %128 : tensor<64x10xf32>
    %133 = halftone.constant dense<1.000000e-07> : tensor<64x10xf32>
    %134 = halftone.add %132, %133 : tensor<64x10xf32>
    %135 = halftone.div %131, %134 : tensor<64x10xf32>
    %136 = halftone.sub %129, %135 : tensor<64x10xf32>
    halftone.assign @mlp_head_kernel, %136 : tensor<64x10xf32>
    %137 = halftone.read @adam_mlp_head_bias_momentum : tensor<10xf32>
    %138 = halftone.read @adam_mlp_head_bias_velocity : tensor<10xf32>
    %139 = halftone.sub %63#3, %137 : tensor<10xf32>
    %140 = halftone.constant dense<1.000000e-01> : tensor<10xf32>
    %141 = halftone.mul %139, %140 : tensor<10xf32>
    %142 = halftone.add %137, %141 : tensor<10xf32>
    %143 = halftone.mul %63#3, %63#3 : tensor<10xf32>
    %144 = halftone.sub %143, %138 : tensor<10xf32>
    %145 = halftone.constant dense<1.000000e-03> : tensor<10xf32>
    %146 = halftone.mul %144, %145 : tensor<10xf32>
    %147 = halftone.add %138, %146 : tensor<10xf32>
    halftone.assign @adam_mlp_head_bias_momentum, %142 : tensor<10xf32>
    halftone.assign @adam_mlp_head_bias_velocity, %147 : tensor<10xf32>
    %148 = halftone.read @mlp_head_bias : tensor<10xf32>
    %149 = halftone.broadcast %79 {axes = array<i64>} : tensor<f32> to tensor<10xf32>
    %150 = halftone.mul %142, %149 : tensor<10xf32>
    %151 = halftone.sqrt %147 : tensor<10xf32>
    %152 = halftone.constant dense<1.000000e-07> : tensor<10xf32>
    %153 = halftone.add %151, %152 : tensor<10xf32>
    %154 = halftone.div %150, %153 : tensor<10xf32>
    %155 = halftone.sub %148, %154 : tensor<10xf32>
    halftone.assign @mlp_head_bias, %155 : tensor<10xf32>
    %156 = halftone.constant dense<1> : tensor<i32>
    %157 = halftone.add %65, %156 : tensor<i32>
    halftone.assign @adam_iteration, %157 : tensor<i32>
    return %47 : tensor<f32>
  }
}
