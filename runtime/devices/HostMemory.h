// Zeroed, aligned host memory, shared by the devices that compute in the host's address space.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"

namespace halftone {

/// As DeviceRuntime::allocate().
StatusOr<DeviceMemory> allocateHostMemory(int64_t bytes);

} // namespace halftone
