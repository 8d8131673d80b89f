// Sorting.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_SORTING
#define HALFTONE_OPS_SORTING
include "Types.td"

def Halftone_SortOp : Halftone_PureOp<"sort", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "The first elements in ascending order along an axis, and their indices; with `descending`, in descending order";
  let description = [{
    The results have as many elements along `axis` as their types say, at most those of x. Equal elements keep their
    order in x: -0 equals 0, and all NaN are equal. NaN are above all other values: they come last, or first with
    `descending`. The gradient of an element goes to its place in x.
    Example: `%2:2 = halftone.sort %0 {axis = 1 : i64, descending} : tensor<8x10xf16> -> tensor<8x3xf16>, tensor<8x3xi32>`
  }];
  let arguments = (ins Halftone_ArithmeticTensor:$x, I64Attr:$axis, UnitAttr:$descending);
  let results = (outs Halftone_ArithmeticTensor:$values, StaticShapeTensorOf<[I32]>:$indices);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type(results)";
  let hasVerifier = 1;
  let extraClassDeclaration = "bool isDecision();";
}

#endif
