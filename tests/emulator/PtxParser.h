// Parses PTX text into a module that the emulator runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Ptx.h"
#include <string_view>

namespace halftone::emulator {

/// Parses `ptx`. Throws PtxError with the line and the name of the first unsupported construct: only debug information
/// and pragmas are skipped.
Module parsePtx(std::string_view ptx);

} // namespace halftone::emulator
