// Integer Values as places of a tensor: wrapped as in Python, clamped, or marked as outside.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "halftone/Ops.h"
#include <vector>

namespace halftone::detail {

/// `indices` in int32 or int64. type_error that names `op` unless they are integers.
Value asIndices(const char *op, const Value &indices);
/// Python's places: an index below 0 counts from the end of an axis of this extent.
Value wrapped(const Value &indices, int64_t extent);
/// Whether the indices are places of an axis of this extent.
Value areInside(const Value &indices, int64_t extent);

/// Where a box of the shape `box` begins in a tensor of the shape `whole`, as a scalar for each axis: a start below 0 counts
/// from the end, and the box is moved until it lies within. value_error that names `op` if there is not one start an axis, or
/// if the box is larger.
std::vector<Value> placesOf(const char *op, const Starts &starts, const Shape &whole, const Shape &box);
/// The elements of x in a box of this shape that begins at the places.
Value boxAt(const Value &x, const std::vector<Value> &places, const Shape &shape);
/// x with `box`, of its dtype, in place of the elements there.
Value withBoxAt(const Value &x, const std::vector<Value> &places, const Value &box);

/// x with the slices along axis 0 that the indices, a vector, name combined with the updates. Those outside are left out. Bools
/// are combined as integers.
Value scatteredRows(ScatterKind kind, const Value &x, const Value &indices, const Value &updates);
/// The same of slices that `indices` (..., n) name by the first n axes of x, where one below 0 counts from the end. The updates
/// broadcast to them, and are cast to x's dtype.
Value updatedAt(const char *op, ScatterKind kind, const Value &x, const Value &indices, const Value &updates);

} // namespace halftone::detail
