// Exact conversion between arrays of any two dtypes, and from single elements to double.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Half.h"
#include "runtime/base/Status.h"

namespace halftone {

/// Returns true if tensors can hold `dtype`: every dtype except complex64, complex128 and string.
bool isStorable(DType dtype);

/// Converts `count` dense elements; the arrays must not overlap. The rules are those of the dialect's cast:
///   to a float      rounds once to the nearest, ties to even; `overflow` decides past the largest value
///   float to int    truncates toward zero, clamps to the range; NaN gives 0
///   int to int      wraps
///   to bool         != 0, so NaN gives true
/// type_error if a dtype is not storable.
Status convert(DType from, const void *source, DType to, void *target, int64_t count,
               Overflow overflow = Overflow::natural);

/// Element `index` as a double: exact except for 64-bit integers beyond 2^53. 0 if the dtype is not storable.
double elementAsDouble(DType dtype, const void *data, int64_t index);

} // namespace halftone
