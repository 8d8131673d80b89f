// The reductions of layers and conditions: their ops take their place.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Reductions.h"

namespace halftone::tools {

mlir::SmallVector<Part> layers(mlir::ModuleOp module);
void inlineLayers(mlir::ArrayRef<Part> parts);

/// The `when`s, in whose place the ops of the first or of the second region come.
mlir::SmallVector<Part> conditions(mlir::ModuleOp module);
void takeFirst(mlir::ArrayRef<Part> parts);
void takeSecond(mlir::ArrayRef<Part> parts);

} // namespace halftone::tools
