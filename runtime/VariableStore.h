// Storage of variables: stable addresses, versions, and host access that cannot race with a playing plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "runtime/Device.h"
#include "runtime/VariableShadow.h"
#include "runtime/base/ForkGate.h"
#include "runtime/plan/Signature.h"
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace halftone {

/// The storage of one variable. Only moveTo() changes its address. It is created by a VariableStore and may outlive the
/// store.
class StoredVariable {
public:
  const std::string &path() const { return path_; } // the structural path, for messages
  const TensorType &type() const { return type_; }
  /// Increases with every write by the host or by a plan.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  /// A copy of the value. Waits while a player of the same store plays.
  StatusOr<Tensor> read() const;
  /// Copies `value` to the variable. value_error if the dtype or the shape differs; the variable is then unchanged.
  /// Waits as read() does.
  Status write(const Tensor &value);
  /// Like read() and write(), for raw row-major bytes. value_error unless the span has type().bytes() bytes.
  Status readBytes(std::span<std::byte> out) const;
  Status writeBytes(std::span<const std::byte> bytes);
  /// The store's lock, which read(), write() and a playing Player hold. It guards the members below.
  std::mutex &lock() const { return *lock_; }
  /// readBytes() and writeBytes() for a caller that holds lock().
  Status readBytesLocked(std::span<std::byte> out) const;
  Status writeBytesLocked(std::span<const std::byte> bytes);
  /// An address in the memory of device().
  std::byte *data() const { return memory_.get(); }
  DeviceRuntime &device() const { return *device_; }
  const std::shared_ptr<DeviceRuntime> &sharedDevice() const { return device_; }
  /// Moves the variable to `device`, drops its shadows and increments its version. Players bound before refuse to play
  /// from then on. device_error if out of memory; the variable then stays where it was.
  Status moveTo(const std::shared_ptr<DeviceRuntime> &device);
  /// The shadow of the function with that key (ShadowSlot::function), created if there is none. Call it under lock().
  /// The shadow lives while the variable stays on its device. device_error if out of memory, internal_error if the
  /// shadow has another size in bytes.
  StatusOr<std::shared_ptr<VariableShadow>> shadow(const std::string &function, int64_t bytes);
  /// Counters over all shadows since their creation, for reports and tests. shadowCounts() waits as read() does.
  struct ShadowCounts {
    int64_t shadows = 0, refreshes = 0, coWrites = 0; // shadows made from the variable
    int64_t ofShadows = 0, refreshesOfShadows = 0;    // shadows made from another shadow
  };
  ShadowCounts shadowCounts() const;
  void bumpVersion() { version_.fetch_add(1, std::memory_order_acq_rel); }
  /// From now on write() and writeTogether() report the value to HostWrites.
  void watch() { isWatched_.store(true, std::memory_order_relaxed); }
  bool isWatched() const { return isWatched_.load(std::memory_order_relaxed); }

private:
  friend class VariableStore;
  StoredVariable(std::string path, TensorType type, std::shared_ptr<DeviceRuntime> device, DeviceMemory memory,
                 std::shared_ptr<std::mutex> lock)
      : path_(std::move(path)), type_(std::move(type)), device_(std::move(device)), memory_(std::move(memory)),
        lock_(std::move(lock)) {}
  std::string path_;
  TensorType type_;
  std::shared_ptr<DeviceRuntime> device_;
  DeviceMemory memory_;
  std::shared_ptr<std::mutex> lock_;
  std::atomic<uint64_t> version_{0};
  std::atomic<bool> isWatched_{false};
  struct OwnedShadow {
    int64_t bytes = 0;
    std::shared_ptr<VariableShadow> shadow;
  };
  std::map<std::string, OwnedShadow> shadows_;
};
using VariableHandle = std::shared_ptr<StoredVariable>;

/// The locks of the variables' stores, without duplicates, in address order. Every function that takes several of them
/// uses this order, to avoid deadlocks.
std::vector<std::mutex *> locksOf(const std::vector<VariableHandle> &variables);
/// Holds the locks of locksOf(), and a ForkGate. `locks` must outlive it.
class LocksHeld {
public:
  explicit LocksHeld(std::span<std::mutex *const> locks);
  ~LocksHeld();
  LocksHeld(const LocksHeld &) = delete;
  LocksHeld &operator=(const LocksHeld &) = delete;

private:
  ForkGate gate_; // acquired before the locks, released after them
  std::span<std::mutex *const> locks_;
};

/// A consistent snapshot of the values: no player plays with any of the variables between the first copy and the last.
StatusOr<std::vector<Tensor>> readTogether(const std::vector<VariableHandle> &variables);
/// Writes a value to each variable atomically, as readTogether() reads. value_error if the counts, a dtype or a shape
/// differ; nothing is then written.
Status writeTogether(const std::vector<VariableHandle> &variables, const std::vector<Tensor> &values);

/// Creates variables that share one lock: those of a model, its optimizer and its metrics.
class VariableStore {
public:
  explicit VariableStore(std::shared_ptr<DeviceRuntime> device);
  /// A store for variables of another device, under the same lock.
  VariableStore on(std::shared_ptr<DeviceRuntime> device) const;
  /// Creates a variable of zeros. value_error for a negative extent or a dtype without a byte size; device_error if out
  /// of memory.
  StatusOr<VariableHandle> create(std::string path, TensorType type);
  /// Creates a variable with a copy of `initial`. value_error if it is undefined.
  StatusOr<VariableHandle> create(std::string path, const Tensor &initial);

private:
  std::shared_ptr<DeviceRuntime> device_;
  std::shared_ptr<std::mutex> lock_ = std::make_shared<std::mutex>();
};

} // namespace halftone
