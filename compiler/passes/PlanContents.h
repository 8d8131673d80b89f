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
/// The contents of a tensor or of the arena: disjoint pieces, each a value or a slice of one.
class Contents {
public:
  Contents() = default;
  Contents(int64_t bytes, Symbol symbol) { write(0, bytes, symbol); }

  /// Drops all pieces that overlap [begin, end), including those that extend past an end.
  void clear(int64_t begin, int64_t end) {
    auto next = pieces.lower_bound(begin);
    if (next != pieces.begin() && std::prev(next)->second.end > begin)
      --next;
    while (next != pieces.end() && next->first < end)
      next = pieces.erase(next);
  }
  void write(int64_t begin, int64_t end, Symbol symbol) {
    clear(begin, end);
    if (begin < end)
      pieces[begin] = {end, symbol, 0, end - begin};
  }
  /// Copies the contents of `other` that begin at `from` to [begin, end).
  void write(int64_t begin, int64_t end, const Contents &other, int64_t from) {
    clear(begin, end);
    const int64_t to = from + end - begin;
    if (begin < end)
      if (const auto around = other.around(from, to); around != other.pieces.end()) {
        const auto &[at, piece] = *around;
        pieces[begin] = {end, piece.value, piece.offset + from - at, piece.bytes};
        return;
      }
    for (const auto &[at, piece] : other.pieces)
      if (at >= from && piece.end <= to)
        pieces[begin + at - from] = {begin + piece.end - from, piece.value, piece.offset, piece.bytes};
  }
  /// The value of [begin, end): that of a piece, a slice of it, or the combination of all pieces there.
  Symbol read(int64_t begin, int64_t end) const {
    if (begin == end)
      return zeros;
    if (const auto piece = around(begin, end); piece != pieces.end())
      return symbolOfPart(piece->second, piece->second.offset + begin - piece->first, end - begin);
    llvm::SmallVector<Symbol> inside;
    bool isZero = true;
    for (auto piece = pieces.lower_bound(begin); piece != pieces.end() && piece->second.end <= end; ++piece) {
      const Symbol part = symbolOfPart(piece->second, piece->second.offset, piece->second.end - piece->first);
      inside.append({static_cast<Symbol>(piece->first - begin), part});
      isZero &= part == zeros;
    }
    return isZero ? zeros : symbolOf("pieces", llvm::ArrayRef<Symbol>(inside));
  }

private:
  struct Piece {
    int64_t end;
    Symbol value;
    int64_t offset, bytes; // offset of the piece in the value; size of the whole value
  };
  static Symbol symbolOfPart(const Piece &piece, int64_t offset, int64_t bytes) {
    if (piece.value == zeros || (offset == 0 && bytes == piece.bytes))
      return piece.value;
    return symbolOf("slice", piece.value, static_cast<uint64_t>(offset), static_cast<uint64_t>(bytes));
  }
  /// The piece that contains [begin, end).
  std::map<int64_t, Piece>::const_iterator around(int64_t begin, int64_t end) const {
    const auto next = pieces.upper_bound(begin);
    return next == pieces.begin() || std::prev(next)->second.end < end ? pieces.end() : std::prev(next);
  }

  std::map<int64_t, Piece> pieces; // by begin
};

} // namespace halftone::compiler
