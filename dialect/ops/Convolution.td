// Windows of images, and convolutions.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_CONVOLUTION
#define HALFTONE_OPS_CONVOLUTION
include "Types.td"

def Halftone_WindowOp : Halftone_PureOp<"window", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift"]>]> {
  let summary = "im2col: the input elements under each position of a sliding window";
  let description = [{
    x has the axes (n, s..., c...), with as many spatial axes s as `stride`, `dilation`, `low` and `hole` have elements. The
    result has the axes (n, o..., k..., c...), with an axis o (the position of the window) and an axis k (the tap within
    the window) per spatial axis; the result type gives their extents. The element at (n, o, k, c) is that of x at (n,
    p, c), where along each spatial axis `p = (o * stride + k * dilation - low) / hole`. `low` is the padding before an
    axis, and `hole` the base dilation. If p is not an integer, or is out of range, the element is 0, or with `lowest`
    the lowest value of the dtype (-inf for floats that have it). `stride` and `dilation` are nonzero and may be
    negative; `hole` is at least 1.

    With `diagonal` x already has the axes k, (n, s..., k..., c...), and the element is that of x at (n, p, k, c). The
    gradient of both forms is a diagonal window.
    Example:
    ```mlir
    %p = halftone.window %x {stride = array<i64: 2>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>, lowest}
        : tensor<8x28x4xf32> to tensor<8x14x3x4xf32>
    ```
  }];
  let arguments = (ins Halftone_Tensor:$x, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$dilation,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$hole, UnitAttr:$lowest, UnitAttr:$diagonal);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$y, "::mlir::Value":$x, "const WindowSteps &":$steps,
                                 CArg<"bool", "false">:$lowest, CArg<"bool", "false">:$diagonal)>];
  let extraClassDeclaration = [{
    WindowSteps getSteps();
    /// The extents of the axes o and k.
    ::llvm::ArrayRef<int64_t> getPositions();
    ::llvm::ArrayRef<int64_t> getTaps();
    /// The element outside of x, as a splat of the result's type.
    ::mlir::DenseElementsAttr getFill();
  }];
}

def Halftone_ConvolutionOp : Halftone_PureOp<"convolution", [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["mayLift", "lift", "leavesLoops"]>]> {
  let summary = "Grouped convolution";
  let description = [{
    x has the axes (n, s..., g, c), w (k..., g, c, f) and the result (n, o..., g, f): for each group g the contraction,
    over the taps k and the channels c, of the `window` of x with w. Elements outside of x are 0. Dtypes, products, the
    accumulator and the rounding are those of `contract`; code in strict numerics adds in row-major order of (k..., c),
    including the products with zeros of the padding. Both gradients are convolutions.
    Example:
    ```mlir
    %y = halftone.convolution %x, %w {stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>}
        : (tensor<8x28x28x1x3xf16>, tensor<3x3x1x3x16xf16>) -> tensor<8x28x28x1x16xf16>
    ```
  }];
  let arguments = (ins Halftone_Tensor:$x, Halftone_Tensor:$w, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$dilation,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$hole);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x `,` $w attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$y, "::mlir::Value":$x, "::mlir::Value":$w, "const WindowSteps &":$steps)>];
  let extraClassDeclaration = [{
    WindowSteps getSteps();
    ::llvm::ArrayRef<int64_t> getTaps();
    /// The dtype in which products accumulate: f64, f32, i32 or i64.
    ::mlir::Type getAccumulatorType();
    bool isExact();
  }];
}

#endif
