// Programs of tests run on the emulated GPU, with warps and blocks in random orders, unless the environment says otherwise.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

/// Before the library looks for a driver.
[[maybe_unused]] static const int chosen =
    setenv("HALFTONE_CUDA_DRIVER", HALFTONE_EMULATED_DRIVER, 0) + setenv("HALFTONE_EMULATOR_SEED", "1", 0);
