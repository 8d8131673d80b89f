// The memory of the emulated device, with a record per byte of its writer and readers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Fault.h"
#include "tests/emulator/ThreadOrder.h"
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::emulator {

/// One access of a thread. Addresses are generic, or in the space of the memory.
struct Access {
  uint64_t address = 0;
  uint32_t bytes = 0;
};

/// Sets the record of each of `bytes` bytes to next(record, byte). next() is called once per run of equal records,
/// since adjacent records are mostly equal.
template <typename F> void updateRecords(uint64_t *records, uint32_t bytes, F next) {
  uint64_t known = 0, result = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (i == 0 || records[i] != known) {
      known = records[i];
      result = next(known, i);
    }
    records[i] = result;
  }
}

/// Global memory. Addresses are in a range that the host must not access; the bytes are elsewhere. Each byte records
/// whether it was written, and which block of the running launch wrote or read it: a block that uses bytes written by
/// another block of the launch faults, in either order of the two. Within a block a byte has a ThreadRecord, so a race
/// between two threads is a fault too.
class DeviceMemory {
public:
  /// Memory of `capacity` bytes.
  explicit DeviceMemory(uint64_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  uint64_t capacity() const { return capacity_; }
  uint64_t used() const { return used_; }

  /// The address of `bytes` new bytes aligned to 512, or nothing if memory is full. They must not be used before
  /// `open`.
  std::optional<uint64_t> reserve(uint64_t bytes);
  void open(uint64_t address);
  /// Frees the allocation at `address`. Returns false if none begins there.
  bool release(uint64_t address);
  /// The size in bytes of the allocation that begins at `address`, if any.
  std::optional<uint64_t> sizeAt(uint64_t address) const;
  /// Marks an allocation as read-only for kernels.
  void protect(uint64_t address);

  // Accesses of the host and of the copy engine. Each throws Fault before it changes anything.
  void write(uint64_t to, const void *from, uint64_t bytes);
  void read(void *to, uint64_t from, uint64_t bytes);
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  /// Fills `count` elements of `width` bytes (1, 2 or 4) with `value`.
  void fill(uint64_t to, uint32_t value, uint32_t width, uint64_t count);

  // Accesses of the blocks of a launch.
  static constexpr uint32_t maxBlocks = (1 << 24) - 3;
  void beginLaunch();
  /// The number of a new interval. A block has one interval from its start to its first barrier, and one after each
  /// barrier.
  uint32_t beginInterval();
  void load(const Access &access, const MemoryUser &user, void *to);
  void store(const Access &access, const MemoryUser &user, const void *from);

private:
  struct Allocation {
    uint64_t address = 0;
    uint64_t bytes = 0;
    bool isOpen = false;
    bool isProtected = false;
    std::unique_ptr<std::byte[], void (*)(void *)> data{nullptr, nullptr};
    std::unique_ptr<uint64_t[], void (*)(void *)> records{nullptr, nullptr};
    std::unique_ptr<uint64_t[], void (*)(void *)> threads{nullptr, nullptr}; ///< ThreadRecord of each byte
  };

  size_t firstAfter(uint64_t address) const;
  Allocation &find(uint64_t address, uint64_t bytes, const char *verb);
  [[noreturn]] void failBounds(uint64_t address, uint64_t bytes, const char *verb) const;
  void clearRecords();

  uint64_t capacity_;
  uint64_t used_ = 0;
  uint64_t base_ = 0;
  uint64_t end_ = 0;
  uint64_t launch_ = 0;
  uint32_t interval_ = 0;
  std::vector<std::unique_ptr<Allocation>> allocations_;     ///< sorted by address
  std::unordered_map<uint64_t, std::vector<uint64_t>> free_; ///< rounded size -> addresses
  Allocation *last_ = nullptr;
};

/// Shared memory of one block, with addresses from firstSharedAddress on. Each byte has a ThreadRecord, so a race
/// between two threads is a fault.
class SharedMemory {
public:
  explicit SharedMemory(uint32_t bytes) : data_(bytes), records_(bytes) {}

  void load(const Access &access, const MemoryUser &user, void *to);
  void store(const Access &access, const MemoryUser &user, const void *from);
  /// Marks bytes as the target of a copy in flight; every use of them until `storeLate` is a fault.
  void storeLater(const Access &access, const MemoryUser &user);
  void storeLate(const Access &access, const MemoryUser &user, const void *from);

private:
  size_t placeOf(const Access &access, const char *verb) const;

  std::vector<std::byte> data_;
  std::vector<uint64_t> records_;
};

/// Throws if an address is not a multiple of the access size.
void checkAlignment(const Access &access, const char *verb);

} // namespace halftone::emulator
