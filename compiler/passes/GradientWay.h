// The values on the way of a gradient: those through which a derivative flows from the values xs to the scalar y.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/ControlFlow.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace halftone::compiler {

/// The way of one gradient through a function, the regions of branches and loops included.
class GradientWay {
public:
  explicit GradientWay(dialect::GradientOp gradient) : gradient(gradient) {}

  /// Which values depend on the xs, differentiably.
  void findDependent();
  /// Which of these matter to y. An op on the way that has no derivative is an error, and so is a way that leads out of the body of
  /// a loop that holds the gradient.
  llvm::LogicalResult findReached();

  bool isDependent(mlir::Value value) const { return dependent.contains(value); }
  /// Whether `value` is on the way.
  bool holds(mlir::Value value) const { return reached.contains(value); }
  /// Whether a cotangent of the owner's results flows on through `operand`.
  bool passes(mlir::OpOperand &operand) const;
  bool passesThrough(mlir::Operation *op) const;
  /// Copies of values depend as the values do.
  void addCopies(const mlir::IRMapping &copies);

  /// The results of `op` and the arguments of its regions are about to go.
  void forget(mlir::Operation *op);

  /// The ops before the gradient whose values it can read, in the order of the program: those of the body of the loop that holds the
  /// gradient, or of the function.
  llvm::SmallVector<mlir::Operation *> opsBefore() const;

private:
  bool isInside(mlir::Value value) const;
  void reach(mlir::ValueRange values);
  llvm::LogicalResult visit(mlir::Value value);
  mlir::InFlightDiagnostic refuse(mlir::Operation *op, llvm::StringRef reason);

  dialect::GradientOp gradient;
  llvm::DenseSet<mlir::Value> dependent;
  llvm::DenseSet<mlir::Value> reached;
  llvm::SmallVector<mlir::Value> open; // of these, those from which findReached has still to go on
};

} // namespace halftone::compiler
