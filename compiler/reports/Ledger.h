// The cast ledger: every cast of a compiled module, who asked for it, and whether a kernel does it in passing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "runtime/plan/Executable.h"
#include <string>
#include <vector>

namespace halftone::compiler {

/// Keeps the locations of the casts in `kernel`, in order, in the location of its `launch`: equal kernels become one,
/// whose casts then stand for those of many layers.
void keepCastLocations(dialect::LaunchOp launch, dialect::KernelOp kernel);

/// One row for each cast of each launch of a module in stage kernel, in the order of the launches. A row is `fused`
/// when its kernel does more than cast; otherwise `bytes` counts those that it reads and writes, in all steps of a scan. After them, `fused`
/// too and `value` ending in ", kept", the casts of shadows that the plan only reads. `value` is the cast's origin and
/// shape, `rule` the policy-map key that decided the layer's policy, "default" when none did, "" outside layers.
std::vector<LedgerRow> castLedger(mlir::ModuleOp module);

/// {"casts":[{"path","value","from","to","kind","fused","bytes","rule","location"}...],
///  "standalone":n,"fused":n,"bytes_moved":n}
std::string ledgerJson(const std::vector<LedgerRow> &rows);

} // namespace halftone::compiler
