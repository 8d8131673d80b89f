// How matmul kernels of CPUs read operands and hold sums, and how weights lie for them: what depends on dtypes and extents.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/Products.h"
#include <optional>

namespace halftone::compiler {

/// Whether K is several dims, and a vector along it lies in one run of the last (`halftone.whole_runs`).
bool liesInWholeRuns(const CpuTarget &target, const MatmulTraits &traits);
/// Target::readsDepthInRuns.
bool readsDepthInRuns(const CpuTarget &target, DType dtype, int64_t rows, int64_t run);
/// Whether the elements of a window are read in its image (`halftone.reads_image`).
bool readsImage(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product);
/// Whether registers hold the sums of many rows and few columns (`halftone.tall_sums`).
bool sumsTall(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product);

/// Target::weightPanels.
std::optional<WeightPanels> weightPanels(const CpuTarget &target, bool strict, DType weight, int64_t k, int64_t n);
/// Target::halfBytePanels.
std::optional<WeightPanels> halfBytePanels(const CpuTarget &target, DType lhs, int64_t k, int64_t n);

} // namespace halftone::compiler
