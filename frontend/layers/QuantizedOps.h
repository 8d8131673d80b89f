// The arithmetic of quantized layers on Values: keras.quantizers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Ops.h"
#include <vector>

namespace halftone::detail {

/// Integers between -127 and 127 and their scale, by which they are divided to stand for floats.
struct QuantizedValue {
  Value values; // int8
  Value scale;  // with extent 1 for the reduced axes, in the dtype of the floats
};
/// One scale for all elements along `axes`: 127 / (largest magnitude + 1e-7).
QuantizedValue absMaxQuantized(const Value &x, const std::vector<int64_t> &axes);

/// The dtype of a product of floats and of weights in the dtypes `x` and `weights`. Quantized weights give it too.
DType productDtype(DType x, DType weights);

/// The integers of bytes that hold two each along the last axis, which has `columns` of them.
Value unpackedInt4(const Value &packed, int64_t columns);

/// (values - zero) * scale, where element i of `axis` has the zero and the scale of group groups[i].
Value dequantizedGroups(const Value &values, const Value &scale, const Value &zero, const Value &groups, int64_t axis);

/// The scale of values that are rounded to a float8, and the largest magnitudes of the last calls: float32 variables, which
/// gradients overwrite.
struct Float8State {
  Variable scale, history;
};
/// `x` rounded to float8_e4m3fn steps of the scale. Its gradient is that of `x`. A gradient of the state is the next state,
/// or, unless `updates`, the present one.
Value roundedToFloat8(const Value &x, const Float8State &state, DType compute, bool updates);
/// `y`, whose gradient is rounded to float8_e5m2 steps of the scale; then the state's gradient is the next state.
Value withFloat8Gradient(const Value &y, const Float8State &state, DType compute);

} // namespace halftone::detail
