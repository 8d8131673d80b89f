// Indexing ops join tensors, cut parts out of them and find parts by index. Any dtype unless an op says otherwise.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_INDEXING
#define HALFTONE_OPS_INDEXING
include "Types.td"

def Halftone_IndexTensor : StaticShapeTensorOf<[I32, I64]>;

def Halftone_SliceOp : Halftone_PureOp<"slice", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift"]>]> {
  let summary = "The box of x of the result's shape that begins at `start`";
  let description = [{ Example: `%1 = halftone.slice %0 {start = array<i64: 0, 2>} : tensor<8x10xf32> to tensor<8x4xf32>` }];
  let arguments = (ins Halftone_Tensor:$x, DenseI64ArrayAttr:$start);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Halftone_ConcatOp : Halftone_PureOp<"concat", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift"]>]> {
  let summary = "Tensors one after the other along an axis";
  let description = [{
    At least one operand; all have one dtype, and one shape but for `axis`. With a splat constant it pads.
    Example: `%2 = halftone.concat %0, %1 {axis = 1 : i64} : tensor<8x4xf32>, tensor<8x3xf32> to tensor<8x7xf32>`
  }];
  let arguments = (ins Variadic<Halftone_Tensor>:$xs, I64Attr:$axis);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$xs attr-dict `:` type($xs) `to` type($y)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Halftone_GatherOp : Halftone_PureOp<"gather", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "The slices of x along an axis that indices name";
  let description = [{
    The result has the axes of the indices in place of x's `axis`. An index below 0 reads slice 0 and one past the end the
    last slice: indices clamp, nothing wraps. The first `batch` axes of x, of the indices and of the result are the same
    axes, and stand before `axis`: the indices at a place of them name slices of x at that place. The gradient is a
    `scatter_add`.
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
  let summary = "Zeros to which each slice of the updates is added at the place that its index names";
  let description = [{
    The adjoint of `gather`: the updates have the axes of the indices in place of the result's `axis`, and the first
    `batch` axes of all three are the same. Slices of one index are added in row-major order of the indices, which clamp.
    The result has the updates' dtype, or f32 for a narrower float; narrow floats are added in f32 and rounded once.
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
  let summary = "x, with updates in it or combined with it at the places that indices name";
  let description = [{
    The indices and the updates are those of `scatter_add`, but indices that name no slice of x are left out: nothing clamps or
    wraps. With kind set, the last update of an element in row-major order of the indices is its new value. With sum, prod, max
    or min, x and its updates are combined in this order; sums and products of narrow floats are in f32 and rounded once, and max
    and min keep NaN. x has one dtype with its updates. With set the cotangent goes to the updates that are in the result, and
    to x elsewhere; with max and min to x and the updates that equal the result, in equal shares, of which a NaN has none; with prod to each factor times the others.
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
