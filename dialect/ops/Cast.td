// The cast, and ops without tensor operands.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_CAST
#define HALFTONE_OPS_CAST
include "Types.td"

def Halftone_CastOp : Halftone_PureOp<"cast", [SameOperandsAndResultShape,
    DeclareOpInterfaceMethods<Halftone_GradientOpInterface>,
    DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>, Halftone_LiftOpInterface]> {
  let summary = "Cast to another dtype, rounding to nearest even";
  let description = [{
    The value is rounded once, even from f64 and from wide integers. Float to integer truncates, saturates, and maps NaN
    to 0; integer to integer wraps; any type to bool is `!= 0`. The gradient of a cast between floats is a rounding cast
    back. With `saturate` a float result is clamped to the largest finite value instead of becoming infinite. A cast to
    the same dtype is legal: with kind `rounding` it marks where a value that was kept wider must be rounded. A rounding
    cast is never removed. `origin` is the reason for the cast in the cast ledger: "layer input", "variable read",
    "layer output", "loss", "user", ...
    Example: `%1 = halftone.cast %0 {origin = "layer input"} : tensor<4xf32> to tensor<4xf16>`
  }];
  let arguments = (ins Halftone_AnyTensor:$x, DefaultValuedAttr<Halftone_CastKindAttr, "CastKind::rounding">:$kind,
                       DefaultValuedStrAttr<StrAttr, "">:$origin, DefaultValuedAttr<BoolAttr, "false">:$saturate);
  let results = (outs Halftone_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let extraClassDeclaration = "bool isDecision();";
}

def Halftone_ConstantOp : Halftone_PureOp<"constant", [ConstantLike, Halftone_NoGradient<"no operand">, AllTypesMatch<["value", "result"]>]> {
  let summary = "A constant: a splat, or at most 64 elements";
  let description = [{ Example: `%0 = halftone.constant dense<0.5> : tensor<4xf32>` }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Halftone_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = "bool isAlwaysCloned();";
}

def Halftone_IotaOp : Halftone_PureOp<"iota", [Halftone_AlwaysCloned, Halftone_NoGradient<"no operand">]> {
  let summary = "Iota: the index along one axis";
  let description = [{ Example: `%0 = halftone.iota {axis = 1 : i64} : tensor<8x10xi32>` }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Halftone_NumberTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = "int64_t getCost() { return 2; }";
}

def Halftone_RandomBitsOp : Halftone_PureOp<"random_bits", [Halftone_IntegersHaveNoGradient]> {
  let summary = "Random bits: Philox4x32-10 at each linear index";
  let description = [{
    Element i (row-major) is word i mod 4 of Philox4x32-10 with the counter (low 32 bits of i / 4, high 32 bits of i / 4,
    0, 0) and the key (key[0], key[1]). The op is stateless: the same key gives the same bits on every device.
    Example: `%0 = halftone.random_bits %key : tensor<2xui32> -> tensor<8x10xui32>`
  }];
  let arguments = (ins RankedTensorOf<[UI32]>:$key);
  let results = (outs StaticShapeTensorOf<[UI32]>:$result);
  let assemblyFormat = "$key attr-dict `:` type($key) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = "int64_t getCost() { return 60; }";
}

#endif
