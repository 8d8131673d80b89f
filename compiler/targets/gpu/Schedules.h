// The schedules of kernels on GPUs of any kind: the dialect halftone_gpu.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Schedule.h"
#include "mlir/IR/Dialect.h"

#include "compiler/targets/gpu/ScheduleDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/targets/gpu/Schedules.h.inc"

namespace halftone::compiler::gpu {

/// Checks `tile` and `divisors`, which every schedule with tiles has. The error names the schedule as `name`.
mlir::LogicalResult verifyTile(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, llvm::StringRef name,
                               llvm::ArrayRef<int64_t> tile, llvm::ArrayRef<int64_t> divisors);

} // namespace halftone::compiler::gpu
