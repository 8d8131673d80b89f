// Exact arithmetic in f32 and f64, with one rounding to nearest. Types of 16 bits are in NarrowFloats.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Numbers.h"
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <cmath>

namespace halftone::emulator {

namespace {

constexpr auto sum = [](auto a, auto b) { return a + b; };
constexpr auto difference = [](auto a, auto b) { return a - b; };
constexpr auto product = [](auto a, auto b) { return a * b; };
constexpr auto quotient = [](auto a, auto b) { return a / b; };
constexpr auto root = [](auto a) { return std::sqrt(a); };
constexpr auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
/// A number takes precedence over NaN; -0 is less than +0.
constexpr auto smaller = [](auto a, auto b) {
  return a != a ? b : b != b ? a : a < b || (a == b && std::signbit(a)) ? a : b;
};
constexpr auto larger = [](auto a, auto b) {
  return a != a ? b : b != b ? a : a > b || (a == b && !std::signbit(a)) ? a : b;
};
constexpr auto smallerOrNan = [](auto a, auto b) { return a != a || b != b ? a + b : smaller(a, b); };
constexpr auto largerOrNan = [](auto a, auto b) { return a != a || b != b ? a + b : larger(a, b); };
constexpr auto magnitude = [](auto a) { return std::fabs(a); };
constexpr auto negated = [](auto a) { return -a; };
constexpr auto copiedSign = [](auto sign, auto value) { return std::copysign(value, sign); };

template <auto operation> constexpr auto asDevice = [](auto... values) { return canonical(operation(values...)); };
template <auto operation>
constexpr auto withFlush = [](auto... values) { return canonical(flushed(operation(flushed(values)...))); };

template <auto operation, typename... Sources> Execute forType(const Decoding &decoding, Type type, bool flushes) {
  if (type == Type{Type::Kind::Float, 32})
    return flushes ? Execute(mapLanes<withFlush<operation>, float, std::conditional_t<true, float, Sources>...>)
                   : Execute(mapLanes<asDevice<operation>, float, std::conditional_t<true, float, Sources>...>);
  if (type == Type{Type::Kind::Float, 64} && !flushes)
    return mapLanes<asDevice<operation>, double, std::conditional_t<true, double, Sources>...>;
  decoding.fail("expected .f32 or .f64, and .ftz for .f32 only");
}

struct One {}; // represents one operand of the type

template <auto operation> void decodeUnary(Decoding &decoding, Type type, bool flushes) {
  decoding.expectOperands(2);
  decoding.instruction.execute = forType<operation, One>(decoding, type, flushes);
  decoding.readAll(type.bits);
}

template <auto operation> void decodeBinary(Decoding &decoding, Type type, bool flushes) {
  decoding.expectOperands(3);
  decoding.instruction.execute = forType<operation, One, One>(decoding, type, flushes);
  decoding.readAll(type.bits);
}

/// Sign changes apply to NaN too, so these two preserve its bits.
template <auto operation> void decodeSign(Decoding &decoding, Type type, bool flushes) {
  decoding.expectOperands(2);
  if (flushes)
    return decodeUnary<operation>(decoding, type, true);
  decoding.instruction.execute =
      type.bits == 32 ? Execute(mapLanes<operation, float, float>) : Execute(mapLanes<operation, double, double>);
  decoding.readAll(type.bits);
}

} // namespace

void decodeFloat(Decoding &decoding, FloatOp op, Type type) {
  if (type.bits == 16 || type.elements == 2)
    return decodeNarrowFloat(decoding, op, type);
  if (type.kind != Type::Kind::Float)
    decoding.fail("expected an integer or floating type");
  bool flushes = decoding.take("ftz");
  if (op <= FloatOp::Div)
    decoding.take("rn");
  bool spreadsNan = (op == FloatOp::Min || op == FloatOp::Max) && decoding.take("NaN");
  switch (op) {
  case FloatOp::Add:
    return decodeBinary<sum>(decoding, type, flushes);
  case FloatOp::Sub:
    return decodeBinary<difference>(decoding, type, flushes);
  case FloatOp::Mul:
    return decodeBinary<product>(decoding, type, flushes);
  case FloatOp::Div:
    return decodeBinary<quotient>(decoding, type, flushes);
  case FloatOp::Min:
    return spreadsNan ? decodeBinary<smallerOrNan>(decoding, type, flushes)
                      : decodeBinary<smaller>(decoding, type, flushes);
  case FloatOp::Max:
    return spreadsNan ? decodeBinary<largerOrNan>(decoding, type, flushes)
                      : decodeBinary<larger>(decoding, type, flushes);
  case FloatOp::Abs:
    return decodeSign<magnitude>(decoding, type, flushes);
  case FloatOp::Neg:
    return decodeSign<negated>(decoding, type, flushes);
  }
}

void decodeFma(Decoding &decoding) {
  decoding.take("rn");
  Type type = decoding.takeType();
  if (type.bits == 16 || type.elements == 2)
    return decodeNarrowFma(decoding, type);
  decoding.expectOperands(4);
  decoding.instruction.execute = forType<fused, One, One, One>(decoding, type, decoding.take("ftz"));
  decoding.readAll(type.bits);
}

void decodeSqrt(Decoding &decoding) {
  if (decoding.take("approx"))
    return decodeSqrtApproximate(decoding);
  decoding.take("rn");
  Type type = decoding.takeType();
  decodeUnary<root>(decoding, type, decoding.take("ftz"));
}

void decodeCopysign(Decoding &decoding) {
  Type type = decoding.takeType();
  decoding.expectOperands(3);
  if (type.kind != Type::Kind::Float || type.bits < 32 || type.elements != 1)
    decoding.fail("expected .f32 or .f64");
  decoding.instruction.execute = type.bits == 32 ? Execute(mapLanes<copiedSign, float, float, float>)
                                                 : Execute(mapLanes<copiedSign, double, double, double>);
  decoding.readAll(type.bits);
}

} // namespace halftone::emulator
