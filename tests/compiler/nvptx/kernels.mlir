// Kernels of the forms that the target sm_80 has, for the test ptxas.
// RUN: halftone-run emit %s --target sm_80 --stage plan | FileCheck-22 %s
// CHECK-DAG: loop
// CHECK-DAG: reduction_loop
module {
  func.func @main(%x: tensor<640x1000xf32> {halftone.name = "x"}, %t: tensor<1000x640xf16> {halftone.name = "t"},
                  %u: tensor<500x1000xf32> {halftone.name = "u"})
      -> (tensor<1000x640xf32> {halftone.name = "moved"}, tensor<1000xf32> {halftone.name = "sums"},
          tensor<1000xf32> {halftone.name = "most"}, tensor<1000x640xf32> {halftone.name = "values"}) {
    %moved = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<640x1000xf32> to tensor<1000x640xf32>
    %wide = halftone.cast %t : tensor<1000x640xf16> to tensor<1000x640xf32>
    %e = halftone.exp %wide : tensor<1000x640xf32>
    %tanh = halftone.tanh %e : tensor<1000x640xf32>
    %sin = halftone.sin %tanh : tensor<1000x640xf32>
    %values = halftone.add %sin, %moved : tensor<1000x640xf32>
    %sums = halftone.reduce sum %u {axes = array<i64: 0>} : tensor<500x1000xf32> -> tensor<1000xf32>
    %most = halftone.reduce max %u {axes = array<i64: 0>} : tensor<500x1000xf32> -> tensor<1000xf32>
    return %moved, %sums, %most, %values
        : tensor<1000x640xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000x640xf32>
  }
}
