// The updates of large tables whose rows stay as they are where a gradient of looked up rows is zero.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <limits>
#include <map>

namespace halftone::compiler {

/// The places of ops in a walk over a module.
using OpOrder = llvm::DenseMap<mlir::Operation *, int64_t>;

/// Whether `value` is a splat, or repeats along axis 0.
bool isSameInAllRows(mlir::Value value);

/// The elementwise work on scatter_adds of few rows into many. A value is *uniform* if it depends on the sums and on
/// values that are the same in all rows: all its rows that no index names are equal.
class UnreadRows {
public:
  /// New values of tables, made in one block, that equal the tables in the rows without sums if each value of `zeros` is +0 there.
  struct Update {
    llvm::SmallVector<mlir::Operation *> ops;                       // that make the new values, in their order
    llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> results; // new values, in their order, and the tables
    llvm::SetVector<mlir::Value> zeros;                             // uniform
    mlir::Location loc() const { return results.back().first.getLoc(); }
  };

  /// Begins with one scatter_add. `fixesOrder`: sums of squares keep their order.
  UnreadRows(dialect::ScatterAddOp first, const OpOrder &order, bool fixesOrder);

  /// Whether the sums of all rows are needed nowhere but in elementwise work.
  bool fit() const { return fits && !(updates.empty() && dense.empty()); }
  bool isUniform(mlir::Value value) const;

  llvm::SmallVector<dialect::ScatterAddOp> sums; // of one block, in its order
  llvm::SmallVector<Update> updates;
  llvm::SmallVector<mlir::OpOperand *> dense; // uniform operands of elementwise work on all rows
  llvm::SmallVector<mlir::OpOperand *>
      measured; // uniform operands of reduce_alls for which one row may stand for all equal ones
  llvm::SmallVector<mlir::Operation *> ops; // the work on the sums, in its order

private:
  enum class Kind : uint8_t { other, uniform, same, zero, positive };
  /// What a value is in the rows without sums, if `zeros` are +0 there: `same` as in `table`, +0, or above 0.
  struct Facts {
    Kind kind = Kind::other;
    bool isZeroOrNaN = false; // of a uniform value: +0, -0 or NaN
    mlir::Value table = {};
    llvm::SmallVector<mlir::Value, 2> zeros = {};
  };

  void follow(mlir::Value value);
  void read(mlir::Operation *op);
  bool join(dialect::ScatterAddOp sum);
  bool mayMeasure(dialect::ReduceAllOp op, mlir::Value value) const;
  bool isTableOf(mlir::Value value, mlir::Operation *op) const;
  Facts factsOf(mlir::Value operand, mlir::Operation *op) const;
  Facts factsOf(mlir::Operation *op) const;
  Facts uniformFactsOf(mlir::Operation *op) const;
  Facts sumOf(mlir::Operation *op) const;
  Facts quotientOf(mlir::Operation *op) const;
  bool addZeros(Facts &facts, mlir::Value value) const;
  bool isSumOfSquares(mlir::Value value) const;
  void collect();

  const OpOrder &order;
  const bool fixesOrder;
  bool fits = true;
  int64_t firstWork = std::numeric_limits<int64_t>::max(); // the first place of `ops`
  std::map<int64_t, mlir::Operation *> open;               // by their places
  llvm::DenseMap<mlir::Value, Facts> known;
  llvm::DenseMap<mlir::Block *, int64_t> firstSame; // the place of the first op that gives a table's new value
};

} // namespace halftone::compiler
