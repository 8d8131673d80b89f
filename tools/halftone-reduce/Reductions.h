// The ways in which a module becomes smaller.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::tools {

/// Something in a module that a reduction can take away or make simpler: an op, or an argument, a result or an attribute of
/// an op.
struct Part {
  mlir::Operation *op;
  unsigned index = 0;
};

/// One way to make a module smaller, at any of its parts.
struct Reduction {
  /// The parts to which the reduction applies, in the order of the module.
  mlir::SmallVector<Part> (*parts)(mlir::ModuleOp module);
  /// Reduces the module at these parts, some of what parts() gave. The module need not be valid afterwards.
  void (*apply)(mlir::ArrayRef<Part> parts);
};

/// All reductions, those that take the most away first.
mlir::ArrayRef<Reduction> reductions();

/// Erases ops whose values nobody uses and that have no effect.
void eraseUnusedOps(mlir::ModuleOp module);

} // namespace halftone::tools
