// Arithmetic in f16 and bf16, scalar and in pairs: each result is rounded once to nearest.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Numbers.h"
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <cmath>

namespace halftone::emulator {

namespace {

template <typename T> constexpr FloatFormat formatOf = std::is_same_v<T, Half> ? halfFormat : bfloatFormat;
template <typename T> T rounded(double value) {
  return {static_cast<uint16_t>(roundTo(formatOf<T>, value, Rounding::Nearest))};
}

// A product of two is exact in f64; a sum is rounded to odd in f64.
struct Sum {
  template <typename T> static T apply(T a, T b) { return rounded<T>(addToOdd(toFloat(a), toFloat(b))); }
};
struct Difference {
  template <typename T> static T apply(T a, T b) { return rounded<T>(addToOdd(toFloat(a), -toFloat(b))); }
};
struct Product {
  template <typename T> static T apply(T a, T b) { return rounded<T>(static_cast<double>(toFloat(a)) * toFloat(b)); }
};
struct Fused {
  template <typename T> static T apply(T a, T b, T c) {
    return rounded<T>(addToOdd(static_cast<double>(toFloat(a)) * toFloat(b), toFloat(c)));
  }
};
struct FusedRelu {
  template <typename T> static T apply(T a, T b, T c) {
    T result = Fused::apply(a, b, c);
    return toFloat(result) > 0 || std::isnan(toFloat(result)) ? result : T{};
  }
};
template <bool least, bool spreadsNan> struct Choice {
  template <typename T> static T apply(T a, T b) {
    float x = toFloat(a), y = toFloat(b);
    if (std::isnan(x) || std::isnan(y)) {
      bool both = std::isnan(x) && std::isnan(y);
      return spreadsNan || both ? T{0x7fff} : std::isnan(x) ? b : a;
    }
    bool first = x == y ? std::signbit(x) == least : (x < y) == least;
    return first ? a : b;
  }
};
struct Magnitude {
  template <typename T> static T apply(T a) { return {static_cast<uint16_t>(a.bits & 0x7fff)}; }
};
struct Negated {
  template <typename T> static T apply(T a) { return {static_cast<uint16_t>(a.bits ^ 0x8000)}; }
};

template <typename Operation, typename T>
constexpr auto alone = [](auto... values) { return Operation::template apply<T>(T{values}...).bits; };
template <typename Operation, typename T>
constexpr auto inPairs = [](auto... values) {
  uint32_t low = Operation::template apply<T>(T{static_cast<uint16_t>(values)}...).bits;
  uint32_t high = Operation::template apply<T>(T{static_cast<uint16_t>(values >> 16)}...).bits;
  return high << 16 | low;
};

template <typename Operation, size_t... places> Execute choose(Type type, std::index_sequence<places...>) {
  bool half = type.kind == Type::Kind::Float;
  if (type.elements == 2)
    return half ? Execute(mapLanes<inPairs<Operation, Half>, uint32_t, decltype(uint32_t(places))...>)
                : Execute(mapLanes<inPairs<Operation, BFloat>, uint32_t, decltype(uint32_t(places))...>);
  return half ? Execute(mapLanes<alone<Operation, Half>, uint16_t, decltype(uint16_t(places))...>)
              : Execute(mapLanes<alone<Operation, BFloat>, uint16_t, decltype(uint16_t(places))...>);
}

template <typename Operation, size_t sources> void decodeWith(Decoding &decoding, Type type) {
  decoding.expectOperands(sources + 1);
  decoding.instruction.execute = choose<Operation>(type, std::make_index_sequence<sources>{});
  decoding.readAll(type.bits);
}

} // namespace

void decodeNarrowFloat(Decoding &decoding, FloatOp op, Type type) {
  if (op <= FloatOp::Mul)
    decoding.take("rn");
  bool spreadsNan = (op == FloatOp::Min || op == FloatOp::Max) && decoding.take("NaN");
  switch (op) {
  case FloatOp::Add:
    return decodeWith<Sum, 2>(decoding, type);
  case FloatOp::Sub:
    return decodeWith<Difference, 2>(decoding, type);
  case FloatOp::Mul:
    return decodeWith<Product, 2>(decoding, type);
  case FloatOp::Min:
    return spreadsNan ? decodeWith<Choice<true, true>, 2>(decoding, type)
                      : decodeWith<Choice<true, false>, 2>(decoding, type);
  case FloatOp::Max:
    return spreadsNan ? decodeWith<Choice<false, true>, 2>(decoding, type)
                      : decodeWith<Choice<false, false>, 2>(decoding, type);
  case FloatOp::Abs:
    return decodeWith<Magnitude, 1>(decoding, type);
  case FloatOp::Neg:
    return decodeWith<Negated, 1>(decoding, type);
  case FloatOp::Div:
    decoding.fail("expected .f32 or .f64");
  }
}

void decodeNarrowFma(Decoding &decoding, Type type) {
  if (decoding.take("relu"))
    return decodeWith<FusedRelu, 3>(decoding, type);
  decodeWith<Fused, 3>(decoding, type);
}

} // namespace halftone::emulator
