// Random programs over the dialect's ops: shapes, dtypes and forms that nobody thought of together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone::test {

/// A module in stage pure of about `ops` ops on random shapes of up to four axes: elementwise work, casts, contractions
/// of any layout, reductions, softmax and normalization, lookups, integer products, dropout masks; up to five fetches,
/// and perhaps variables. `degenerate`: every other op is any of the dialect's on any dtype, extents of 0 and 1 stand
/// in every position, one value is often several operands, and some modules are in stage graph. The same seed gives the
/// same text.
std::string randomOps(uint32_t seed, int ops, bool degenerate = false);

} // namespace halftone::test
