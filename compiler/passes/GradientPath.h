// The values on the paths of a gradient: those through which the scalar y depends differentiably on the values xs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/ControlFlow.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace halftone::compiler {

/// The paths of one gradient through a function, including the regions of branches and loops.
class GradientPath {
public:
  explicit GradientPath(dialect::GradientOp gradient) : gradient(gradient) {}

  /// Finds the values that depend differentiably on the xs.
  void findDependent();
  /// Finds the dependent values on which y depends. It is an error if an op on a path has no derivative, or if
  /// a path leaves the body of a loop that contains the gradient.
  llvm::LogicalResult findReached();

  bool isDependent(mlir::Value value) const { return dependent.contains(value); }
  /// Returns true if `value` is on a path.
  bool holds(mlir::Value value) const { return reached.contains(value); }
  /// Returns true if a cotangent of the owner's results flows through `operand`.
  bool passes(mlir::OpOperand &operand) const;
  bool passesThrough(mlir::Operation *op) const;
  /// Marks copies of dependent values as dependent.
  void addCopies(const mlir::IRMapping &copies);

  /// Forgets the results of `op` and the arguments of its regions, which are about to be erased.
  void forget(mlir::Operation *op);

  /// The ops before the gradient whose values it can read, in program order: those of the body of the loop that
  /// contains the gradient, or of the function.
  llvm::SmallVector<mlir::Operation *> opsBefore() const;

private:
  bool isInside(mlir::Value value) const;
  void reach(mlir::ValueRange values);
  llvm::LogicalResult visit(mlir::Value value);
  mlir::InFlightDiagnostic refuse(mlir::Operation *op, llvm::StringRef reason);

  dialect::GradientOp gradient;
  llvm::DenseSet<mlir::Value> dependent;
  llvm::DenseSet<mlir::Value> reached;
  llvm::SmallVector<mlir::Value> open; // reached values that findReached has not visited yet
};

} // namespace halftone::compiler
