// How much memory is left, so that a request that cannot fit is refused before the system ends the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone {

/// Bytes that this process may still take: the least that the machine, the process's limits and its control groups
/// leave. The largest int64 if the system tells nothing.
int64_t freeMemory();

/// Whether `bytes` bytes are free. For small requests the answer is yes without a look.
bool fitsMemory(int64_t bytes);

/// "1,000 bytes are asked for, 10 are free".
std::string memoryShortage(int64_t bytes);

} // namespace halftone
