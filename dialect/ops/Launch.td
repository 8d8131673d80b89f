// Kernels and their launches.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_LAUNCH
#define HALFTONE_OPS_LAUNCH
include "Types.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def Halftone_KernelOp : Halftone_Op<"kernel", [IsolatedFromAbove, Symbol, Halftone_StructureHasNoGradient,
    Halftone_ComparedWithItsOps, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Kernel: a grid of independent blocks, defined by the ops that it computes";
  let description = [{
    The body is pure. After outline-kernels the symbol is `<kind>_<hash of the text without locations>`, so equal
    kernels are merged. The partition into blocks depends only on the extents and on `spec`. A kernel with partial
    reductions (`partial_reduce`) needs a `spec`: each tile of a partial reduction is one block's part of a value, which
    has the kernel's shape or one element per row of a row kernel.
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
  let summary = "Launch of a kernel on operands";
  let description = [{
    `site` holds the information for reports that is not part of the kernel's identity: layer paths, source lines and
    the fused ops.
    Example: `%1 = halftone.launch @loop_0(%0) {site = "net/dense"} : (tensor<8xf32>) -> tensor<8xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Halftone_AnyTensor>:$operands_,
                       DefaultValuedStrAttr<StrAttr, "">:$site);
  let results = (outs Variadic<Halftone_AnyTensor>:$outputs);
  let assemblyFormat = "$kernel `(` $operands_ `)` attr-dict `:` functional-type($operands_, $outputs)";
}

#endif
