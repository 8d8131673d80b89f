// The devices on which functions run and variables live.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Device.h"
#include "halftone/Value.h"
#include "runtime/Device.h"
#include <memory>
#include <vector>

namespace halftone::detail {

/// The runtime of a device, ready to load compiled code for it. Throws as deviceRuntime().
std::shared_ptr<DeviceRuntime> runtimeOf(Device device);

/// Moves variables from other devices to `device`, and invalidates every program that uses them. Skips undefined
/// variables.
void moveVariables(const std::vector<Variable> &variables, const std::shared_ptr<DeviceRuntime> &device);

} // namespace halftone::detail
