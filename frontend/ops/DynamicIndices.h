// Integer Values as tensor indices: wrapped as in Python, clamped, or marked as out of range.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "halftone/Ops.h"
#include <vector>

namespace halftone::detail {

/// Casts `indices` to int32 or int64. type_error that names `op` unless they are integers.
Value asIndices(const char *op, const Value &indices);
/// Python's indexing: a negative index counts from the end of an axis of this extent.
Value wrapped(const Value &indices, int64_t extent);
/// Whether the indices are in range for an axis of this extent.
Value areInside(const Value &indices, int64_t extent);

/// The start indices of a box of shape `box` in a tensor of shape `whole`, one scalar per axis: a negative start counts
/// from the end, and the box is shifted to lie inside. value_error that names `op` if there is not one start per axis,
/// or if the box is larger.
std::vector<Value> startsOf(const char *op, const Starts &starts, const Shape &whole, const Shape &box);
/// The elements of x in a box of shape `shape` at the start indices `starts`.
Value boxAt(const Value &x, const std::vector<Value> &starts, const Shape &shape);
/// x with the elements at the start indices `starts` replaced by `box`, which has the dtype of x.
Value withBoxAt(const Value &x, const std::vector<Value> &starts, const Value &box);

/// Combines slices of x along axis 0, selected by the vector `indices`, with the updates. Out-of-range indices are
/// ignored. Bools are combined as integers.
Value scatteredRows(ScatterKind kind, const Value &x, const Value &indices, const Value &updates);
/// Like scatteredRows(), for slices that `indices` (..., n) select along the first n axes of x; a negative index counts
/// from the end. The updates are broadcast to the slices and cast to x's dtype.
Value updatedAt(const char *op, ScatterKind kind, const Value &x, const Value &indices, const Value &updates);

} // namespace halftone::detail
