// Kernels and their launches, as outline-kernels leaves them.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_LAUNCH
#define HALFTONE_OPS_LAUNCH
include "Types.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def Halftone_KernelOp : Halftone_Op<"kernel", [IsolatedFromAbove, Symbol, Halftone_StructureHasNoGradient,
    Halftone_ComparedWithItsOps, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "One grid of independent blocks, described by the ops it computes";
  let description = [{
    The body is pure. The symbol is `<kind>_<hash of the text without locations>`, so equal kernels are one. The block
    partition is a function of extents and `spec` only, which a kernel with side reductions (`partial_reduce`) needs: each of
    their tiles is a block's part of what they reduce, a value of the kernel's shape or one of a row kernel's rows.
    Example:
    ```mlir
    halftone.kernel loop @loop_0 (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      %0 = halftone.neg %a : tensor<8xf32>
      halftone.yield %0 : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Halftone_KernelKindAttr:$kind, SymbolNameAttr:$sym_name, TypeAttrOf<AnyType>:$function_type,
                       OptionalAttr<Halftone_BlocksAttr>:$spec);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<BareEnum>($kind) $sym_name custom<KernelType>($function_type) attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Halftone_LaunchOp : Halftone_Op<"launch", [Pure, Halftone_NoGradient<"outline-kernels puts it in, after differentiate">,
    Halftone_ComparedWithItsOps, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel on operands";
  let description = [{
    `site` carries what identity must not depend on: layer paths, source lines, the ops fused (for reports).
    Example: `%1 = halftone.launch @loop_0(%0) {site = "net/dense"} : (tensor<8xf32>) -> tensor<8xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Halftone_AnyTensor>:$operands_,
                       DefaultValuedStrAttr<StrAttr, "">:$site);
  let results = (outs Variadic<Halftone_AnyTensor>:$outputs);
  let assemblyFormat = "$kernel `(` $operands_ `)` attr-dict `:` functional-type($operands_, $outputs)";
}

#endif
