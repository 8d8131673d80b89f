// The process's devices by name, and their runtimes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Device.h"
#include "runtime/Device.h"
#include <memory>
#include <string_view>

namespace halftone {

/// The process-wide runtime of `device`, opened at the first call. device_error with the reason if the device cannot be
/// used, value_error for an invalid HALFTONE_NUM_THREADS.
StatusOr<std::shared_ptr<DeviceRuntime>> deviceRuntime(Device device);

/// Registers a device in addition to those that the library finds itself: Device::find() and list() return it from now
/// on. value_error unless its name() is "cuda:<index>" and not taken.
Status addDevice(std::shared_ptr<DeviceRuntime> runtime);
/// Unregisters a device that was added. Tensors, variables and players on it keep it alive.
void removeDevice(std::string_view name);

/// The public name of a device of the process.
Device deviceOf(const DeviceRuntime &runtime);

} // namespace halftone
