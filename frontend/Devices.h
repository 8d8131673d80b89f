// The devices that functions run on and variables live on.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Device.h"
#include "halftone/Value.h"
#include "runtime/Device.h"
#include <memory>
#include <vector>

namespace halftone::detail {

/// The runtime of a device, able to load what the compiler makes for it. Throws as deviceRuntime().
std::shared_ptr<DeviceRuntime> runtimeOf(Device device);

/// Moves those that live elsewhere, and makes every program that knows them compile anew. Undefined ones are passed
/// over.
void moveVariables(const std::vector<Variable> &variables, const std::shared_ptr<DeviceRuntime> &device);

} // namespace halftone::detail
