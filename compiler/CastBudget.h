// How many casts a plan may make in kernels of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/CompileOptions.h"
#include "compiler/reports/Ledger.h"

namespace halftone::compiler {

/// compile_error, with the layer of the first, when more casts than options.maxStandaloneCasts are not fused. In
/// strict numerics each op is a kernel, so all casts count.
Status checkCastBudget(const std::vector<LedgerRow> &rows, const CompileOptions &options);

} // namespace halftone::compiler
