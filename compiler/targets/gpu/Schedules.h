// The schedules of kernels on GPUs of any kind: the dialect halftone_gpu.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Schedule.h"
#include "mlir/IR/Dialect.h"

#include "compiler/targets/gpu/ScheduleDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/targets/gpu/Schedules.h.inc"

namespace halftone::compiler::gpu {

/// Whether `tile` and `divisors` are those of a matmul's tiles, as every schedule with tiles has them; if not, an error says so
/// of the schedule `name`.
mlir::LogicalResult verifyTile(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, llvm::StringRef name,
                               llvm::ArrayRef<int64_t> tile, llvm::ArrayRef<int64_t> divisors);

} // namespace halftone::compiler::gpu
