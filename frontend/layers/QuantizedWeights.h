// Weights as integers with scales, computed on the host in Keras's arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include <vector>

namespace halftone::detail {

/// A tensor seen as a matrix, each of whose columns has scales of its own.
struct MatrixView {
  std::vector<int64_t> rows, columns; // where each begins; element (r, c) is at rows[r] + columns[c]
  bool hasGroupsLast = false;         // whether scales of groups have the shape (columns, groups)
  /// The row runs over the first axes, the column over the others, the last one fastest.
  static MatrixView of(const Shape &shape, const std::vector<int64_t> &rowAxes, const std::vector<int64_t> &columnAxes);
};

struct QuantizedWeights {
  Tensor values; // int8, in the shape of the weights
  Tensor scale;  // in their dtype: (columns,), or (groups, columns), see MatrixView
  Tensor zero{}; // int8, in the shape of the scale; undefined without groups
};

/// One scale for each column, `most` / (largest magnitude + 1e-7): an integer is weight * scale, between `least` and
/// `most`.
QuantizedWeights absMaxQuantized(const Tensor &weights, const MatrixView &view, int64_t least, int64_t most);

/// One scale and one zero point for each `block` rows of a column; integers from -8 to 7 stand for
/// (integer - zero) * scale. The rows that the last block lacks count as zeros.
QuantizedWeights groupQuantized(const Tensor &weights, const MatrixView &view, int64_t block);

/// The floats that integers stand for, in the dtype of their scale: integer / scale, or (integer - zero) * scale of a block.
Tensor dequantized(const QuantizedWeights &weights, const MatrixView &view, int64_t block);

/// The group of each row, as the floats that Keras keeps.
Tensor groupNumbers(int64_t rows, int64_t block);

/// Two integers from -8 to 7 in a byte, along the last axis of a matrix: the even column in the lower half.
Tensor packedInt4(const Tensor &values);
/// The integers of such bytes, `columns` of them in a row.
Tensor unpackedInt4(const Tensor &bytes, int64_t columns);
/// A matrix of int8 with its axes in the other order.
Tensor transposedInt8(const Tensor &matrix);

} // namespace halftone::detail
