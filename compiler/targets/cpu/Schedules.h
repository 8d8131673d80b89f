// The schedules of kernels on CPUs: the dialect halftone_cpu.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Schedule.h"
#include "mlir/IR/Dialect.h"

#include "compiler/targets/cpu/ScheduleEnums.h.inc"

namespace halftone::compiler::cpu {

/// The name of the product in reports, as in LLVM's intrinsics: "multiply-add", "vdpbf16ps".
llvm::StringRef reportName(Product product);

} // namespace halftone::compiler::cpu

#include "compiler/targets/cpu/ScheduleDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/targets/cpu/Schedules.h.inc"
