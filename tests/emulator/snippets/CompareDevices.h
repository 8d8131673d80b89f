// Runs each form of instruction in the emulator and on a CUDA driver, and compares the results bit by bit.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/snippets/CudaLibrary.h"
#include "tests/emulator/snippets/Forms.h"
#include <functional>

namespace halftone::emulator {

struct Comparison {
  size_t forms = 0, results = 0; ///< compared forms and results
  size_t differing = 0;          ///< forms with a result that differs from the emulator's more than the PTX ISA permits
  size_t skipped = 0;            ///< forms whose target is newer than the device
  size_t moved = 0;              ///< results within an instruction's error that are not bit-identical
  size_t nans = 0;               ///< NaN with other bits where the PTX ISA leaves them unspecified
};

/// Compares the forms whose name contains `only`. `tell` gets a line for each form that differs, with the first
/// eight differing rows: their inputs, and the expected and actual bits. Throws std::runtime_error if the driver cannot be used.
Comparison compareDevices(const CudaLibrary &driver, const std::string &only,
                          const std::function<void(const std::string &)> &tell);

} // namespace halftone::emulator
