// Collective ops among the processes of a run.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_COLLECTIVE
#define HALFTONE_OPS_COLLECTIVE
include "Types.td"

class Halftone_CollectiveOp<string mnemonic, list<Trait> traits = []> : Halftone_Op<mnemonic, [
    Halftone_NotComparedAlone<"values of other processes are no part of a program: tests/runtime/communication compares the results">,
    MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<InferTypeOpInterface>, Halftone_CollectiveOpInterface] # traits>;

def Halftone_AllReduceOp : Halftone_CollectiveOp<"all_reduce", [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]> {
  let summary = "All-reduce: combines each value across all processes; every process gets the same bits";
  let description = [{
    Result i has the type of operand i. `sum` adds in rank order; floats narrower than 32 bits are added in f32, and the
    sum is rounded once to its dtype. `max` propagates NaN. Inf and NaN of one process reach all processes. With a
    single process, and in the interpreter, the results are the operands. `bucket-collectives` sets `order`.

    The gradient of `sum` is the `sum` of the cotangents, since the differentiated value is the sum over all processes.
    Example: `%0:2 = halftone.all_reduce sum (%a, %b) : tensor<8x4xf32>, tensor<4xf32>`
  }];
  let arguments = (ins Halftone_CollectiveKindAttr:$kind, Variadic<Halftone_NumberTensor>:$xs,
                       OptionalAttr<I64Attr>:$order);
  let results = (outs Variadic<Halftone_NumberTensor>:$outputs);
  let assemblyFormat = "custom<BareEnum>($kind) `(` $xs `)` attr-dict `:` type($xs)";
}

def Halftone_OffsetsAttr : TypedArrayAttrBase<DenseI64ArrayAttr, "list of borders for each value">;

/// Values that are sharded across the processes: process r owns the elements [borders[i][r], borders[i][r + 1]) of
/// value i, in row-major order. `rank` is this process.
class Halftone_DividedOp<string mnemonic> : Halftone_CollectiveOp<mnemonic, [
    Halftone_NoGradient<"only optimizers divide values">]> {
  let arguments = (ins Variadic<Halftone_NumberTensor>:$xs, Halftone_OffsetsAttr:$borders, I64Attr:$rank, // word: borders (in bytecode)
                       OptionalAttr<I64Attr>:$order);
  let results = (outs Variadic<Halftone_NumberTensor>:$outputs);
  let assemblyFormat = "`(` $xs `)` `rank` $rank `borders` $borders attr-dict `:` type($xs)";
  let hasVerifier = 1;
}

def Halftone_ReduceScatterOp : Halftone_DividedOp<"reduce_scatter"> {
  let summary = "Reduce-scatter: each process gets its shard of the sum over all processes";
  let description = [{
    Result i holds this process's elements of the sum of operand i, bit-identical to `all_reduce sum`: as a vector, or
    with the operand's shape if the process owns all elements. Process r owns the elements [`borders[i][r]`,
    `borders[i][r + 1]`) of value i, in row-major order; this process is `rank`. With a single process, and in the
    interpreter, the sum is over its own values only.
    Example: `%0 = halftone.reduce_scatter (%a) rank 0 borders [array<i64: 0, 16, 32>] : tensor<8x4xf32>`
  }];
}

def Halftone_AllGatherOp : Halftone_DividedOp<"all_gather"> {
  let summary = "All-gather: every process gets the shards of all processes";
  let description = [{
    Operand i holds this process's elements, [`borders[i][rank]`, `borders[i][rank + 1]`), and result i the elements of
    all processes: as a vector, or with the operand's shape if this process owns all elements. With a single process,
    and in the interpreter, elements of other processes are 0.
    Example: `%0 = halftone.all_gather (%a) rank 0 borders [array<i64: 0, 16, 32>] : tensor<16xf32>`
  }];
}

#endif
