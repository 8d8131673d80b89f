// Memory of variables.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/VariableStore.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/ForkGate.h"
#include <cstring>
#include <fmt/format.h>

namespace halftone {
namespace {

void copyBytes(void *to, const void *from, size_t count) {
  if (count > 0)
    std::memcpy(to, from, count);
}

} // namespace

StatusOr<Tensor> StoredVariable::read() const {
  StatusOr<Tensor> tensor = makeTensor(type_);
  HALFTONE_RETURN_IF_ERROR(tensor.status());
  HALFTONE_RETURN_IF_ERROR(readBytes({TensorAccess::mutableData(*tensor), static_cast<size_t>(type_.bytes())}));
  return tensor;
}

Status StoredVariable::write(const Tensor &value) {
  if (!value.defined())
    return {ErrorKind::value_error,
            fmt::format("variable {}: expected {}, got an undefined tensor", path_, type_.str())};
  if (TensorType got = typeOf(value); got != type_)
    return {ErrorKind::value_error, fmt::format("variable {}: expected {}, got {}", path_, type_.str(), got.str())};
  return writeBytes({TensorAccess::data(value), static_cast<size_t>(type_.bytes())});
}

Status StoredVariable::readBytes(std::span<std::byte> out) const {
  if (static_cast<int64_t>(out.size()) != type_.bytes())
    return {ErrorKind::value_error,
            fmt::format("variable {}: has {} bytes, room for {}", path_, type_.bytes(), out.size())};
  const ForkSafeLock guard(*lock_);
  copyBytes(out.data(), data(), out.size());
  return {};
}

Status StoredVariable::writeBytes(std::span<const std::byte> bytes) {
  if (static_cast<int64_t>(bytes.size()) != type_.bytes())
    return {ErrorKind::value_error,
            fmt::format("variable {}: expected {} bytes, got {}", path_, type_.bytes(), bytes.size())};
  const ForkSafeLock guard(*lock_);
  copyBytes(data(), bytes.data(), bytes.size());
  bumpVersion();
  return {};
}

StatusOr<std::shared_ptr<VariableShadow>> StoredVariable::shadow(const std::string &function, int64_t bytes,
                                                                 DeviceRuntime &device) {
  if (auto found = shadows_.find(function); found != shadows_.end()) {
    if (found->second.bytes != bytes)
      return Status(ErrorKind::internal_error,
                    fmt::format("variable {}: a shadow of {} bytes is asked for as one of {}", path_,
                                found->second.bytes, bytes));
    return found->second.shadow;
  }
  StatusOr<DeviceMemory> memory = device.allocate(bytes);
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

StatusOr<VariableHandle> VariableStore::create(std::string path, TensorType type) {
  if (Status status = verify(type); !status.isOk())
    return Status(status.kind(), fmt::format("variable {}: {}", path, status.message()));
  StatusOr<DeviceMemory> memory = device_->allocate(type.bytes());
  if (!memory.isOk())
    return Status(memory.status().kind(), fmt::format("variable {}: {}", path, memory.status().message()));
  return VariableHandle(new StoredVariable(std::move(path), std::move(type), *std::move(memory), lock_));
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
