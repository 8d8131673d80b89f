// Loop ops: counted loops over stacked operands, and loops with a condition.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_LOOP
#define HALFTONE_OPS_LOOP
include "Types.td"
include "mlir/Interfaces/LoopLikeInterface.td"

def Halftone_ScanOp : Halftone_Op<"scan", [AttrSizedOperandSegments, Halftone_ComparedWithItsOps,
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands", "getRegionInvocationBounds"]>,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getRegionIterArgs", "getYieldedValuesMutable", "getLoopResults"]>]> {
  let summary = "Counted loop over slices of stacked operands";
  let description = [{
    The body runs `length` times, with 0 <= `length` < 2^31. Its arguments are the step index, an i32 scalar; the
    carries; and the slices of `xs` at the index along the first axis, whose extent is `length`. The initial carries are
    `inits`. The body yields the carries of the next step, with the types of `inits`, followed by the slices of the
    `ys`. The results are the final carries, or `inits` if there is no step, and the `ys`: the slices of all steps,
    stacked along a new first axis. With `reverse` the index runs from `length` - 1 down to 0; slice i of the `ys` is
    still the slice that step i yields.

    The body may capture any value from above. In default numerics the terms that the steps only add to an f32 or f64
    carry may be added in any order (`addedTerms`). Carries and slices of `ys` are values in memory: they are rounded to
    their dtype at every step. The body must not contain collectives. The gradient is a scan in the opposite direction.
    Example:
    ```mlir
    %h, %ys = halftone.scan (%h0) over (%xs) {length = 20 : i64, reverse}
        : (tensor<32x8xf32>, tensor<20x32x8xf32>) -> (tensor<32x8xf32>, tensor<20x32x8xf32>) {
    ^bb0(%i: tensor<i32>, %c: tensor<32x8xf32>, %x: tensor<32x8xf32>):
      %0 = halftone.add %c, %x : tensor<32x8xf32>
      %1 = halftone.tanh %0 : tensor<32x8xf32>
      halftone.yield %1, %0 : tensor<32x8xf32>, tensor<32x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Halftone_Tensor>:$inits, Variadic<Halftone_Tensor>:$xs,
                       I64Attr:$length, UnitAttr:$reverse);
  let results = (outs Variadic<Halftone_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inits `)` (`over` `(` $xs^ `)`)? attr-dict `:` functional-type(operands, results) $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getIndex() { return getBody().getArgument(0); }
    ::mlir::Block::BlockArgListType getCarries() { return getBody().getArguments().slice(1, getInits().size()); }
    ::mlir::Block::BlockArgListType getSlices() { return getBody().getArguments().drop_front(1 + getInits().size()); }
    /// The carries that the last step yields, and the stacks.
    ::mlir::ResultRange getLasts() { return getOutputs().take_front(getInits().size()); }
    ::mlir::ResultRange getYs() { return getOutputs().drop_front(getInits().size()); }
    /// The values that the body yields: the carries of the next step, and slices of the ys.
    ::mlir::OperandRange getNexts() { return getTerminator()->getOperands().take_front(getInits().size()); }
    ::mlir::OperandRange getYSlices() { return getTerminator()->getOperands().drop_front(getInits().size()); }
    ::mlir::Operation *getTerminator() { return getBody().front().getTerminator(); }
  }];
}

def Halftone_WhileOp : Halftone_Op<"while", [Halftone_ComparedWithItsOps,
    Halftone_NoGradient<"its number of steps is unknown at compile time">,
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getRegionIterArgs", "getYieldedValuesMutable", "getLoopResults"]>]> {
  let summary = "Loop with a condition region and a body region";
  let description = [{
    Before each step the first region, the condition, takes the carries and yields an i1 scalar, which is true if there
    is another step. It must not assign variables. The second region, the body, takes the step index, an i32 scalar that
    counts from 0, and the carries; it yields the carries of the next step, with the types of `inits`. The results are
    the carries for which the condition is false, or those after `maximum` steps if `maximum` is given.

    Both regions may capture any value from above. Carries are values in memory: they are rounded to their dtype at
    every step. The regions must not contain collectives.
    Example:
    ```mlir
    %last = halftone.while (%v) {maximum = 100 : i64} : (tensor<f32>) -> tensor<f32> {
    ^bb0(%c: tensor<f32>):
      %go = halftone.compare lt %c, %limit : tensor<f32>
      halftone.yield %go : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>, %c: tensor<f32>):
      %0 = halftone.add %c, %c : tensor<f32>
      halftone.yield %0 : tensor<f32>
    }
    ```
  }];
  let arguments = (ins Variadic<Halftone_Tensor>:$inits,
                       OptionalAttr<I64Attr>:$maximum);
  let results = (outs Variadic<Halftone_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inits `)` attr-dict `:` functional-type($inits, $outputs) $condition `do` $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getIndex() { return getBody().getArgument(0); }
    ::mlir::Block::BlockArgListType getCarries() { return getBody().getArguments().drop_front(); }
    /// The carries of the next step, as the body yields them.
    ::mlir::OperandRange getNexts() { return getBody().front().getTerminator()->getOperands(); }
    /// The i1 scalar that the condition yields: true if there is another step.
    ::mlir::Value getConditionValue() { return getCondition().front().getTerminator()->getOperand(0); }
  }];
}

#endif
