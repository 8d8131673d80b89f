// Collective ops: values that the processes of a run combine.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_COLLECTIVE
#define HALFTONE_OPS_COLLECTIVE
include "Types.td"

def Halftone_AllReduceOp : Halftone_Op<"all_reduce", [
    Halftone_NotComparedAlone<"values of other processes are no part of a program: tests/runtime/communication compares the sums">,
    MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]> {
  let summary = "Combines each value with those of the other processes; every process gets the same bits";
  let description = [{
    Result i has the type of operand i. `sum` adds in the order of ranks: floats narrower than 32 bits in f32, and the sum is
    rounded once to its dtype. `max` keeps NaN. Inf and NaN of one process reach all. In a world of one process the
    results are the operands, and so are those of the interpreter. Every process runs the same all_reduces in the same
    order, so an all_reduce is never removed, and none stands in a `when`. `bucket-collectives` sets `order`.

    The gradient of `sum` is the `sum` of the cotangents, since the differentiated value is the sum of all processes' values.
    Example: `%0:2 = halftone.all_reduce sum (%a, %b) : tensor<8x4xf32>, tensor<4xf32>`
  }];
  let arguments = (ins Halftone_CollectiveKindAttr:$kind, Variadic<Halftone_NumberTensor>:$xs,
                       OptionalAttr<I64Attr>:$order);
  let results = (outs Variadic<Halftone_NumberTensor>:$outputs);
  let assemblyFormat = "custom<BareEnum>($kind) `(` $xs `)` attr-dict `:` type($xs)";
  let hasVerifier = 1;
}

#endif
