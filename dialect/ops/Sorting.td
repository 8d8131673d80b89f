// Sorting.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_SORTING
#define HALFTONE_OPS_SORTING
include "Types.td"

def Halftone_SortOp : Halftone_PureOp<"sort", [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>, DeclareOpInterfaceMethods<Halftone_LiftOpInterface, ["lift", "leavesLoops"]>]> {
  let summary = "Stable sort along an axis: the first elements in ascending order, or with `descending` in descending order, and their indices";
  let description = [{
    The extent of the results along `axis` is at most that of x. Equal elements keep their order in x: -0 equals 0, and
    all NaN are equal. NaN is greater than all other values: it comes last, or first with `descending`. The gradient of
    an element goes to its position in x.
    Example: `%2:2 = halftone.sort %0 {axis = 1 : i64, descending} : tensor<8x10xf16> -> tensor<8x3xf16>, tensor<8x3xi32>`
  }];
  let arguments = (ins Halftone_ArithmeticTensor:$x, I64Attr:$axis, UnitAttr:$descending);
  let results = (outs Halftone_ArithmeticTensor:$values, StaticShapeTensorOf<[I32]>:$indices);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type(results)";
  let hasVerifier = 1;
  let extraClassDeclaration = "bool isDecision();";
}

#endif
