// The distinct rows of a table that the indices of scatter_adds name, and the sums at those rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// Represents scatter_adds along axis 0 whose results have the same number of rows by values of the named rows alone.
/// With n indices in all, such a value has n + 1 rows: the named rows in ascending order, then rows to which nothing is
/// added, at least one of them.
struct NamedRows {
  NamedRows(mlir::OpBuilder &builder, llvm::ArrayRef<dialect::ScatterAddOp> sums);

  /// For each row of the tables, the index of its row here; n if no index names it.
  mlir::Value positions(mlir::OpBuilder &builder, mlir::Location loc) const;

  int64_t tableRows = 0, count = 0;    // rows of the tables; rows here, n + 1
  mlir::Value rows;                    // i32: the table row of each row here; tableRows after the named ones
  llvm::SmallVector<mlir::Value> sums; // one per scatter_add
};

} // namespace halftone::compiler
