// Decides from the predicates of writers and reader whether a buffer is known to be written when a step reads it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace halftone {

/// A predicate over numbered bytes: the byte is non-zero, or zero when `negated`.
struct ByteCondition {
  int64_t byte = -1;
  bool negated = false;
  auto operator<=>(const ByteCondition &) const = default;
};

/// The predicates under which steps wrote one buffer, valid while no step changes the bytes of those predicates.
/// Implications between different predicates are not tracked.
class WrittenUnder {
public:
  void add(const std::optional<ByteCondition> &writer) {
    always |= !writer || conditions.contains({writer->byte, !writer->negated});
    if (writer)
      conditions.insert(*writer);
  }
  /// Returns true if a step under this predicate (nullopt: none) finds the buffer written.
  bool isKnownUnder(const std::optional<ByteCondition> &reader) const {
    return always || (reader && conditions.contains(*reader));
  }
  /// Returns true if every step finds the buffer written.
  bool isAlwaysKnown() const { return always; }
  /// Returns true if steps find the buffer written under exactly one predicate.
  bool isOneCondition() const { return !always && conditions.size() == 1; }
  /// Intersects both states.
  void meet(const WrittenUnder &other) {
    always &= other.always;
    std::erase_if(conditions, [&](const ByteCondition &condition) { return !other.isKnownUnder(condition); });
  }
  /// Drops the predicates over the bytes for which `changed` returns true, since their values are new.
  template <class Changed> void forget(Changed changed) {
    std::erase_if(conditions, [&](const ByteCondition &condition) { return changed(condition.byte); });
  }

private:
  bool always = false;
  std::set<ByteCondition> conditions;
};

} // namespace halftone
