// Symbolic values (hashes), and the symbolic contents of memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StableHashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"
#include <cstdint>
#include <iterator>
#include <map>

namespace halftone::compiler {

using Symbol = uint64_t;

inline constexpr Symbol zeros = 0; // all bytes are 0, or there are none

inline Symbol partOf(llvm::StringRef text) { return llvm::xxh3_64bits(text); }
inline Symbol partOf(llvm::ArrayRef<uint64_t> parts) { return llvm::stable_hash_combine(parts); }
inline Symbol partOf(uint64_t number) { return number; }
/// A hash that is equal in every process, unlike that of llvm::hash_combine, so that the result of a check does not
/// depend on the run.
template <class... Parts> Symbol symbolOf(llvm::StringRef kind, const Parts &...parts) {
  return llvm::stable_hash_combine(llvm::ArrayRef<uint64_t>({partOf(kind), partOf(parts)...})) | 1;
}
/// The contents of a tensor or of the arena: disjoint segments, each a value or a slice of one.
class Contents {
public:
  Contents() = default;
  Contents(int64_t bytes, Symbol symbol) { write(0, bytes, symbol); }

  /// Drops all segments that overlap [begin, end), including those that extend past an end.
  void clear(int64_t begin, int64_t end) {
    auto next = segments.lower_bound(begin);
    if (next != segments.begin() && std::prev(next)->second.end > begin)
      --next;
    while (next != segments.end() && next->first < end)
      next = segments.erase(next);
  }
  void write(int64_t begin, int64_t end, Symbol symbol) {
    clear(begin, end);
    if (begin < end)
      segments[begin] = {end, symbol, 0, end - begin};
  }
  /// Copies the contents of `other` that begin at `from` to [begin, end).
  void write(int64_t begin, int64_t end, const Contents &other, int64_t from) {
    clear(begin, end);
    const int64_t to = from + end - begin;
    if (begin < end)
      if (const auto around = other.around(from, to); around != other.segments.end()) {
        const auto &[at, segment] = *around;
        segments[begin] = {end, segment.value, segment.offset + from - at, segment.bytes};
        return;
      }
    for (const auto &[at, segment] : other.segments)
      if (at >= from && segment.end <= to)
        segments[begin + at - from] = {begin + segment.end - from, segment.value, segment.offset, segment.bytes};
  }
  /// The value of [begin, end): that of a segment, a slice of it, or the combination of all segments there.
  Symbol read(int64_t begin, int64_t end) const {
    if (begin == end)
      return zeros;
    if (const auto segment = around(begin, end); segment != segments.end())
      return symbolOfPart(segment->second, segment->second.offset + begin - segment->first, end - begin);
    llvm::SmallVector<Symbol> inside;
    bool isZero = true;
    for (auto segment = segments.lower_bound(begin); segment != segments.end() && segment->second.end <= end;
         ++segment) {
      const Symbol part = symbolOfPart(segment->second, segment->second.offset, segment->second.end - segment->first);
      inside.append({static_cast<Symbol>(segment->first - begin), part});
      isZero &= part == zeros;
    }
    return isZero ? zeros : symbolOf("pieces", llvm::ArrayRef<Symbol>(inside));
  }

private:
  struct Segment {
    int64_t end;
    Symbol value;
    int64_t offset, bytes; // offset of the segment in the value; size of the whole value
  };
  static Symbol symbolOfPart(const Segment &segment, int64_t offset, int64_t bytes) {
    if (segment.value == zeros || (offset == 0 && bytes == segment.bytes))
      return segment.value;
    return symbolOf("slice", segment.value, static_cast<uint64_t>(offset), static_cast<uint64_t>(bytes));
  }
  /// The segment that contains [begin, end).
  std::map<int64_t, Segment>::const_iterator around(int64_t begin, int64_t end) const {
    const auto next = segments.upper_bound(begin);
    return next == segments.begin() || std::prev(next)->second.end < end ? segments.end() : std::prev(next);
  }

  std::map<int64_t, Segment> segments; // by begin
};

} // namespace halftone::compiler
