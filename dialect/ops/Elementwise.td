// Elementwise ops. All operands and the result have the same shape and, unless an op says otherwise, the same dtype.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_OPS_ELEMENTWISE
#define HALFTONE_OPS_ELEMENTWISE
include "Types.td"

class Halftone_UnaryOp<string mnemonic, Type type, string meaning, list<Trait> traits = []>
    : Halftone_PureOp<mnemonic, !listconcat([SameOperandsAndResultType,
          DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>, Halftone_LiftOpInterface], traits)> {
  let summary = meaning;
  let description = "Example: `%1 = halftone." # mnemonic # " %0 : tensor<4xf32>`";
  let arguments = (ins type:$x);
  let results = (outs type:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
class Halftone_FloatUnaryOp<string mnemonic, string meaning, int cost = 1, list<Trait> traits = []>
    : Halftone_UnaryOp<mnemonic, Halftone_FloatTensor, meaning,
                       !listconcat([DeclareOpInterfaceMethods<Halftone_GradientOpInterface>], traits)> {
  let extraClassDeclaration = "int64_t getCost() { return " # cost # "; }";
}
/// An op whose scalar body is one op of the math dialect.
class Halftone_MathOp<string mnemonic, string mathOp, string meaning, int cost = 1, list<Trait> traits = []>
    : Halftone_FloatUnaryOp<mnemonic, meaning, cost, traits> {
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange x) {
      return ::mlir::math::}] # mathOp # [{::create(builder, loc, x[0]);
    }
  }];
}
/// A function that compiled code computes to within a few ulps.
class Halftone_TranscendentalOp<string mnemonic, string mathOp, string meaning, int cost = 16>
    : Halftone_MathOp<mnemonic, mathOp, meaning, cost, [Halftone_Inexact]>;

def Halftone_AbsOp : Halftone_UnaryOp<"abs", Halftone_NumberTensor, "|x|; gradient sign(x)",
                                      [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]>;
def Halftone_NegOp : Halftone_UnaryOp<"neg", Halftone_NumberTensor, "-x",
                                      [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]>;
def Halftone_SignOp : Halftone_UnaryOp<"sign", Halftone_NumberTensor, "-1, 0 or 1 (preserves the sign of 0, propagates NaN); gradient 0",
                                       [Halftone_KeepsDtype, Halftone_Decision,
                                        DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]>;
def Halftone_ExpOp : Halftone_TranscendentalOp<"exp", "ExpOp", "e^x">;
def Halftone_Exp2Op : Halftone_TranscendentalOp<"exp2", "Exp2Op", "2^x, exact for whole numbers">;
def Halftone_Expm1Op : Halftone_TranscendentalOp<"expm1", "ExpM1Op", "e^x - 1, accurate near 0">;
def Halftone_LogOp : Halftone_TranscendentalOp<"log", "LogOp", "natural logarithm">;
def Halftone_Log2Op : Halftone_TranscendentalOp<"log2", "Log2Op", "logarithm to the base 2, exact for powers of 2">;
def Halftone_Log10Op : Halftone_TranscendentalOp<"log10", "Log10Op", "logarithm to the base 10">;
def Halftone_Log1pOp : Halftone_TranscendentalOp<"log1p", "Log1pOp", "log(1 + x), accurate near 0">;
def Halftone_SqrtOp : Halftone_MathOp<"sqrt", "SqrtOp", "square root, exactly rounded", 6>;
def Halftone_CbrtOp : Halftone_TranscendentalOp<"cbrt", "CbrtOp", "cube root; gradient inf at 0", 40>;
def Halftone_RsqrtOp : Halftone_FloatUnaryOp<"rsqrt", "1 / sqrt(x)", 6, [Halftone_Inexact]>;
def Halftone_TanhOp : Halftone_TranscendentalOp<"tanh", "TanhOp", "hyperbolic tangent">;
def Halftone_SinhOp : Halftone_TranscendentalOp<"sinh", "SinhOp", "hyperbolic sine, accurate near 0", 40>;
def Halftone_CoshOp : Halftone_TranscendentalOp<"cosh", "CoshOp", "hyperbolic cosine", 40>;
def Halftone_AsinhOp : Halftone_TranscendentalOp<"asinh", "AsinhOp", "inverse hyperbolic sine, accurate near 0", 40>;
def Halftone_AcoshOp : Halftone_TranscendentalOp<"acosh", "AcoshOp", "inverse hyperbolic cosine; NaN below 1, and so is its gradient", 40>;
def Halftone_AtanhOp : Halftone_TranscendentalOp<"atanh", "AtanhOp", "inverse hyperbolic tangent, accurate near 0; NaN outside of [-1, 1]", 40>;
def Halftone_LogisticOp : Halftone_FloatUnaryOp<"logistic", "1 / (1 + e^-x)", 16, [Halftone_Inexact]>;
def Halftone_ErfOp : Halftone_TranscendentalOp<"erf", "ErfOp", "error function">;
def Halftone_SinOp : Halftone_TranscendentalOp<"sin", "SinOp", "sine of radians">;
def Halftone_CosOp : Halftone_TranscendentalOp<"cos", "CosOp", "cosine of radians">;
def Halftone_TanOp : Halftone_TranscendentalOp<"tan", "TanOp", "tangent of radians">;
def Halftone_AsinOp : Halftone_TranscendentalOp<"asin", "AsinOp", "inverse sine in radians; NaN outside of [-1, 1], and so is its gradient", 40>;
def Halftone_AcosOp : Halftone_TranscendentalOp<"acos", "AcosOp", "inverse cosine in radians; NaN outside of [-1, 1], and so is its gradient", 40>;
def Halftone_AtanOp : Halftone_TranscendentalOp<"atan", "AtanOp", "inverse tangent in radians", 40>;
def Halftone_FloorOp : Halftone_MathOp<"floor", "FloorOp", "round toward -inf; gradient 0", 1,
                                       [Halftone_KeepsDtype, Halftone_Decision]>;
def Halftone_CeilOp : Halftone_MathOp<"ceil", "CeilOp", "round toward +inf; gradient 0", 1,
                                      [Halftone_KeepsDtype, Halftone_Decision]>;
def Halftone_RoundEvenOp : Halftone_MathOp<"round_even", "RoundEvenOp", "round to nearest, ties to even; gradient 0", 1,
                                           [Halftone_KeepsDtype, Halftone_Decision]>;
def Halftone_ReluOp : Halftone_UnaryOp<"relu", Halftone_NumberTensor, "max(x, 0), propagates NaN; gradient 1 where the result is above 0, otherwise 0",
                                       [Halftone_KeepsDtype, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]>;
def Halftone_NotOp : Halftone_UnaryOp<"not", Halftone_IntOrBoolTensor, "bitwise complement, logical for bool",
                                      [Halftone_IntegersHaveNoGradient]> {
  let description = "Example: `%1 = halftone.not %0 : tensor<4xi1>`";
}

def Halftone_IsFiniteOp : Halftone_PureOp<"is_finite", [SameOperandsAndResultShape, Halftone_Decision,
    Halftone_IntegersHaveNoGradient,
    DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>, Halftone_LiftOpInterface, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "True unless x is infinite or NaN";
  let description = [{ Example: `%1 = halftone.is_finite %0 : tensor<4xf32>` gives tensor<4xi1>. }];
  let arguments = (ins Halftone_FloatTensor:$x);
  let results = (outs Halftone_BoolTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

class Halftone_BinaryOp<string mnemonic, Type type, string meaning, list<Trait> traits = []>
    : Halftone_PureOp<mnemonic, !listconcat([SameOperandsAndResultType,
          DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>, Halftone_LiftOpInterface], traits)> {
  let summary = meaning;
  let description = "Example: `%2 = halftone." # mnemonic # " %0, %1 : tensor<4xf32>`";
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
/// The cost for floats and, as an expression of the op, for integers.
class Halftone_CostOfType<int ofFloats, string ofIntegers> {
  string cost = "::llvm::isa<::mlir::FloatType>(::mlir::getElementTypeOrSelf(getResult())) ? " # ofFloats # " : " # ofIntegers;
}
/// `cost` is an expression of the op. CPUs divide integers one lane at a time, and an integer power takes one step per
/// bit of the exponent.
class Halftone_ArithmeticBinaryOp<string mnemonic, string meaning, string cost = "1", list<Trait> traits = []>
    : Halftone_BinaryOp<mnemonic, Halftone_NumberTensor, meaning,
                        !listconcat([DeclareOpInterfaceMethods<Halftone_GradientOpInterface>], traits)> {
  let extraClassDeclaration = "int64_t getCost() { return " # cost # "; }";
}

def Halftone_AddOp : Halftone_ArithmeticBinaryOp<"add", "sum; integers wrap">;
def Halftone_SubOp : Halftone_ArithmeticBinaryOp<"sub", "difference; integers wrap">;
def Halftone_MulOp : Halftone_ArithmeticBinaryOp<"mul", "product; integers wrap">;
def Halftone_DivOp : Halftone_ArithmeticBinaryOp<"div", "quotient; integers truncate, and x / 0 is 0", Halftone_CostOfType<6, "48">.cost>;
def Halftone_RemOp : Halftone_ArithmeticBinaryOp<"rem", "remainder with the sign of lhs (fmod); integers: x rem 0 is 0", Halftone_CostOfType<6, "48">.cost, [Halftone_Decision]>;
def Halftone_PowOp : Halftone_ArithmeticBinaryOp<"pow", "lhs^rhs; pow(x, 0) is 1; no gradient to rhs unless lhs > 0; integers wrap, and a negative integer power is 1 / lhs^-rhs rounded toward 0, or 0 for lhs = 0", Halftone_CostOfType<40, "5 * ::mlir::getElementTypeOrSelf(getResult()).getIntOrFloatBitWidth()">.cost, [Halftone_Inexact]>;
def Halftone_MaximumOp : Halftone_ArithmeticBinaryOp<"maximum", "maximum, propagates NaN; a tie gives lhs, and half the gradient to each; no gradient at NaN", "1", [Halftone_KeepsDtype]>;
def Halftone_MinimumOp : Halftone_ArithmeticBinaryOp<"minimum", "minimum, propagates NaN; a tie gives lhs, and half the gradient to each; no gradient at NaN", "1", [Halftone_KeepsDtype]>;

def Halftone_Atan2Op : Halftone_BinaryOp<"atan2", Halftone_FloatTensor,
    "angle in radians of the point (rhs, lhs), in [-pi, pi]; as C's atan2 for zeros and infinities; gradient NaN at (0, 0)",
    [Halftone_Inexact, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>]> {
  let extraClassDeclaration = "int64_t getCost() { return 40; }";
}

class Halftone_BitwiseOp<string mnemonic, Type type, string meaning>
    : Halftone_BinaryOp<mnemonic, type, meaning, [Halftone_IntegersHaveNoGradient]> {
  let description = "Example: `%2 = halftone." # mnemonic # " %0, %1 : tensor<4xui32>`";
}
def Halftone_AndOp : Halftone_BitwiseOp<"and", Halftone_IntOrBoolTensor, "bitwise and">;
def Halftone_OrOp : Halftone_BitwiseOp<"or", Halftone_IntOrBoolTensor, "bitwise or">;
def Halftone_XorOp : Halftone_BitwiseOp<"xor", Halftone_IntOrBoolTensor, "bitwise exclusive or">;
def Halftone_ShlOp : Halftone_BitwiseOp<"shl", Halftone_IntTensor, "shift left; a count of at least the width gives 0">;
def Halftone_ShrOp : Halftone_BitwiseOp<"shr", Halftone_IntTensor, "shift right, arithmetic for signed types; a count of at least the width fills with the sign">;

def Halftone_CompareOp : Halftone_PureOp<"compare", [SameTypeOperands, SameOperandsAndResultShape, Halftone_Decision,
    Halftone_IntegersHaveNoGradient,
    DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>, Halftone_LiftOpInterface, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Comparison; with NaN false, except for `ne`";
  let description = [{ Example: `%2 = halftone.compare lt %0, %1 : tensor<4xf32>` gives tensor<4xi1>. }];
  let arguments = (ins Halftone_ComparePredicateAttr:$predicate, Halftone_ArithmeticTensor:$lhs,
                       Halftone_ArithmeticTensor:$rhs);
  let results = (outs Halftone_BoolTensor:$result);
  let assemblyFormat = "custom<BareEnum>($predicate) $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Halftone_SelectOp : Halftone_PureOp<"select", [SameOperandsAndResultShape, Halftone_KeepsDtype,
    AllTypesMatch<["lhs", "rhs", "result"]>, DeclareOpInterfaceMethods<Halftone_GradientOpInterface>,
    DeclareOpInterfaceMethods<Halftone_ElementwiseOpInterface>, Halftone_LiftOpInterface]> {
  let summary = "Select: lhs where the condition is true, otherwise rhs";
  let description = [{ Example: `%3 = halftone.select %p, %0, %1 : tensor<4xf32>` }];
  let arguments = (ins Halftone_BoolTensor:$condition, Halftone_ArithmeticTensor:$lhs, Halftone_ArithmeticTensor:$rhs);
  let results = (outs Halftone_ArithmeticTensor:$result);
  let assemblyFormat = "$condition `,` $lhs `,` $rhs attr-dict `:` custom<SelectType>(type($condition), type($result))";
}

#endif
