// Reductions of layers and conditions: inline their ops.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Reductions.h"

namespace halftone::tools {

mlir::SmallVector<Part> layers(mlir::ModuleOp module);
void inlineLayers(mlir::ArrayRef<Part> parts);

/// The `when` ops. Each can be replaced by the ops of its first or of its second region.
mlir::SmallVector<Part> conditions(mlir::ModuleOp module);
void takeFirst(mlir::ArrayRef<Part> parts);
void takeSecond(mlir::ArrayRef<Part> parts);

} // namespace halftone::tools
