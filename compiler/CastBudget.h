// The limit on casts that run as standalone kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/CompileOptions.h"
#include "compiler/reports/Ledger.h"

namespace halftone::compiler {

/// Returns compile_error, with the layer of the first such cast, if more than options.maxStandaloneCasts casts are not
/// fused. In strict numerics each op is a kernel, so all casts count.
Status checkCastBudget(const std::vector<LedgerRow> &rows, const CompileOptions &options);

} // namespace halftone::compiler
