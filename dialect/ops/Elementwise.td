// Elementwise ops. All operands and the result have one shape and, unless an op says otherwise, one dtype.
// SPDX-License-Identifier: Apache-2.0
// Integers and bools carry no derivative, so ops that only take or give them have no gradient.
#ifndef HALFTONE_OPS_ELEMENTWISE
#define HALFTONE_OPS_ELEMENTWISE
include "Types.td"

class Halftone_UnaryOp<string mnemonic, Type type, string meaning, list<Trait> traits = []>
    : Halftone_PureOp<mnemonic, !listconcat([SameOperandsAndResultType,
          DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>], traits)> {
  let summary = meaning;
  let description = "Example: `%1 = halftone." # mnemonic # " %0 : tensor<4xf32>`";
  let arguments = (ins type:$x);
  let results = (outs type:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
class Halftone_FloatUnaryOp<string mnemonic, string meaning>
    : Halftone_UnaryOp<mnemonic, Halftone_FloatTensor, meaning,
                       [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]>;

def Halftone_AbsOp : Halftone_UnaryOp<"abs", Halftone_NumberTensor, "|x|; gradient sign(x)",
                                      [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]>;
def Halftone_NegOp : Halftone_UnaryOp<"neg", Halftone_NumberTensor, "-x",
                                      [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]>;
def Halftone_SignOp : Halftone_UnaryOp<"sign", Halftone_NumberTensor, "-1, 0 or 1 (0 keeps its sign, NaN stays NaN); gradient 0",
                                       [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]>;
def Halftone_ExpOp : Halftone_FloatUnaryOp<"exp", "e^x">;
def Halftone_Expm1Op : Halftone_FloatUnaryOp<"expm1", "e^x - 1, accurate near 0">;
def Halftone_LogOp : Halftone_FloatUnaryOp<"log", "natural logarithm">;
def Halftone_Log1pOp : Halftone_FloatUnaryOp<"log1p", "log(1 + x), accurate near 0">;
def Halftone_SqrtOp : Halftone_FloatUnaryOp<"sqrt", "square root, exactly rounded">;
def Halftone_RsqrtOp : Halftone_FloatUnaryOp<"rsqrt", "1 / sqrt(x)">;
def Halftone_TanhOp : Halftone_FloatUnaryOp<"tanh", "hyperbolic tangent">;
def Halftone_LogisticOp : Halftone_FloatUnaryOp<"logistic", "1 / (1 + e^-x)">;
def Halftone_ErfOp : Halftone_FloatUnaryOp<"erf", "error function">;
def Halftone_SinOp : Halftone_FloatUnaryOp<"sin", "sine of radians">;
def Halftone_CosOp : Halftone_FloatUnaryOp<"cos", "cosine of radians">;
def Halftone_FloorOp : Halftone_FloatUnaryOp<"floor", "round toward -inf; gradient 0">;
def Halftone_CeilOp : Halftone_FloatUnaryOp<"ceil", "round toward +inf; gradient 0">;
def Halftone_RoundEvenOp : Halftone_FloatUnaryOp<"round_even", "round to nearest, ties to even; gradient 0">;
def Halftone_ReluOp : Halftone_UnaryOp<"relu", Halftone_NumberTensor, "max(x, 0), NaN stays NaN; gradient 1 where the result is above 0, else 0",
                                       [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]>;
def Halftone_NotOp : Halftone_UnaryOp<"not", Halftone_IntOrBoolTensor, "bitwise complement, logical for bool"> {
  let description = "Example: `%1 = halftone.not %0 : tensor<4xi1>`";
}

def Halftone_IsFiniteOp : Halftone_PureOp<"is_finite", [SameOperandsAndResultShape,
    DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Neither infinite nor NaN";
  let description = [{ Example: `%1 = halftone.is_finite %0 : tensor<4xf32>` gives tensor<4xi1>. }];
  let arguments = (ins Halftone_FloatTensor:$x);
  let results = (outs Halftone_BoolTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

class Halftone_BinaryOp<string mnemonic, Type type, string meaning, list<Trait> traits = []>
    : Halftone_PureOp<mnemonic, !listconcat([SameOperandsAndResultType,
          DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>], traits)> {
  let summary = meaning;
  let description = "Example: `%2 = halftone." # mnemonic # " %0, %1 : tensor<4xf32>`";
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
class Halftone_ArithmeticBinaryOp<string mnemonic, string meaning>
    : Halftone_BinaryOp<mnemonic, Halftone_NumberTensor, meaning,
                        [DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]>;

def Halftone_AddOp : Halftone_ArithmeticBinaryOp<"add", "sum; integers wrap">;
def Halftone_SubOp : Halftone_ArithmeticBinaryOp<"sub", "difference; integers wrap">;
def Halftone_MulOp : Halftone_ArithmeticBinaryOp<"mul", "product; integers wrap">;
def Halftone_DivOp : Halftone_ArithmeticBinaryOp<"div", "quotient; integers truncate, and x / 0 is 0">;
def Halftone_RemOp : Halftone_ArithmeticBinaryOp<"rem", "remainder with the sign of lhs (fmod); integers: x rem 0 is 0">;
def Halftone_PowOp : Halftone_ArithmeticBinaryOp<"pow", "lhs^rhs; pow(x, 0) is 1; no gradient to rhs where lhs is not above 0; integers wrap, and a negative power of them is 1 / lhs^-rhs toward 0, of 0 it is 0">;
def Halftone_MaximumOp : Halftone_ArithmeticBinaryOp<"maximum", "larger; NaN wins; a tie gives lhs, and half its gradient to each; NaN has none">;
def Halftone_MinimumOp : Halftone_ArithmeticBinaryOp<"minimum", "smaller; NaN wins; a tie gives lhs, and half its gradient to each; NaN has none">;

class Halftone_BitwiseOp<string mnemonic, Type type, string meaning> : Halftone_BinaryOp<mnemonic, type, meaning> {
  let description = "Example: `%2 = halftone." # mnemonic # " %0, %1 : tensor<4xui32>`";
}
def Halftone_AndOp : Halftone_BitwiseOp<"and", Halftone_IntOrBoolTensor, "bitwise and">;
def Halftone_OrOp : Halftone_BitwiseOp<"or", Halftone_IntOrBoolTensor, "bitwise or">;
def Halftone_XorOp : Halftone_BitwiseOp<"xor", Halftone_IntOrBoolTensor, "bitwise exclusive or">;
def Halftone_ShlOp : Halftone_BitwiseOp<"shl", Halftone_IntTensor, "shift left; a count of the width or more gives 0">;
def Halftone_ShrOp : Halftone_BitwiseOp<"shr", Halftone_IntTensor, "shift right, arithmetic for signed types; a count of the width or more fills with the sign">;

def Halftone_CompareOp : Halftone_PureOp<"compare", [SameTypeOperands, SameOperandsAndResultShape,
    DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Comparison; any comparison with NaN but `ne` is false";
  let description = [{ Example: `%2 = halftone.compare lt %0, %1 : tensor<4xf32>` gives tensor<4xi1>. }];
  let arguments = (ins Halftone_ComparePredicateAttr:$predicate, Halftone_ArithmeticTensor:$lhs,
                       Halftone_ArithmeticTensor:$rhs);
  let results = (outs Halftone_BoolTensor:$result);
  let assemblyFormat = "custom<BareEnum>($predicate) $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Halftone_SelectOp : Halftone_PureOp<"select", [SameOperandsAndResultShape,
    AllTypesMatch<["lhs", "rhs", "result"]>, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>,
    DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>]> {
  let summary = "lhs where the condition holds, else rhs";
  let description = [{ Example: `%3 = halftone.select %p, %0, %1 : tensor<4xf32>` }];
  let arguments = (ins Halftone_BoolTensor:$condition, Halftone_ArithmeticTensor:$lhs, Halftone_ArithmeticTensor:$rhs);
  let results = (outs Halftone_ArithmeticTensor:$result);
  let assemblyFormat = "$condition `,` $lhs `,` $rhs attr-dict `:` custom<SelectType>(type($condition), type($result))";
}

#endif
