// Dataflow state of plan verification: the byte ranges written so far, and under which predicates.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Plan.h"
#include "WrittenUnder.h"
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace halftone {

/// The bytes that a slot refers to. Only ranges of the arena, and slices of one tensor, can overlap without being
/// equal; every other pair of kind and index has its own memory.
struct Range {
  SlotKind kind = SlotKind::arena;
  int64_t index = 0; // 0 for the arena
  int64_t begin = 0, end = 0;
  auto key() const { return std::tuple(kind, index, begin, end); }
  bool empty() const { return begin == end; }
  /// Returns true if this range begins before the end of `other`, in the order of ranges.
  bool begins(const Range &other) const {
    return std::tuple(kind, index, begin) < std::tuple(other.kind, other.index, other.end);
  }
  bool overlaps(const Range &other) const {
    return kind == other.kind && index == other.index && begin < other.end && other.begin < end;
  }
  bool contains(const Range &other) const {
    return kind == other.kind && index == other.index && begin <= other.begin && other.end <= end;
  }
  bool operator==(const Range &other) const { return key() == other.key(); }
  bool operator<(const Range &other) const { return key() < other.key(); }
};

/// The union of ranges of bytes, as ranges that do not overlap.
class RangeUnion {
public:
  void add(Range range);
  bool overlaps(const Range &range) const;
  void clear() { ranges.clear(); }

private:
  /// Returns the first range that may overlap `range`; those that do overlap it are consecutive from there.
  std::set<Range>::const_iterator firstNear(const Range &range) const;

  std::set<Range> ranges;
};

/// A range of bytes that a step accesses: a whole value, or a slice of a value.
struct RangeAccess {
  Range range;
  bool isSlice = false;
};

/// A predicate, identified by its byte.
struct RangeCondition {
  Range byte;
  bool negated = false;
};

class WrittenRanges {
public:
  enum class Known : uint8_t { no, under_predicate, yes };
  /// Returns whether a step under that predicate finds the range written: as one value, as all slices of a value, or as
  /// a slice of a larger written value.
  Known known(const RangeAccess &access, const std::optional<RangeCondition> &reader) const;
  /// Records that a step writes the range. This invalidates an overlapping whole value unless it has the same range; of
  /// overlapping slices, only the shared bytes.
  void write(const RangeAccess &access, const std::optional<RangeCondition> &writer);
  /// Records that some step may have overwritten some of these bytes.
  void invalidate(const Range &range);
  /// Intersects this state with `other`, which started as a copy of this one.
  void meet(const WrittenRanges &other);

private:
  struct Entry {
    WrittenUnder under;
    bool isSlice = false;
  };
  using Entries = std::map<Range, Entry>;

  std::optional<ByteCondition> conditionOf(const std::optional<RangeCondition> &condition) const;
  void remove(const RangeAccess &access);
  void forgetPredicates(const Range &range);

  Entries entries_;                                  // their ranges never overlap
  std::map<Range, std::vector<Range>> writtenUnder_; // by the byte of the predicate, the ranges written under it
  std::map<Range, int64_t> indices_;                 // of the predicates' bytes
  std::vector<Range> bytes_;                         // by index
};

} // namespace halftone
