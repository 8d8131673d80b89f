// The shared memory through which emulated GPUs of one or several processes hand each other their values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace halftone::emulator {

inline constexpr int mostRanks = 16;
inline constexpr uint64_t pieceBytes = uint64_t(1) << 20; ///< values travel in pieces of at most so many bytes

/// What a rank calls: all ranks must call the same.
struct Call {
  static constexpr int all = -1, copy = -1;
  uint64_t elements = 0;
  int type = 0, reduction = 0; ///< `copy`: every rank gets the root's values
  int root = all;              ///< of a reduction: the rank that gets the result
  bool gives(int rank) const { return reduction != copy || rank == root; }
  bool takes(int rank) const { return reduction == copy || root == all || rank == root; }
  bool operator==(const Call &) const = default;
};

/// A rank's place. Counts grow by one for each piece.
struct Seat {
  std::atomic<uint32_t> isTaken;
  int32_t process, device;
  std::atomic<uint64_t> arrived;  ///< pieces whose values stand in the rank's bytes
  std::atomic<uint64_t> consumed; ///< pieces that the rank has read from all
  Call call;                      ///< of the piece that arrived last
};

struct Board {
  std::atomic<uint32_t> joined;
  std::array<Seat, mostRanks> seats;
  alignas(64) std::array<std::array<std::byte, pieceBytes>, mostRanks> bytes;

  /// The board of that name, made by whoever comes first; null if the system gives none.
  static Board *open(const std::string &name);
  static void forget(const std::string &name); ///< removes the name; whoever has the board keeps it
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// The sum or maximum of all ranks' values, 0 + x0 + x1 + ... in the order of ranks, in f32 for 16 bits, or the root's; into
/// `to`.
void combine(const Board &board, int ranks, const Call &call, std::byte *to);
/// Bytes of an element; 0 for a type that is none of ncclDataType_t.
uint64_t bytesOfType(int type);

} // namespace halftone::emulator
