// Schedules: how a target computes a kernel, as an attribute of the kernel's function.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Numerics.h"
#include "dialect/Enums.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/DialectImplementation.h"

#include "compiler/kernels/Schedule.h.inc"

namespace halftone::compiler {

/// The text of a Halftone_SizesParameter (Schedule.td): `[128, 64]`.
mlir::FailureOr<llvm::SmallVector<int64_t>> parseSizes(mlir::AsmParser &parser);
void printSizes(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> sizes);

/// Emits an error at `kernel`: its schedule (null if it has none) is not the `expected` one.
mlir::InFlightDiagnostic emitUnexpected(ScheduleAttrInterface schedule, llvm::StringRef expected,
                                        mlir::Operation *kernel);

} // namespace halftone::compiler
