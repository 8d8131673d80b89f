// Whether the contents of a buffer are known to be written when a step reads it, from the predicates of both steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace halftone {

/// A predicate over numbered bytes: that the byte is non-zero, or zero when `negated`.
struct ByteCondition {
  int64_t byte = -1;
  bool negated = false;
  auto operator<=>(const ByteCondition &) const = default;
};

/// The predicates under which steps wrote one buffer, while no step changes the bytes of those predicates. That one
/// predicate implies another is beyond it.
class WrittenUnder {
public:
  void add(const std::optional<ByteCondition> &writer) {
    always |= !writer || conditions.contains({writer->byte, !writer->negated});
    if (writer)
      conditions.insert(*writer);
  }
  /// Whether a step under this predicate, nullopt for none, finds the buffer written.
  bool isKnownUnder(const std::optional<ByteCondition> &reader) const {
    return always || (reader && conditions.contains(*reader));
  }
  /// Whether every step finds the buffer written.
  bool isAlwaysKnown() const { return always; }
  /// Whether there is one predicate under which steps find the buffer written.
  bool isOneCondition() const { return !always && conditions.size() == 1; }
  /// Keeps only what both know.
  void meet(const WrittenUnder &other) {
    always &= other.always;
    std::erase_if(conditions, [&](const ByteCondition &condition) { return !other.isKnownUnder(condition); });
  }
  /// The bytes for which `changed` holds have a new meaning.
  template <class Changed> void forget(Changed changed) {
    std::erase_if(conditions, [&](const ByteCondition &condition) { return changed(condition.byte); });
  }

private:
  bool always = false;
  std::set<ByteCondition> conditions;
};

} // namespace halftone
