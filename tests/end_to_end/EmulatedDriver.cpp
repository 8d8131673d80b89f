// Programs of tests run on the emulated GPU, unless HALFTONE_CUDA_DRIVER names another driver.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

/// Before the library looks for a driver.
[[maybe_unused]] static const int chosen = setenv("HALFTONE_CUDA_DRIVER", HALFTONE_EMULATED_DRIVER, 0);
