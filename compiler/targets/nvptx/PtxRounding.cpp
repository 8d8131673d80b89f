// The list of PTX instructions whose results are defined to the bit.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/PtxRounding.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <utility>

using llvm::StringRef;

namespace {

/// Float types, each with the bits of an element, including those of two elements.
constexpr std::pair<StringRef, int> floats[] = {
    {"e4m3x2", 8}, {"e5m2x2", 8}, {"e2m3x2", 6},  {"e3m2x2", 6}, {"e2m1x2", 4}, {"ue8m0x2", 8}, {"f16", 16},
    {"f16x2", 16}, {"bf16", 16},  {"bf16x2", 16}, {"tf32", 19},  {"f32", 32},   {"f32x2", 32},  {"f64", 64}};

/// Instructions that move, select or compare floats, or change a sign.
constexpr StringRef exact[] = {"abs",  "copysign", "ld",   "max",  "min", "mov",  "neg",
                               "selp", "set",      "setp", "slct", "st",  "testp"};
/// Instructions that round, including conversions, which round unless they widen.
constexpr StringRef rounded[] = {"add", "div", "fma", "mul", "rcp", "sqrt", "sub", "cvt"};
constexpr StringRef roundings[] = {"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"};
constexpr StringRef inexact[] = {"approx", "ftz", "full"};

int bitsOf(StringRef type) {
  const auto *found = llvm::find_if(floats, [&](const auto &each) { return each.first == type; });
  return found == std::end(floats) ? 0 : found->second;
}

/// Whether an instruction has the same bits everywhere; `parts` is its opcode, split at dots. Integer instructions
/// have.
bool isDefined(llvm::ArrayRef<StringRef> parts) {
  const StringRef name = parts.front();
  const llvm::ArrayRef<StringRef> modifiers = parts.drop_front();
  const auto has = [&](llvm::ArrayRef<StringRef> list) {
    return llvm::any_of(modifiers, [&](StringRef each) { return llvm::is_contained(list, each); });
  };
  if (has(inexact))
    return false;
  if (llvm::none_of(modifiers, bitsOf) || llvm::is_contained(exact, name))
    return true;
  if (!llvm::is_contained(rounded, name))
    return false;
  if (has(roundings))
    return true;
  const size_t count = modifiers.size();
  if (name != "cvt" || count < 2)
    return false;
  const int from = bitsOf(modifiers[count - 1]), to = bitsOf(modifiers[count - 2]);
  return from != 0 && from < to;
}

/// The opcode of a line, "" if it has none.
StringRef opcodeOf(StringRef line) {
  line = line.split("//").first.trim();
  line.consume_front("{");
  line = line.ltrim();
  if (line.starts_with("@"))
    line = line.drop_until([](char each) { return each == ' ' || each == '\t'; }).ltrim();
  const StringRef word = line.take_until([](char each) { return each == ' ' || each == '\t' || each == ';'; });
  return word.empty() || !llvm::isLower(word.front()) || word.ends_with(":") ? StringRef() : word;
}

} // namespace

std::string halftone::compiler::unroundedInstruction(std::string_view ptx) {
  for (StringRef rest(ptx); !rest.empty();) {
    // A line may hold several instructions.
    const size_t end = rest.find_first_of("\n;");
    const StringRef line = rest.take_front(end);
    rest = end == StringRef::npos ? StringRef() : rest.drop_front(end + 1);
    llvm::SmallVector<StringRef, 8> parts;
    if (const StringRef opcode = opcodeOf(line); !opcode.empty())
      opcode.split(parts, '.');
    if (!parts.empty() && !isDefined(parts))
      return line.trim().str();
  }
  return "";
}
