// What the runtime asks of a device: memory, and queues that run a plan's steps in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include "runtime/plan/Abi.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace halftone {

/// Memory of a device, freed with its last owner.
using DeviceMemory = std::shared_ptr<std::byte>;

/// Whether a queued operation runs: when `byte` is null, or the byte is non-zero (zero when `negated`). The device reads it
/// when it reaches the operation, after everything queued before.
struct Condition {
  const std::byte *byte = nullptr;
  bool negated = false;
};

/// A launch or a part of one, with everything resolved. The arrays are the caller's and outlive the queue's finish().
struct Launch {
  CpuKernelFunction function = nullptr;
  const std::string *kernel = nullptr; // its key, for records and messages
  int64_t grid = 1;                    // blocks
  std::span<void *const> buffers;      // operands, then results
  std::span<const int64_t> extents;
  int64_t scratchBytes = 0; // per thread; at most what the queue was made for
  double cost = 0;          // estimated nanoseconds on one core, 0 when not known: then it counts as small
  Condition condition;
};

/// Operations in order, for one thread at a time: begin, any number of operations, finish.
class DeviceQueue {
public:
  virtual ~DeviceQueue() = default;
  virtual void begin() = 0;
  /// At least one part, all of one function and under one condition, whose blocks may run in any order and at once.
  virtual void launch(std::span<const Launch> parts) = 0;
  void launch(const Launch &launch) { this->launch(std::span(&launch, 1)); }
  virtual void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) = 0;
  virtual void fillZero(std::byte *to, int64_t bytes, Condition condition) = 0;
  /// Waits for everything since begin(). device_error when something failed; what it wrote is then undefined.
  virtual Status finish() = 0;
};

/// One device. Its memory is the host's: feeds, fetches and variables are read and written in place.
/// Safe to use from several threads. (The public halftone::Device only names a device.)
class DeviceRuntime {
public:
  virtual ~DeviceRuntime() = default;
  virtual std::string name() const = 0; // "cpu"
  /// Zeroed, aligned to bufferAlignment; an address also for 0 bytes. device_error, with the size, when there is no room.
  virtual StatusOr<DeviceMemory> allocate(int64_t bytes) = 0;
  /// A queue whose launches use at most `scratchBytes` of scratch on each thread. It must not outlive the device. device_error
  /// as for allocate().
  virtual StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) = 0;
};

} // namespace halftone
