// Quantized arithmetic on Values, as in keras.quantizers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Ops.h"
#include <vector>

namespace halftone::detail {

/// Integers between -127 and 127, and the scale by which they are divided to get floats.
struct QuantizedValue {
  Value values; // int8
  Value scale;  // in the dtype of the floats, with extent 1 for reduced axes
};
/// One scale for all elements along `axes`: 127 / (largest magnitude + 1e-7).
QuantizedValue absMaxQuantized(const Value &x, const std::vector<int64_t> &axes);

/// The dtype of a product of floats of dtype `x` and weights of dtype `weights`, also if the weights are quantized.
DType productDtype(DType x, DType weights);

/// Unpacks int4 elements, two per byte along the last axis, to `columns` elements.
Value unpackedInt4(const Value &packed, int64_t columns);

/// (values - zero) * scale, where element i of `axis` has the zero and the scale of group groups[i].
Value dequantizedGroups(const Value &values, const Value &scale, const Value &zero, const Value &groups, int64_t axis);

/// The float8 scale of values, and the history of their largest magnitudes in the last calls: float32 variables that
/// gradients overwrite.
struct Float8State {
  Variable scale, history;
};
/// `x` rounded to float8_e4m3fn steps of the scale. Its gradient is that of `x`. The gradient of the state is the next
/// state or, unless `updates`, the current one.
Value roundedToFloat8(const Value &x, const Float8State &state, DType compute, bool updates);
/// `y`, with its gradient rounded to float8_e5m2 steps of the scale; the gradient of the state is the next state.
Value withFloat8Gradient(const Value &y, const Float8State &state, DType compute);

} // namespace halftone::detail
