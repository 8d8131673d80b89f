// What the runtime asks of a device: memory, kernels' code, and queues that run a plan's steps in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/KernelLibrary.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Abi.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>

namespace halftone {

struct KernelCode;

/// Memory of a device, freed with its last owner. Work that was queued before may still use it.
using DeviceMemory = std::shared_ptr<std::byte>;

/// Whether a queued operation runs: when `byte` is null, or the byte is non-zero (zero when `negated`). The device reads it
/// when it reaches the operation, after everything queued before.
struct Condition {
  const std::byte *byte = nullptr;
  bool negated = false;
};

/// A launch or a part of one, with everything resolved. The arrays are the caller's and outlive the queue's finish().
struct Launch {
  KernelHandle code;
  const std::string *kernel = nullptr; // its key, for records and messages
  int64_t grid = 1;                    // blocks
  std::span<void *const> buffers;      // operands, then results
  std::span<const int64_t> extents;
  int64_t scratchBytes = 0; // per thread; at most what the queue was made for
  double cost = 0;          // estimated nanoseconds on one core, 0 when not known: then it counts as small
  Condition condition;
};

/// At least one part, all of one function and under one condition, whose blocks may run in any order and at once.
using LaunchParts = std::span<const Launch>;

/// Bytes copied within the device, or zeros.
struct QueuedCopy {
  std::byte *to = nullptr;
  const std::byte *from = nullptr; // null: zeros
  int64_t bytes = 0;
  Condition condition;
};

using QueuedOperation = std::variant<LaunchParts, QueuedCopy>;

/// Operations in order, for one thread at a time: begin, any number of operations, finish.
class DeviceQueue {
public:
  virtual ~DeviceQueue() = default;
  virtual void begin() = 0;
  virtual void launch(LaunchParts parts) = 0;
  void launch(const Launch &launch) { this->launch(std::span(&launch, 1)); }
  virtual void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) = 0;
  virtual void fillZero(std::byte *to, int64_t bytes, Condition condition) = 0;
  /// A whole list, in order. A list that was played before has the same operations, and the same addresses in all but those
  /// whose places stand in `changed`, in ascending order. At a list's first play that names each operation.
  virtual void play(std::span<const QueuedOperation> operations, std::span<const size_t> changed);
  /// Ends the submission: whatever the device is asked later sees what it wrote. On devices of the host it has run by then.
  /// device_error when something failed; what was written is then undefined. Where work goes on, its errors come with a
  /// later finish() or download.
  virtual Status finish() = 0;
};

/// What a device has done since it was made.
struct DeviceCounters {
  int64_t launches = 0; // of kernels, a launch in parts counted once
  int64_t waits = 0;    // times that the host waited for work that had not finished
  int64_t uploads = 0, downloads = 0;
  int64_t uploadedBytes = 0, downloadedBytes = 0;
};

/// One device. Safe to use from several threads. (The public halftone::Device only names a device.)
class DeviceRuntime {
public:
  virtual ~DeviceRuntime() = default;
  virtual std::string name() const = 0;        // "cpu", "cuda:0": as Device::str()
  virtual std::string description() const = 0; // for people: the model and its size
  /// Whether its memory is the host's: then feeds, fetches and variables are read and written in place.
  virtual bool isHost() const = 0;
  /// What its kernels are compiled for: the compiler's name of a target, "host", "sm_90a".
  virtual std::string target() const = 0;
  /// Zeroed, aligned to bufferAlignment; an address also for 0 bytes. device_error, with the size, when there is no room.
  virtual StatusOr<DeviceMemory> allocate(int64_t bytes) = 0;
  /// Copies to the device's memory. Has read `from` when it returns; work queued before sees the old bytes, work queued
  /// after it the new ones.
  virtual Status upload(std::byte *to, std::span<const std::byte> from) = 0;
  /// Copies from the device's memory, after all work queued before; waits for that.
  virtual Status download(std::span<std::byte> to, const std::byte *from) = 0;
  /// The code of these kernels, by key, ready to launch. value_error naming a kernel that is not for this device.
  virtual StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) = 0;
  /// A queue whose launches use at most `scratchBytes` of scratch on each thread. It must not outlive the device. device_error
  /// as for allocate().
  virtual StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) = 0;
  virtual DeviceCounters counters() const = 0;
  /// The number of the last submission, which grows; and whether one has run. Of devices of the host all have.
  virtual uint64_t submission() const { return 0; }
  virtual bool hasFinished(uint64_t) const { return true; }
};

} // namespace halftone
