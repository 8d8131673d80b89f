// Runs code for CPUs with AMX on CPUs without it: tile instructions become calls of plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/codegen/KernelCompiler.h"

namespace halftone::testing {

/// Converts the `dumps.llvm` of a kernel for a CPU with AMX to code for this CPU. AVX-512 is emulated too.
StatusOr<KernelCode> emulateTiles(const KernelCode &kernel, const compiler::KernelDumps &dumps);

} // namespace halftone::testing
