// The rows that one phase of a row kernel stores for later phases.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelSource.h"

namespace halftone::compiler {

/// The bytes of scratch for one row of each value that a phase of a row kernel stores for a later one, each row at a
/// multiple of 64 bytes, for these extents.
int64_t keptRowBytes(const KernelSource &source, llvm::ArrayRef<int64_t> extents);

} // namespace halftone::compiler
