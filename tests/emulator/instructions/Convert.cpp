// Conversions between integers and floats of all widths.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Numbers.h"
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>

namespace halftone::emulator {

namespace {

/// The roundings and limits that modifiers request, packed into an instruction's mode.
struct Wish {
  Rounding rounding = Rounding::Nearest;
  bool toIntegral = false;
  bool saturates = false;
  bool clampsBelow = false; ///< .relu
  bool flushes = false;

  static Wish unpacked(uint64_t mode) {
    return {static_cast<Rounding>(mode & 7), (mode & 8) != 0, (mode & 16) != 0, (mode & 32) != 0, (mode & 64) != 0};
  }
  uint64_t packed() const {
    return uint64_t(rounding) | (toIntegral ? 8 : 0) | (saturates ? 16 : 0) | (clampsBelow ? 32 : 0) |
           (flushes ? 64 : 0);
  }
};

template <typename T> constexpr FloatFormat formatOf = doubleFormat;
template <> constexpr FloatFormat formatOf<float> = floatFormat;
template <> constexpr FloatFormat formatOf<Half> = halfFormat;
template <> constexpr FloatFormat formatOf<BFloat> = bfloatFormat;
template <> constexpr FloatFormat formatOf<TFloat> = tfloatFormat;

template <typename T> T fromBits(uint64_t bits) {
  if constexpr (std::integral<T>)
    return static_cast<T>(bits);
  else if constexpr (sizeof(T) == 2)
    return T{static_cast<uint16_t>(bits)};
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<uint32_t>(bits));
  else
    return std::bit_cast<T>(bits);
}

template <typename T> uint64_t toBits(T value) {
  if constexpr (std::integral<T>)
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  else if constexpr (sizeof(T) == 2)
    return value.bits;
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<uint32_t>(value);
  else
    return std::bit_cast<uint64_t>(value);
}

/// `value`, exact in long double, as a floating T.
template <typename T> T toFloating(long double value, const Wish &wish) {
  if constexpr (std::same_as<T, float> || std::same_as<T, double>)
    if (wish.rounding == Rounding::Nearest)
      return canonical(static_cast<T>(value));
  uint64_t bits = roundTo(formatOf<T>, value, wish.rounding);
  if constexpr (std::same_as<T, TFloat>)
    bits <<= floatFormat.fractionBits - tfloatFormat.fractionBits;
  return fromBits<T>(bits);
}

long double toIntegral(long double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

template <typename D, typename S> D integerToInteger(S value, const Wish &wish) {
  if (!wish.saturates)
    return static_cast<D>(value);
  using Wide = __int128;
  return static_cast<D>(std::clamp<Wide>(value, std::numeric_limits<D>::min(), std::numeric_limits<D>::max()));
}

template <typename D, typename S> D floatToInteger(S source, const Wish &wish) {
  auto value = toFloat(source);
  if (wish.flushes)
    value = flushed(value);
  if (std::isnan(value)) {
    bool givesZero = sizeof(D) < 8 && sizeof(S) < 8;
    return givesZero ? D(0) : static_cast<D>(uint64_t(1) << (sizeof(D) * 8 - 1));
  }
  long double whole = toIntegral(value, wish.rounding);
  return static_cast<D>(std::clamp<long double>(whole, std::numeric_limits<D>::min(), std::numeric_limits<D>::max()));
}

/// The result for a NaN where an H200 does not give the canonical NaN: f64 keeps its sign and the first bits of its
/// payload in f16, and an f32 whose payload does not reach into tf32 becomes infinite.
template <typename D, typename S> std::optional<D> convertedNan(S value) {
  if constexpr (std::same_as<D, Half> && std::same_as<S, double>) {
    if (std::isnan(value)) {
      const auto bits = std::bit_cast<uint64_t>(value);
      return D{static_cast<uint16_t>((bits >> 48 & 0x8000) | 0x7e00 | (bits >> 42 & 0x3ff))};
    }
  } else if constexpr (std::same_as<D, TFloat> && std::same_as<S, float>) {
    const auto bits = std::bit_cast<uint32_t>(value);
    if (std::isnan(value) && (bits & 0x7fe000) == 0)
      return D{bits & 0xff800000};
  }
  return std::nullopt;
}

template <typename D, typename S> D floatToFloat(S source, const Wish &wish) {
  if (const std::optional<D> nan = convertedNan<D>(source))
    return *nan;
  auto value = toFloat(source);
  if constexpr (std::same_as<D, Half> && std::same_as<S, float>)
    if (wish.packed() == 0 && !std::isnan(value))
      return {std::bit_cast<uint16_t>(static_cast<_Float16>(value))};
  if (wish.flushes)
    value = flushed(value);
  if (wish.saturates)
    value = value > 0 ? std::min<decltype(value)>(value, 1) : 0;
  if (wish.clampsBelow && value <= 0)
    value = 0;
  return toFloating<D>(wish.toIntegral ? toIntegral(value, wish.rounding) : value, wish);
}

template <typename D, typename S> D convertValue(S value, const Wish &wish) {
  if constexpr (std::integral<D> && std::integral<S>)
    return integerToInteger<D>(value, wish);
  else if constexpr (std::integral<S>)
    return toFloating<D>(value, wish);
  else if constexpr (std::integral<D>)
    return floatToInteger<D>(value, wish);
  else
    return floatToFloat<D>(value, wish);
}

template <typename T> void widenRow(Warp &warp, uint32_t row, uint64_t *values) {
  const T *lanes = warp.lanes<T>(row);
  std::copy_n(lanes, warpSize, values);
}

void readRow(Warp &warp, uint32_t row, uint8_t bits, uint64_t *values) {
  if (bits == 16)
    widenRow<uint16_t>(warp, row, values);
  else if (bits == 32)
    widenRow<uint32_t>(warp, row, values);
  else
    widenRow<uint64_t>(warp, row, values);
}

template <typename T> void narrowRow(Warp &warp, uint32_t row, LaneMask active, const uint64_t *values) {
  T *lanes = warp.lanes<T>(row);
  eachLane(active, [&](int lane) { lanes[lane] = static_cast<T>(values[lane]); });
}

void writeRow(Warp &warp, uint32_t row, uint8_t bits, LaneMask active, const uint64_t *values) {
  if (bits == 16)
    narrowRow<uint16_t>(warp, row, active, values);
  else if (bits == 32)
    narrowRow<uint32_t>(warp, row, active, values);
  else
    narrowRow<uint64_t>(warp, row, active, values);
}

template <typename D, typename S> void convert(Warp &warp, const Instruction &instruction, LaneMask active) {
  uint64_t values[warpSize];
  readRow(warp, instruction.operands[1], instruction.sourceBits, values);
  Wish wish = Wish::unpacked(instruction.mode);
  eachLane(active, [&](int lane) { values[lane] = toBits(convertValue<D>(fromBits<S>(values[lane]), wish)); });
  writeRow(warp, instruction.operands[0], instruction.registerBits, active, values);
}

/// Two f32 become a pair; the first is the upper half.
template <typename Half> void convertPair(Warp &warp, const Instruction &instruction, LaneMask active) {
  uint32_t *result = warp.lanes<uint32_t>(instruction.operands[0]);
  const float *high = warp.lanes<float>(instruction.operands[1]), *low = warp.lanes<float>(instruction.operands[2]);
  Wish wish = Wish::unpacked(instruction.mode);
  eachLane(active, [&](int lane) {
    uint32_t upper = convertValue<Half>(high[lane], wish).bits;
    result[lane] = upper << 16 | convertValue<Half>(low[lane], wish).bits;
  });
}

/// Calls f with a number of the C++ type for `type`.
template <typename F> Execute withNumber(const Decoding &decoding, Type type, F f) {
  if (type.isInteger() && type.bits == 8)
    return type.isSigned() ? f(int8_t()) : f(uint8_t());
  if (type.isInteger())
    return withInteger(decoding, type, f);
  if (type.kind == Type::Kind::BFloat)
    return f(BFloat());
  if (type.kind == Type::Kind::Float && type.bits == 16)
    return f(Half());
  if (type.kind == Type::Kind::Float && type.bits == 32)
    return f(float());
  if (type.kind == Type::Kind::Float && type.bits == 64)
    return f(double());
  decoding.fail("expected types of numbers");
}

Wish takeWish(Decoding &decoding) {
  Wish wish;
  constexpr Rounding order[] = {Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up};
  if (int choice = decoding.takeOneOf({"rn", "rz", "rm", "rp"}, 4); choice < 4)
    wish.rounding = order[choice];
  else if (int integral = decoding.takeOneOf({"rni", "rzi", "rmi", "rpi"}, 4); integral < 4) {
    wish.rounding = order[integral];
    wish.toIntegral = true;
  }
  wish.saturates = decoding.take("sat");
  wish.clampsBelow = decoding.take("relu");
  wish.flushes = decoding.take("ftz");
  return wish;
}

bool needsRounding(Type to, Type from) {
  if (to.isInteger())
    return !from.isInteger();
  return from.isInteger() || to.bits < from.bits || (to.bits == from.bits && to.kind != from.kind);
}

void decodePair(Decoding &decoding, Type to, const Wish &wish) {
  if (decoding.takeType() != Type{Type::Kind::Float, 32})
    decoding.fail("expected .f32 as source");
  decoding.expectOperands(3);
  decoding.instruction.execute = to.kind == Type::Kind::Float ? convertPair<Half> : convertPair<BFloat>;
  decoding.instruction.mode = wish.packed();
  decoding.readAll(32);
}

} // namespace

void decodeCvt(Decoding &decoding) {
  bool toAway = decoding.take("rna");
  Wish wish = takeWish(decoding);
  Type to = decoding.takeType();
  if (to.elements == 2)
    return decodePair(decoding, to, wish);
  Type from = decoding.takeType();
  decoding.expectOperands(2);
  bool hasRounding =
      toAway || wish.toIntegral || std::ranges::any_of(decoding.statement.modifiers, [](std::string_view m) {
        return m == "rn" || m == "rz" || m == "rm" || m == "rp";
      });
  if (needsRounding(to, from) && !hasRounding)
    decoding.fail("expected a rounding, as .rn or .rzi");
  Instruction &made = decoding.instruction;
  if (to.kind == Type::Kind::TFloat) {
    if (from != Type{Type::Kind::Float, 32})
      decoding.fail("expected .f32 as source");
    wish.rounding = toAway ? Rounding::NearestAway : wish.rounding;
    made.execute = convert<TFloat, float>;
  } else
    made.execute = withNumber(decoding, to, [&](auto d) {
      return withNumber(decoding, from, [](auto s) -> Execute { return convert<decltype(d), decltype(s)>; });
    });
  made.mode = wish.packed();
  Row result = decoding.writeAtLeast(decoding.operand(0), std::max<uint8_t>(to.bits, 16));
  Row source = decoding.readAtLeast(decoding.operand(1), std::max<uint8_t>(from.bits, 16));
  made.operands = {result.offset, source.offset};
  made.registerBits = result.bits;
  made.sourceBits = source.bits;
}

} // namespace halftone::emulator
