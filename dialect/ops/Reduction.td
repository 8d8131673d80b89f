// Reductions.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_REDUCTION
#define HALFTONE_OPS_REDUCTION
include "Types.td"

def Halftone_ReduceOp : Halftone_PureOp<"reduce", [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Reduction along axes, which are dropped";
  let description = [{
    `axes` are strictly ascending. The result has x's dtype, or f32 for a narrower float x. Narrow sums and products
    accumulate in f32. max and min propagate NaN; their gradient is split equally among ties, and is NaN for each
    element if the result is NaN. The gradient of prod for an element is the product of the others, even if some are 0.
    An empty axis gives the neutral element. and / or take bools, or integers bitwise; they have no gradient. A sum or
    product of floats is computed in chunks: an accumulator combines at most 32 elements, and the results of the chunks
    are combined pairwise. The relative error of n elements of the same sign therefore grows with log n.
    Example: `%1 = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<8x4xf16> -> tensor<4xf32>`
  }];
  let arguments = (ins Halftone_ReduceKindAttr:$kind, Halftone_ArithmeticTensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Halftone_ArithmeticTensor:$y);
  let assemblyFormat = "custom<BareEnum>($kind) $x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = "bool isExact(); bool keepsDtype();";
}

def Halftone_PartialReduceOp : Halftone_PureOp<"partial_reduce",
    [Halftone_NoGradient<"form-kernels puts it in, after differentiate">, Halftone_InsertedByPasses]> {
  let summary = "Partial reduction: one partial result per tile";
  let description = [{
    Inserted by form-kernels. Each reduced axis is split into tiles of the corresponding number of elements in `tile`
    (the last may be smaller), and its extent in the result is the number of tiles; kept axes are unchanged. A `reduce`
    of the same kind over the same axes completes the reduction. The accumulation dtype is that of the result.
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
  let summary = "Argmax or argmin along an axis, which is dropped; ties give the first index, and NaN precedes all other values";
  let description = [{ `kind` is max or min. Example: `%1 = halftone.arg_reduce max %0 {axis = 1 : i64} : tensor<8x10xf32> -> tensor<8xi32>` }];
  let arguments = (ins Halftone_ReduceKindAttr:$kind, Halftone_NumberTensor:$x, I64Attr:$axis);
  let results = (outs StaticShapeTensorOf<[I32]>:$y);
  let assemblyFormat = "custom<BareEnum>($kind) $x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = "bool isDecision();";
}

def Halftone_ReduceAllOp : Halftone_PureOp<"reduce_all",
    [Halftone_NoGradient<"it measures gradients, and nothing trains through those">, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Reduction of all elements of all operands to one scalar";
  let description = [{
    all_finite gives i1; sum_of_squares and max_abs give f32 (f64 if an operand is f64). Without operands the result is
    true, or 0. max_abs propagates NaN. There is no gradient.
    Example: `%ok = halftone.reduce_all all_finite (%g0, %g1) : tensor<4xf32>, tensor<8x4xf16>`
  }];
  let arguments = (ins Halftone_ReduceAllKindAttr:$kind, Variadic<Halftone_FloatTensor>:$xs);
  let results = (outs 0DTensorOf<[I1, F32, F64]>:$y);
  let assemblyFormat = "custom<BareEnum>($kind) `(` $xs `)` attr-dict (`:` type($xs)^)?";
  let extraClassDeclaration = "bool isExact(); bool isDecision();";
}

def Halftone_CumsumOp : Halftone_PureOp<"cumsum", [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Cumulative reduction along an axis, inclusive; with `reverse` from the last index";
  let description = [{
    `kind` is sum, prod, max or min. The result has x's shape, and x's dtype, or f32 for a narrower float x. Narrow
    floats are combined in f32, and each result is rounded once. Integers wrap; max and min propagate NaN. The gradient
    of a sum is the cumsum of the cotangent in the opposite direction; that of a product uses the products of the other
    elements, even if some are 0. The cotangent of a max or min goes to the first of equal elements.
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
