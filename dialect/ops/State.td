// State ops: variables, reads and writes. lift-variables removes all but the symbols.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_STATE
#define HALFTONE_OPS_STATE
include "Types.td"

def Halftone_VariableOp : Halftone_Op<"variable", [Symbol, Halftone_StructureHasNoGradient, Halftone_ComparedWithItsOps]> {
  let summary = "Variable: a symbol without a value in the IR";
  let description = [{
    `path` is the variable's structural path. `autocast` variables are read in a layer's compute dtype. After
    lift-variables a function argument or result that represents a variable has the attribute `halftone.variable =
    @name`.
    Example: `halftone.variable @w : tensor<4x8xf32> {path = "net/dense/kernel", role = #halftone<role weight>}`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Halftone_Tensor>:$type,
                       DefaultValuedStrAttr<StrAttr, "">:$path,
                       DefaultValuedAttr<Halftone_VariableRoleAttr, "VariableRole::weight">:$role,
                       DefaultValuedAttr<BoolAttr, "true">:$trainable, DefaultValuedAttr<BoolAttr, "true">:$autocast,
                       DefaultValuedAttr<Halftone_UpdateKindAttr, "UpdateKind::gradient">:$update);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def Halftone_ReadOp : Halftone_Op<"read", [Halftone_NoGradient<"a gradient names the variable">, Halftone_ComparedWithItsOps,
                                           DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                           MemoryEffects<[MemRead]>]> {
  let summary = "Read of the current value of a variable";
  let description = [{
    The result has the variable's dtype or another float dtype; in the latter case `insert-casts` inserts a cast after
    the read.
    Example: `%w = halftone.read @w : tensor<4x8xf16>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Halftone_Tensor:$value);
  let assemblyFormat = "$variable attr-dict `:` type($value)";
}

def Halftone_AssignOp : Halftone_Op<"assign", [Halftone_NoGradient<"it gives no value">, Halftone_ComparedWithItsOps,
                                               DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                               MemoryEffects<[MemWrite]>]> {
  let summary = "Assignment of a new value, of the same type, to a variable";
  let description = [{ Example: `halftone.assign @w, %w1 : tensor<4x8xf32>` }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Halftone_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def Halftone_ShadowOp : Halftone_Op<"shadow", [IsolatedFromAbove, Symbol, Halftone_StructureHasNoGradient,
                                               Halftone_ComparedWithItsOps, SingleBlockImplicitTerminator<"YieldOp">,
                                               DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Shadow: a pure function of one variable whose value is cached with the variable";
  let description = [{
    From hoist-shadows on, an argument of @main with `halftone.shadow = @s` is the function of the variable's value on
    entry. A result with this attribute is the function of the variable's new value, and is computed together with it.
    The region yields one value. A shadow may be a function of another shadow that precedes it, and so of that shadow's
    variable.
    Example:
    ```mlir
    halftone.shadow @w_bf16 of @w {
    ^bb0(%v: tensor<4x8xf32>):
      %0 = halftone.cast %v {origin = "variable read"} : tensor<4x8xf32> to tensor<4x8xbf16>
      halftone.yield %0 : tensor<4x8xbf16>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$source);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `of` $source attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of the cached value.
    ::mlir::RankedTensorType getType();
  }];
}

#endif
