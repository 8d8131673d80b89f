// Runs test programs on the emulated GPU, with random orders of warps and blocks, unless the environment overrides it.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

/// Set before the library looks for a driver.
[[maybe_unused]] static const int chosen =
    setenv("HALFTONE_CUDA_DRIVER", HALFTONE_EMULATED_DRIVER, 0) + setenv("HALFTONE_EMULATOR_SEED", "1", 0);
