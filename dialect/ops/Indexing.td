// Slicing, concatenation, gather and scatter. Any dtype unless an op says otherwise.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_INDEXING
#define HALFTONE_OPS_INDEXING
include "Types.td"

def Halftone_IndexTensor : StaticShapeTensorOf<[I32, I64]>;

def Halftone_SliceOp : Halftone_PureOp<"slice", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift"]>]> {
  let summary = "Static slice: the box of x at `start` with the shape of the result";
  let description = [{ Example: `%1 = halftone.slice %0 {start = array<i64: 0, 2>} : tensor<8x10xf32> to tensor<8x4xf32>` }];
  let arguments = (ins Halftone_Tensor:$x, DenseI64ArrayAttr:$start);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Halftone_ConcatOp : Halftone_PureOp<"concat", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift"]>]> {
  let summary = "Concatenation along an axis";
  let description = [{
    There is at least one operand. All operands have the same dtype, and the same extents except along `axis`. A splat
    constant as an operand acts as padding.
    Example: `%2 = halftone.concat %0, %1 {axis = 1 : i64} : tensor<8x4xf32>, tensor<8x3xf32> to tensor<8x7xf32>`
  }];
  let arguments = (ins Variadic<Halftone_Tensor>:$xs, I64Attr:$axis);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$xs attr-dict `:` type($xs) `to` type($y)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Halftone_GatherOp : Halftone_PureOp<"gather", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Gather: the slices of x along an axis at the given indices";
  let description = [{
    The axes of the indices replace `axis` of x in the result. Indices are clamped to the extent of `axis`; negative
    indices do not wrap. The first `batch` axes of x, of the indices and of the result are shared, and precede `axis`:
    the indices at a batch position select slices of x at the same position. The gradient is a `scatter_add`.
    Example:
    ```mlir
    %rows = halftone.gather %table, %ids {axis = 0 : i64} : (tensor<100x64xf32>, tensor<8x5xi32>) -> tensor<8x5x64xf32>
    %best = halftone.gather %x, %ids {axis = 1 : i64, batch = 1 : i64} : (tensor<8x100xf32>, tensor<8x5xi32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Halftone_Tensor:$x, Halftone_IndexTensor:$indices, I64Attr:$axis,
                       DefaultValuedAttr<I64Attr, "0">:$batch);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let useCustomPropertiesEncoding = 1; // files before version 3 have no batch
}

def Halftone_ScatterAddOp : Halftone_PureOp<"scatter_add", [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Scatter-add into zeros: adds each slice of the updates at its index";
  let description = [{
    The adjoint of `gather`: the axes of the indices replace `axis` of the result in the updates, and the first `batch`
    axes of all three are shared. Slices with the same index are added in row-major order of the indices. Indices are
    clamped. The result has the dtype of the updates, or f32 for a narrower float; narrow floats are added in f32 and
    rounded once.
    Example:
    ```mlir
    %sums = halftone.scatter_add %ids, %updates {axis = 0 : i64} : (tensor<8x5xi32>, tensor<8x5x64xf16>) -> tensor<100x64xf32>
    ```
  }];
  let arguments = (ins Halftone_IndexTensor:$indices, Halftone_NumberTensor:$updates, I64Attr:$axis,
                       DefaultValuedAttr<I64Attr, "0">:$batch);
  let results = (outs Halftone_NumberTensor:$y);
  let assemblyFormat = "$indices `,` $updates attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let useCustomPropertiesEncoding = 1; // files before version 3 have no batch
}

def Halftone_ScatterOp : Halftone_PureOp<"scatter",
    [AllTypesMatch<["x", "y"]>, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Scatter: sets slices of x at the given indices to the updates, or combines them";
  let description = [{
    The indices and the updates are as for `scatter_add`, but an index out of range is ignored: it is neither clamped
    nor wrapped. With kind `set`, the last update of an element in row-major order of the indices is its new value. With
    `sum`, `prod`, `max` or `min`, x and its updates are combined in this order; sums and products of narrow floats are
    computed in f32 and rounded once, and `max` and `min` propagate NaN. x and the updates have the same dtype. With
    `set` the cotangent goes to the updates that are in the result, and to x elsewhere. With `max` and `min` it is split
    equally among x and the updates that equal the result, except NaN. With `prod` each factor gets the cotangent times
    the other factors.
    Example:
    ```mlir
    %y = halftone.scatter set %x, %ids, %rows {axis = 0 : i64} : (tensor<100x64xf32>, tensor<5xi32>, tensor<5x64xf32>) -> tensor<100x64xf32>
    ```
  }];
  let arguments = (ins Halftone_ScatterKindAttr:$kind, Halftone_NumberTensor:$x, Halftone_IndexTensor:$indices,
                       Halftone_NumberTensor:$updates, I64Attr:$axis, DefaultValuedAttr<I64Attr, "0">:$batch);
  let results = (outs Halftone_NumberTensor:$y);
  let assemblyFormat = [{
    custom<BareEnum>($kind) $x `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
