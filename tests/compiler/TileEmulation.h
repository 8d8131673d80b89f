// Code for CPUs with AMX on those without: its tile instructions become calls of plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/codegen/KernelCompiler.h"

namespace halftone::testing {

/// `dumps.llvm` of a kernel that was compiled for a CPU with AMX, as code for this CPU, which must have AVX-512.
StatusOr<KernelCode> emulateTiles(const KernelCode &kernel, const compiler::KernelDumps &dumps);

} // namespace halftone::testing
