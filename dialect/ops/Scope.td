// Scope ops: layers, conditional regions, gradients, terminators.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_SCOPE
#define HALFTONE_OPS_SCOPE
include "Types.td"

def Halftone_LayerOp : Halftone_Op<"layer", [Halftone_NoGradient<"inline-layers removes it before differentiate">,
    Halftone_ComparedWithItsOps, IsolatedFromAbove, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "A call of a layer under its dtype policy";
  let description = [{
    Legal only in stage graph. The dtypes of a float operand and its block argument may differ, since the policy
    prescribes the compute dtype; `insert-casts` makes each difference a cast. Results are rounded to their dtype,
    forward and backward. `path` is the layer's structural path, `call` counts the calls of a shared layer, and `rule`
    is the key of the policy map that applies ("" if none does). With `rematerialize`, a training step keeps the layer's
    inputs and recomputes its other values in the backward pass; layers inside are part of it.
    Example:
    ```mlir
    %y = halftone.layer "net/dense" policy "mixed_float16" (%x) {call = 0 : i64, layer_class = "Dense"}
        : (tensor<8x4xf32>) -> tensor<8x4xf16> {
    ^bb0(%a: tensor<8x4xf16>):
      %0 = halftone.tanh %a : tensor<8x4xf16>
      halftone.yield %0 : tensor<8x4xf16>
    }
    ```
  }];
  let arguments = (ins StrAttr:$path, StrAttr:$policy, Variadic<Halftone_Tensor>:$inputs,
                       DefaultValuedAttr<I64Attr, "0">:$call, DefaultValuedStrAttr<StrAttr, "">:$layer_class,
                       DefaultValuedStrAttr<StrAttr, "">:$rule,
                       UnitAttr:$rematerialize);
  let results = (outs Variadic<Halftone_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$path `policy` $policy `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) $body";
  let hasVerifier = 1;
}

def Halftone_YieldOp : Halftone_Op<"yield", [Pure, Halftone_StructureHasNoGradient, Halftone_ComparedWithItsOps, Terminator,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>,
    ParentOneOf<["LayerOp", "WhenOp", "ScanOp", "WhileOp", "KernelOp", "ShadowOp", "CustomGradientOp"]>]> {
  let summary = "Region terminator that yields the results";
  let description = [{
    Example: `halftone.yield %0 : tensor<f32>`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Halftone_WhenOp : Halftone_Op<"when", [Halftone_ComparedWithItsOps, SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorRegions", "getRegionInvocationBounds"]>]> {
  let summary = "Conditional: runs one of two regions, selected by a condition on the device";
  let description = [{
    Both regions yield the types of the results. In plans the launches of the regions are predicated on the condition;
    there is no elementwise select, and the host does not wait. The gradient is a `when` on the same condition.
    Example:
    ```mlir
    %w1 = halftone.when %finite : (tensor<4xf32>) {
      %0 = halftone.sub %w, %d : tensor<4xf32>
      halftone.yield %0 : tensor<4xf32>
    } else {
      halftone.yield %w : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Halftone_Predicate:$condition);
  let results = (outs Variadic<Halftone_AnyTensor>:$outputs);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = "$condition attr-dict `:` custom<TypesInParens>(type($outputs)) $then_region `else` $else_region";
  let hasVerifier = 1;
}

def Halftone_GradientOp : Halftone_Op<"gradient", [Pure,
    Halftone_NoGradient<"differentiate replaces it by ops that have their own">, Halftone_ComparedWithItsOps,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Derivatives of a scalar with respect to variables and values";
  let description = [{
    `differentiate` resolves this op. `y` is a scalar float. The results are, in order, the derivatives with respect to
    the variables named in `of` and to the values `xs`, with their types; a derivative is zero if `y` does not depend on
    its variable or value. Each `read` of a variable is a leaf: the derivative with respect to the variable is taken at
    the values of its reads, and is the sum over all reads on which `y` depends. It does not flow through an `assign`,
    neither to earlier values of the variable nor to the operands of the assigned value. Two updates in one function are
    therefore equivalent to two functions with one update each.
    Example:
    ```mlir
    %dw = halftone.gradient %loss of [@w] : tensor<f32> -> tensor<4xf32>
    %dx = halftone.gradient %loss at (%x : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Halftone_FloatTensor:$y, Variadic<Halftone_FloatTensor>:$xs,
                       FlatSymbolRefArrayAttr:$of);
  let results = (outs Variadic<Halftone_FloatTensor>:$gradients);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Halftone_CustomGradientOp : Halftone_Op<"custom_gradient", [Pure, Halftone_ComparedWithItsOps,
    DeclareOpInterfaceMethods<Halftone_GradientOpInterface, ["buildGradient", "reaches"]>,
    SingleBlockImplicitTerminator<"YieldOp">, AllTypesMatch<["y", "result"]>]> {
  let summary = "Custom gradient: the value y, with the cotangents of the values xs computed by a region";
  let description = [{
    The region takes the cotangent of the result, and yields one cotangent per value of xs, with its type; it may
    capture any value from above. No cotangent flows to y itself. `differentiate` replaces the result by y once all
    gradients are resolved.
    Example:
    ```mlir
    %r = halftone.custom_gradient %y at (%x : tensor<4xf32>) : tensor<4xf32> {
    ^bb0(%dy: tensor<4xf32>):
      %0 = halftone.neg %dy : tensor<4xf32>
      halftone.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Halftone_FloatTensor:$y, Variadic<Halftone_FloatTensor>:$xs);
  let results = (outs Halftone_FloatTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$y `at` ` ` `(` $xs `:` type($xs) `)` attr-dict `:` type($y) $body";
  let hasVerifier = 1;
}

def Halftone_StopGradientOp : Halftone_PureOp<"stop_gradient", [Halftone_KeepsDtype,
    Halftone_NoGradient<"it is there to stop one">, SameOperandsAndResultType]> {
  let summary = "Gradient barrier: an identity through which no cotangent flows";
  let description = [{
    With `variable`, the result is a value that was assigned to the variable, as a later `read` returns it;
    `lift-variables` creates such ops.
    Example: `%1 = halftone.stop_gradient %0 : tensor<4xf32>`
  }];
  let arguments = (ins Halftone_Tensor:$x, OptionalAttr<FlatSymbolRefAttr>:$variable);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Halftone_HoldOp : Halftone_PureOp<"hold", [Halftone_KeepsDtype, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]> {
  let summary = "Optimization barrier: an identity across which CSE and fusion do not act";
  let description = [{
    `differentiate` inserts it before ops that the backward pass recomputes, so that they are not merged with the
    forward ops. `form-kernels` stores its operand and removes it.
    Example: `%1 = halftone.hold %0 : tensor<4xf32>`
  }];
  let arguments = (ins Halftone_Tensor:$x);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasFolder = 1;
}

#endif
