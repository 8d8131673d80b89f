// Products in tiles of 64 and 32, and of f64, for the test ptxas.
// RUN: halftone-run emit %s --target sm_80 --stage plan | FileCheck-22 %s
// CHECK-DAG: mma.m16n8k16.bf16, tiles of 64 x 64
// CHECK-DAG: mma.m16n8k16.bf16, tiles of 32 x 32
// CHECK-DAG: mma.m16n8k32.s8, tiles of 64 x 64
// CHECK-DAG: f64 multiply-add, tiles of 128 x 128 x 8, 8 x 8 sums per thread
// CHECK-DAG: f64 multiply-add, tiles of 64 x 64 x 8, 8 x 4 sums per thread
// CHECK-DAG: f64 multiply-add, tiles of 32 x 32 x 16, 4 x 4 sums per thread
module {
  func.func @main(%brain512x: tensor<512x128xbf16> {halftone.name = "brain512x"},
                  %brain512w: tensor<128x512xbf16> {halftone.name = "brain512w"},
                  %byte512x: tensor<512x128xi8> {halftone.name = "byte512x"},
                  %byte512w: tensor<128x512xi8> {halftone.name = "byte512w"},
                  %single512x: tensor<512x128xf32> {halftone.name = "single512x"},
                  %single512w: tensor<128x512xf32> {halftone.name = "single512w"},
                  %double512x: tensor<512x128xf64> {halftone.name = "double512x"},
                  %double512w: tensor<128x512xf64> {halftone.name = "double512w"},
                  %brain256x: tensor<256x128xbf16> {halftone.name = "brain256x"},
                  %brain256w: tensor<128x256xbf16> {halftone.name = "brain256w"},
                  %byte256x: tensor<256x128xi8> {halftone.name = "byte256x"},
                  %byte256w: tensor<128x256xi8> {halftone.name = "byte256w"},
                  %single256x: tensor<256x128xf32> {halftone.name = "single256x"},
                  %single256w: tensor<128x256xf32> {halftone.name = "single256w"},
                  %double256x: tensor<256x128xf64> {halftone.name = "double256x"},
                  %double256w: tensor<128x256xf64> {halftone.name = "double256w"},
                  %double4095x: tensor<4095x4095xf64> {halftone.name = "double4095x"},
                  %double4095w: tensor<4095x4095xf64> {halftone.name = "double4095w"},
                  %double4096x: tensor<4096x4096xf64> {halftone.name = "double4096x"},
                  %double4096w: tensor<4096x4096xf64> {halftone.name = "double4096w"})
      -> (tensor<512x512xbf16> {halftone.name = "brain512nn"},
          tensor<512x512xi32> {halftone.name = "byte512nn"},
          tensor<512x512xf32> {halftone.name = "single512nn"},
          tensor<512x512xf64> {halftone.name = "double512nn"},
          tensor<256x256xbf16> {halftone.name = "brain256nn"},
          tensor<256x256xi32> {halftone.name = "byte256nn"},
          tensor<256x256xf32> {halftone.name = "single256nn"},
          tensor<256x256xf64> {halftone.name = "double256nn"},
          tensor<4095x4095xf64> {halftone.name = "double4095nn"},
          tensor<4095x4095xf64> {halftone.name = "double4095nt"},
          tensor<4095x4095xf64> {halftone.name = "double4095tn"},
          tensor<4095x4095xf64> {halftone.name = "double4095tt"},
          tensor<4096x4096xf64> {halftone.name = "double4096nn"}) {
    %brain512nn = halftone.contract %brain512x, %brain512w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<512x128xbf16>, tensor<128x512xbf16>) -> tensor<512x512xbf16>
    %byte512nn = halftone.contract %byte512x, %byte512w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<512x128xi8>, tensor<128x512xi8>) -> tensor<512x512xi32>
    %single512nn = halftone.contract %single512x, %single512w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<512x128xf32>, tensor<128x512xf32>) -> tensor<512x512xf32>
    %double512nn = halftone.contract %double512x, %double512w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<512x128xf64>, tensor<128x512xf64>) -> tensor<512x512xf64>
    %brain256nn = halftone.contract %brain256x, %brain256w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<256x128xbf16>, tensor<128x256xbf16>) -> tensor<256x256xbf16>
    %byte256nn = halftone.contract %byte256x, %byte256w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<256x128xi8>, tensor<128x256xi8>) -> tensor<256x256xi32>
    %single256nn = halftone.contract %single256x, %single256w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<256x128xf32>, tensor<128x256xf32>) -> tensor<256x256xf32>
    %double256nn = halftone.contract %double256x, %double256w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<256x128xf64>, tensor<128x256xf64>) -> tensor<256x256xf64>
    %double4095nn = halftone.contract %double4095x, %double4095w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<4095x4095xf64>, tensor<4095x4095xf64>) -> tensor<4095x4095xf64>
    %double4095nt = halftone.contract %double4095x, %double4095w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}
        : (tensor<4095x4095xf64>, tensor<4095x4095xf64>) -> tensor<4095x4095xf64>
    %double4095tn = halftone.contract %double4095x, %double4095w {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>}
        : (tensor<4095x4095xf64>, tensor<4095x4095xf64>) -> tensor<4095x4095xf64>
    %double4095tt = halftone.contract %double4095x, %double4095w {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 1>}
        : (tensor<4095x4095xf64>, tensor<4095x4095xf64>) -> tensor<4095x4095xf64>
    %double4096nn = halftone.contract %double4096x, %double4096w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<4096x4096xf64>, tensor<4096x4096xf64>) -> tensor<4096x4096xf64>
    return %brain512nn, %byte512nn, %single512nn, %double512nn, %brain256nn, %byte256nn, %single256nn, %double256nn, %double4095nn, %double4095nt, %double4095tn, %double4095tt, %double4096nn
        : tensor<512x512xbf16>, tensor<512x512xi32>, tensor<512x512xf32>, tensor<512x512xf64>, tensor<256x256xbf16>, tensor<256x256xi32>, tensor<256x256xf32>, tensor<256x256xf64>, tensor<4095x4095xf64>, tensor<4095x4095xf64>, tensor<4095x4095xf64>, tensor<4095x4095xf64>, tensor<4096x4096xf64>
  }
}
