// Cores that load and store some lanes of a vector, for lanes for which a CPU has no masked instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Core.h"
#include "mlir/IR/BuiltinTypes.h"

namespace halftone::compiler {

/// The function takes a pointer and the mask of the lanes, and returns the vector as integers; the other lanes are 0 and
/// their memory is not accessed.
Core maskedLoadCore(mlir::VectorType type);
/// The function takes a pointer, the mask of the lanes and the vector as integers; the memory of the other lanes is not
/// accessed.
Core maskedStoreCore(mlir::VectorType type);

} // namespace halftone::compiler
