// Memory of variables: stable addresses, versions, and host access that cannot race a playing plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "runtime/Device.h"
#include "runtime/VariableShadow.h"
#include "runtime/plan/Signature.h"
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace halftone {

/// One variable's memory, whose address changes in moveTo() alone. Made by a VariableStore; may outlive it.
class StoredVariable {
public:
  const std::string &path() const { return path_; } // structural path, for messages
  const TensorType &type() const { return type_; }
  /// Grows with every write, by the host or by a plan.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  /// A copy of the value. Waits while a plan that binds a variable of the same store plays.
  StatusOr<Tensor> read() const;
  /// value_error when the dtype or the shape differs; the variable is then unchanged. Waits as read() does.
  Status write(const Tensor &value);
  /// The same for raw row-major bytes; value_error unless the size is type().bytes().
  Status readBytes(std::span<std::byte> out) const;
  Status writeBytes(std::span<const std::byte> bytes);
  /// The store's lock, held by read(), write() and a playing Player; and what it guards.
  std::mutex &lock() const { return *lock_; }
  /// An address of the device's memory.
  std::byte *data() const { return memory_.get(); }
  DeviceRuntime &device() const { return *device_; }
  const std::shared_ptr<DeviceRuntime> &sharedDevice() const { return device_; }
  /// Copies the value to that device and lives there from now on, without the shadows that it had. Players that were bound
  /// before refuse to play from then on. device_error when there is no room; the variable is
  /// then where it was.
  Status moveTo(const std::shared_ptr<DeviceRuntime> &device);
  /// The shadow of that name (ShadowSlot::function), made when there is none yet. Call it under lock(). It lives as
  /// long as the variable stays on its device. device_error when memory runs out, internal_error when it has another size.
  StatusOr<std::shared_ptr<VariableShadow>> shadow(const std::string &function, int64_t bytes);
  /// Refreshes and co-writes of all shadows so far, for reports and tests. Waits as read() does.
  struct ShadowCounts {
    int64_t shadows = 0, refreshes = 0, coWrites = 0; // of those made from the variable
    int64_t ofShadows = 0, refreshesOfShadows = 0;    // of those made from another shadow
  };
  ShadowCounts shadowCounts() const;
  void bumpVersion() { version_.fetch_add(1, std::memory_order_acq_rel); }

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
  struct OwnedShadow {
    int64_t bytes = 0;
    std::shared_ptr<VariableShadow> shadow;
  };
  std::map<std::string, OwnedShadow> shadows_;
};
using VariableHandle = std::shared_ptr<StoredVariable>;

/// Makes variables that share one lock: those of a model, its optimizer and its metrics.
class VariableStore {
public:
  explicit VariableStore(std::shared_ptr<DeviceRuntime> device);
  /// A store that makes variables of another device under the same lock.
  VariableStore on(std::shared_ptr<DeviceRuntime> device) const;
  /// Zeros. value_error for a negative dimension or a dtype without a byte size; device_error when memory runs out.
  StatusOr<VariableHandle> create(std::string path, TensorType type);
  /// A copy of `initial`. value_error when it is undefined.
  StatusOr<VariableHandle> create(std::string path, const Tensor &initial);

private:
  std::shared_ptr<DeviceRuntime> device_;
  std::shared_ptr<std::mutex> lock_ = std::make_shared<std::mutex>();
};

} // namespace halftone
