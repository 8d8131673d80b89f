// Cores that load and store some lanes of a vector, for lanes for which a CPU has no masked instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Core.h"
#include "mlir/IR/BuiltinTypes.h"

namespace halftone::compiler {

/// Takes a pointer and the mask of the lanes; returns the vector, in which the other lanes are 0.
Core maskedLoadCore(mlir::VectorType type);
/// Takes a pointer, the mask of the lanes and the vector.
Core maskedStoreCore(mlir::VectorType type);

} // namespace halftone::compiler
