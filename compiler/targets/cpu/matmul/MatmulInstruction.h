// How matmul kernels of CPUs read operands and hold sums: what depends on dtypes and extents.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/Products.h"

namespace halftone::compiler {

/// Whether K is several dims, and a vector along it lies in one run of the last (`halftone.whole_runs`).
bool liesInWholeRuns(const CpuTarget &target, const MatmulTraits &traits);
/// Whether the elements of a window are read in its image (`halftone.reads_image`).
bool readsImage(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product);
/// Whether registers hold the sums of many rows and few columns (`halftone.tall_sums`).
bool sumsTall(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product);

} // namespace halftone::compiler
