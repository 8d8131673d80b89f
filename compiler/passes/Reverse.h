// Reverse accumulation over the ops of one block: cotangents of values go in, those of the values before come out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/GradientWay.h"
#include "compiler/passes/LoopParts.h"
#include "compiler/reports/LayerPath.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace halftone::compiler {

/// What the reversals of one gradient share, those of nested regions among them.
struct Differentiation {
  Differentiation(dialect::GradientOp gradient, mlir::func::FuncOp function, const mlir::SymbolTable &symbols)
      : gradient(gradient), function(function), symbols(symbols), way(gradient), listener(gradient.getLoc()),
        builder(gradient, &listener) {}

  /// The variable of whose values `value` is one: an argument of the function, or a leaf that lift-variables made.
  dialect::VariableOp variableOf(mlir::Value value);
  mlir::Value splat(mlir::Type type, double value);

  /// Gives each op that a derivative builds the location of its forward op, marked.
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
  GradientWay way;
  Locations listener;
  mlir::OpBuilder builder;
};

/// The reversal of the ops of one block.
class Reverse {
public:
  explicit Reverse(Differentiation &shared) : shared(shared), builder(shared.builder) {}

  /// Adds to the cotangent of a value that is on the way; all others have none.
  void add(mlir::Value value, mlir::Value cotangent);
  mlir::Value cotangentOf(mlir::Value value) const { return cotangents.lookup(value); }
  /// Builds the derivatives of `ops`, which stand in the order of the program, where the builder stands.
  llvm::LogicalResult run(llvm::ArrayRef<mlir::Operation *> ops);

private:
  bool hasCotangent(mlir::Operation *op) const;
  mlir::Operation *computedAgain(mlir::Operation *op);
  void computeAgain(llvm::ArrayRef<mlir::Operation *> unit, mlir::IRMapping &copies);
  llvm::LogicalResult reverse(mlir::Operation *op);

  // `op` is the forward op, `made` the one whose values the derivative reads: the same, or its copy in the backward pass.
  llvm::LogicalResult reverseScan(dialect::ScanOp op, dialect::ScanOp made);
  llvm::LogicalResult reverseWhen(dialect::WhenOp op, dialect::WhenOp made);
  struct State { // a carry of the forward scan that is on the way
    mlir::Value init;
    mlir::BlockArgument argument;
    LoopParts::Carry *carry; // of its cotangents
  };
  llvm::SmallVector<State> seed(dialect::ScanOp op, dialect::ScanOp made, LoopParts &parts, Reverse &inside);
  struct Accumulator {
    mlir::Value capture, copy;
    LoopParts::Carry *carry;
    bool continues; // from the cotangent that the capture had
  };
  llvm::SmallVector<Accumulator> accumulators(llvm::ArrayRef<mlir::Value> captures, llvm::ArrayRef<mlir::Value> copies,
                                              LoopParts &parts, Reverse &inside);
  bool accumulate(const Accumulator &accumulator, LoopParts &parts, const Reverse &inside);
  void finish(const Accumulator &accumulator);

  Differentiation &shared;
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
  llvm::DenseMap<int64_t, llvm::SmallVector<mlir::Operation *>>
      units;                                       // by number: ops that are computed again together
  llvm::DenseMap<int64_t, mlir::IRMapping> copies; // of the ops of a unit, once they are made
};

/// Gives the backward scan, whose parts these are, the values of the forward scan's body that its body reads: slices, values that
/// are made again of little, and for all others stacks that the forward scan gives besides.
void passForwardValues(dialect::ScanOp forward, LoopParts &backward, Differentiation &shared);

/// The same for a `when`: what is dear becomes a further result, all else is computed again.
void passForwardValues(dialect::WhenOp forward, dialect::WhenOp backward, Differentiation &shared);

} // namespace halftone::compiler
