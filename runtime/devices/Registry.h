// The devices of the process: by name, and what runs behind a name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Device.h"
#include "runtime/Device.h"
#include <memory>
#include <string_view>

namespace halftone {

/// The process's one runtime of that device, opened at the first call. device_error with the reason when it cannot be had,
/// value_error for a bad HALFTONE_NUM_THREADS.
StatusOr<std::shared_ptr<DeviceRuntime>> deviceRuntime(Device device);

/// Makes a device known beside those that the library finds by itself: Device::find() and list() name it from now on.
/// Its name() is "cuda:<index>"; value_error for another, or one that is taken.
Status addDevice(std::shared_ptr<DeviceRuntime> runtime);
/// Forgets a device that was added. What was made on it keeps it.
void removeDevice(std::string_view name);

/// The name of a device of the process.
Device deviceOf(const DeviceRuntime &runtime);

} // namespace halftone
