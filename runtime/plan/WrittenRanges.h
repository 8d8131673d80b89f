// Which bytes the steps of a plan have written so far, and under which predicates.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Plan.h"
#include "WrittenUnder.h"
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace halftone {

/// The bytes behind a slot. Only ranges of the arena, and slices of one tensor, can overlap without being equal; every
/// other pair of kind and index has memory of its own.
struct Range {
  SlotKind kind = SlotKind::arena;
  int64_t index = 0; // 0 for the arena
  int64_t begin = 0, end = 0;
  auto key() const { return std::tuple(kind, index, begin, end); }
  bool empty() const { return begin == end; }
  /// Whether this range begins before the end of `other`, in the order of ranges.
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

/// A range of bytes that a step touches: a whole value, or a slice of one.
struct Piece {
  Range range;
  bool isSlice = false;
};

/// A predicate by the byte that decides it.
struct RangeCondition {
  Range byte;
  bool negated = false;
};

class WrittenRanges {
public:
  enum class Known : uint8_t { no, under_predicate, yes };
  /// Whether a step under that predicate finds the piece written: as one value, as all slices of a value, or as part
  /// of a value of which it is a slice.
  Known known(const Piece &piece, const std::optional<RangeCondition> &reader) const;
  /// A step writes the piece. A whole value that it overlaps is gone, unless it has the same range; of slices, those
  /// bytes.
  void write(const Piece &piece, const std::optional<RangeCondition> &writer);
  /// Some step may have written some of these bytes.
  void spoil(const Range &range);
  /// Keeps what `other` knows too, which went on from a copy of this one.
  void meet(const WrittenRanges &other);

private:
  struct Entry {
    WrittenUnder under;
    bool isSlice = false;
  };
  using Entries = std::map<Range, Entry>;

  std::optional<ByteCondition> conditionOf(const std::optional<RangeCondition> &condition) const;
  void remove(const Piece &piece);
  void forgetPredicates(const Range &range);

  Entries entries_;                                  // their ranges never overlap
  std::map<Range, std::vector<Range>> writtenUnder_; // the ranges written under the predicate with that byte
  std::map<Range, int64_t> numbers_;                 // of the predicates' bytes
  std::vector<Range> bytes_;                         // by number
};

} // namespace halftone
