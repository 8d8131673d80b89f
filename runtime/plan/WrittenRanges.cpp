// An interval map of disjoint ranges.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/WrittenRanges.h"
#include <algorithm>
#include <iterator>

namespace halftone {

std::set<Range>::const_iterator RangeUnion::firstNear(const Range &range) const {
  const auto next = ranges.lower_bound({range.kind, range.index, range.begin, range.begin});
  return next != ranges.begin() && std::prev(next)->overlaps(range) ? std::prev(next) : next;
}

void RangeUnion::add(Range range) {
  if (range.empty())
    return;
  for (auto next = firstNear(range); next != ranges.end() && next->overlaps(range); next = ranges.erase(next)) {
    range.begin = std::min(range.begin, next->begin);
    range.end = std::max(range.end, next->end);
  }
  ranges.insert(range);
}

bool RangeUnion::overlaps(const Range &range) const {
  const auto next = firstNear(range);
  return !range.empty() && next != ranges.end() && next->overlaps(range);
}
namespace {

/// The first of the disjoint `ranges` that may overlap `range`.
template <class Map> auto firstNear(Map &ranges, const Range &range) {
  auto next = ranges.lower_bound({range.kind, range.index, range.begin, range.begin});
  return next == ranges.begin() ? next : std::prev(next);
}

} // namespace

/// Also returns nullopt if nothing was written under that byte.
std::optional<ByteCondition> WrittenRanges::conditionOf(const std::optional<RangeCondition> &condition) const {
  if (!condition)
    return std::nullopt;
  const auto index = indices_.find(condition->byte);
  return index == indices_.end() ? std::nullopt : std::optional(ByteCondition{index->second, condition->negated});
}

WrittenRanges::Known WrittenRanges::known(const RangeAccess &access,
                                          const std::optional<RangeCondition> &reader) const {
  const Range &range = access.range;
  const std::optional<ByteCondition> condition = conditionOf(reader);
  int64_t covered = range.begin;
  bool unconditionally = true;
  for (auto next = firstNear(entries_, range); next != entries_.end() && next->first.begins(range); ++next) {
    if (!next->first.overlaps(range))
      continue;
    if (next->first.begin > covered || !(access.isSlice || next->second.isSlice || range.contains(next->first)))
      return Known::no;
    unconditionally &= next->second.under.isKnownUnder(condition);
    covered = next->first.end;
  }
  if (covered < range.end)
    return Known::no;
  return unconditionally ? Known::yes : Known::under_predicate;
}

/// Removes entries whose ranges overlap that of the access without being equal. If both are slices, the entry is split
/// instead: its bytes outside of the access stay and, if it contains the access, so do those of the access.
void WrittenRanges::remove(const RangeAccess &access) {
  const Range &range = access.range;
  std::vector<std::pair<Range, Entry>> rest;
  for (auto next = firstNear(entries_, range); next != entries_.end() && next->first.begins(range);) {
    const Range old = next->first;
    if (!old.overlaps(range) || old == range) {
      ++next;
      continue;
    }
    if (access.isSlice && next->second.isSlice) {
      if (old.begin < range.begin)
        rest.push_back({{old.kind, old.index, old.begin, range.begin}, next->second});
      if (range.end < old.end)
        rest.push_back({{old.kind, old.index, range.end, old.end}, next->second});
      if (old.contains(range))
        rest.push_back({range, next->second});
    }
    next = entries_.erase(next);
  }
  entries_.insert(rest.begin(), rest.end());
}

void WrittenRanges::write(const RangeAccess &access, const std::optional<RangeCondition> &writer) {
  if (access.range.empty()) // no step can read it
    return;
  forgetPredicates(access.range);
  remove(access);
  Entry &entry = entries_[access.range];
  entry.isSlice = access.isSlice;
  if (!writer)
    return entry.under.add(std::nullopt);
  const auto [index, isNew] = indices_.try_emplace(writer->byte, std::ssize(bytes_));
  if (isNew)
    bytes_.push_back(writer->byte);
  entry.under.add(ByteCondition{index->second, writer->negated});
  writtenUnder_[writer->byte].push_back(access.range);
}

void WrittenRanges::invalidate(const Range &range) {
  if (range.empty())
    return;
  forgetPredicates(range);
  remove({range, true});
  entries_.erase(range);
}

/// A write to a predicate's byte changes the predicate, so contents known under the old value become unknown.
void WrittenRanges::forgetPredicates(const Range &range) {
  for (auto next = firstNear(writtenUnder_, range); next != writtenUnder_.end() && next->first.begins(range);) {
    if (!next->first.overlaps(range)) {
      ++next;
      continue;
    }
    for (const Range &governed : next->second)
      for (auto entry = firstNear(entries_, governed); entry != entries_.end() && entry->first.begins(governed);
           ++entry)
        entry->second.under.forget([&](int64_t index) { return bytes_[static_cast<size_t>(index)].overlaps(range); });
    next = writtenUnder_.erase(next);
  }
}

/// `other` started as a copy of this state, so both have the same indices of bytes.
void WrittenRanges::meet(const WrittenRanges &other) {
  for (auto next = entries_.begin(); next != entries_.end();) {
    auto &[range, entry] = *next;
    const auto same = other.entries_.find(range);
    const bool isWritten = other.known({range, entry.isSlice}, std::nullopt) == Known::yes;
    if (!isWritten && same == other.entries_.end()) {
      next = entries_.erase(next);
      continue;
    }
    if (!isWritten)
      entry.under.meet(same->second.under);
    ++next;
  }
}

} // namespace halftone
