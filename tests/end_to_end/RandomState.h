// Random modules that assign variables and read them again.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone::test {

/// A module in stage graph with square float weights, a counter and flags: reads and assignments anywhere, in nested
/// `when`s too, casts of the weights to bfloat16 and float16 with several origins, before and behind their updates,
/// transposed and reshaped, copies, swaps and averages of weights, flags that are conditions before and after their
/// updates, two fetches. The values are small whole numbers, so that every op is exact. The same seed gives the same
/// text.
std::string randomState(uint32_t seed);

} // namespace halftone::test
