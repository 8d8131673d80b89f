// Contractions.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_CONTRACTION
#define HALFTONE_OPS_CONTRACTION
include "Types.td"

def Halftone_ContractOp : Halftone_PureOp<"contract", [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Sum of products over named axes";
  let description = [{
    The result's axes are the batch axes in order, then the free axes of lhs, then those of rhs. Batch axes pair up, and so
    do contracted ones. Floats: both operands one dtype (or both float8), the result that dtype or f32; f64 gives f64.
    Products accumulate in f32 (f64 for f64), whatever the result. In default numerics a partial sum of bf16 products below
    2^-126 in size may become 0, so that a result may be off by K * 2^-126 besides its roundings; operands never do. i8 x i8
    gives i32, accumulated in i32; i32 and i64 give themselves and wrap. A contracted extent of 0 gives zeros. rhs may be packed, and is then contracted along its
    panels' depth. `tile`, which choose-templates sets and form-kernels takes into the kernel's blocks, holds the rows and
    columns of a block, each 1 to 1024.
    Example:
    ```mlir
    %y = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
        : (tensor<8x4xf16>, tensor<4x2xf16>) -> tensor<8x2xf16>
    ```
  }];
  let arguments = (ins Halftone_Tensor:$lhs, Halftone_AnyTensor:$rhs,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhs_batch,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhs_batch,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhs_contract,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhs_contract,
                       OptionalAttr<DenseI64ArrayAttr>:$tile);
  let results = (outs Halftone_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let useCustomPropertiesEncoding = 1; // files of version 1 have no tile
  let extraClassDeclaration = [{
    /// Axes of lhs and of rhs that are neither batch nor contracted, ascending.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
    /// The dtype in which products accumulate: f64, f32, i32 or i64.
    ::mlir::Type getAccumulatorType();
    bool isExact();
  }];
}

#endif
