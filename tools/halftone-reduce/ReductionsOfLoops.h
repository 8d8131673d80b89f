// Reductions of loops: replace a loop by one step, and remove carries, slices and stacks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Reductions.h"

namespace halftone::tools {

/// The loops. Each can be replaced by the ops of one step: the first step of a scan, one step of a while.
mlir::SmallVector<Part> loops(mlir::ModuleOp module);
void takeStep(mlir::ArrayRef<Part> parts);

/// The carries of loops. Each can be replaced by its initial value.
mlir::SmallVector<Part> carries(mlir::ModuleOp module);
void replaceByInit(mlir::ArrayRef<Part> parts);

/// The slices of scans that no op reads, as operands of the scan, and the unread stacks, as its results.
mlir::SmallVector<Part> unusedSlices(mlir::ModuleOp module);
void dropSlices(mlir::ArrayRef<Part> parts);
mlir::SmallVector<Part> unusedStacks(mlir::ModuleOp module);
void dropStacks(mlir::ArrayRef<Part> parts);

} // namespace halftone::tools
