// Tensors whose elements peers can generate too.
// SPDX-License-Identifier: Apache-2.0
#include "Operand.h"
#include <numeric>

namespace halftone::benchmarks {

Tensor operand(const Shape &shape, int64_t period) {
  Tensor tensor = Tensor::zeros(shape);
  int64_t i = 0;
  for (float &value : tensor.mutable_span<float>())
    value = static_cast<float>(i++ % period - period / 2) / 8;
  return tensor;
}

double sumOf(const Tensor &tensor) {
  const Tensor wide = tensor.astype(float32);
  const auto values = wide.span<float>();
  return std::accumulate(values.begin(), values.end(), 0.0);
}

} // namespace halftone::benchmarks
