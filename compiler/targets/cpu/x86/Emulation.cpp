// Functions in LLVM IR that emulate instructions.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/x86/Emulation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include <cmath>

namespace halftone::compiler {
using namespace llvm;

namespace {

/// Builds the body of a function, with the same calls for scalars and vectors.
class Body : public IRBuilder<> {
public:
  using IRBuilder<>::IRBuilder;

  /// `type` with elements of `element`.
  static Type *with(Type *type, Type *element) { return VectorType::get(element, cast<VectorType>(type)); }
  Value *bits(Value *x) { return CreateBitCast(x, with(x->getType(), getIntNTy(x->getType()->getScalarSizeInBits()))); }
  Value *floats(Value *x) { return CreateBitCast(x, with(x->getType(), getFloatTy())); }
  static Constant *number(Value *like, uint64_t value) { return ConstantInt::get(like->getType(), value); }
  static Constant *real(Value *like, double value) { return ConstantFP::get(like->getType(), value); }
  Value *call(Intrinsic::ID id, ArrayRef<Value *> operands) {
    return CreateIntrinsic(operands[0]->getType(), id, operands);
  }

  /// Whether f32 numbers, given as bits, are zero or subnormal.
  Value *isSmall(Value *x) { return CreateICmpEQ(CreateAnd(x, number(x, 0x7f800000)), number(x, 0)); }
  /// Replaces such numbers by 0 of the same sign.
  Value *flushed(Value *x) { return CreateSelect(isSmall(x), CreateAnd(x, number(x, 0x80000000)), x); }
};

/// vdpbf16ps, as specified in Intel's manual: adds to the sum first the product of the second members, then that of the
/// first members, each rounded once, to nearest; subnormal operands and sums are flushed to 0.
Value *addPairs(Body &body, ArrayRef<Value *> operands) {
  Value *sums = body.bits(operands[0]);
  const auto groups = [&](Value *pairs) { return body.CreateBitCast(pairs, sums->getType()); };
  Value *a = groups(operands[1]), *b = groups(operands[2]);
  for (const bool second : {true, false}) {
    const auto member = [&](Value *pairs) {
      Value *wide = second ? body.CreateAnd(pairs, Body::number(pairs, 0xffff0000)) : body.CreateShl(pairs, 16);
      return body.floats(body.flushed(wide));
    };
    Value *sum = body.call(Intrinsic::fma, {member(a), member(b), body.floats(body.flushed(sums))});
    sums = body.flushed(body.bits(sum));
  }
  return body.floats(sums);
}

/// vpdpbusd: adds four products of unsigned by signed bytes to each i32, with wraparound.
Value *addFours(Body &body, ArrayRef<Value *> operands) {
  Value *sums = operands[0];
  Value *a = body.CreateBitCast(operands[1], sums->getType()), *b = body.CreateBitCast(operands[2], sums->getType());
  for (uint64_t shift = 0; shift < 32; shift += 8) {
    Value *x = body.CreateAnd(body.CreateLShr(a, shift), Body::number(a, 0xff));
    Value *y = body.CreateAShr(body.CreateShl(b, 24 - shift), 24);
    sums = body.CreateAdd(sums, body.CreateMul(x, y));
  }
  return sums;
}

/// vcvtneps2bf16: rounds to nearest even; subnormal numbers become 0.
Value *roundToBf16(Body &body, ArrayRef<Value *> operands) {
  Value *x = operands[0], *bits = body.flushed(body.bits(x));
  Value *odd = body.CreateAnd(body.CreateLShr(bits, 16), Body::number(bits, 1));
  Value *rounded = body.CreateAdd(bits, body.CreateAdd(odd, Body::number(bits, 0x7fff)));
  Value *quiet = body.CreateOr(bits, Body::number(bits, 0x00400000));
  Value *high = body.CreateLShr(body.CreateSelect(body.CreateFCmpUNO(x, x), quiet, rounded), 16);
  return body.CreateTrunc(high, Body::with(x->getType(), body.getInt16Ty()));
}

/// vfpclassps for the class of subnormal numbers.
Value *areSubnormal(Body &body, ArrayRef<Value *> operands) {
  Value *bits = body.bits(operands[0]);
  Value *size = body.CreateAnd(bits, Body::number(bits, 0x7fffffff));
  return body.CreateAnd(body.isSmall(bits), body.CreateICmpNE(size, Body::number(bits, 0)));
}

/// vpermps: the element of the first operand at each index, given by its low bits.
Value *lookUp(Body &body, ArrayRef<Value *> operands) {
  Value *found = PoisonValue::get(operands[0]->getType());
  const uint64_t count = cast<FixedVectorType>(found->getType())->getNumElements();
  Value *indices = body.CreateAnd(operands[1], Body::number(operands[1], count - 1));
  for (uint64_t i = 0; i < count; ++i)
    found = body.CreateInsertElement(found,
                                     body.CreateExtractElement(operands[0], body.CreateExtractElement(indices, i)), i);
  return found;
}

/// vscalefps and vscalefpd on all lanes: x * 2^floor(n) for finite n. The product is rounded once: it is computed in
/// f64, or in steps of which only the last may round.
Value *scale(Body &body, ArrayRef<Value *> operands) {
  Value *x = operands[0], *n = operands[1], *isNan = body.CreateFCmpUNO(n, n);
  Type *wide = Body::with(x->getType(), body.getDoubleTy()), *whole = Body::with(x->getType(), body.getInt64Ty());
  const bool single = x->getType() != wide;
  const double maxExponent = single ? 600 : 2200;
  Value *floor = body.call(Intrinsic::floor, {n});
  floor = body.call(Intrinsic::minnum,
                    {body.call(Intrinsic::maxnum, {floor, Body::real(n, -maxExponent)}), Body::real(n, maxExponent)});
  Value *left = body.CreateFPToSI(floor, whole), *result = single ? body.CreateFPExt(x, wide) : x;
  const auto step = [&](Value *due, int64_t exponent, double factor) {
    Value *by = body.CreateSelect(due, Body::real(result, factor), Body::real(result, 1));
    result = body.CreateFMul(result, by);
    left = body.CreateSub(left, body.CreateSelect(due, Body::number(left, uint64_t(exponent)), Body::number(left, 0)));
  };
  constexpr int64_t largest = 1023, smallest = -1022, exact = smallest + 53;
  for (int times = 0; !single && times < 2; ++times) {
    step(body.CreateICmpSGT(left, Body::number(left, largest)), largest, 0x1p1023);
    step(body.CreateICmpSLT(left, Body::number(left, uint64_t(smallest))), exact, std::ldexp(1.0, int(exact)));
  }
  Value *power = body.CreateShl(body.CreateAdd(left, Body::number(left, 1023)), 52);
  result = body.CreateFMul(result, body.CreateBitCast(power, wide));
  result = single ? body.CreateFPTrunc(result, x->getType()) : result;
  return body.CreateSelect(isNan, n, result);
}

struct Instruction {
  StringRef intrinsic;
  Value *(*write)(Body &body, ArrayRef<Value *> operands);
};
constexpr Instruction instructions[] = {
    {"llvm.x86.avx512bf16.dpbf16ps.512", addPairs},
    {"llvm.x86.avx512.vpdpbusd.512", addFours},
    {"llvm.x86.avx512bf16.cvtneps2bf16.512", roundToBf16},
    {"llvm.x86.avx512.fpclass.ps.512", areSubnormal},
    {"llvm.x86.avx512.permvar.sf.512", lookUp},
    {"llvm.x86.avx512.mask.scalef.ps.512", scale},
    {"llvm.x86.avx512.mask.scalef.pd.512", scale},
};

/// bf16 is passed as 16-bit integers, which every CPU supports in vectors.
Type *passed(Type *type) {
  return type->getScalarType()->isBFloatTy() ? Body::with(type, Type::getInt16Ty(type->getContext())) : type;
}

Function *functionFor(Function &intrinsic, const Instruction &instruction) {
  FunctionType *type = intrinsic.getFunctionType();
  const SmallVector<Type *> operands = map_to_vector(type->params(), passed);
  auto *function =
      Function::Create(FunctionType::get(passed(type->getReturnType()), operands, false), GlobalValue::InternalLinkage,
                       "emulated." + intrinsic.getName(), intrinsic.getParent());
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  Body body(BasicBlock::Create(function->getContext(), "", function));
  SmallVector<Value *> arguments;
  for (Argument &argument : function->args())
    arguments.push_back(&argument);
  body.CreateRet(instruction.write(body, arguments));
  return function;
}

} // namespace

void emulateInstructions(Module &module) {
  for (const Instruction &instruction : instructions) {
    Function *intrinsic = module.getFunction(instruction.intrinsic);
    if (!intrinsic)
      continue;
    Function *function = functionFor(*intrinsic, instruction);
    for (User *user : make_early_inc_range(intrinsic->users())) {
      auto *call = cast<CallInst>(user);
      IRBuilder<> builder(call);
      SmallVector<Value *> operands;
      for (auto [operand, argument] : zip(call->args(), function->args()))
        operands.push_back(builder.CreateBitCast(operand, argument.getType()));
      Value *result = builder.CreateBitCast(builder.CreateCall(function, operands), call->getType());
      call->replaceAllUsesWith(result);
      call->eraseFromParent();
    }
    intrinsic->eraseFromParent();
  }
}

} // namespace halftone::compiler
