// The values that the phases of a row kernel keep for each other.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelSource.h"

namespace halftone::compiler {

/// Bytes of one row of each value that one phase of a row kernel keeps for a later one, each at a multiple of 64, at
/// these extents.
int64_t keptRowBytes(const KernelSource &source, llvm::ArrayRef<int64_t> extents);

} // namespace halftone::compiler
