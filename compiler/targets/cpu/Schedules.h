// The schedules of kernels on CPUs: the dialect halftone_cpu.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Schedule.h"
#include "mlir/IR/Dialect.h"

#include "compiler/targets/cpu/ScheduleEnums.h.inc"

namespace halftone::compiler::cpu {

/// Facts of a product that are the same on all CPUs that have it.
struct ProductFacts {
  /// Sums are those of the operation in all numerics. If not, subnormal numbers may count as 0, and the order of a sum is the
  /// instruction's.
  bool exact;
  bool usesTiles;     // whole tiles are multiplied (AmxTiles.h), not vectors
  bool takesIntegers; // factors are of i8 alone; other products take floats
};
ProductFacts factsOf(Product product);

/// The product as reports and LLVM's intrinsics name it: "multiply-add", "vdpbf16ps".
llvm::StringRef reportName(Product product);

} // namespace halftone::compiler::cpu

#include "compiler/targets/cpu/ScheduleDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/targets/cpu/Schedules.h.inc"
