// Reductions.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_REDUCTION
#define HALFTONE_OPS_REDUCTION
include "Types.td"

def Halftone_ReduceOp : Halftone_PureOp<"reduce", [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Combines the elements along axes, which are dropped";
  let description = [{
    `axes` are strictly ascending. The result has x's dtype, or f32 for a narrower float x. Narrow sums and products accumulate in f32. max and min keep
    NaN; their gradient is shared equally among ties, and NaN for each when the result is. That of prod is the product of the others, whatever is 0. An empty
    axis gives the neutral element. and / or take bool, or integers bitwise; they have no gradient.
    A sum or product of floats is computed in chunks: an accumulator takes in at most 32 elements, and the totals of chunks are combined in pairs. So the
    relative error of n elements of one sign grows with log n.
    Example: `%1 = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<8x4xf16> -> tensor<4xf32>`
  }];
  let arguments = (ins Halftone_ReduceKindAttr:$kind, Halftone_ArithmeticTensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Halftone_ArithmeticTensor:$y);
  let assemblyFormat = "custom<BareEnum>($kind) $x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = "bool isExact(); bool keepsDtype();";
}

def Halftone_PartialReduceOp : Halftone_PureOp<"partial_reduce",
    [Halftone_NoGradient<"form-kernels puts it in, after differentiate">, Halftone_PutInByPasses]> {
  let summary = "A reduction of tiles: one partial result per tile";
  let description = [{
    A side reduction's first half, put in by form-kernels. Reduced axis a is cut into tiles of `tile[a's position]`
    elements (the last may be smaller) and stays in the result with the number of tiles; kept axes stay as they are. A
    `reduce` of the same kind over the same axes finishes it. The accumulation dtype is that of the result.
    Example: `%p = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 64>} : tensor<128x4xf32> -> tensor<2x4xf32>`
  }];
  let arguments = (ins Halftone_ReduceKindAttr:$kind, Halftone_ArithmeticTensor:$x, DenseI64ArrayAttr:$axes,
                       DenseI64ArrayAttr:$tile);
  let results = (outs Halftone_ArithmeticTensor:$y);
  let assemblyFormat = "custom<BareEnum>($kind) $x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = "bool isExact(); bool keepsDtype();";
}

def Halftone_ArgReduceOp : Halftone_PureOp<"arg_reduce", [Halftone_IntegersHaveNoGradient, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Index of the largest or smallest element along an axis, which is dropped; the first wins, NaN wins over all";
  let description = [{ `kind` is max or min. Example: `%1 = halftone.arg_reduce max %0 {axis = 1 : i64} : tensor<8x10xf32> -> tensor<8xi32>` }];
  let arguments = (ins Halftone_ReduceKindAttr:$kind, Halftone_NumberTensor:$x, I64Attr:$axis);
  let results = (outs StaticShapeTensorOf<[I32]>:$y);
  let assemblyFormat = "custom<BareEnum>($kind) $x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = "bool isDecision();";
}

def Halftone_ReduceAllOp : Halftone_PureOp<"reduce_all",
    [Halftone_NoGradient<"it measures gradients, and nothing trains through those">, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "One scalar about all elements of all operands";
  let description = [{
    all_finite gives i1; sum_of_squares and max_abs give f32 (f64 when an operand is f64). No operands: true, or 0. max_abs
    keeps NaN. No gradient.
    Example: `%ok = halftone.reduce_all all_finite (%g0, %g1) : tensor<4xf32>, tensor<8x4xf16>`
  }];
  let arguments = (ins Halftone_ReduceAllKindAttr:$kind, Variadic<Halftone_FloatTensor>:$xs);
  let results = (outs 0DTensorOf<[I1, F32, F64]>:$y);
  let assemblyFormat = "custom<BareEnum>($kind) `(` $xs `)` attr-dict (`:` type($xs)^)?";
  let extraClassDeclaration = "bool isExact(); bool isDecision();";
}

def Halftone_CumsumOp : Halftone_PureOp<"cumsum", [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Each element combined with those before it along an axis; with `reverse`, with those behind it";
  let description = [{
    `kind` is sum, prod, max or min. The result has x's shape, and x's dtype, or f32 for a narrower float x. Narrow
    floats are combined in f32, and each result is rounded once. Integers wrap; max and min keep NaN. The gradient of
    sums is the cumsum of the cotangent in the other direction, and that of products the product of the others, whatever
    is 0. The cotangent of a max or min goes to the first of equals.
    Example:
    ```mlir
    %1 = halftone.cumsum %0 {axis = 1 : i64} : tensor<8x4xf16> -> tensor<8x4xf32>
    %2 = halftone.cumsum %0 {axis = 1 : i64, kind = #halftone<reduce_kind max>, reverse} : tensor<8x4xf16> -> tensor<8x4xf16>
    ```
  }];
  let arguments = (ins Halftone_NumberTensor:$x, I64Attr:$axis, UnitAttr:$reverse,
                       DefaultValuedAttr<Halftone_ReduceKindAttr, "ReduceKind::sum">:$kind);
  let results = (outs Halftone_NumberTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let useCustomPropertiesEncoding = 1; // files before version 3 have no kind
  let extraClassDeclaration = "bool isExact();";
}

#endif
