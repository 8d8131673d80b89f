// Opens devices and moves variables.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Devices.h"
#include "frontend/graph/Variables.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/devices/Registry.h"
#include "runtime/loader/ObjectLoader.h"

namespace halftone::detail {

std::shared_ptr<DeviceRuntime> runtimeOf(Device device) {
  setCpuKernelLoader(loadObjects);
  return deviceRuntime(device).valueOrThrow();
}

void moveVariables(const std::vector<Variable> &variables, const std::shared_ptr<DeviceRuntime> &device) {
  for (const Variable &variable : variables) {
    if (!variable.defined() || &variable.impl()->memory->device() == device.get())
      continue;
    variable.impl()->memory->moveTo(device).orThrow();
    bumpConfigurationEpoch();
  }
}

} // namespace halftone::detail
