// The permitted deviation of code from the interpreter's results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace halftone::compiler {

/// The guarantees for the results of ops. Code asks for the one property that it depends on, never for the value, so
/// further numerics can combine the properties differently.
class Numerics {
public:
  /// Fast numerics.
  constexpr Numerics() = default;
  /// A fused intermediate may stay wider than its dtype, products and sums may be fused, and sums may be split.
  static constexpr Numerics fast() { return Numerics(Word::fast); }
  /// Every op gives the interpreter's result, except ops that are not exactly rounded (exp, sums of floats).
  static constexpr Numerics strict() { return Numerics(Word::strict); }
  static constexpr Numerics strictIf(bool strict) { return Numerics(strict ? Word::strict : Word::fast); }
  /// The numerics with this name: "fast" or "strict".
  static constexpr std::optional<Numerics> named(std::string_view name) {
    for (const Numerics each : {fast(), strict()})
      if (each.name() == name)
        return each;
    return std::nullopt;
  }
  constexpr std::string_view name() const { return word == Word::strict ? "strict" : "fast"; }

  /// Each compute op is a separate kernel.
  constexpr bool formsAlone() const { return word == Word::strict; }
  /// The result of every op is rounded to its dtype, also within a kernel.
  constexpr bool roundsEachOp() const { return word == Word::strict; }
  /// A product and the sum that uses it may become one instruction, and a quotient may become a product with a
  /// reciprocal.
  constexpr bool mayFuse() const { return word == Word::fast; }
  /// Sums add in the order of the op's definition, and their products are as wide as the sum.
  constexpr bool fixesOrder() const { return word == Word::strict; }

  friend constexpr bool operator==(Numerics, Numerics) = default;

private:
  enum class Word : uint8_t { fast, strict };
  explicit constexpr Numerics(Word word) : word(word) {}
  Word word = Word::fast;
};

} // namespace halftone::compiler
