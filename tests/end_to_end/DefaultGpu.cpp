// Runs the models of tests on the first GPU, unless HALFTONE_DEVICE or the test names another device.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

/// Set before the library looks for its default device.
[[maybe_unused]] static const int chosen = setenv("HALFTONE_DEVICE", "cuda:0", 0);
