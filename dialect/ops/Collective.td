// Collective ops: values that the processes of a run combine.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_COLLECTIVE
#define HALFTONE_OPS_COLLECTIVE
include "Types.td"

class Halftone_CollectiveOp<string mnemonic, list<Trait> traits = []> : Halftone_Op<mnemonic, [
    Halftone_NotComparedAlone<"values of other processes are no part of a program: tests/runtime/communication compares the results">,
    MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<InferTypeOpInterface>, Halftone_CollectiveOpInterface] # traits>;

def Halftone_AllReduceOp : Halftone_CollectiveOp<"all_reduce", [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]> {
  let summary = "Combines each value with those of the other processes; every process gets the same bits";
  let description = [{
    Result i has the type of operand i. `sum` adds in the order of ranks: floats narrower than 32 bits in f32, and the sum is
    rounded once to its dtype. `max` keeps NaN. Inf and NaN of one process reach all. In a world of one process the
    results are the operands, and so are those of the interpreter. `bucket-collectives` sets `order`.

    The gradient of `sum` is the `sum` of the cotangents, since the differentiated value is the sum of all processes' values.
    Example: `%0:2 = halftone.all_reduce sum (%a, %b) : tensor<8x4xf32>, tensor<4xf32>`
  }];
  let arguments = (ins Halftone_CollectiveKindAttr:$kind, Variadic<Halftone_NumberTensor>:$xs,
                       OptionalAttr<I64Attr>:$order);
  let results = (outs Variadic<Halftone_NumberTensor>:$outputs);
  let assemblyFormat = "custom<BareEnum>($kind) `(` $xs `)` attr-dict `:` type($xs)";
}

def Halftone_BordersAttr : TypedArrayAttrBase<DenseI64ArrayAttr, "list of borders for each value">;

/// Values that processes divide: of value i, in row-major order, process r has the elements from borders[i][r] up to
/// borders[i][r + 1]. `rank` is this process.
class Halftone_DividedOp<string mnemonic> : Halftone_CollectiveOp<mnemonic, [
    Halftone_NoGradient<"only optimizers divide values">]> {
  let arguments = (ins Variadic<Halftone_NumberTensor>:$xs, Halftone_BordersAttr:$borders, I64Attr:$rank,
                       OptionalAttr<I64Attr>:$order);
  let results = (outs Variadic<Halftone_NumberTensor>:$outputs);
  let assemblyFormat = "`(` $xs `)` `rank` $rank `borders` $borders attr-dict `:` type($xs)";
  let hasVerifier = 1;
}

def Halftone_ReduceScatterOp : Halftone_DividedOp<"reduce_scatter"> {
  let summary = "Gives each process its part of the sum of all processes' values";
  let description = [{
    Result i has this process's elements of the sum of operand i, with the bits of `all_reduce sum`: as a vector, or with the
    operand's shape if they are all. Of value i, in row-major order, process r has the elements from `borders[i][r]` up to
    `borders[i][r + 1]`; this process is `rank`. A process alone has the sum of its own values, and so has the interpreter.
    Example: `%0 = halftone.reduce_scatter (%a) rank 0 borders [array<i64: 0, 16, 32>] : tensor<8x4xf32>`
  }];
}

def Halftone_AllGatherOp : Halftone_DividedOp<"all_gather"> {
  let summary = "Gives every process the parts of all processes";
  let description = [{
    Operand i has this process's elements, those from `borders[i][rank]` up to `borders[i][rank + 1]`, and result i the
    elements of all processes: as a vector, or with the operand's shape if all are this process's. A process alone gets 0 for
    the elements of other processes, and so does the interpreter.
    Example: `%0 = halftone.all_gather (%a) rank 0 borders [array<i64: 0, 16, 32>] : tensor<16xf32>`
  }];
}

#endif
