// Random modules that assign variables and reread them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone::test {

/// A module in stage graph with square float weights, a counter and flags: reads and assignments anywhere, also in
/// nested `when`s; casts of the weights to bfloat16 and float16 with several origins, before and after their updates,
/// transposed and reshaped; copies, swaps and averages of weights; flags that are conditions before and after their
/// updates; two fetches. The values are small integers, so that each op is exact. The same seed gives the same text.
std::string randomState(uint32_t seed);

} // namespace halftone::test
