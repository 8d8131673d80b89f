// The rows of a table that the indices of scatter_adds name, each once, and the sums at those rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// scatter_adds along axis 0 whose results have one number of rows, as values of the rows that they name. With n indices in all, such a
/// value has n + 1 rows: those of the named rows in ascending order, then rows to which nothing is added, of which the last is one.
struct NamedRows {
  NamedRows(mlir::OpBuilder &builder, llvm::ArrayRef<dialect::ScatterAddOp> sums);

  /// For each row of the tables the place of its row here, n if no index names it.
  mlir::Value places(mlir::OpBuilder &builder, mlir::Location loc) const;

  int64_t tableRows = 0, count = 0; // of the tables; here, n + 1
  mlir::Value rows;                 // i32: the row of the tables at each place; tableRows behind those that are named
  llvm::SmallVector<mlir::Value> sums; // of each scatter_add
};

} // namespace halftone::compiler
