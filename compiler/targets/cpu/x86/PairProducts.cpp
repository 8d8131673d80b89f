// Products of pairs of bf16.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/x86/PairProducts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

Emitted multiplyPairs(CodeBuilder &builder, Emitted sums, Emitted a, Emitted b) {
  const int64_t lanes = cast<VectorType>(sums.type()).getNumElements();
  const VectorType type = VectorType::get(2 * lanes, builder.getBF16Type());
  const auto pairs = [&](Emitted x) { return vector::BitCastOp::create(builder, type, x.value()).getResult(); };
  const SmallVector<Value> operands{sums.value(), pairs(a), pairs(b)};
  const StringAttr name = builder.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512");
  return builder.wrap(LLVM::CallIntrinsicOp::create(builder, sums.type(), name, operands).getResult(0));
}

Emitted multiplyPairsWidened(CodeBuilder &builder, Emitted sums, Emitted a, Emitted b) {
  const auto first = [](Emitted pairs) { return (pairs.bits() << 16).bitsAs(pairs.f32()); };
  const auto second = [](Emitted pairs) { return (pairs.bits() & int64_t(0xffff0000)).bitsAs(pairs.f32()); };
  const auto fused = [&](Emitted x, Emitted y, Emitted sum) {
    return builder.wrap(math::FmaOp::create(builder, x.value(), y.value(), sum.value()));
  };
  return fused(first(a), first(b), fused(second(a), second(b), sums));
}

} // namespace halftone::compiler
