// The available memory. A request that cannot fit is refused before the system kills the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone {

/// The number of bytes that this process may still allocate: the minimum of the machine's free memory, the process's
/// limits and those of its control groups. The largest int64 if the system reports none of them.
int64_t freeMemory();

/// Returns true if `bytes` bytes are free. A small request succeeds without a check.
bool fitsMemory(int64_t bytes);

/// "1,000 bytes requested, 10 are free".
std::string memoryShortage(int64_t bytes);

} // namespace halftone
