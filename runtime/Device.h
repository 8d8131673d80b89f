// The interface of a device to the runtime: memory, kernels' code, and queues that run a plan's steps in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/KernelLibrary.h"
#include "runtime/base/Status.h"
#include "runtime/plan/Abi.h"
#include "runtime/plan/Plan.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>

namespace halftone {

struct KernelCode;
class DeviceCollectives;
class ProcessGroup;

/// Memory of a device, freed with its last owner. Work that was queued before may still use the memory.
using DeviceMemory = std::shared_ptr<std::byte>;

/// Whether a queued operation runs: it does if `byte` is null, or the byte is non-zero (zero when `negated`). The
/// device reads the byte when it reaches the operation, after all operations queued before.
struct Condition {
  const std::byte *byte = nullptr;
  bool negated = false;
};

/// A launch or a part of one; its addresses and its code are known. The caller owns the arrays, which outlive the
/// queue's finish().
struct Launch {
  KernelHandle code;
  const std::string *kernel = nullptr; // its key, for records and messages
  int64_t grid = 1;                    // blocks
  std::span<void *const> buffers;      // operands, then results
  std::span<const int64_t> extents;
  int64_t scratchBytes = 0; // per thread, on a GPU per block; at most the scratch for which the queue was made
  double cost = 0;          // estimated nanoseconds on one core; 0, not known, counts as small
  Condition condition;
  const std::string *site = nullptr; // where the launch comes from, for messages; null: not known
};

/// At least one part. All parts have one function and one condition; their blocks may run in any order and at once.
using LaunchParts = std::span<const Launch>;

/// Bytes copied within the device, or zeros.
struct QueuedCopy {
  std::byte *to = nullptr;
  const std::byte *from = nullptr; // null: zeros
  int64_t bytes = 0;
  Condition condition;
};

/// Where an operation, or an array that it points to, holds an address.
using AddressPlace = std::variant<void **, const std::byte **, std::byte **>;

/// An address that moves in a repeat. Before and after the repeat it is that of the first iteration.
struct MovingAddress {
  AddressPlace place;
  Stride stride;
};

/// Plays the `operations` operations behind it in the list `count` times, up to the first time that the condition does not
/// hold. A queue sets the addresses in `moving`, which are those of inner repeats too, before each iteration.
struct QueuedRepeat {
  int64_t count = 0;
  size_t operations = 0; // inner repeats and their operations included
  Condition condition;
  std::span<const MovingAddress> moving;
  /// Sets the addresses of iteration `to`; they are those of iteration `from`.
  void move(int64_t from, int64_t to) const;
};

using QueuedOperation = std::variant<LaunchParts, QueuedCopy, QueuedRepeat>;

/// Runs operations in order, for one thread at a time: begin, any count of operations, finish.
class DeviceQueue {
public:
  virtual ~DeviceQueue() = default;
  virtual void begin() = 0;
  virtual void launch(LaunchParts parts) = 0;
  void launch(const Launch &launch) { this->launch(std::span(&launch, 1)); }
  virtual void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) = 0;
  virtual void fillZero(std::byte *to, int64_t bytes, Condition condition) = 0;
  /// Whether the condition holds once all queued work has run; waits for that work. False after an error, which
  /// finish() returns.
  virtual bool holds(Condition condition) = 0;
  /// Queues a whole list, in order. If the queue played the list before, the operations are the same, and so are the
  /// addresses in all of them but those whose indices `changed` holds, in ascending order. At a list's first play
  /// `changed` holds the index of every operation.
  virtual void play(std::span<const QueuedOperation> operations, std::span<const size_t> changed);
  /// Queues the operations one by one, and those of a repeat again and again.
  void playEach(std::span<const QueuedOperation> operations);
  /// Ends the submission. Later requests to the device see the bytes that the submission wrote; on devices of the host
  /// the submission has run when finish() returns. device_error when an operation failed; the bytes that it wrote are
  /// then undefined. If a device goes on working after finish(), a later finish() or download() returns the errors.
  virtual Status finish() = 0;
};

/// Counts of a device's work since it was made.
struct DeviceCounters {
  int64_t launches = 0;                        // of kernels; a launch in parts counts once
  int64_t copies = 0;                          // and fills within a GPU's memory; those of one launch count once
  int64_t waits = 0;                           // how often the host waited for work that had not finished
  int64_t graphLaunches = 0, graphUpdates = 0; // of lists that a GPU runs as one; of their changed operations
  int64_t uploads = 0, downloads = 0;
  int64_t uploadedBytes = 0, downloadedBytes = 0;
};

/// One device. Safe to use from several threads. (The public halftone::Device only names a device.)
class DeviceRuntime {
public:
  virtual ~DeviceRuntime() = default;
  virtual std::string name() const = 0;        // "cpu", "cuda:0": as Device::str()
  virtual std::string description() const = 0; // for people: the device's model, memory and threads
  /// Whether its memory is the host's: then feeds, fetches and variables are read and written in place.
  virtual bool isHost() const = 0;
  /// The target that its kernels are compiled for, by the compiler's name: "host", "sm_90a".
  virtual std::string target() const = 0;
  /// Zeroed memory, aligned to bufferAlignment; it has an address also for 0 bytes. device_error, with the size in
  /// bytes, when there is no room.
  virtual StatusOr<DeviceMemory> allocate(int64_t bytes) = 0;
  /// The same with undefined contents, for memory that is written as a whole before it is read.
  virtual StatusOr<DeviceMemory> allocateUndefined(int64_t bytes) { return allocate(bytes); }
  /// Copies to the device's memory. The function has read `from` when it returns. Work that was queued before sees the
  /// old bytes, work that is queued later the new ones.
  virtual Status upload(std::byte *to, std::span<const std::byte> from) = 0;
  /// Copies from the device's memory, after all work that was queued before; the caller waits for that work.
  virtual Status download(std::span<std::byte> to, const std::byte *from) = 0;
  /// The code of these kernels, by key, ready to launch. value_error naming a kernel whose code is not for this device.
  virtual StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) = 0;
  /// A queue whose launches use at most `scratchBytes` of scratch on each thread (on a GPU, in each block). The device must outlive the queue.
  /// device_error as for allocate().
  virtual StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) = 0;
  /// Combines values in this device's memory with those in the other processes' devices. All processes of the group call
  /// it; the same group gives the same object. not_implemented_error for devices of the host, whose values the group combines.
  /// If one device cannot take part, all processes get the same runtime_error, which names the rank and the reason.
  virtual StatusOr<std::shared_ptr<DeviceCollectives>> join(std::shared_ptr<ProcessGroup> group);
  virtual DeviceCounters counters() const = 0;
  /// The id of the last submission; ids grow. hasFinished() is true if the submission has run, as all have on devices
  /// of the host.
  virtual uint64_t submission() const { return 0; }
  virtual bool hasFinished(uint64_t) const { return true; }
};

} // namespace halftone
