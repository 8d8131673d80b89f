// Integer arithmetic: wrapping, 16 to 64 bits.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <algorithm>
#include <limits>
#include <type_traits>

namespace halftone::emulator {

namespace {

template <typename T> using Unsigned = std::make_unsigned_t<T>;
// Wide enough for the product of two numbers of type T.
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                                std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

constexpr auto wrappedAdd = []<typename T>(T a, T b) { return static_cast<T>(uint64_t(a) + uint64_t(b)); };
constexpr auto wrappedSub = []<typename T>(T a, T b) { return static_cast<T>(uint64_t(a) - uint64_t(b)); };
constexpr auto lowProduct = []<typename T>(T a, T b) { return static_cast<T>(uint64_t(a) * uint64_t(b)); };
constexpr auto highProduct = []<typename T>(T a, T b) {
  return static_cast<T>(Wide<T>(a) * Wide<T>(b) >> (sizeof(T) * 8));
};
constexpr auto wideProduct = []<typename T>(T a, T b) { return Wide<T>(a) * Wide<T>(b); };
constexpr auto lowMad = []<typename T>(T a, T b, T c) { return wrappedAdd(lowProduct(a, b), c); };
constexpr auto highMad = []<typename T>(T a, T b, T c) { return wrappedAdd(highProduct(a, b), c); };
constexpr auto wideMad = [](auto a, auto b, auto c) {
  return wrappedAdd(static_cast<decltype(c)>(wideProduct(a, b)), c);
};
constexpr auto smaller = []<typename T>(T a, T b) { return std::min(a, b); };
constexpr auto larger = []<typename T>(T a, T b) { return std::max(a, b); };
constexpr auto negated = []<typename T>(T a) { return static_cast<T>(0 - uint64_t(a)); };
constexpr auto magnitude = []<typename T>(T a) { return a < 0 ? static_cast<T>(0 - uint64_t(a)) : a; };
// The device returns all bits set for a quotient by 0, and the dividend for its remainder.
constexpr auto quotient = []<typename T>(T a, T b) {
  if (b == 0)
    return static_cast<T>(~T(0));
  return std::is_signed_v<T> && b == T(-1) ? negated(a) : static_cast<T>(a / b);
};
constexpr auto remainder = []<typename T>(T a, T b) {
  if (b == 0)
    return a;
  return std::is_signed_v<T> && b == T(-1) ? T(0) : static_cast<T>(a % b);
};

template <auto operation> void decodeUnary(Decoding &decoding, Type type) {
  decoding.expectOperands(2);
  decoding.instruction.execute =
      withInteger(decoding, type, [](auto t) -> Execute { return mapLanes<operation, decltype(t), decltype(t)>; });
  decoding.readAll(type.bits);
}

template <auto operation> void decodeBinary(Decoding &decoding, Type type) {
  decoding.expectOperands(3);
  decoding.instruction.execute = withInteger(
      decoding, type, [](auto t) -> Execute { return mapLanes<operation, decltype(t), decltype(t), decltype(t)>; });
  decoding.readAll(type.bits);
}

template <auto operation> void decodeTernary(Decoding &decoding, Type type) {
  decoding.expectOperands(4);
  decoding.instruction.execute = withInteger(decoding, type, [](auto t) -> Execute {
    return mapLanes<operation, decltype(t), decltype(t), decltype(t), decltype(t)>;
  });
  decoding.readAll(type.bits);
}

template <auto operation> void decodeArithmetic(Decoding &decoding, FloatOp op) {
  Type type = decoding.takeType();
  if (type.isInteger())
    decodeBinary<operation>(decoding, type);
  else
    decodeFloat(decoding, op, type);
}

/// The wide products and their sums: two sources of 16 or 32 bits; the result (and the addend) have twice as many.
void decodeWide(Decoding &decoding, Type type, bool adds) {
  decoding.expectOperands(adds ? 4 : 3);
  if (type.bits != 16 && type.bits != 32)
    decoding.fail("expected a type of 16 or 32 bits");
  decoding.instruction.execute = withInteger(decoding, type, [&](auto t) -> Execute {
    using T = decltype(t);
    if constexpr (sizeof(T) < 8) {
      using R = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>, Wide<T>>;
      return adds ? Execute(mapLanes<wideMad, R, T, T, R>) : Execute(mapLanes<wideProduct, R, T, T>);
    }
    return nullptr;
  });
  uint8_t wide = type.bits * 2;
  decoding.instruction.operands = {decoding.write(0, wide), decoding.read(1, type.bits), decoding.read(2, type.bits),
                                   adds ? decoding.read(3, wide) : 0};
}

} // namespace

void decodeAdd(Decoding &decoding) { decodeArithmetic<wrappedAdd>(decoding, FloatOp::Add); }
void decodeSub(Decoding &decoding) { decodeArithmetic<wrappedSub>(decoding, FloatOp::Sub); }
void decodeMin(Decoding &decoding) { decodeArithmetic<smaller>(decoding, FloatOp::Min); }
void decodeMax(Decoding &decoding) { decodeArithmetic<larger>(decoding, FloatOp::Max); }
void decodeRem(Decoding &decoding) { decodeBinary<remainder>(decoding, decoding.takeType()); }

void decodeDiv(Decoding &decoding) {
  if (int kind = decoding.takeOneOf({"approx", "full"}, 2); kind != 2)
    return decodeDivApproximate(decoding, kind == 1);
  decodeArithmetic<quotient>(decoding, FloatOp::Div);
}

void decodeMul(Decoding &decoding) {
  Type type = decoding.takeType();
  if (!type.isInteger())
    return decodeFloat(decoding, FloatOp::Mul, type);
  switch (decoding.takeOneOf({"lo", "hi", "wide"})) {
  case 0:
    return decodeBinary<lowProduct>(decoding, type);
  case 1:
    return decodeBinary<highProduct>(decoding, type);
  default:
    return decodeWide(decoding, type, false);
  }
}

void decodeMad(Decoding &decoding) {
  int part = decoding.takeOneOf({"lo", "hi", "wide"}, 3);
  if (part == 3)
    return decodeFma(decoding);
  Type type = decoding.takeType();
  if (part == 0)
    return decodeTernary<lowMad>(decoding, type);
  if (part == 1)
    return decodeTernary<highMad>(decoding, type);
  decodeWide(decoding, type, true);
}

void decodeAbs(Decoding &decoding) {
  Type type = decoding.takeType();
  if (!type.isInteger())
    return decodeFloat(decoding, FloatOp::Abs, type);
  if (!type.isSigned())
    decoding.fail("expected a signed type");
  decodeUnary<magnitude>(decoding, type);
}

void decodeNeg(Decoding &decoding) {
  Type type = decoding.takeType();
  if (!type.isInteger())
    return decodeFloat(decoding, FloatOp::Neg, type);
  decodeUnary<negated>(decoding, type);
}

} // namespace halftone::emulator
