// How much memory is left, so that a request that cannot fit is refused before the system ends the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone {

/// How many bytes this process may still take: the least of the machine's free memory, the process's limits and those
/// of its control groups. The largest int64 if the system reports none of them.
int64_t freeMemory();

/// Whether `bytes` bytes are free. For a small request it is true at once.
bool fitsMemory(int64_t bytes);

/// "1,000 bytes are asked for, 10 are free".
std::string memoryShortage(int64_t bytes);

} // namespace halftone
