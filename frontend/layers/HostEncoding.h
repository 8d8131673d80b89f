// Encoding of categories as vectors, on the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "halftone/Choice.h"
#include <span>
#include <vector>

namespace halftone::detail {

/// The index of an ignored category.
inline constexpr int64_t droppedIndex = INT64_MAX;

struct HostEncoding {
  OutputMode mode = OutputMode::int_;
  int64_t depth = 0;             // of the vectors; each index is below it, or is droppedIndex
  DType dtype = DType::float32;  // of the result
  std::vector<double> weights{}; // of the indices, for tf_idf

  /// The shape and dtype of the result for indices of a shape, which may contain None. value_error naming `caller` for
  /// an unsupported rank.
  ValueSpec specOf(const std::string &caller, const Shape &shape) const;
  /// Encodes indices of a shape without None.
  Tensor of(const std::string &caller, std::span<const int64_t> indices, const Shape &shape) const;
  /// Encodes one vector per row; row i has the indices [rows[i], rows[i + 1]). Not for one_hot and int_.
  Tensor ofRows(std::span<const int64_t> indices, std::span<const size_t> rows) const;
};

} // namespace halftone::detail
