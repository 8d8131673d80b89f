// Binds an executable to its own variables.
// SPDX-License-Identifier: Apache-2.0
#include "PlanSession.h"
#include "runtime/TensorAccess.h"
#include "runtime/VariableStore.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/loader/ObjectLoader.h"

namespace halftone::tools {

StatusOr<PlanSession> PlanSession::open(std::shared_ptr<const Executable> executable,
                                        std::shared_ptr<DeviceRuntime> device, const VariableTensors &variables) {
  PlanSession session;
  setCpuKernelLoader(loadObjects);
  StatusOr<std::shared_ptr<const KernelLibrary>> kernels = device->load(executable->kernels);
  HALFTONE_RETURN_IF_ERROR(kernels.status());
  VariableStore store(device);
  for (const VariableSlot &slot : executable->variables) {
    auto value = variables.find(slot.symbol);
    if (value == variables.end())
      return Status(ErrorKind::key_error, "variable @" + slot.symbol + " has no value");
    StatusOr<VariableHandle> variable = store.create(slot.path, value->second);
    HALFTONE_RETURN_IF_ERROR(variable.status());
    session.binding_[slot.symbol] = *std::move(variable);
  }
  StatusOr<std::shared_ptr<Player>> player =
      Player::bind(std::move(executable), *kernels, std::move(device), session.binding_);
  HALFTONE_RETURN_IF_ERROR(player.status());
  session.player_ = *std::move(player);
  return session;
}

StatusOr<std::vector<Tensor>> PlanSession::play(std::span<const Tensor> feeds) {
  StatusOr<std::vector<Tensor>> fetches = player_->play(feeds);
  if (fetches.isOk())
    for (Tensor &fetch : *fetches)
      fetch = TensorAccess::onHost(fetch);
  return fetches;
}

Status PlanSession::readVariables(VariableTensors &variables) const {
  for (const auto &[symbol, variable] : binding_) {
    StatusOr<Tensor> value = variable->read();
    HALFTONE_RETURN_IF_ERROR(value.status());
    variables[symbol] = *std::move(value);
  }
  return {};
}

} // namespace halftone::tools
