// Shape ops, which move elements but do not change them. Any dtype.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_SHAPE
#define HALFTONE_OPS_SHAPE
include "Types.td"

def Halftone_ReshapeOp : Halftone_PureOp<"reshape", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, Halftone_LiftOpInterface]> {
  let summary = "Reshape: the same elements in row-major order with another shape";
  let description = [{ Example: `%1 = halftone.reshape %0 : tensor<8x28x28xf32> to tensor<8x784xf32>` }];
  let arguments = (ins Halftone_Tensor:$x);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Halftone_BroadcastOp : Halftone_PureOp<"broadcast", [Halftone_AlwaysCloned, Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift"]>]> {
  let summary = "Broadcast along new axes";
  let description = [{
    Axis i of x becomes axis `axes[i]` of the result (strictly ascending), with the same extent; the other axes are new.
    Example: `%1 = halftone.broadcast %0 {axes = array<i64: 1>} : tensor<4xf32> to tensor<8x4xf32>`
  }];
  let arguments = (ins Halftone_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Halftone_TransposeOp : Halftone_PureOp<"transpose", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift"]>]> {
  let summary = "Transpose: axis i of the result is axis `permutation[i]` of x";
  let description = [{ Example: `%1 = halftone.transpose %0 {permutation = array<i64: 1, 0>} : tensor<8x4xf32> to tensor<4x8xf32>` }];
  let arguments = (ins Halftone_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Halftone_PackOp : Halftone_PureOp<"pack", [SameOperandsAndResultShape, SameOperandsAndResultElementType, Halftone_KeepsDtype,
    Halftone_NoGradient<"choose-layouts puts it in, after differentiate">, Halftone_InsertedByPasses]> {
  let summary = "Packs a matrix into the layout of the right operand of a matmul";
  let description = [{
    Inserted by choose-layouts. Only a contraction reads a packed matrix, as its right operand and along `depth`;
    other ops take plain matrices.
    Example: `%1 = halftone.pack %0 : tensor<8x16xbf16> to tensor<8x16xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>`
  }];
  let arguments = (ins Halftone_Tensor:$x);
  let results = (outs Halftone_AnyTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasVerifier = 1;
}

#endif
