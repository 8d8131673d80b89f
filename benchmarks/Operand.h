// Tensors whose elements peers can generate too, and sums for comparing results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <halftone/Halftone.h>

namespace halftone::benchmarks {

/// A float32 tensor with the elements of operand() in peers/dnnl.py: (i % period - period / 2) / 8, in row-major order.
Tensor operand(const Shape &shape, int64_t period);
/// The sum of all elements.
double sumOf(const Tensor &tensor);

} // namespace halftone::benchmarks
