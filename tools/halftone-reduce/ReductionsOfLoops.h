// The reductions of loops: one step takes their place, and carries, slices and stacks go.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Reductions.h"

namespace halftone::tools {

/// The loops, in whose place the ops of one step come: the first of a scan, one of a while.
mlir::SmallVector<Part> loops(mlir::ModuleOp module);
void takeStep(mlir::ArrayRef<Part> parts);

/// The carries of loops, each of which its init replaces.
mlir::SmallVector<Part> carries(mlir::ModuleOp module);
void replaceByInit(mlir::ArrayRef<Part> parts);

/// The slices of scans that no op reads, by their operands, and the stacks that none reads, by their results.
mlir::SmallVector<Part> unusedSlices(mlir::ModuleOp module);
void dropSlices(mlir::ArrayRef<Part> parts);
mlir::SmallVector<Part> unusedStacks(mlir::ModuleOp module);
void dropStacks(mlir::ArrayRef<Part> parts);

} // namespace halftone::tools
