// Matrix batches of operations: validation, dtype, and a single batch axis.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <vector>

namespace halftone::detail {

/// A Value (..., m, n) as floats (batch, m, n) of float32 at least.
struct Matrices {
  Value x;
  std::vector<int64_t> leading; // the axes of the batch
  DType dtype;                  // of results
  int64_t rows() const { return x.shape()[1]; }
  int64_t columns() const { return x.shape()[2]; }
  /// Restores the batch axes of a result (batch, ...), in the dtype of results.
  Value restored(const Value &y) const;
  /// Like restored(), for a result that keeps its dtype.
  Value unbatched(const Value &y) const;
};
/// value_error unless there are at least two axes.
Matrices matricesOf(const Value &x);
/// value_error unless the matrices are square.
Matrices squareMatrices(const Value &x);
/// (x + x^T) / 2 of square matrices.
Value symmetrized(const Value &x);
/// A linear system with a (..., m, m) and b (..., m) or (..., m, n), and broadcast batch axes; a result has the shape
/// of b.
struct System {
  Matrices a, b;
  bool isVector = false; // b is (batch, m, 1)
  Value restored(const Value &x) const;
};
System systemOf(const Value &a, const Value &b);
/// The 2-norms of x over axes, which are kept with extent 1.
Value euclideanNorm(const Value &x, const std::vector<int64_t> &axes);

} // namespace halftone::detail
