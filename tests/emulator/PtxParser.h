// Reads PTX text into a module that the emulator runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Ptx.h"
#include <string_view>

namespace halftone::emulator {

/// Parses `ptx` whole. Throws PtxError with the line and the name of the first thing that the emulator does not take: nothing is skipped
/// but debug information and pragmas.
Module parsePtx(std::string_view ptx);

} // namespace halftone::emulator
