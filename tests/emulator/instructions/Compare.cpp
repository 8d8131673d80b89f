// Comparisons, selects and predicate logic.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Numbers.h"
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <cmath>

namespace halftone::emulator {

namespace {

/// The comparison operators. From Equ on, a comparison with NaN is true; `num` and `nan` test only for NaN.
enum class Comparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
constexpr std::initializer_list<std::string_view> comparisonNames = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                                                     "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template <Comparison comparison, typename T> bool holds(T a, T b) {
  bool unordered = a != a || b != b;
  switch (comparison) {
  case Comparison::Num:
    return !unordered;
  case Comparison::Nan:
    return unordered;
  case Comparison::Eq:
  case Comparison::Equ:
    return a == b || (unordered && comparison == Comparison::Equ);
  case Comparison::Ne:
    return a != b && !unordered;
  case Comparison::Neu:
    return a != b;
  case Comparison::Lt:
  case Comparison::Ltu:
    return a < b || (unordered && comparison == Comparison::Ltu);
  case Comparison::Le:
  case Comparison::Leu:
    return a <= b || (unordered && comparison == Comparison::Leu);
  case Comparison::Gt:
  case Comparison::Gtu:
    return a > b || (unordered && comparison == Comparison::Gtu);
  default:
    return a >= b || (unordered && comparison == Comparison::Geu);
  }
}

/// How the predicate operand is combined with the comparison.
enum class Join : uint64_t { None, And, Or, Xor };
constexpr uint64_t joinNegated = 8;

LaneMask joined(LaneMask result, LaneMask other, uint64_t mode) {
  if (mode & joinNegated)
    other = ~other;
  switch (static_cast<Join>(mode & 7)) {
  case Join::And:
    return result & other;
  case Join::Or:
    return result | other;
  case Join::Xor:
    return result ^ other;
  default:
    return result;
  }
}

void setPredicate(Warp &warp, uint32_t offset, LaneMask active, LaneMask value) {
  LaneMask &predicate = warp.predicate(offset);
  predicate = (predicate & ~active) | (value & active);
}

/// operands: result, inverse result, a, b, predicate to combine with.
template <Comparison comparison, typename Stored>
void compare(Warp &warp, const Instruction &instruction, LaneMask active) {
  const Stored *a = warp.lanes<Stored>(instruction.operands[2]), *b = warp.lanes<Stored>(instruction.operands[3]);
  LaneMask result = 0;
  for (int lane = 0; lane < warpSize; ++lane) {
    bool value;
    if constexpr (std::is_arithmetic_v<Stored>)
      value = holds<comparison>(a[lane], b[lane]);
    else
      value = holds<comparison>(toFloat(a[lane]), toFloat(b[lane]));
    result |= LaneMask(value) << lane;
  }
  LaneMask other = warp.predicateOr(instruction.operands[4], allLanes);
  if (instruction.operands[1] != noOperand)
    setPredicate(warp, instruction.operands[1], active, joined(~result, other, instruction.mode));
  setPredicate(warp, instruction.operands[0], active, joined(result, other, instruction.mode));
}

/// For packed numbers. operands: result of the low halves, result of the high halves, a, b, predicate to combine with.
template <Comparison comparison, typename Part>
void compareHalves(Warp &warp, const Instruction &instruction, LaneMask active) {
  const uint32_t *a = warp.lanes<uint32_t>(instruction.operands[2]), *b = warp.lanes<uint32_t>(instruction.operands[3]);
  const LaneMask other = warp.predicateOr(instruction.operands[4], allLanes);
  LaneMask results[2] = {0, 0};
  for (int half = 0; half < 2; ++half)
    for (int lane = 0; lane < warpSize; ++lane) {
      const Part x{static_cast<uint16_t>(a[lane] >> (16 * half))}, y{static_cast<uint16_t>(b[lane] >> (16 * half))};
      results[half] |= LaneMask(holds<comparison>(toFloat(x), toFloat(y))) << lane;
    }
  for (int half = 0; half < 2; ++half)
    setPredicate(warp, instruction.operands[half], active, joined(results[half], other, instruction.mode));
}

template <typename Part, size_t... places> Execute chooseOfHalves(int comparison, std::index_sequence<places...>) {
  static constexpr Execute table[] = {compareHalves<static_cast<Comparison>(places), Part>...};
  return table[comparison];
}

template <typename Stored, size_t... places> Execute chooseComparison(int comparison, std::index_sequence<places...>) {
  static constexpr Execute table[] = {compare<static_cast<Comparison>(places), Stored>...};
  return table[comparison];
}

template <typename Stored> Execute chooseComparison(int comparison) {
  return chooseComparison<Stored>(comparison, std::make_index_sequence<14>{});
}

Execute chooseFor(Decoding &decoding, Type type, int comparison) {
  if (type.elements == 2)
    return type.kind == Type::Kind::BFloat ? chooseOfHalves<BFloat>(comparison, std::make_index_sequence<14>{})
                                           : chooseOfHalves<Half>(comparison, std::make_index_sequence<14>{});
  if (type.isInteger()) {
    if (comparison > 5)
      decoding.fail("expected a comparison of integers");
    return withInteger(decoding, type, [&](auto t) { return chooseComparison<decltype(t)>(comparison); });
  }
  if (type.kind == Type::Kind::BFloat)
    return chooseComparison<BFloat>(comparison);
  if (type == Type{Type::Kind::Float, 16})
    return chooseComparison<Half>(comparison);
  if (type == Type{Type::Kind::Float, 32})
    return chooseComparison<float>(comparison);
  if (type == Type{Type::Kind::Float, 64})
    return chooseComparison<double>(comparison);
  decoding.fail("expected a type of numbers");
}

template <typename T> void select(Warp &warp, const Instruction &instruction, LaneMask active) {
  T *result = warp.lanes<T>(instruction.operands[0]);
  const T *a = warp.lanes<T>(instruction.operands[1]), *b = warp.lanes<T>(instruction.operands[2]);
  LaneMask choice = warp.predicate(instruction.operands[3]);
  eachLane(active, [&](int lane) { result[lane] = choice >> lane & 1 ? a[lane] : b[lane]; });
}

template <char op> void predicateLogic(Warp &warp, const Instruction &instruction, LaneMask active) {
  LaneMask a = warp.predicate(instruction.operands[1]), b = op == '!' ? 0 : warp.predicate(instruction.operands[2]);
  setPredicate(warp, instruction.operands[0], active, op == '&' ? a & b : op == '|' ? a | b : op == '^' ? a ^ b : ~a);
}

} // namespace

void decodeSetp(Decoding &decoding) {
  // The first modifier of the opcode is the comparison, the second may state how to combine it with a predicate.
  int comparison = decoding.takeOneOf(comparisonNames, 14);
  if (comparison == 14) // unsigned comparisons, by their older names
    comparison = 2 + decoding.takeOneOf({"lo", "ls", "hi", "hs"});
  auto join = static_cast<Join>(decoding.takeOneOf({"none", "and", "or", "xor"}, 0));
  Type type = decoding.takeType();
  if (decoding.take("ftz"))
    decoding.fail("the emulator compares without .ftz");
  decoding.expectOperands(join == Join::None ? 3 : 4);
  Instruction &made = decoding.instruction;
  made.execute = chooseFor(decoding, type, comparison);
  const OperandText &result = decoding.operand(0);
  bool isPair = result.kind == OperandText::Kind::Pair;
  if (type.elements == 2 && (!isPair || type.isInteger()))
    decoding.fail("expected two results of packed floats");
  const int width = type.elements == 2 ? 32 : type.bits;
  bool negated = false;
  made.operands = {decoding.write(isPair ? result.parts[0] : result, 1),
                   isPair ? decoding.write(result.parts[1], 1) : noOperand, decoding.read(1, width),
                   decoding.read(2, width), join == Join::None ? noOperand : decoding.readPredicate(3, negated)};
  made.mode = static_cast<uint64_t>(join) | (negated ? joinNegated : 0);
}

void decodeSelp(Decoding &decoding) {
  Type type = decoding.takeType();
  decoding.expectOperands(4);
  decoding.instruction.execute = withBits(decoding, type, [](auto t) -> Execute { return select<decltype(t)>; });
  decoding.instruction.operands = {decoding.write(0, type.bits), decoding.read(1, type.bits),
                                   decoding.read(2, type.bits), decoding.read(3, 1)};
}

void decodePredicateLogic(Decoding &decoding, char op) {
  decoding.expectOperands(op == '!' ? 2 : 3);
  Execute two = op == '&' ? predicateLogic<'&'> : op == '|' ? predicateLogic<'|'> : predicateLogic<'^'>;
  decoding.instruction.execute = op == '!' ? predicateLogic<'!'> : two;
  decoding.readAll(1);
}

} // namespace halftone::emulator
