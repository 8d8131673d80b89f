// Math instructions for 512-bit vectors, as calls of LLVM's intrinsics.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/x86/X86Math.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

Emitted call(ImplicitLocOpBuilder &builder, StringRef intrinsic, Type result, ValueRange operands) {
  auto op =
      LLVM::CallIntrinsicOp::create(builder, builder.getLoc(), result, builder.getStringAttr(intrinsic), operands);
  return {builder, op.getResult(0)};
}

class X86Math : public MathInstructions {
public:
  explicit X86Math(bool hasBf16) : hasBf16_(hasBf16) {}

  bool take(Emitted a) const override {
    auto vector = dyn_cast<VectorType>(a.type());
    return vector && vector.getNumElements() * a.width() == 512;
  }

  Emitted scale(Emitted a, Emitted n) const override {
    ImplicitLocOpBuilder &builder = a.builder();
    const bool single = a.width() == 32;
    Value lanes =
        arith::ConstantOp::create(builder, builder.getIntegerAttr(builder.getIntegerType(single ? 16 : 8), -1));
    Value rounding = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(4)); // the current rounding mode
    return call(builder, single ? "llvm.x86.avx512.mask.scalef.ps.512" : "llvm.x86.avx512.mask.scalef.pd.512", a.type(),
                {a.value(), n.value(), a.value(), lanes, rounding});
  }

  Emitted lookUp(ArrayRef<float> table, Emitted indices) const override {
    ImplicitLocOpBuilder &builder = indices.builder();
    const auto type = cast<VectorType>(indices.typeOf(indices.f32()));
    Value elements = arith::ConstantOp::create(builder, DenseElementsAttr::get(type, table));
    return call(builder, "llvm.x86.avx512.permvar.sf.512", type, {elements, indices.value()});
  }

  bool roundsToBf16() const override { return hasBf16_; }

  Emitted isSubnormal(Emitted a) const override {
    ImplicitLocOpBuilder &builder = a.builder();
    constexpr int32_t subnormal = 0x20; // a class of VFPCLASSPS
    Value classes = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(subnormal));
    return call(builder, "llvm.x86.avx512.fpclass.ps.512", a.typeOf(builder.getI1Type()), {a.value(), classes});
  }

  Emitted toBf16(Emitted a) const override {
    ImplicitLocOpBuilder &builder = a.builder();
    return call(builder, "llvm.x86.avx512bf16.cvtneps2bf16.512", a.typeOf(builder.getBF16Type()), a.value());
  }

private:
  const bool hasBf16_;
};

} // namespace

bool compiler::hasAvx512(const llvm::MCSubtargetInfo &features) {
  return features.checkFeatures("+avx512f,+avx512bw,+avx512vl,+avx512dq");
}

const MathInstructions &compiler::x86MathInstructions(bool hasBf16) {
  static auto &avx512 = *new X86Math(false);
  static auto &avx512Bf16 = *new X86Math(true);
  return hasBf16 ? avx512Bf16 : avx512;
}
