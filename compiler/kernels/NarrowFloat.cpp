// Conversions of narrow floats in integer code.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/NarrowFloat.h"
#include "compiler/kernels/MathInstructions.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

struct Format {
  int mantissaBits, bias;
  bool hasInfinity;
  int64_t topExponent() const { return int64_t(2 * bias + 1) << mantissaBits; }
  int64_t signBit() const { return int64_t(bias + 1) << (mantissaBits + 1); }
  int64_t largest() const { return hasInfinity ? topExponent() - 1 : topExponent() + (1 << mantissaBits) - 2; }
};

Format formatOf(FloatType type) {
  if (type.isF16())
    return {10, 15, true};
  if (type.isBF16())
    return {7, 127, true};
  return isa<Float8E5M2Type>(type) ? Format{2, 15, true} : Format{3, 7, false};
}

/// Converts f32 bits to bits of the format, in 32-bit integers.
Emitted narrowBits(Emitted bits, const Format &format) {
  const int shift = 23 - format.mantissaBits;
  const Emitted magnitude = bits & 0x7fffffff;
  // Ties to even: adds half minus one, plus one if the last kept bit is set. The carry propagates into the exponent.
  const Emitted rounded = magnitude + ((int64_t(1) << (shift - 1)) - 1) + ((magnitude >> shift) & 1);
  Emitted result = (rounded - (int64_t(127 - format.bias) << 23)) >> shift;
  if (format.bias != 127) {
    // Below the smallest normal number the last place is fixed, so an addition that ends there rounds.
    const int exponent = 1 - format.bias - format.mantissaBits + 23;
    const Emitted offset = magnitude.bitsAs(bits.f32()).like(std::ldexp(1.0, exponent));
    const Emitted subnormal = (magnitude.bitsAs(bits.f32()) + offset).bits() - offset.bits();
    result = select(magnitude < (int64_t(127 + 1 - format.bias) << 23), subnormal, result);
    result = select(result > format.largest(), bits.like(format.largest() + 1), result);
    // Exponents that wrapped around below zero were subnormal; those of infinity exceed the largest.
  }
  const int64_t quiet =
      format.hasInfinity ? format.topExponent() | (int64_t(1) << (format.mantissaBits - 1)) : format.largest() + 1;
  const Emitted nan = format.hasInfinity ? ((magnitude >> shift) & ((int64_t(1) << format.mantissaBits) - 1)) | quiet
                                         : bits.like(quiet);
  result = select(magnitude > 0x7f800000, nan, result);
  const int signShift = 31 - (format.bias == 127 ? 15 : format.mantissaBits == 10 ? 15 : 7);
  return result | ((bits >> signShift) & format.signBit());
}

/// Rounds f64 to f32, to odd: an inexact result has its last bit set, so a second rounding to fewer bits never meets a
/// false tie.
Emitted roundToOdd(Emitted value) {
  const Emitted nearest = value.narrow(value.f32()), back = nearest.extend(value.f64());
  const Emitted bits = nearest.bits();
  const Emitted away = absolute(back) > absolute(value);
  const Emitted odd = select(away, bits - 1, bits + 1);
  // NaN compares unequal, and counts as exact.
  const Emitted inexact = (back < value) | (back > value);
  const Emitted even = equal(bits & 1, bits.like(0));
  return select(inexact & even, odd, bits).bitsAs(value.f32());
}

} // namespace

bool compiler::isNarrowFloat(Type type) {
  return isa<Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(type);
}

Emitted compiler::widenNarrow(const MathTraits &math, Emitted bits, FloatType narrow) {
  const Format format = formatOf(narrow);
  const Type i32 = bits.builder().getI32Type(), f32 = bits.f32();
  if (narrow.isBF16())
    return (bits.widen(i32) << 16).bitsAs(f32);
  if (narrow.isF16() && math.convertsF16)
    return bits.bitsAs(narrow).extend(f32);
  const int shift = 23 - format.mantissaBits;
  const Emitted wide = bits.widen(i32);
  const Emitted magnitude = wide & (format.signBit() - 1);
  // As an f32 with the narrow bias, then scaled by the difference of biases, which is exact, also for subnormals.
  const Emitted scaled = ((magnitude << shift).bitsAs(f32) * std::ldexp(1.0, 127 - format.bias)).bits();
  const Emitted isSpecial = magnitude > format.largest();
  const Emitted infinity = wide.like(0x7f800000);
  Emitted special = wide.like(0x7fc00000);
  if (format.hasInfinity) {
    const Emitted mantissa = magnitude & ((int64_t(1) << format.mantissaBits) - 1);
    special = select(equal(mantissa, wide.like(0)), infinity, (mantissa << shift) | 0x7fc00000);
  } else {
    special = special | ((magnitude & ((int64_t(1) << format.mantissaBits) - 1)) << shift);
  }
  const Emitted sign = (wide & format.signBit()) << (31 - (format.mantissaBits == 10 ? 15 : 7));
  return (select(isSpecial, special, scaled) | sign).bitsAs(f32);
}

bool compiler::isWidenedNarrow(Value value, Value bits, FloatType narrow) {
  if (narrow.isF16()) {
    auto widened = value.getDefiningOp<arith::ExtFOp>();
    auto stored = widened ? widened.getIn().getDefiningOp<arith::BitcastOp>() : arith::BitcastOp();
    return stored && stored.getType() == narrow && stored.getIn() == bits && widened.getType().isF32();
  }
  APInt distance;
  const auto shifted = m_Op<arith::ShLIOp>(m_Op<arith::ExtUIOp>(matchers::m_Val(bits)), m_ConstantInt(&distance));
  return narrow.isBF16() && value.getType().isF32() && matchPattern(value, m_Op<arith::BitcastOp>(shifted)) &&
         distance == 16;
}

Emitted compiler::narrowFloat(const MathTraits &math, Emitted value, FloatType narrow) {
  const Emitted single = value.width() == 64 ? roundToOdd(value) : value;
  const Type storage = value.builder().getIntegerType(narrow.getWidth());
  if (narrow.isF16() && math.convertsF16)
    return single.narrow(narrow).bitsAs(storage);
  if (narrow.isBF16())
    return math.convertsBf16 || (math.instructions && math.instructions->roundsToBf16())
               ? single.narrow(narrow).bitsAs(storage)
               : bitsOfBf16(single);
  return narrowBits(single.bits(), formatOf(narrow)).narrow(storage);
}

Emitted compiler::bitsOfBf16(Emitted value) {
  // bf16 is the upper half of an f32. The sign is kept, since only a NaN would carry into it.
  const Emitted bits = value.bits(), rounded = bits + 0x7fff + ((bits >> 16) & 1);
  return (select(isNan(value), bits | 0x400000, rounded) >> 16).narrow(value.builder().getI16Type());
}

bool compiler::isRoundingToBf16(Operation *op) {
  return isa<arith::TruncFOp>(op) && getElementTypeOrSelf(op->getResult(0)).isBF16();
}
