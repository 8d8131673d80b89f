// 2e322dca9066f09295049e79f854f61d95d07e9f108628be9e95a2a9797931c3: matmul_274817b77a2b3b80
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: index, %arg4: index, %arg5: tensor<?x?xi8>, %arg6: tensor<?x?xf32>, %arg7: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi1>) attributes {halftone.kind = "matmul", halftone.outer = 0 : i64, halftone.roles = array<i64: 0, 1, 1, 1>} {
    %0 = tensor.empty(%arg0, %arg2) : tensor<?x?xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg5 : tensor<?x?xi8>) outs(%0 : tensor<?x?xf32>) attrs =  {halftone.dims = array<i64: 0, 2>} {
    ^bb0(%in: i8, %out: f32):
      %8 = arith.uitofp %in : i8 to f32
      %cst_0 = arith.constant 0.00392156886 : f32
      %9 = arith.mulf %8, %cst_0 fastmath<contract> : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %10 = arith.addf %9, %cst_1 fastmath<contract> : f32
      linalg.yield %10 : f32
    } -> tensor<?x?xf32>
    %2 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %arg6 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%3 : tensor<?x?xf32>) attrs =  {halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2>} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %8 = arith.mulf %in, %in_0 fastmath<contract> : f32
      %9 = arith.addf %out, %8 fastmath<contract> : f32
      linalg.yield %9 : f32
    } -> tensor<?x?xf32>
    %5 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %6 = tensor.empty(%arg0, %arg1) : tensor<?x?xi1>
    %7:2 = linalg.generic {indexing_maps = [#map, #map4, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%4, %arg7 : tensor<?x?xf32>, tensor<?xf32>) outs(%5, %6 : tensor<?x?xf32>, tensor<?x?xi1>) attrs =  {halftone.dims = array<i64: 0, 1>} {
    ^bb0(%in: f32, %in_0: f32, %out: f32, %out_1: i1):
      %8 = arith.addf %in, %in_0 fastmath<contract> : f32
      %cst_2 = arith.constant 0.000000e+00 : f32
      %9 = arith.cmpf oge, %8, %cst_2 : f32
      %10 = arith.cmpf une, %8, %8 : f32
      %11 = arith.ori %9, %10 : i1
      %12 = arith.select %11, %8, %cst_2 : f32
      %13 = arith.cmpf oge, %8, %cst_2 : f32
      %14 = arith.cmpf une, %8, %8 : f32
      %15 = arith.ori %13, %14 : i1
      linalg.yield %12, %15 : f32, i1
    } -> (tensor<?x?xf32>, tensor<?x?xi1>)
    return %7#0, %7#1 : tensor<?x?xf32>, tensor<?x?xi1>
  }
}

// c0ef080e3183b4d64e832ab854cdac0d8d0b6bfe2aff1964b3a2492ff3195ead: matmul_d19ae2ba04434abd
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: index, %arg4: index, %arg5: tensor<?x?xf32>, %arg6: tensor<?x?xf32>, %arg7: tensor<?xf32>) -> tensor<?x?xf32> attributes {halftone.kind = "matmul", halftone.outer = 0 : i64, halftone.roles = array<i64: 0, 1, 1, 1>} {
    %0 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg5, %arg6 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%1 : tensor<?x?xf32>) attrs =  {halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2>} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %5 = arith.mulf %in, %in_0 fastmath<contract> : f32
      %6 = arith.addf %out, %5 fastmath<contract> : f32
      linalg.yield %6 : f32
    } -> tensor<?x?xf32>
    %3 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %4 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%2, %arg7 : tensor<?x?xf32>, tensor<?xf32>) outs(%3 : tensor<?x?xf32>) attrs =  {halftone.dims = array<i64: 0, 1>} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %5 = arith.addf %in, %in_0 fastmath<contract> : f32
      linalg.yield %5 : f32
    } -> tensor<?x?xf32>
    return %4 : tensor<?x?xf32>
  }
}

// be4010268a90a8e2f3d3197f928c0fa46707e0a08f68ea8575b9c0b2b93cedc8: row_5f59fd8aa860d04b
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0) -> (d0)>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: tensor<?x?xf32>, %arg4: tensor<?xi32>) -> (tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32> {halftone.partial = "sum"}) attributes {halftone.kind = "row", halftone.outer = 1 : i64} {
    %0 = tensor.empty(%arg0) : tensor<?xf32>
    %cst = arith.constant 0xFF800000 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<?xf32>) -> tensor<?xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg3 : tensor<?x?xf32>) outs(%1 : tensor<?xf32>) attrs =  {halftone.combine = ["max"], halftone.dims = array<i64: 0, 1>} {
    ^bb0(%in: f32, %out: f32):
      %15 = arith.cmpf ogt, %in, %out : f32
      %16 = arith.cmpf uno, %in, %in : f32
      %17 = arith.ori %15, %16 : i1
      %18 = arith.select %17, %in, %out : f32
      linalg.yield %18 : f32
    } -> tensor<?xf32>
    %3 = tensor.empty(%arg0) : tensor<?xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<?xf32>) -> tensor<?xf32>
    %5 = tensor.empty(%arg0) : tensor<?xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %6 = linalg.fill ins(%cst_1 : f32) outs(%5 : tensor<?xf32>) -> tensor<?xf32>
    %7 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %8:3 = linalg.generic {indexing_maps = [#map, #map1, #map1, #map1, #map1, #map], iterator_types = ["parallel", "reduction"]} ins(%arg3, %2, %arg4 : tensor<?x?xf32>, tensor<?xf32>, tensor<?xi32>) outs(%4, %6, %7 : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) attrs =  {halftone.combine = ["sum", "sum", ""], halftone.dims = array<i64: 0, 1>} {
    ^bb0(%in: f32, %in_3: f32, %in_4: i32, %out: f32, %out_5: f32, %out_6: f32):
      %15 = arith.subf %in, %in_3 fastmath<contract> : f32
      %16 = math.exp %15 : f32
      %17 = arith.addf %out, %16 fastmath<contract> : f32
      %18 = linalg.index 1 : index
      %19 = arith.index_cast %18 : index to i64
      %20 = arith.trunci %19 : i64 to i32
      %21 = arith.cmpi eq, %in_4, %20 : i32
      %cst_7 = arith.constant 0.000000e+00 : f32
      %22 = arith.select %21, %15, %cst_7 : f32
      %23 = arith.addf %out_5, %22 fastmath<contract> : f32
      linalg.yield %17, %23, %16 : f32, f32, f32
    } -> (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>)
    %9 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %10 = tensor.empty(%arg1) : tensor<?xf32>
    %cst_2 = arith.constant 0.000000e+00 : f32
    %11 = linalg.fill ins(%cst_2 : f32) outs(%10 : tensor<?xf32>) -> tensor<?xf32>
    %12:2 = linalg.generic {indexing_maps = [#map1, #map1, #map, #map, #map2], iterator_types = ["reduction", "parallel"]} ins(%arg4, %8#0, %8#2 : tensor<?xi32>, tensor<?xf32>, tensor<?x?xf32>) outs(%9, %11 : tensor<?x?xf32>, tensor<?xf32>) attrs =  {halftone.combine = ["", "sum"], halftone.dims = array<i64: 0, 1>} {
    ^bb0(%in: i32, %in_3: f32, %in_4: f32, %out: f32, %out_5: f32):
      %15 = linalg.index 1 : index
      %16 = arith.index_cast %15 : index to i64
      %17 = arith.trunci %16 : i64 to i32
      %18 = arith.cmpi eq, %in, %17 : i32
      %cst_6 = arith.constant 1.000000e+00 : f32
      %cst_7 = arith.constant 3.200000e+01 : f32
      %19 = arith.divf %cst_6, %cst_7 : f32
      %c0_i32 = arith.constant 0 : i32
      %20 = arith.cmpi sge, %in, %c0_i32 : i32
      %c10_i32 = arith.constant 10 : i32
      %21 = arith.cmpi slt, %in, %c10_i32 : i32
      %22 = arith.andi %20, %21 : i1
      %cst_8 = arith.constant 1.000000e+00 : f32
      %cst_9 = arith.constant 0x7FC00000 : f32
      %23 = arith.select %22, %cst_8, %cst_9 : f32
      %24 = arith.mulf %19, %23 fastmath<contract> : f32
      %25 = arith.negf %24 : f32
      %cst_10 = arith.constant 0.000000e+00 : f32
      %26 = arith.select %18, %25, %cst_10 : f32
      %27 = arith.divf %24, %in_3 : f32
      %28 = arith.mulf %27, %in_4 fastmath<contract> : f32
      %29 = arith.addf %26, %28 fastmath<contract> : f32
      %30 = arith.addf %out_5, %29 fastmath<contract> : f32
      linalg.yield %29, %30 : f32, f32
    } -> (tensor<?x?xf32>, tensor<?xf32>)
    %13 = tensor.empty(%arg0) : tensor<?xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%8#0, %8#1, %arg4 : tensor<?xf32>, tensor<?xf32>, tensor<?xi32>) outs(%13 : tensor<?xf32>) attrs =  {halftone.dims = array<i64: 0>} {
    ^bb0(%in: f32, %in_3: f32, %in_4: i32, %out: f32):
      %15 = math.log %in : f32
      %16 = arith.subf %15, %in_3 fastmath<contract> : f32
      %c0_i32 = arith.constant 0 : i32
      %17 = arith.cmpi sge, %in_4, %c0_i32 : i32
      %c10_i32 = arith.constant 10 : i32
      %18 = arith.cmpi slt, %in_4, %c10_i32 : i32
      %19 = arith.andi %17, %18 : i1
      %cst_5 = arith.constant 1.000000e+00 : f32
      %cst_6 = arith.constant 0x7FC00000 : f32
      %20 = arith.select %19, %cst_5, %cst_6 : f32
      %21 = arith.mulf %16, %20 fastmath<contract> : f32
      linalg.yield %21 : f32
    } -> tensor<?xf32>
    return %14, %12#0, %12#1 : tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>
  }
}

// 2c3187255ab888a3263ce8744eaf140b21d0027dd26eba6a70fcf6bc5909b599: row_05d8d5f3ca6026d5
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> ()>
#map2 = affine_map<() -> ()>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: tensor<?xf32>, %arg3: tensor<f32>) -> (tensor<f32>, tensor<f32>) attributes {halftone.kind = "row", halftone.outer = 0 : i64} {
    %0 = tensor.empty() : tensor<f32>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<f32>) -> tensor<f32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction"]} ins(%arg2 : tensor<?xf32>) outs(%1 : tensor<f32>) attrs =  {halftone.combine = ["sum"], halftone.dims = array<i64: 0>} {
    ^bb0(%in: f32, %out: f32):
      %6 = arith.addf %out, %in fastmath<contract> : f32
      linalg.yield %6 : f32
    } -> tensor<f32>
    %3 = tensor.empty() : tensor<f32>
    %4 = tensor.empty() : tensor<f32>
    %5:2 = linalg.generic {indexing_maps = [#map2, #map2, #map2, #map2], iterator_types = []} ins(%2, %arg3 : tensor<f32>, tensor<f32>) outs(%3, %4 : tensor<f32>, tensor<f32>) attrs =  {halftone.dims = array<i64>} {
    ^bb0(%in: f32, %in_0: f32, %out: f32, %out_1: f32):
      %cst_2 = arith.constant 3.200000e+01 : f32
      %6 = arith.divf %in, %cst_2 : f32
      %7 = arith.mulf %6, %cst_2 fastmath<contract> : f32
      %8 = arith.addf %in_0, %7 fastmath<contract> : f32
      linalg.yield %6, %8 : f32, f32
    } -> (tensor<f32>, tensor<f32>)
    return %5#0, %5#1 : tensor<f32>, tensor<f32>
  }
}

// 65da52d6a52c9399401f34b456265e8c791f93fdf58dada55a35013661e4c797: loop_abd0c79dd2de5545
#map = affine_map<(d0) -> (d0)>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: tensor<?xf32>) -> tensor<?xf32> attributes {halftone.kind = "loop", halftone.outer = 0 : i64} {
    %0 = tensor.empty(%arg0) : tensor<?xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg3 : tensor<?xf32>) outs(%0 : tensor<?xf32>) attrs =  {halftone.dims = array<i64: 0>} {
    ^bb0(%in: f32, %out: f32):
      %cst = arith.constant 3.200000e+01 : f32
      %2 = arith.addf %in, %cst fastmath<contract> : f32
      linalg.yield %2 : f32
    } -> tensor<?xf32>
    return %1 : tensor<?xf32>
  }
}

// a484da073f709f068abade676b34ed3582f23724acdf8d381c03b4043bf6d4d1: row_aabea611ce03024e
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0)>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: tensor<?x?xf32>, %arg4: tensor<?xi32>) -> tensor<?xf32> attributes {halftone.kind = "row", halftone.outer = 1 : i64} {
    %0 = tensor.empty(%arg0) : tensor<?xf32>
    %cst = arith.constant 0xFF800000 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<?xf32>) -> tensor<?xf32>
    %2 = tensor.empty(%arg0) : tensor<?xi32>
    %c2147483647_i32 = arith.constant 2147483647 : i32
    %3 = linalg.fill ins(%c2147483647_i32 : i32) outs(%2 : tensor<?xi32>) -> tensor<?xi32>
    %4:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg3 : tensor<?x?xf32>) outs(%1, %3 : tensor<?xf32>, tensor<?xi32>) attrs =  {halftone.combine = ["argmax", "argmax"], halftone.dims = array<i64: 0, 1>} {
    ^bb0(%in: f32, %out: f32, %out_0: i32):
      %7 = linalg.index 1 : index
      %8 = arith.index_cast %7 : index to i64
      %9 = arith.trunci %8 : i64 to i32
      %10 = arith.cmpf ogt, %in, %out : f32
      %11 = arith.cmpf uno, %in, %in : f32
      %12 = arith.cmpf ord, %out, %out : f32
      %13 = arith.andi %11, %12 : i1
      %14 = arith.ori %10, %13 : i1
      %15 = arith.cmpf ogt, %out, %in : f32
      %16 = arith.cmpf uno, %out, %out : f32
      %17 = arith.cmpf ord, %in, %in : f32
      %18 = arith.andi %16, %17 : i1
      %19 = arith.ori %15, %18 : i1
      %20 = arith.cmpi slt, %9, %out_0 : i32
      %21 = arith.ori %14, %20 : i1
      %22 = arith.select %19, %14, %21 : i1
      %23 = arith.select %22, %in, %out : f32
      %24 = arith.select %22, %9, %out_0 : i32
      linalg.yield %23, %24 : f32, i32
    } -> (tensor<?xf32>, tensor<?xi32>)
    %5 = tensor.empty(%arg0) : tensor<?xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%arg4, %4#1 : tensor<?xi32>, tensor<?xi32>) outs(%5 : tensor<?xf32>) attrs =  {halftone.dims = array<i64: 0>} {
    ^bb0(%in: i32, %in_0: i32, %out: f32):
      %7 = arith.cmpi eq, %in, %in_0 : i32
      %8 = arith.uitofp %7 : i1 to f32
      linalg.yield %8 : f32
    } -> tensor<?xf32>
    return %6 : tensor<?xf32>
  }
}

// c9d714332cc7b9dfbd55212f9dfed680e4c26616911ab9a560f07d1129506cc2: row_bd9196240c5107eb
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> ()>
#map2 = affine_map<() -> ()>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: tensor<?xf32>, %arg3: tensor<f32>) -> tensor<f32> attributes {halftone.kind = "row", halftone.outer = 0 : i64} {
    %0 = tensor.empty() : tensor<f32>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<f32>) -> tensor<f32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction"]} ins(%arg2 : tensor<?xf32>) outs(%1 : tensor<f32>) attrs =  {halftone.combine = ["sum"], halftone.dims = array<i64: 0>} {
    ^bb0(%in: f32, %out: f32):
      %5 = arith.addf %out, %in fastmath<contract> : f32
      linalg.yield %5 : f32
    } -> tensor<f32>
    %3 = tensor.empty() : tensor<f32>
    %4 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = []} ins(%arg3, %2 : tensor<f32>, tensor<f32>) outs(%3 : tensor<f32>) attrs =  {halftone.dims = array<i64>} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %5 = arith.addf %in, %in_0 fastmath<contract> : f32
      linalg.yield %5 : f32
    } -> tensor<f32>
    return %4 : tensor<f32>
  }
}

// 3a3ac53760181b43e945173238052dbe7a505aa31297e0cf8cf6db7512730bcd: matmul_af99c6b60eacb3e4
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: index, %arg4: index, %arg5: tensor<?x?xf32>, %arg6: tensor<?x?xf32>, %arg7: tensor<?x?xi1>) -> (tensor<?x?xf32>, tensor<?xf32> {halftone.partial = "sum"}) attributes {halftone.kind = "matmul", halftone.outer = 0 : i64, halftone.roles = array<i64: 0, 1, 1, 1>} {
    %0 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg5, %arg6 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%1 : tensor<?x?xf32>) attrs =  {halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2>} {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %7 = arith.mulf %in, %in_1 fastmath<contract> : f32
      %8 = arith.addf %out, %7 fastmath<contract> : f32
      linalg.yield %8 : f32
    } -> tensor<?x?xf32>
    %3 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %4 = tensor.empty(%arg1) : tensor<?xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %5 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<?xf32>) -> tensor<?xf32>
    %6:2 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map4], iterator_types = ["reduction", "parallel"]} ins(%arg7, %2 : tensor<?x?xi1>, tensor<?x?xf32>) outs(%3, %5 : tensor<?x?xf32>, tensor<?xf32>) attrs =  {halftone.combine = ["", "sum"], halftone.dims = array<i64: 0, 1>} {
    ^bb0(%in: i1, %in_1: f32, %out: f32, %out_2: f32):
      %cst_3 = arith.constant 0.000000e+00 : f32
      %7 = arith.select %in, %in_1, %cst_3 : f32
      %8 = arith.addf %out_2, %7 fastmath<contract> : f32
      linalg.yield %7, %8 : f32, f32
    } -> (tensor<?x?xf32>, tensor<?xf32>)
    return %6#0, %6#1 : tensor<?x?xf32>, tensor<?xf32>
  }
}

// db89ae95aca790d55057ec7ae268c7938e4a2ac7ebc87ca57cf762eefbbcac28: loop_8bf170d707a7a711
#map = affine_map<(d0) -> (d0)>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: tensor<?xi32>, %arg4: tensor<?xf32>) -> (tensor<?xi32>, tensor<?xf32>) attributes {halftone.kind = "loop", halftone.outer = 0 : i64} {
    %0 = tensor.empty(%arg0) : tensor<?xi32>
    %1 = tensor.empty(%arg0) : tensor<?xf32>
    %2:2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%arg3, %arg4 : tensor<?xi32>, tensor<?xf32>) outs(%0, %1 : tensor<?xi32>, tensor<?xf32>) attrs =  {halftone.dims = array<i64: 0>} {
    ^bb0(%in: i32, %in_0: f32, %out: i32, %out_1: f32):
      %c1_i32 = arith.constant 1 : i32
      %3 = arith.addi %in, %c1_i32 : i32
      %cst = arith.constant 1.000000e+00 : f32
      %cst_2 = arith.constant 9.990000e-01 : f32
      %4 = arith.sitofp %3 : i32 to f32
      %5 = math.powf %cst_2, %4 : f32
      %6 = arith.subf %cst, %5 fastmath<contract> : f32
      %7 = math.sqrt %6 : f32
      %8 = arith.mulf %in_0, %7 fastmath<contract> : f32
      %cst_3 = arith.constant 0.899999976 : f32
      %9 = math.powf %cst_3, %4 : f32
      %10 = arith.subf %cst, %9 fastmath<contract> : f32
      %11 = arith.divf %8, %10 : f32
      linalg.yield %3, %11 : i32, f32
    } -> (tensor<?xi32>, tensor<?xf32>)
    return %2#0, %2#1 : tensor<?xi32>, tensor<?xf32>
  }
}

// 681918efcbf526baf56ba6e9553842d4464ec0c2aa2c8d5c0ee04f51eefe7d0a: matmul_f1d4ebe6e8ae088f
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d0)>
#map2 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> ()>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: index, %arg4: index, %arg5: tensor<?x?xi8>, %arg6: tensor<?x?xf32>, %arg7: tensor<?x?xf32>, %arg8: tensor<?x?xf32>, %arg9: tensor<f32>, %arg10: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) attributes {halftone.kind = "matmul", halftone.outer = 0 : i64, halftone.roles = array<i64: 0, 1, 1, 1>} {
    %0 = tensor.empty(%arg2, %arg0) : tensor<?x?xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg5 : tensor<?x?xi8>) outs(%0 : tensor<?x?xf32>) attrs =  {halftone.dims = array<i64: 2, 0>} {
    ^bb0(%in: i8, %out: f32):
      %9 = arith.uitofp %in : i8 to f32
      %cst_0 = arith.constant 0.00392156886 : f32
      %10 = arith.mulf %9, %cst_0 fastmath<contract> : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %11 = arith.addf %10, %cst_1 fastmath<contract> : f32
      linalg.yield %11 : f32
    } -> tensor<?x?xf32>
    %2 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %arg6 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%3 : tensor<?x?xf32>) attrs =  {halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2>} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %9 = arith.mulf %in, %in_0 fastmath<contract> : f32
      %10 = arith.addf %out, %9 fastmath<contract> : f32
      linalg.yield %10 : f32
    } -> tensor<?x?xf32>
    %5 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %6 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %7 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %8:3 = linalg.generic {indexing_maps = [#map, #map, #map, #map, #map4, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg7, %4, %arg8, %arg10, %arg9 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<f32>) outs(%5, %6, %7 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) attrs =  {halftone.dims = array<i64: 0, 1>} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32, %out_4: f32, %out_5: f32):
      %9 = arith.subf %in_0, %in fastmath<contract> : f32
      %cst_6 = arith.constant 1.000000e-01 : f32
      %10 = arith.mulf %9, %cst_6 fastmath<contract> : f32
      %11 = arith.addf %in, %10 fastmath<contract> : f32
      %12 = arith.mulf %in_0, %in_0 fastmath<contract> : f32
      %13 = arith.subf %12, %in_1 fastmath<contract> : f32
      %cst_7 = arith.constant 1.000000e-03 : f32
      %14 = arith.mulf %13, %cst_7 fastmath<contract> : f32
      %15 = arith.addf %in_1, %14 fastmath<contract> : f32
      %16 = arith.mulf %11, %in_3 fastmath<contract> : f32
      %17 = math.sqrt %15 : f32
      %cst_8 = arith.constant 1.000000e-07 : f32
      %18 = arith.addf %17, %cst_8 fastmath<contract> : f32
      %19 = arith.divf %16, %18 : f32
      %20 = arith.subf %in_2, %19 fastmath<contract> : f32
      linalg.yield %11, %15, %20 : f32, f32, f32
    } -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
    return %8#0, %8#1, %8#2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
  }
}

// 71848f731f842c545e0ef954b0f983c9e572b063d2a4c0c29c321bbaf8f4a3a2: loop_fe0b8420993b624b
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> ()>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: tensor<?xf32>, %arg4: tensor<?xf32>, %arg5: tensor<?xf32>, %arg6: tensor<f32>, %arg7: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) attributes {halftone.kind = "loop", halftone.outer = 0 : i64} {
    %0 = tensor.empty(%arg0) : tensor<?xf32>
    %1 = tensor.empty(%arg0) : tensor<?xf32>
    %2 = tensor.empty(%arg0) : tensor<?xf32>
    %3:3 = linalg.generic {indexing_maps = [#map, #map, #map, #map, #map1, #map, #map, #map], iterator_types = ["parallel"]} ins(%arg4, %arg3, %arg5, %arg7, %arg6 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>) outs(%0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) attrs =  {halftone.dims = array<i64: 0>} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32, %out_4: f32, %out_5: f32):
      %4 = arith.subf %in_0, %in fastmath<contract> : f32
      %cst = arith.constant 1.000000e-01 : f32
      %5 = arith.mulf %4, %cst fastmath<contract> : f32
      %6 = arith.addf %in, %5 fastmath<contract> : f32
      %7 = arith.mulf %in_0, %in_0 fastmath<contract> : f32
      %8 = arith.subf %7, %in_1 fastmath<contract> : f32
      %cst_6 = arith.constant 1.000000e-03 : f32
      %9 = arith.mulf %8, %cst_6 fastmath<contract> : f32
      %10 = arith.addf %in_1, %9 fastmath<contract> : f32
      %11 = arith.mulf %6, %in_3 fastmath<contract> : f32
      %12 = math.sqrt %10 : f32
      %cst_7 = arith.constant 1.000000e-07 : f32
      %13 = arith.addf %12, %cst_7 fastmath<contract> : f32
      %14 = arith.divf %11, %13 : f32
      %15 = arith.subf %in_2, %14 fastmath<contract> : f32
      linalg.yield %6, %10, %15 : f32, f32, f32
    } -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    return %3#0, %3#1, %3#2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  }
}

// c1a7887bbae7839ca1e2bbe7fd615054e42ad9d976e6821ca0b7b7e72f12a638: matmul_1748f0f0f518c7c2
#map = affine_map<(d0, d1, d2) -> (d2, d0)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> ()>
module {
  func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: index, %arg4: index, %arg5: tensor<?x?xf32>, %arg6: tensor<?x?xf32>, %arg7: tensor<?x?xf32>, %arg8: tensor<?x?xf32>, %arg9: tensor<f32>, %arg10: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) attributes {halftone.kind = "matmul", halftone.outer = 0 : i64, halftone.roles = array<i64: 0, 1, 1, 1>} {
    %0 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg5, %arg6 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%1 : tensor<?x?xf32>) attrs =  {halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2>} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %7 = arith.mulf %in, %in_0 fastmath<contract> : f32
      %8 = arith.addf %out, %7 fastmath<contract> : f32
      linalg.yield %8 : f32
    } -> tensor<?x?xf32>
    %3 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %4 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %5 = tensor.empty(%arg0, %arg1) : tensor<?x?xf32>
    %6:3 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3, #map4, #map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg7, %2, %arg8, %arg10, %arg9 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<f32>) outs(%3, %4, %5 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) attrs =  {halftone.dims = array<i64: 0, 1>} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32, %out_4: f32, %out_5: f32):
      %7 = arith.subf %in_0, %in fastmath<contract> : f32
      %cst_6 = arith.constant 1.000000e-01 : f32
      %8 = arith.mulf %7, %cst_6 fastmath<contract> : f32
      %9 = arith.addf %in, %8 fastmath<contract> : f32
      %10 = arith.mulf %in_0, %in_0 fastmath<contract> : f32
      %11 = arith.subf %10, %in_1 fastmath<contract> : f32
      %cst_7 = arith.constant 1.000000e-03 : f32
      %12 = arith.mulf %11, %cst_7 fastmath<contract> : f32
      %13 = arith.addf %in_1, %12 fastmath<contract> : f32
      %14 = arith.mulf %9, %in_3 fastmath<contract> : f32
      %15 = math.sqrt %13 : f32
      %cst_8 = arith.constant 1.000000e-07 : f32
      %16 = arith.addf %15, %cst_8 fastmath<contract> : f32
      %17 = arith.divf %14, %16 : f32
      %18 = arith.subf %in_2, %17 fastmath<contract> : f32
      linalg.yield %9, %13, %18 : f32, f32, f32
    } -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
    return %6#0, %6#1, %6#2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
  }
}

