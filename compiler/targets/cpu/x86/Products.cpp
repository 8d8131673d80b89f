// The table of x86 products: of pairs of bf16 and groups of four i8, by vectors and by AMX tiles.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/Products.h"
#include "compiler/targets/cpu/x86/X86Math.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/MC/MCSubtargetInfo.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

/// Returns true if the CPU has all of `features` in addition to AVX-512, whose vectors panels hold.
bool hasAvx512And(const llvm::MCSubtargetInfo &all, const std::string &features) {
  return hasAvx512(all) && all.checkFeatures(features);
}

bool areAll(const MatmulTraits &traits, DType dtype, DType accumulator) {
  return traits.lhs == dtype && traits.rhs == dtype && traits.accumulator == accumulator && !traits.splitDepth;
}

/// areAll() for bf16, where K may be several dims if a vector of pairs lies in one run of the last dim.
bool arePairsInRuns(const CpuTarget &target, MatmulTraits traits) {
  traits.splitDepth &= !holdsWholeVectors(target, traits.depthRun, traits.lhs);
  return areAll(traits, DType::bfloat16, DType::float32);
}

/// The speed of vdpbf16ps relative to an f32 multiply-add depends on the CPU:
///   znver4, znver5                                      equal: twice the products
///   cooperlake, sapphirerapids and their successors     half: no gain over elements widened during packing
/// Other CPUs are treated like the latter.
bool multipliesPairsFast(const CpuTarget &target) {
  const std::string &processor = target.emulated.empty() ? target.processor : target.emulated;
  return processor == "znver4" || processor == "znver5";
}

/// Reading a weight in pairs takes half the time of reading it in f32, which dominates with few rows. Panels of pairs
/// are also available for tiles.
bool readsPairsFast(const CpuTarget &target, const MatmulTraits &traits) {
  return multipliesPairsFast(target) || (traits.panels && findProduct(target, cpu::Product::tdpbf16ps));
}

/// Calls LLVM's intrinsic of this name with the vectors of `sums`, and both factors as vectors of `count` elements per
/// lane.
Emitted callProduct(CodeBuilder &code, StringRef intrinsic, Emitted sums, Type element, int64_t count, Emitted first,
                    Emitted second) {
  const VectorType type = VectorType::get(count * cast<VectorType>(sums.type()).getNumElements(), element);
  const auto members = [&](Emitted groups) {
    return vector::BitCastOp::create(code, type, groups.value()).getResult();
  };
  const SmallVector<Value> operands{sums.value(), members(first), members(second)};
  const StringAttr name = code.getStringAttr(intrinsic);
  return code.wrap(LLVM::CallIntrinsicOp::create(code, sums.type(), name, operands).getResult(0));
}

Emitted multiplyPairs(CodeBuilder &code, Emitted sums, Emitted a, Emitted b) {
  return callProduct(code, "llvm.x86.avx512bf16.dpbf16ps.512", sums, code.getBF16Type(), 2, a, b);
}

/// Multiplies unsigned by signed elements.
Emitted multiplyFours(CodeBuilder &code, Emitted sums, Emitted a, Emitted b) {
  return callProduct(code, "llvm.x86.avx512.vpdpbusd.512", sums, code.getI8Type(), 4, b, a);
}

Emitted multiplyPairsWidened(CodeBuilder &code, Emitted sums, Emitted a, Emitted b) {
  const auto fused = [&](Emitted x, Emitted y, Emitted sum) {
    return code.wrap(math::FmaOp::create(code, x.value(), y.value(), sum.value()));
  };
  return fused(firstOfPairs(a), firstOfPairs(b), fused(secondOfPairs(a), secondOfPairs(b), sums));
}

/// In order of preference. With few rows, packing pairs takes longer than multiplication in pairs saves; operands in
/// panels are not packed.
constexpr ProductRow rows[] = {
    {
        .product = cpu::Product::tdpbf16ps,
        .group = 2,
        .exact = false,
        .takesIntegers = false,
        .signedOperands = true,
        .isAvailable = [](const llvm::MCSubtargetInfo &all) { return hasAvx512And(all, "+amx-tile,+amx-bf16"); },
        .isProfitable =
            [](const CpuTarget &, const MatmulTraits &traits) {
              return traits.rows > 4 && areAll(traits, DType::bfloat16, DType::float32);
            },
        .multiply = nullptr,
        .multiplyWidened = multiplyPairsWidened,
    },
    {
        .product = cpu::Product::tdpbssd,
        .group = 4,
        .exact = true,
        .takesIntegers = true,
        .signedOperands = true,
        .isAvailable = [](const llvm::MCSubtargetInfo &all) { return hasAvx512And(all, "+amx-tile,+amx-int8"); },
        .isProfitable =
            [](const CpuTarget &, const MatmulTraits &traits) {
              return areAll(traits, DType::int8, DType::int32) && !traits.computed && !traits.halfBytes;
            },
        .multiply = nullptr,
        .multiplyWidened = nullptr,
    },
    {
        .product = cpu::Product::vdpbf16ps,
        .group = 2,
        .exact = false,
        .takesIntegers = false,
        .signedOperands = true,
        .isAvailable = [](const llvm::MCSubtargetInfo &all) { return hasAvx512And(all, "+avx512bf16"); },
        .isProfitable =
            [](const CpuTarget &target, const MatmulTraits &traits) {
              return readsPairsFast(target, traits) && (traits.rows > 4 || traits.panels) &&
                     arePairsInRuns(target, traits);
            },
        .multiply = multiplyPairs,
        .multiplyWidened = multiplyPairsWidened,
    },
    {
        .product = cpu::Product::vpdpbusd,
        .group = 4,
        .exact = true,
        .takesIntegers = true,
        .signedOperands = false,
        .isAvailable = [](const llvm::MCSubtargetInfo &all) { return hasAvx512And(all, "+avx512vnni"); },
        .isProfitable =
            [](const CpuTarget &, const MatmulTraits &traits) {
              return areAll(traits, DType::int8, DType::int32) && !traits.computed && traits.lhsAlongDepth;
            },
        .multiply = multiplyFours,
        .multiplyWidened = nullptr,
    },
};

} // namespace

ArrayRef<ProductRow> x86Products() { return rows; }

} // namespace halftone::compiler
