// The shared memory through which emulated GPUs of one or several processes exchange values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace halftone::emulator {

inline constexpr int mostRanks = 16;
inline constexpr uint64_t pieceBytes = uint64_t(1) << 20; ///< values are exchanged in chunks of at most this many bytes

/// The call of a rank: all ranks must make the same call.
struct Call {
  static constexpr int all = -1, copy = -1;
  uint64_t elements = 0;
  int type = 0, reduction = 0; ///< `copy`: every rank gets the root's values
  int root = all;              ///< for a reduction: the rank that gets the result
  bool gives(int rank) const { return reduction != copy || rank == root; }
  bool takes(int rank) const { return reduction == copy || root == all || rank == root; }
  bool operator==(const Call &) const = default;
};

/// The seat of a rank. Its counters increase by one for each chunk.
struct Seat {
  std::atomic<uint32_t> isTaken;
  int32_t process, device;
  std::atomic<uint64_t> arrived;  ///< chunks whose values are in the rank's bytes
  std::atomic<uint64_t> consumed; ///< chunks that the rank has read from all ranks
  Call call;                      ///< the call of the last chunk that arrived
};

struct Board {
  std::atomic<uint32_t> joined;
  std::array<Seat, mostRanks> seats;
  alignas(64) std::array<std::array<std::byte, pieceBytes>, mostRanks> bytes;

  /// The board with this name, created by the first rank to open it; null if the system refuses.
  static Board *open(const std::string &name);
  static void forget(const std::string &name); ///< removes the name; ranks that have opened the board keep it
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// The sum or maximum of all ranks' values, 0 + x0 + x1 + ... in rank order, in f32 for 16 bits, or the root's values;
/// written to `to`.
void combine(const Board &board, int ranks, const Call &call, std::byte *to);
/// The size of an element in bytes; 0 for a type that is not in ncclDataType_t.
uint64_t bytesOfType(int type);

} // namespace halftone::emulator
