// Random programs over the dialect's ops, with unforeseen combinations of shapes, dtypes and kernel forms.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone::test {

/// A module in stage pure of about `ops` ops on random shapes of up to four axes: elementwise ops, casts, contractions
/// of any layout, attention, reductions, softmax and normalization, gathers, integer products, dropout masks; up to
/// five fetches, and possibly variables. With `degenerate`, half of the ops are any ops of the dialect on any dtype,
/// extents of 0 and 1 occur on every axis, one value is often several operands, and some modules are in stage graph.
/// With `loops`, scans occur, also nested. The same seed gives the same text.
std::string randomOps(uint32_t seed, int ops, bool degenerate = false, bool loops = false);

} // namespace halftone::test
