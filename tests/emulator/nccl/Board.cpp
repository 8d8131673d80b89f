// Opens the shared memory, and combines the values of the ranks.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/nccl/Board.h"
#include "tests/emulator/Numbers.h"
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>

namespace halftone::emulator {

Board *Board::open(const std::string &name) {
  const int file = ::shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0)
    return nullptr;
  void *memory = MAP_FAILED;
  if (::ftruncate(file, sizeof(Board)) == 0) // new bytes are zeros
    memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<Board *>(memory);
}

void Board::forget(const std::string &name) { (void)::shm_unlink(name.c_str()); }

namespace {

template <class T> auto numberOf(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
    return toFloat(value);
  else
    return value;
}

template <class T, class Number> void store(std::byte *to, Number number) {
  T value;
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
    value.bits =
        static_cast<uint16_t>(roundTo(std::is_same_v<T, Half> ? halfFormat : bfloatFormat, number, Rounding::Nearest));
  else
    value = number;
  std::memcpy(to, &value, sizeof value);
}

template <class T> void combineAs(const Board &board, int ranks, const Call &call, std::byte *to) {
  for (uint64_t i = 0; i < call.elements; ++i) {
    auto all = numberOf<T>(board.bytes[0].data() + i * sizeof(T));
    using Number = decltype(all);
    if (call.reduction == 0)
      all = Number(0) + all;
    for (int rank = 1; rank < ranks; ++rank) {
      const Number own = numberOf<T>(board.bytes[static_cast<size_t>(rank)].data() + i * sizeof(T));
      if (call.reduction == 0 && std::is_integral_v<Number>)
        all = static_cast<Number>(static_cast<uint64_t>(all) + static_cast<uint64_t>(own));
      else if (call.reduction == 0)
        all = all + own;
      else
        all = all > own || own != own ? all : own; // drops NaN, like fmax()
    }
    store<T>(to + i * sizeof(T), all);
  }
}

struct Type {
  uint64_t bytes;
  void (*combine)(const Board &, int, const Call &, std::byte *);
};
template <class T> constexpr Type rowOf{sizeof(T), combineAs<T>};
/// Indexed by ncclDataType_t.
constexpr Type types[] = {rowOf<int8_t>,   rowOf<uint8_t>, rowOf<int32_t>, rowOf<uint32_t>, rowOf<int64_t>,
                          rowOf<uint64_t>, rowOf<Half>,    rowOf<float>,   rowOf<double>,   rowOf<BFloat>};

} // namespace

uint64_t bytesOfType(int type) { return type < 0 || type >= int(std::size(types)) ? 0 : types[type].bytes; }

void combine(const Board &board, int ranks, const Call &call, std::byte *to) {
  if (call.reduction == Call::copy) {
    std::memcpy(to, board.bytes[static_cast<size_t>(call.root)].data(), call.elements * bytesOfType(call.type));
    return;
  }
  types[call.type].combine(board, ranks, call, to);
}

} // namespace halftone::emulator
