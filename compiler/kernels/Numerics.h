// How much the code of ops may deviate from the bits that the interpreter gives.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace halftone::compiler {

/// What the results of ops promise. Code asks for the one property that it depends on and never which value it has, so that
/// further numerics can combine the properties in another way.
class Numerics {
public:
  /// Fast numerics.
  constexpr Numerics() = default;
  /// A fused intermediate may stay wider than its dtype, products and sums may be fused, and sums may be cut.
  static constexpr Numerics fast() { return Numerics(Word::fast); }
  /// Every op gives what the interpreter gives, but for ops that are not exactly rounded (exp, sums of floats).
  static constexpr Numerics strict() { return Numerics(Word::strict); }
  static constexpr Numerics strictIf(bool strict) { return Numerics(strict ? Word::strict : Word::fast); }
  /// The numerics of this name: "fast" or "strict".
  static constexpr std::optional<Numerics> named(std::string_view name) {
    for (const Numerics each : {fast(), strict()})
      if (each.name() == name)
        return each;
    return std::nullopt;
  }
  constexpr std::string_view name() const { return word == Word::strict ? "strict" : "fast"; }

  /// Each compute op is a kernel of its own.
  constexpr bool formsAlone() const { return word == Word::strict; }
  /// The result of every op rounds to its dtype, also inside a kernel.
  constexpr bool roundsEachOp() const { return word == Word::strict; }
  /// A product and the sum that it goes into may be one instruction, and a quotient may be a product with a reciprocal.
  constexpr bool mayFuse() const { return word == Word::fast; }
  /// Sums add in the order of the op's definition, of products that are as wide as the sum.
  constexpr bool fixesOrder() const { return word == Word::strict; }

  friend constexpr bool operator==(Numerics, Numerics) = default;

private:
  enum class Word : uint8_t { fast, strict };
  explicit constexpr Numerics(Word word) : word(word) {}
  Word word = Word::fast;
};

} // namespace halftone::compiler
