// Reverse accumulation over the ops of one block: takes cotangents of results and computes those of operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/GradientPath.h"
#include "compiler/passes/LoopParts.h"
#include "compiler/reports/LayerPath.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace halftone::compiler {

/// State shared by all reversals of one gradient, including those of nested regions.
struct Differentiation {
  Differentiation(dialect::GradientOp gradient, mlir::func::FuncOp function, const mlir::SymbolTable &symbols)
      : gradient(gradient), function(function), symbols(symbols), path(gradient), listener(gradient.getLoc()),
        builder(gradient, &listener) {}

  /// The variable of which `value` is a value: an argument of the function, or a leaf that lift-variables created.
  dialect::VariableOp variableOf(mlir::Value value);
  mlir::Value splat(mlir::Type type, double value);

  /// Gives each op of a derivative the location of its forward op, marked as gradient.
  struct Locations : mlir::OpBuilder::Listener {
    mlir::Location forward;
    explicit Locations(mlir::Location forward) : forward(forward) {}
    void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
      op->setLoc(gradientLocation(forward));
    }
  };

  dialect::GradientOp gradient;
  mlir::func::FuncOp function;
  const mlir::SymbolTable &symbols;
  GradientPath path;
  Locations listener;
  mlir::OpBuilder builder;
};

/// The reversal of the ops of one block.
class Reverse {
public:
  explicit Reverse(Differentiation &shared) : shared(shared), builder(shared.builder) {}

  /// Adds to the cotangent of a value on a path; all others have none.
  void add(mlir::Value value, mlir::Value cotangent);
  mlir::Value cotangentOf(mlir::Value value) const { return cotangents.lookup(value); }
  /// Builds the derivatives of `ops`, which are in program order, at the builder's insertion point.
  llvm::LogicalResult run(llvm::ArrayRef<mlir::Operation *> ops);

private:
  bool hasCotangent(mlir::Operation *op) const;
  mlir::Operation *computedAgain(mlir::Operation *op);
  void recompute(llvm::ArrayRef<mlir::Operation *> unit, mlir::IRMapping &copies);
  llvm::LogicalResult reverse(mlir::Operation *op);

  // `op` is the forward op; `source` is the op whose values the derivative reads: `op` itself, or its copy in the
  // backward pass.
  llvm::LogicalResult reverseScan(dialect::ScanOp op, dialect::ScanOp source);
  llvm::LogicalResult reverseWhen(dialect::WhenOp op, dialect::WhenOp source);
  struct State { // a carry of the forward scan that is on a path
    mlir::Value init;
    mlir::BlockArgument argument;
    LoopParts::Carry *carry; // carries its cotangents
  };
  llvm::SmallVector<State> seed(dialect::ScanOp op, dialect::ScanOp source, LoopParts &parts, Reverse &inside);
  struct Accumulator {
    mlir::Value capture, copy;
    LoopParts::Carry *carry;
    bool continues; // starts from the cotangent that the capture already had
  };
  llvm::SmallVector<Accumulator> accumulators(llvm::ArrayRef<mlir::Value> captures, llvm::ArrayRef<mlir::Value> copies,
                                              LoopParts &parts, Reverse &inside);
  bool accumulate(const Accumulator &accumulator, LoopParts &parts, const Reverse &inside);
  void finish(const Accumulator &accumulator);

  Differentiation &shared;
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
  llvm::DenseMap<int64_t, llvm::SmallVector<mlir::Operation *>> units; // by number: ops that are recomputed together
  llvm::DenseMap<int64_t, mlir::IRMapping> copies;                     // copies of the ops of a unit, once created
};

/// Passes the values of the forward scan's body that the body of the backward scan reads; `backward` holds the parts of
/// the backward scan. Slices are passed as slices, cheap values are recomputed, and all others become additional stacks
/// of the forward scan.
void passForwardValues(dialect::ScanOp forward, LoopParts &backward, Differentiation &shared);

/// Like the above for a `when`: expensive values become additional results, all others are recomputed.
void passForwardValues(dialect::WhenOp forward, dialect::WhenOp backward, Differentiation &shared);

} // namespace halftone::compiler
