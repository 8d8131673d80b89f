// Storage of variables.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/VariableStore.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/communication/HostWrites.h"
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <vector>

namespace halftone {

std::vector<std::mutex *> locksOf(const std::vector<VariableHandle> &variables) {
  std::vector<std::mutex *> locks;
  for (const VariableHandle &variable : variables)
    locks.push_back(&variable->lock());
  std::ranges::sort(locks, std::less<>());
  locks.erase(std::ranges::unique(locks).begin(), locks.end());
  return locks;
}

LocksHeld::LocksHeld(std::span<std::mutex *const> locks) : locks_(locks) {
  for (std::mutex *lock : locks_)
    lock->lock();
}
LocksHeld::~LocksHeld() {
  for (std::mutex *lock : locks_)
    lock->unlock();
}

StatusOr<Tensor> StoredVariable::read() const {
  StatusOr<Tensor> tensor = makeTensor(type_);
  HALFTONE_RETURN_IF_ERROR(tensor.status());
  HALFTONE_RETURN_IF_ERROR(readBytes({TensorAccess::mutableData(*tensor), static_cast<size_t>(type_.bytes())}));
  return tensor;
}

/// value_error unless `value` has the dtype and shape of the variable.
static Status checkValue(const StoredVariable &variable, const Tensor &value) {
  const std::string got = value.defined() ? typeOf(value).str() : "an undefined tensor";
  if (value.defined() && typeOf(value) == variable.type())
    return {};
  return {ErrorKind::value_error,
          fmt::format("variable {}: expected {}, got {}", variable.path(), variable.type().str(), got)};
}

Status StoredVariable::write(const Tensor &value) {
  HALFTONE_RETURN_IF_ERROR(checkValue(*this, value));
  try {
    const Tensor host = TensorAccess::onHost(value);
    const std::span bytes(TensorAccess::data(host), static_cast<size_t>(type_.bytes()));
    HALFTONE_RETURN_IF_ERROR(writeBytes(bytes));
    if (isWatched())
      HostWrites::add(path_, bytes);
    return {};
  } catch (const Error &error) {
    return {error.kind(), fmt::format("variable {}: {}", path_, error.message())};
  }
}

Status StoredVariable::readBytes(std::span<std::byte> out) const {
  const ForkSafeLock guard(*lock_);
  return readBytesLocked(out);
}

Status StoredVariable::readBytesLocked(std::span<std::byte> out) const {
  if (static_cast<int64_t>(out.size()) != type_.bytes())
    return {ErrorKind::value_error, fmt::format("variable {}: has {} bytes, but the destination has room for {}", path_,
                                                type_.bytes(), out.size())};
  return device_->download(out, data());
}

Status StoredVariable::writeBytes(std::span<const std::byte> bytes) {
  const ForkSafeLock guard(*lock_);
  return writeBytesLocked(bytes);
}

Status StoredVariable::writeBytesLocked(std::span<const std::byte> bytes) {
  if (static_cast<int64_t>(bytes.size()) != type_.bytes())
    return {ErrorKind::value_error,
            fmt::format("variable {}: expected {} bytes, got {}", path_, type_.bytes(), bytes.size())};
  HALFTONE_RETURN_IF_ERROR(device_->upload(data(), bytes));
  bumpVersion();
  return {};
}

StatusOr<std::vector<Tensor>> readTogether(const std::vector<VariableHandle> &variables) {
  std::vector<Tensor> values;
  for (const VariableHandle &variable : variables) {
    StatusOr<Tensor> value = makeTensor(variable->type());
    HALFTONE_RETURN_IF_ERROR(value.status());
    values.push_back(*std::move(value));
  }
  const std::vector<std::mutex *> locks = locksOf(variables);
  const LocksHeld guard(locks);
  for (size_t i = 0; i < variables.size(); ++i)
    HALFTONE_RETURN_IF_ERROR(variables[i]->readBytesLocked(
        {TensorAccess::mutableData(values[i]), static_cast<size_t>(TensorAccess::bytes(values[i]))}));
  return values;
}

Status writeTogether(const std::vector<VariableHandle> &variables, const std::vector<Tensor> &values) {
  if (variables.size() != values.size())
    return {ErrorKind::value_error, fmt::format("{} values for {} variables", values.size(), variables.size())};
  std::vector<Tensor> onHost;
  for (size_t i = 0; i < variables.size(); ++i) {
    HALFTONE_RETURN_IF_ERROR(checkValue(*variables[i], values[i]));
    try {
      onHost.push_back(TensorAccess::onHost(values[i]));
    } catch (const Error &error) {
      return {error.kind(), fmt::format("variable {}: {}", variables[i]->path(), error.message())};
    }
  }
  const std::vector<std::mutex *> locks = locksOf(variables);
  const LocksHeld guard(locks);
  for (size_t i = 0; i < variables.size(); ++i) {
    const std::span bytes(TensorAccess::data(onHost[i]), static_cast<size_t>(TensorAccess::bytes(onHost[i])));
    HALFTONE_RETURN_IF_ERROR(variables[i]->writeBytesLocked(bytes));
    if (variables[i]->isWatched())
      HostWrites::add(variables[i]->path(), bytes);
  }
  return {};
}

Status StoredVariable::moveTo(const std::shared_ptr<DeviceRuntime> &device) {
  const ForkSafeLock guard(*lock_);
  if (device == device_)
    return {};
  std::vector<std::byte> value(static_cast<size_t>(type_.bytes()));
  HALFTONE_RETURN_IF_ERROR(device_->download(value, data()));
  StatusOr<DeviceMemory> memory = device->allocate(type_.bytes());
  if (!memory.isOk())
    return {memory.status().kind(), fmt::format("variable {}: {}", path_, memory.status().message())};
  HALFTONE_RETURN_IF_ERROR(device->upload(memory->get(), value));
  shadows_.clear();
  memory_ = *std::move(memory);
  device_ = device;
  bumpVersion();
  return {};
}

StatusOr<std::shared_ptr<VariableShadow>> StoredVariable::shadow(const std::string &function, int64_t bytes) {
  if (auto found = shadows_.find(function); found != shadows_.end()) {
    if (found->second.bytes != bytes)
      return Status(ErrorKind::internal_error,
                    fmt::format("variable {}: a shadow of {} bytes was requested as one of {} bytes", path_,
                                found->second.bytes, bytes));
    return found->second.shadow;
  }
  StatusOr<DeviceMemory> memory = device_->allocate(bytes);
  HALFTONE_RETURN_IF_ERROR(memory.status());
  auto shadow = std::make_shared<VariableShadow>();
  shadow->memory = *std::move(memory);
  shadows_[function] = {bytes, shadow};
  return shadow;
}

StoredVariable::ShadowCounts StoredVariable::shadowCounts() const {
  const ForkSafeLock guard(*lock_);
  ShadowCounts counts;
  for (auto &[function, owned] : shadows_) {
    ++(owned.shadow->isOfShadow ? counts.ofShadows : counts.shadows);
    (owned.shadow->isOfShadow ? counts.refreshesOfShadows : counts.refreshes) += owned.shadow->refreshes;
    counts.coWrites += owned.shadow->coWrites;
  }
  return counts;
}

VariableStore::VariableStore(std::shared_ptr<DeviceRuntime> device) : device_(std::move(device)) {}

VariableStore VariableStore::on(std::shared_ptr<DeviceRuntime> device) const {
  VariableStore store(std::move(device));
  store.lock_ = lock_;
  return store;
}

StatusOr<VariableHandle> VariableStore::create(std::string path, TensorType type) {
  if (Status status = verify(type); !status.isOk())
    return Status(status.kind(), fmt::format("variable {}: {}", path, status.message()));
  StatusOr<DeviceMemory> memory = device_->allocate(type.bytes());
  if (!memory.isOk())
    return Status(memory.status().kind(), fmt::format("variable {}: {}", path, memory.status().message()));
  return VariableHandle(new StoredVariable(std::move(path), std::move(type), device_, *std::move(memory), lock_));
}

StatusOr<VariableHandle> VariableStore::create(std::string path, const Tensor &initial) {
  if (!initial.defined())
    return Status(ErrorKind::value_error, fmt::format("variable {}: the initial value is undefined", path));
  StatusOr<VariableHandle> variable = create(std::move(path), typeOf(initial));
  HALFTONE_RETURN_IF_ERROR(variable.status());
  HALFTONE_RETURN_IF_ERROR((*variable)->write(initial));
  return variable;
}

} // namespace halftone
