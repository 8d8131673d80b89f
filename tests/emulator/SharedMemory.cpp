// Shared memory of one block, with a record for each byte.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Memory.h"
#include "tests/emulator/Ptx.h"
#include <cstring>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

/// A byte's record. A user is a thread (from 1), several lanes of one warp, or several warps.
constexpr uint64_t writtenBit = 1, pendingBit = 2;
constexpr uint64_t intervalMask = (1 << 20) - 1, userMask = (1 << 11) - 1, syncMask = (1 << 8) - 1;
constexpr int intervalShift = 2, writerShift = 22, writerSyncShift = 33, readerShift = 41, readerSyncShift = 52;
constexpr uint64_t lanesOfWarp = 1025, severalWarps = userMask;

struct Record {
  uint64_t interval = 0, writer = 0, writerSync = 0, reader = 0, readerSync = 0;

  explicit Record(uint64_t packed)
      : interval(packed >> intervalShift & intervalMask), writer(packed >> writerShift & userMask),
        writerSync(packed >> writerSyncShift & syncMask), reader(packed >> readerShift & userMask),
        readerSync(packed >> readerSyncShift & syncMask) {}
  uint64_t packed() const {
    return writtenBit | interval << intervalShift | writer << writerShift | writerSync << writerSyncShift |
           reader << readerShift | readerSync << readerSyncShift;
  }
};

uint64_t intervalOf(const SharedUser &user) { return user.interval & intervalMask; }
uint64_t warpOf(uint64_t user) { return user >= lanesOfWarp ? user - lanesOfWarp : (user - 1) / warpSize; }

/// Whether an earlier use by `earlier` has no order before one by `user` in the same interval.
bool isUnordered(uint64_t earlier, uint64_t earlierSync, const SharedUser &user) {
  if (!earlier || earlier == user.thread + 1)
    return false;
  bool sameWarp = earlier != severalWarps && warpOf(earlier) == user.thread / warpSize;
  return !sameWarp || earlierSync == (user.warpSyncs & syncMask);
}

std::string nameOf(uint64_t user) {
  if (user == severalWarps)
    return "several warps";
  return user >= lanesOfWarp ? fmt::format("several lanes of warp {}", user - lanesOfWarp)
                             : fmt::format("thread {}", user - 1);
}

[[noreturn]] void failRace(uint64_t address, const SharedUser &user, const char *verb, uint64_t other,
                           const char *otherVerb) {
  throw Fault(
      FaultKind::LaunchFailed,
      fmt::format("thread {} {} the byte of shared memory at {:#x}, which {} {}; expected a barrier between the two",
                  user.thread, verb, address, nameOf(other), otherVerb));
}

uint64_t addReader(const Record &record, const SharedUser &user) {
  uint64_t self = user.thread + 1;
  if (!record.reader || record.reader == self)
    return self;
  bool sameWarp = record.reader != severalWarps && warpOf(record.reader) == user.thread / warpSize;
  return sameWarp ? lanesOfWarp + user.thread / warpSize : severalWarps;
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

void SharedMemory::load(const Access &access, const SharedUser &user, void *to) {
  size_t place = placeOf(access, "reads");
  updateRecords(records_.data() + place, access.bytes, [&](uint64_t packed, uint32_t i) {
    if (packed & pendingBit)
      throw Fault(
          FaultKind::LaunchFailed,
          fmt::format("reads the byte of shared memory at {:#x}, the target of a cp.async that its thread has not "
                      "waited for",
                      access.address + i));
    if (!(packed & writtenBit))
      throw Fault(
          FaultKind::LaunchFailed,
          fmt::format("reads {} bytes of shared memory at {:#x}, of which nothing has written the byte at {:#x}",
                      access.bytes, access.address, access.address + i));
    Record record(packed);
    if (record.interval != intervalOf(user)) {
      record = Record(0);
      record.interval = intervalOf(user);
    } else if (isUnordered(record.writer, record.writerSync, user))
      failRace(access.address + i, user, "reads", record.writer, "has written");
    record.reader = addReader(record, user);
    record.readerSync = user.warpSyncs & syncMask;
    return record.packed();
  });
  std::memcpy(to, data_.data() + place, access.bytes);
}

void SharedMemory::checkWrite(uint64_t packed, const SharedUser &user, uint64_t address) const {
  if (packed & pendingBit)
    throw Fault(
        FaultKind::LaunchFailed,
        fmt::format(
            "writes the byte of shared memory at {:#x}, the target of a cp.async that its thread has not waited for",
            address));
  Record record(packed);
  if (!(packed & writtenBit) || record.interval != intervalOf(user))
    return;
  if (isUnordered(record.writer, record.writerSync, user))
    failRace(address, user, "writes", record.writer, "has written");
  if (isUnordered(record.reader, record.readerSync, user))
    failRace(address, user, "writes", record.reader, "has read");
}

void SharedMemory::store(const Access &access, const SharedUser &user, const void *from) {
  size_t place = placeOf(access, "writes");
  Record record(0);
  record.interval = intervalOf(user);
  record.writer = user.thread + 1;
  record.writerSync = user.warpSyncs & syncMask;
  const uint64_t written = record.packed();
  updateRecords(records_.data() + place, access.bytes, [&](uint64_t packed, uint32_t i) {
    checkWrite(packed, user, access.address + i);
    return written;
  });
  std::memcpy(data_.data() + place, from, access.bytes);
}

void SharedMemory::storeLater(const Access &access, const SharedUser &user) {
  size_t place = placeOf(access, "writes");
  updateRecords(records_.data() + place, access.bytes, [&](uint64_t packed, uint32_t i) {
    checkWrite(packed, user, access.address + i);
    return packed | pendingBit;
  });
}

void SharedMemory::storeLate(const Access &access, const SharedUser &user, const void *from) {
  size_t place = placeOf(access, "writes");
  for (uint32_t i = 0; i < access.bytes; ++i)
    records_[place + i] = 0;
  store(access, user, from);
}

} // namespace halftone::emulator
