// Products of all operand orders, with rows that copies of 16 bytes fit and that they do not, for the test ptxas.
// RUN: halftone-run emit %s --target sm_80 --stage plan | FileCheck-22 %s
// CHECK-DAG: mma.m16n8k16.bf16, tiles of 128 x 128
// CHECK-DAG: mma.m16n8k32.s8, tiles of 128 x 128
// CHECK-DAG: f32 multiply-add, tiles of 128 x 128
module {
  func.func @main(%evenx: tensor<4096x4096xbf16> {halftone.name = "evenx"},
                  %evenw: tensor<4096x4096xbf16> {halftone.name = "evenw"},
                  %oddx: tensor<4095x4095xbf16> {halftone.name = "oddx"},
                  %oddw: tensor<4095x4095xbf16> {halftone.name = "oddw"},
                  %singlex: tensor<4095x4095xf32> {halftone.name = "singlex"},
                  %singlew: tensor<4095x4095xf32> {halftone.name = "singlew"},
                  %bytex: tensor<4096x4096xi8> {halftone.name = "bytex"},
                  %bytew: tensor<4096x4096xi8> {halftone.name = "bytew"},
                  %bias: tensor<4095xf32> {halftone.name = "bias"})
      -> (tensor<4096x4096xbf16> {halftone.name = "evennn"},
          tensor<4096x4096xbf16> {halftone.name = "evennt"},
          tensor<4096x4096xbf16> {halftone.name = "eventn"},
          tensor<4096x4096xbf16> {halftone.name = "eventt"},
          tensor<4095x4095xbf16> {halftone.name = "oddnn"},
          tensor<4095x4095xbf16> {halftone.name = "oddnt"},
          tensor<4095x4095xbf16> {halftone.name = "oddtn"},
          tensor<4095x4095xbf16> {halftone.name = "oddtt"},
          tensor<4095x4095xf32> {halftone.name = "singlenn"},
          tensor<4095x4095xf32> {halftone.name = "singlett"},
          tensor<4096x4096xi32> {halftone.name = "bytent"},
          tensor<4096x4096xi32> {halftone.name = "bytetn"},
          tensor<4095x4095xf32> {halftone.name = "layer"}) {
    %evennn = halftone.contract %evenx, %evenw {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %evennt = halftone.contract %evenx, %evenw {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}
        : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %eventn = halftone.contract %evenx, %evenw {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>}
        : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %eventt = halftone.contract %evenx, %evenw {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 1>}
        : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %oddnn = halftone.contract %oddx, %oddw {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<4095x4095xbf16>, tensor<4095x4095xbf16>) -> tensor<4095x4095xbf16>
    %oddnt = halftone.contract %oddx, %oddw {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}
        : (tensor<4095x4095xbf16>, tensor<4095x4095xbf16>) -> tensor<4095x4095xbf16>
    %oddtn = halftone.contract %oddx, %oddw {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>}
        : (tensor<4095x4095xbf16>, tensor<4095x4095xbf16>) -> tensor<4095x4095xbf16>
    %oddtt = halftone.contract %oddx, %oddw {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 1>}
        : (tensor<4095x4095xbf16>, tensor<4095x4095xbf16>) -> tensor<4095x4095xbf16>
    %singlenn = halftone.contract %singlex, %singlew {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<4095x4095xf32>, tensor<4095x4095xf32>) -> tensor<4095x4095xf32>
    %singlett = halftone.contract %singlex, %singlew {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 1>}
        : (tensor<4095x4095xf32>, tensor<4095x4095xf32>) -> tensor<4095x4095xf32>
    %bytent = halftone.contract %bytex, %bytew {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}
        : (tensor<4096x4096xi8>, tensor<4096x4096xi8>) -> tensor<4096x4096xi32>
    %bytetn = halftone.contract %bytex, %bytew {lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>}
        : (tensor<4096x4096xi8>, tensor<4096x4096xi8>) -> tensor<4096x4096xi32>
    %product = halftone.contract %singlex, %singlew {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>}
        : (tensor<4095x4095xf32>, tensor<4095x4095xf32>) -> tensor<4095x4095xf32>
    %all = halftone.broadcast %bias {axes = array<i64: 1>} : tensor<4095xf32> to tensor<4095x4095xf32>
    %sum = halftone.add %product, %all : tensor<4095x4095xf32>
    %zero = halftone.constant dense<0.0> : tensor<4095x4095xf32>
    %layer = halftone.maximum %sum, %zero : tensor<4095x4095xf32>
    return %evennn, %evennt, %eventn, %eventt, %oddnn, %oddnt, %oddtn, %oddtt, %singlenn, %singlett, %bytent, %bytetn, %layer
        : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4095x4095xbf16>, tensor<4095x4095xbf16>, tensor<4095x4095xbf16>, tensor<4095x4095xbf16>, tensor<4095x4095xf32>, tensor<4095x4095xf32>, tensor<4096x4096xi32>, tensor<4096x4096xi32>, tensor<4095x4095xf32>
  }
}
