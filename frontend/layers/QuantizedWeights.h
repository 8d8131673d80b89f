// Quantization of weights to integers with scales, on the host in Keras's arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include <vector>

namespace halftone::detail {

/// A matrix view of a tensor, each column of which has its own scales.
struct MatrixView {
  std::vector<int64_t> rows, columns; // offsets; element (r, c) is at rows[r] + columns[c]
  bool hasGroupsLast = false;         // whether group scales have the shape (columns, groups)
  /// The row index runs over `rowAxes`, the column index over `columnAxes`, with the last axis varying fastest.
  static MatrixView of(const Shape &shape, const std::vector<int64_t> &rowAxes, const std::vector<int64_t> &columnAxes);
};

struct QuantizedWeights {
  Tensor values; // int8, in the shape of the weights
  Tensor scale;  // in their dtype: (columns,), or (groups, columns), see MatrixView
  Tensor zero{}; // int8, in the shape of the scale; undefined without groups
};

/// One scale per column, `most` / (largest magnitude + 1e-7): an integer is weight * scale, between `least` and `most`.
QuantizedWeights absMaxQuantized(const Tensor &weights, const MatrixView &view, int64_t least, int64_t most);

/// One scale and one zero point per `block` rows of a column; integers from -8 to 7 represent (integer - zero) * scale.
/// Rows missing from the last block count as zeros.
QuantizedWeights groupQuantized(const Tensor &weights, const MatrixView &view, int64_t block);

/// The dequantized floats, in the dtype of their scale: integer / scale, or (integer - zero) * scale of a block.
Tensor dequantized(const QuantizedWeights &weights, const MatrixView &view, int64_t block);

/// The group of each row, as floats, in which Keras stores them.
Tensor groupNumbers(int64_t rows, int64_t block);

/// Packs int4 elements, two per byte, along the last axis of a matrix: the even column in the low half.
Tensor packedInt4(const Tensor &values);
/// Unpacks such bytes to `columns` elements per row.
Tensor unpackedInt4(const Tensor &bytes, int64_t columns);
/// Transposes an int8 matrix.
Tensor transposedInt8(const Tensor &matrix);

} // namespace halftone::detail
