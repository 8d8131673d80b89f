// The cast ledger: every cast of a compiled module, its origin, and whether it is fused into another kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "runtime/plan/Executable.h"
#include <string>
#include <vector>

namespace halftone::compiler {

/// Stores the locations of the casts in `kernel`, in order, in the location of its `launch`. Equal kernels are merged,
/// and the casts of one kernel then represent those of many layers.
void keepCastLocations(dialect::LaunchOp launch, dialect::KernelOp kernel);

/// Returns one row for each cast of each launch of a module in stage kernel, in the order of the launches. A row is
/// `fused` if its kernel does more than cast; otherwise `bytes` counts the bytes that the kernel reads and writes, over
/// all steps of a scan. These rows are followed by those of the casts of shadows that the plan only reads, which are
/// `fused` too and have a `value` ending in ", kept". `value` is the cast's origin and shape; `rule` is the policy-map
/// key that decided the layer's policy, "default" if none did, "" outside layers.
std::vector<LedgerRow> castLedger(mlir::ModuleOp module);

/// {"casts":[{"path","value","from","to","kind","fused","bytes","rule","location"}...],
///  "standalone":n,"fused":n,"bytes_moved":n}
std::string ledgerJson(const std::vector<LedgerRow> &rows);

} // namespace halftone::compiler
