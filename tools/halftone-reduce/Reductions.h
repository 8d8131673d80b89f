// The ways in which a module can be reduced.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::tools {

/// A part of a module that a reduction can remove or simplify: an op, or an argument, a result or an attribute of an
/// op.
struct Part {
  mlir::Operation *op;
  unsigned index = 0;
};

/// A reduction, applicable to any of its parts.
struct Reduction {
  /// The parts to which the reduction applies, in module order.
  mlir::SmallVector<Part> (*parts)(mlir::ModuleOp module);
  /// Applies the reduction to a subset of parts(). The module may be invalid afterwards.
  void (*apply)(mlir::ArrayRef<Part> parts);
};

/// All reductions, the most effective ones first.
mlir::ArrayRef<Reduction> reductions();

/// Erases ops without uses and side effects.
void eraseUnusedOps(mlir::ModuleOp module);

} // namespace halftone::tools
