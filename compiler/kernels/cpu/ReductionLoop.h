// Reduction loops: reduced dims run in order, vectors lie along the kept inner dim.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/CpuTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace halftone::compiler {

/// emitLoop for kernels with `halftone.reduced`.
mlir::LogicalResult emitReductionLoop(mlir::func::FuncOp kernel, const CpuTarget &target, mlir::OpBuilder &builder);

} // namespace halftone::compiler
