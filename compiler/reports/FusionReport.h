// The fusion report: which fusion rules formed each kernel, stored in the locations of launches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/reports/FusionRow.h"
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// Returns `location` with the lines of a FusionRow attached.
mlir::Location withFusion(mlir::Location location, llvm::ArrayRef<std::string> lines);

/// One row for each launch of a module in stage kernel, in the order of the launches. A row has no lines if its launch
/// was formed without `form-kernels{explain}`.
std::vector<FusionRow> fusionReport(mlir::ModuleOp module);

} // namespace halftone::compiler
