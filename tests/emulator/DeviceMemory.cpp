// Global memory with a record per byte.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Memory.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>

namespace halftone::emulator {

namespace {

constexpr uint64_t reservedBytes = uint64_t(1) << 40;
constexpr uint64_t granule = 512; // in address space; one granule between allocations is unallocated

/// The record of a byte: bit 0 is set once it was written; then the launch, the block that wrote it and the block that
/// read it in that launch. Blocks count from 1; `manyBlocks` represents more than one reader.
constexpr uint64_t writtenBit = 1, launchBits = 15, blockBits = 24;
constexpr uint64_t launchShift = 1, writerShift = 16, readerShift = 40;
constexpr uint64_t launchMask = (uint64_t(1) << launchBits) - 1, blockMask = (uint64_t(1) << blockBits) - 1;
constexpr uint64_t manyBlocks = blockMask;
constexpr char globalMemory[] = "global memory";

uint64_t launchOf(uint64_t record) { return record >> launchShift & launchMask; }
uint64_t writerOf(uint64_t record) { return record >> writerShift & blockMask; }
uint64_t readerOf(uint64_t record) { return record >> readerShift & blockMask; }
uint64_t recordOf(uint64_t launch, uint64_t writer, uint64_t reader) {
  return writtenBit | launch << launchShift | writer << writerShift | reader << readerShift;
}

[[noreturn]] void failBlocks(uint64_t address, uint64_t block, const char *verb, const char *other,
                             uint64_t otherBlock) {
  std::string who = otherBlock == manyBlocks ? "several blocks" : fmt::format("block {}", otherBlock - 1);
  throw Fault(FaultKind::LaunchFailed,
              fmt::format("block {} {} the byte at {:#x}, which {} {} in the same launch; expected blocks that do not "
                          "depend on each other",
                          block - 1, verb, address, who, other));
}

template <typename T> std::unique_ptr<T[], void (*)(void *)> zeroed(uint64_t count) {
  void *memory = std::calloc(count ? count : 1, sizeof(T));
  if (!memory)
    throw std::bad_alloc();
  return {static_cast<T *>(memory), std::free};
}

} // namespace

void checkAlignment(const Access &access, const char *verb) {
  if (access.address & (access.bytes - 1))
    throw Fault(FaultKind::MisalignedAddress, fmt::format("{} {} bytes at {:#x}; expected an address aligned to {}",
                                                          verb, access.bytes, access.address, access.bytes));
}

DeviceMemory::DeviceMemory(uint64_t capacity) : capacity_(capacity) {
  void *range = mmap(nullptr, reservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    throw std::bad_alloc();
  base_ = end_ = reinterpret_cast<uint64_t>(range) + granule;
}

DeviceMemory::~DeviceMemory() { munmap(reinterpret_cast<void *>(base_ - granule), reservedBytes); }

std::optional<uint64_t> DeviceMemory::reserve(uint64_t bytes) {
  uint64_t rounded = (bytes + granule - 1) / granule * granule + granule;
  if (bytes > capacity_ || used_ + bytes > capacity_)
    return std::nullopt;
  std::vector<uint64_t> &reusable = free_[rounded];
  uint64_t address = end_;
  if (!reusable.empty()) {
    address = reusable.back();
    reusable.pop_back();
  } else if (end_ + rounded > base_ + reservedBytes - 2 * granule)
    return std::nullopt;
  else
    end_ += rounded;
  auto made = std::make_unique<Allocation>();
  made->address = address;
  made->bytes = bytes;
  made->data = zeroed<std::byte>(bytes);
  made->records = zeroed<uint64_t>(bytes);
  made->threads = zeroed<uint64_t>(bytes);
  allocations_.insert(allocations_.begin() + firstAfter(address), std::move(made));
  used_ += bytes;
  return address;
}

size_t DeviceMemory::firstAfter(uint64_t address) const {
  return std::ranges::upper_bound(allocations_, address, {}, [](const auto &a) { return a->address; }) -
         allocations_.begin();
}

void DeviceMemory::open(uint64_t address) {
  size_t place = firstAfter(address);
  if (place && allocations_[place - 1]->address == address)
    allocations_[place - 1]->isOpen = true;
}

void DeviceMemory::protect(uint64_t address) { find(address, 1, "protects").isProtected = true; }

bool DeviceMemory::release(uint64_t address) {
  size_t place = firstAfter(address);
  if (!place || allocations_[place - 1]->address != address)
    return false;
  uint64_t bytes = allocations_[place - 1]->bytes;
  used_ -= bytes;
  free_[(bytes + granule - 1) / granule * granule + granule].push_back(address);
  allocations_.erase(allocations_.begin() + (place - 1));
  last_ = nullptr;
  return true;
}

std::optional<uint64_t> DeviceMemory::sizeAt(uint64_t address) const {
  size_t place = firstAfter(address);
  if (!place || allocations_[place - 1]->address != address)
    return std::nullopt;
  return allocations_[place - 1]->bytes;
}

void DeviceMemory::failBounds(uint64_t address, uint64_t bytes, const char *verb) const {
  size_t place = firstAfter(address);
  std::string near = "no allocation lies below it";
  if (place) {
    const Allocation &below = *allocations_[place - 1];
    near = fmt::format("the nearest allocation below has {} bytes at {:#x}{}, so it starts {} bytes behind the end",
                       below.bytes, below.address, below.isOpen ? "" : " and is not yet there in the stream's order",
                       static_cast<int64_t>(address - below.address - below.bytes));
  }
  throw Fault(FaultKind::IllegalAddress,
              fmt::format("{} {} bytes of global memory at {:#x}; {}", verb, bytes, address, near));
}

DeviceMemory::Allocation &DeviceMemory::find(uint64_t address, uint64_t bytes, const char *verb) {
  auto holds = [&](const Allocation &a) {
    return address >= a.address && bytes <= a.bytes && address - a.address <= a.bytes - bytes;
  };
  if (last_ && holds(*last_))
    return *last_;
  size_t place = firstAfter(address);
  if (!place || !allocations_[place - 1]->isOpen || !holds(*allocations_[place - 1]))
    failBounds(address, bytes, verb);
  last_ = allocations_[place - 1].get();
  return *last_;
}

void DeviceMemory::write(uint64_t to, const void *from, uint64_t bytes) {
  Allocation &target = find(to, bytes, "a copy writes");
  std::memcpy(target.data.get() + (to - target.address), from, bytes);
  std::fill_n(target.records.get() + (to - target.address), bytes, writtenBit);
}

void DeviceMemory::read(void *to, uint64_t from, uint64_t bytes) {
  Allocation &source = find(from, bytes, "a copy reads");
  const uint64_t *records = source.records.get() + (from - source.address);
  const uint64_t *unwritten =
      std::find_if(records, records + bytes, [](uint64_t record) { return !(record & writtenBit); });
  if (unwritten != records + bytes)
    throw Fault(FaultKind::LaunchFailed,
                fmt::format("a copy to the host reads the byte at {:#x}, which nothing has written",
                            from + (unwritten - records)));
  std::memcpy(to, source.data.get() + (from - source.address), bytes);
}

void DeviceMemory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  Allocation &source = find(from, bytes, "a copy reads");
  Allocation &target = find(to, bytes, "a copy writes");
  if (to < from + bytes && from < to + bytes && bytes)
    throw Fault(
        FaultKind::LaunchFailed,
        fmt::format("a copy of {} bytes from {:#x} to {:#x}; expected ranges that do not overlap", bytes, from, to));
  std::memcpy(target.data.get() + (to - target.address), source.data.get() + (from - source.address), bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    target.records[to - target.address + i] = source.records[from - source.address + i] & writtenBit;
}

void DeviceMemory::fill(uint64_t to, uint32_t value, uint32_t width, uint64_t count) {
  if (to % width)
    throw Fault(
        FaultKind::MisalignedAddress,
        fmt::format("a fill of {}-byte elements at {:#x}; expected an address aligned to {}", width, to, width));
  Allocation &target = find(to, count * width, "a fill writes");
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(target.data.get() + (to - target.address) + i * width, &value, width);
  std::fill_n(target.records.get() + (to - target.address), count * width, writtenBit);
}

void DeviceMemory::clearRecords() {
  for (const auto &allocation : allocations_)
    for (uint64_t i = 0; i < allocation->bytes; ++i)
      allocation->records[i] &= writtenBit;
}

void DeviceMemory::beginLaunch() {
  if (++launch_ <= launchMask)
    return;
  clearRecords();
  launch_ = 1;
}

uint32_t DeviceMemory::beginInterval() {
  if (++interval_ == ThreadRecord::intervals) {
    for (const auto &allocation : allocations_)
      allocation->threads = zeroed<uint64_t>(allocation->bytes);
    interval_ = 1;
  }
  return interval_;
}

void DeviceMemory::load(const Access &access, const MemoryUser &user, void *to) {
  checkAlignment(access, "reads");
  Allocation &source = find(access.address, access.bytes, "reads");
  uint64_t offset = access.address - source.address, self = uint64_t(user.block) + 1;
  uint64_t mine = recordOf(launch_, 0, self), written = recordOf(launch_, self, self);
  updateRecords(source.records.get() + offset, access.bytes, [&](uint64_t record, uint32_t i) {
    if (record == mine || record == written)
      return record;
    if (!(record & writtenBit))
      throw Fault(FaultKind::LaunchFailed,
                  fmt::format("reads {} bytes at {:#x}, of which nothing has written the byte at {:#x}", access.bytes,
                              access.address, access.address + i));
    if (launchOf(record) != launch_)
      return mine;
    uint64_t writer = writerOf(record), reader = readerOf(record);
    if (writer && writer != self)
      failBlocks(access.address + i, self, "reads", "writes", writer);
    return recordOf(launch_, writer, !reader || reader == self ? self : manyBlocks);
  });
  updateRecords(source.threads.get() + offset, access.bytes, [&](uint64_t record, uint32_t i) {
    return ThreadRecord(record).afterRead(user, access.address + i, globalMemory);
  });
  std::memcpy(to, source.data.get() + offset, access.bytes);
}

void DeviceMemory::store(const Access &access, const MemoryUser &user, const void *from) {
  checkAlignment(access, "writes");
  Allocation &target = find(access.address, access.bytes, "writes");
  if (target.isProtected)
    throw Fault(FaultKind::IllegalAddress,
                fmt::format("writes {} bytes at {:#x}, a constant", access.bytes, access.address));
  uint64_t offset = access.address - target.address, self = uint64_t(user.block) + 1;
  updateRecords(target.records.get() + offset, access.bytes, [&](uint64_t record, uint32_t i) {
    if (launchOf(record) != launch_)
      return recordOf(launch_, self, 0);
    uint64_t writer = writerOf(record), reader = readerOf(record);
    if (writer && writer != self)
      failBlocks(access.address + i, self, "writes", "writes", writer);
    if (reader && reader != self)
      failBlocks(access.address + i, self, "writes", reader == manyBlocks ? "read" : "reads", reader);
    return recordOf(launch_, self, reader);
  });
  updateRecords(target.threads.get() + offset, access.bytes, [&](uint64_t record, uint32_t i) {
    return ThreadRecord(record).afterWrite(user, access.address + i, globalMemory);
  });
  std::memcpy(target.data.get() + offset, from, access.bytes);
}

} // namespace halftone::emulator
