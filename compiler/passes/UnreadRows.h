// Updates of large tables that leave rows unchanged where the gradient of a lookup is zero.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <limits>
#include <map>

namespace halftone::compiler {

/// The positions of ops in a walk over a module.
using OpOrder = llvm::DenseMap<mlir::Operation *, int64_t>;

/// Returns true if `value` is a splat, or repeats along axis 0.
bool isSameInAllRows(mlir::Value value);

/// The elementwise ops on scatter_adds of few rows into many. A value is *uniform* if it depends only on the sums and
/// on values that are equal in all rows: all its rows that no index names are then equal.
class UnreadRows {
public:
  /// New values of tables, computed in one block. They equal the tables in the rows without sums if each value of
  /// `zeros` is +0 there.
  struct Update {
    llvm::SmallVector<mlir::Operation *> ops;                       // ops that compute the new values, in order
    llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> results; // new values and their tables, in order
    llvm::SetVector<mlir::Value> zeros;                             // uniform
    mlir::Location loc() const { return results.back().first.getLoc(); }
  };

  /// Starts from one scatter_add. `fixesOrder`: sums of squares keep their order.
  UnreadRows(dialect::ScatterAddOp first, const OpOrder &order, bool fixesOrder);

  /// Returns true if only elementwise ops need the sums of all rows.
  bool fit() const { return fits && !(updates.empty() && dense.empty()); }
  bool isUniform(mlir::Value value) const;

  llvm::SmallVector<dialect::ScatterAddOp> sums; // of one block, in order
  llvm::SmallVector<Update> updates;
  llvm::SmallVector<mlir::OpOperand *> dense; // uniform operands of elementwise ops on all rows
  llvm::SmallVector<mlir::OpOperand *>
      measured; // uniform operands of reduce_alls, where one row may represent all equal ones
  llvm::SmallVector<mlir::Operation *> ops; // the elementwise ops on the sums, in order

private:
  enum class Kind : uint8_t { other, uniform, same, zero, positive };
  /// The contents of a value in the rows without sums, if `zeros` are +0 there: `same` as `table`, +0, or positive.
  struct Facts {
    Kind kind = Kind::other;
    bool isZeroOrNaN = false; // of a uniform value: all elements are +0, -0 or NaN
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
  int64_t firstWork = std::numeric_limits<int64_t>::max(); // the first position of `ops`
  std::map<int64_t, mlir::Operation *> open;               // by position
  llvm::DenseMap<mlir::Value, Facts> known;
  llvm::DenseMap<mlir::Block *, int64_t> firstSame; // the position of the first op that computes a table's new value
};

} // namespace halftone::compiler
