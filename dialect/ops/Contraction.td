// Contractions.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_CONTRACTION
#define HALFTONE_OPS_CONTRACTION
include "Types.td"

def Halftone_ContractOp : Halftone_PureOp<"contract", [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Tensor contraction: sum of products over the given axes";
  let description = [{
    The result's axes are the batch axes in order, then the free axes of lhs, then those of rhs. Batch axes are paired
    in order, and so are contracted axes. Floats: both operands have the same dtype (or both are float8), and the result
    has that dtype or f32; f64 gives f64. Products accumulate in f32 (f64 for f64), independently of the result type. In
    default numerics a partial sum of bf16 products with a magnitude below 2^-126 may be flushed to 0, so that a result
    may be off by K * 2^-126 in addition to its roundings; operands are never flushed. i8 x i8 gives i32, accumulated in
    i32; i32 and i64 give their own type and wrap. A contracted extent of 0 gives zeros. rhs may be packed, and is then
    contracted along the depth of its panels. `tile` holds the numbers of rows and columns of a block, each from 1 to
    1024; choose-layouts sets it, and form-kernels moves it to the blocks of the kernel.
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
