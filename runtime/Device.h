// The runtime's interface to a device: memory, kernel code, and queues that run the steps of a plan in order.
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

/// Device memory, freed with its last owner. Work queued earlier may still use the memory.
using DeviceMemory = std::shared_ptr<std::byte>;

/// The condition of a queued operation. The operation runs if `byte` is null, or if the byte is non-zero (zero when
/// `negated`). The device reads the byte when it reaches the operation, after all operations queued before it.
struct Condition {
  const std::byte *byte = nullptr;
  bool negated = false;
};

/// A launch or a part of one, with resolved addresses and code. The caller owns the arrays, which must outlive the
/// queue's finish().
struct Launch {
  KernelHandle code;
  const std::string *kernel = nullptr; // its key, for records and messages
  int64_t grid = 1;                    // blocks
  std::span<void *const> buffers;      // operands, then results
  std::span<const int64_t> extents;
  int64_t scratchBytes = 0; // per thread; per block on a GPU; at most the scratch of the queue (makeQueue())
  double cost = 0;          // estimated nanoseconds on one core; 0 means unknown and counts as small
  Condition condition;
  const std::string *site = nullptr; // the origin of the launch, for messages; null if unknown
};

/// At least one part. All parts have the same function and the same condition; their blocks may run in any order and
/// concurrently.
using LaunchParts = std::span<const Launch>;

/// A copy within the device, or a fill with zeros.
struct QueuedCopy {
  std::byte *to = nullptr;
  const std::byte *from = nullptr; // null: zeros
  int64_t bytes = 0;
  Condition condition;
};

/// A pointer to an address that is stored in an operation or in an array that the operation points to.
using AddressField = std::variant<void **, const std::byte **, std::byte **>;

/// An address that moves in a repeat. Outside the repeat it is the address of the first iteration.
struct MovingAddress {
  AddressField field;
  Stride stride;
};

/// Plays the next `operations` operations of the list up to `count` times, and stops at the first iteration whose
/// condition does not hold. Before each iteration the queue sets the addresses in `moving`, which include those of
/// inner repeats.
struct QueuedRepeat {
  int64_t count = 0;
  size_t operations = 0; // inner repeats and their operations included
  Condition condition;
  std::span<const MovingAddress> moving;
  /// Advances the addresses from iteration `from` to iteration `to`.
  void move(int64_t from, int64_t to) const;
};

using QueuedOperation = std::variant<LaunchParts, QueuedCopy, QueuedRepeat>;

/// Runs operations in order for one thread at a time. The protocol is begin, any number of operations, finish.
class DeviceQueue {
public:
  virtual ~DeviceQueue() = default;
  virtual void begin() = 0;
  virtual void launch(LaunchParts parts) = 0;
  void launch(const Launch &launch) { this->launch(std::span(&launch, 1)); }
  virtual void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) = 0;
  virtual void fillZero(std::byte *to, int64_t bytes, Condition condition) = 0;
  /// Waits for all queued work and returns whether the condition then holds. Returns false after an error, which
  /// finish() reports.
  virtual bool holds(Condition condition) = 0;
  /// Queues a whole list in order. When a list is queued again, its operations must be the same, and only those with an
  /// index in `changed` may have new addresses. The indices are in ascending order. At the first play of a list
  /// `changed` holds the index of every operation.
  virtual void play(std::span<const QueuedOperation> operations, std::span<const size_t> changed);
  /// Queues the operations one by one; those of a repeat are queued once per iteration.
  void playEach(std::span<const QueuedOperation> operations);
  /// Ends the submission. Later requests to the device see the bytes that the submission wrote; on host devices the
  /// submission has completed when finish() returns. device_error if an operation failed; the bytes that it wrote are
  /// then undefined. If a device continues to work after finish(), a later finish() or download() returns the errors.
  virtual Status finish() = 0;
};

/// Counters of a device's work since its creation.
struct DeviceCounters {
  int64_t launches = 0;                        // kernel launches; a launch in parts counts once
  int64_t copies = 0;                          // copies and fills within a GPU's memory; those of one launch count once
  int64_t waits = 0;                           // number of times that the host waited for unfinished work
  int64_t graphLaunches = 0, graphUpdates = 0; // launches of lists as graphs; updates of their operations
  int64_t uploads = 0, downloads = 0;
  int64_t uploadedBytes = 0, downloadedBytes = 0;
};

/// One device. Safe to use from several threads. (The public halftone::Device only names a device.)
class DeviceRuntime {
public:
  virtual ~DeviceRuntime() = default;
  virtual std::string name() const = 0;        // "cpu", "cuda:0": as Device::str()
  virtual std::string description() const = 0; // human-readable: the device's model, memory and threads
  /// Returns true if the device uses host memory. Feeds, fetches and variables are then accessed in place.
  virtual bool isHost() const = 0;
  /// The compilation target of its kernels, by the compiler's name: "host", "sm_90a".
  virtual std::string target() const = 0;
  /// Zeroed memory, aligned to bufferAlignment; an allocation of 0 bytes has an address too. device_error, with the
  /// size in bytes, if out of memory.
  virtual StatusOr<DeviceMemory> allocate(int64_t bytes) = 0;
  /// Like allocate(), with undefined contents, for memory that is fully written before it is read.
  virtual StatusOr<DeviceMemory> allocateUndefined(int64_t bytes) { return allocate(bytes); }
  /// Copies to the device's memory. The function has read `from` when it returns. Work queued earlier reads the old
  /// bytes; work queued later reads the new ones.
  virtual Status upload(std::byte *to, std::span<const std::byte> from) = 0;
  /// Copies from the device's memory after all work queued before; the caller waits for that work.
  virtual Status download(std::span<std::byte> to, const std::byte *from) = 0;
  /// Loads the code of these kernels, by key, ready to launch. value_error naming a kernel whose code is not for this
  /// device.
  virtual StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) = 0;
  /// Creates a queue whose launches use at most `scratchBytes` bytes of scratch per thread (per block on a GPU). The
  /// device must outlive the queue. device_error as for allocate().
  virtual StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) = 0;
  /// Joins the group, to combine values in this device's memory with those in other processes' devices. All processes
  /// of the group make this call; the same group gives the same object. not_implemented_error on host devices, whose
  /// values the group combines. If a device cannot join, all processes get the same runtime_error, which names the rank
  /// and the reason.
  virtual StatusOr<std::shared_ptr<DeviceCollectives>> join(std::shared_ptr<ProcessGroup> group);
  virtual DeviceCounters counters() const = 0;
  /// The id of the last submission; ids increase. hasFinished() returns true if the submission has completed, which
  /// always holds on host devices.
  virtual uint64_t submission() const { return 0; }
  virtual bool hasFinished(uint64_t) const { return true; }
};

} // namespace halftone
