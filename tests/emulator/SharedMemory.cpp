// Shared memory of one block, with a record per byte.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Memory.h"
#include "tests/emulator/Ptx.h"
#include <cstring>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

/// The memory's own bits of a byte's ThreadRecord.
constexpr uint64_t writtenBit = 1, pendingBit = 2;
constexpr char sharedMemory[] = "shared memory";

/// The record of a byte after a write.
uint64_t afterWrite(uint64_t record, const MemoryUser &user, uint64_t address) {
  if (record & pendingBit)
    throw Fault(
        FaultKind::LaunchFailed,
        fmt::format(
            "writes the byte of shared memory at {:#x}, the target of a cp.async that its thread has not waited for",
            address));
  return ThreadRecord(record).afterWrite(user, address, sharedMemory) | writtenBit;
}

} // namespace

size_t SharedMemory::placeOf(const Access &access, const char *verb) const {
  checkAlignment(access, verb);
  uint64_t place = access.address - firstSharedAddress;
  if (access.address < firstSharedAddress || place > data_.size() || access.bytes > data_.size() - place)
    throw Fault(FaultKind::IllegalAddress,
                fmt::format("{} {} bytes of shared memory at {:#x}; expected addresses from {:#x} to {:#x}", verb,
                            access.bytes, access.address, firstSharedAddress, firstSharedAddress + data_.size()));
  return place;
}

void SharedMemory::load(const Access &access, const MemoryUser &user, void *to) {
  size_t place = placeOf(access, "reads");
  updateRecords(records_.data() + place, access.bytes, [&](uint64_t record, uint32_t i) {
    if (record & pendingBit)
      throw Fault(
          FaultKind::LaunchFailed,
          fmt::format("reads the byte of shared memory at {:#x}, the target of a cp.async that its thread has not "
                      "waited for",
                      access.address + i));
    if (!(record & writtenBit))
      throw Fault(
          FaultKind::LaunchFailed,
          fmt::format("reads {} bytes of shared memory at {:#x}, of which nothing has written the byte at {:#x}",
                      access.bytes, access.address, access.address + i));
    return ThreadRecord(record).afterRead(user, access.address + i, sharedMemory);
  });
  std::memcpy(to, data_.data() + place, access.bytes);
}

void SharedMemory::store(const Access &access, const MemoryUser &user, const void *from) {
  size_t place = placeOf(access, "writes");
  updateRecords(records_.data() + place, access.bytes,
                [&](uint64_t record, uint32_t i) { return afterWrite(record, user, access.address + i); });
  std::memcpy(data_.data() + place, from, access.bytes);
}

void SharedMemory::storeLater(const Access &access, const MemoryUser &user) {
  size_t place = placeOf(access, "writes");
  updateRecords(records_.data() + place, access.bytes, [&](uint64_t record, uint32_t i) {
    afterWrite(record, user, access.address + i);
    return record | pendingBit;
  });
}

void SharedMemory::storeLate(const Access &access, const MemoryUser &user, const void *from) {
  size_t place = placeOf(access, "writes");
  for (uint32_t i = 0; i < access.bytes; ++i)
    records_[place + i] = 0;
  store(access, user, from);
}

} // namespace halftone::emulator
