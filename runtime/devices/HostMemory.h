// Allocation of zeroed, aligned memory for devices that compute in the host's address space.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <cstring>

namespace halftone {

/// Memory and errors as DeviceRuntime::allocate().
StatusOr<DeviceMemory> allocateHostMemory(int64_t bytes);

/// Marks scratch as new. Call it before a thread's first call of a launch (Abi.h).
inline void forgetScratch(std::byte *scratch) { std::memset(scratch, 0, 8); }

} // namespace halftone
