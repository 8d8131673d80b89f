// Properties of ops as traits.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OP_TRAITS
#define HALFTONE_OP_TRAITS

include "mlir/IR/OpBase.td"

// The traits of dialect/OpTraits.h. ComputeOpInterface defines the first four.
class Halftone_Marker<string name> : NativeOpTrait<name> {
  let cppNamespace = "::halftone::dialect";
}
def Halftone_Inexact : Halftone_Marker<"Inexact">;
def Halftone_AlwaysCloned : Halftone_Marker<"AlwaysCloned">;
def Halftone_KeepsDtype : Halftone_Marker<"KeepsDtype">;
def Halftone_Decision : Halftone_Marker<"Decision">;

/// The op has no gradient; `reason` says why.
class Halftone_NoGradient<string reason> : Halftone_Marker<"NoGradient"> {
  assert !ne(reason, ""), "expected the reason why the op has no gradient";
}
def Halftone_IntegersHaveNoGradient : Halftone_NoGradient<"integers and bools carry no derivative">;
def Halftone_StructureHasNoGradient : Halftone_NoGradient<"the op computes no value itself">;

/// A program of this op alone cannot be compared with the interpreter. The reason names the tests that compare the op.
class Halftone_NotComparedAlone<string reason> : Halftone_Marker<"NotComparedAlone"> {
  assert !ne(reason, ""), "expected the reason why the op is not compared by itself";
}
def Halftone_ComparedWithItsOps : Halftone_NotComparedAlone<"programs are compared by the ops in the op's region, or before it">;
def Halftone_InsertedByPasses : Halftone_NotComparedAlone<"passes put the op in: kernels that hold it are compared">;

#endif // HALFTONE_OP_TRAITS
