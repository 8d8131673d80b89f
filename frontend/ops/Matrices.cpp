// Matrix batches: validation, dtypes, and a single batch axis.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/Matrices.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Factorizations.h"
#include "frontend/ops/InnerSums.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone::detail {

namespace {

/// All axes except the last `count`.
std::vector<int64_t> leadingOf(const Shape &shape, int64_t count) {
  return {shape.dims().begin(), shape.dims().end() - count};
}
std::vector<int64_t> joined(std::vector<int64_t> first, const std::vector<int64_t> &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
int64_t product(const std::vector<int64_t> &dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

Matrices batched(const Value &x, DType dtype) {
  const Shape shape = x.shape();
  const std::vector<int64_t> leading = leadingOf(shape, 2);
  const Value wide = atLeastFloat32(asDtype(x, dtype));
  return {tracing().reshape(wide, Shape({product(leading), shape[shape.rank() - 2], shape[shape.rank() - 1]})), leading,
          dtype};
}

void requireMatrix(const Value &x) {
  if (x.rank() < 2)
    throw Error(ErrorKind::value_error,
                fmt::format("Expected input to have rank >= 2. Received input with shape {}", x.shape().str()));
}
void requireSquare(const Value &x) {
  requireMatrix(x);
  const Shape shape = x.shape();
  if (shape[shape.rank() - 1] != shape[shape.rank() - 2])
    throw Error(ErrorKind::value_error,
                fmt::format("Expected a square matrix. Received non-square input with shape {}", shape.str()));
}

} // namespace

Value Matrices::unbatched(const Value &y) const {
  const std::vector<int64_t> dims = y.shape().dims();
  return tracing().reshape(y, Shape(joined(leading, {dims.begin() + 1, dims.end()})));
}
Value Matrices::restored(const Value &y) const { return unbatched(asDtype(y, dtype)); }

Matrices matricesOf(const Value &x) {
  requireMatrix(x);
  return batched(x, floatOf(x.dtype()));
}
Matrices squareMatrices(const Value &x) {
  requireSquare(x);
  return matricesOf(x);
}
Value symmetrized(const Value &x) { return (x + matrixTranspose(x)) * 0.5; }

System systemOf(const Value &a, const Value &b) {
  requireSquare(a);
  if (b.rank() < 1)
    throw Error(ErrorKind::value_error, "Expected input to have rank >= 1. Received scalar input");
  const Shape left = a.shape(), right = b.shape();
  const bool isVector = b.rank() == 1 || b.rank() == a.rank() - 1;
  if (left[left.rank() - 1] != right[right.rank() - (isVector ? 1 : 2)])
    throw Error(ErrorKind::value_error,
                fmt::format("Incompatible shapes between `a` and `b`. Expected `a.shape[-1] == b.shape[{}]`. Received: "
                            "a.shape={}, b.shape={}",
                            isVector ? -1 : -2, left.str(), right.str()));
  const Shape batch = broadcastShape("solve", Shape(leadingOf(left, 2)), Shape(leadingOf(right, isVector ? 1 : 2)));
  const Value columns = isVector ? ops::expand_dims(b, -1) : b;
  const DType dtype = floatOf(a.dtype() == b.dtype() ? a.dtype() : result_type(a.dtype(), b.dtype()));
  const auto broadcast = [&](const Value &x) {
    const Shape shape = x.shape();
    return batched(broadcastTo(x, Shape(joined(batch.dims(), {shape[shape.rank() - 2], shape[shape.rank() - 1]}))),
                   dtype);
  };
  return {broadcast(a), broadcast(columns), isVector};
}
Value System::restored(const Value &x) const {
  const Value y = b.restored(x);
  return isVector ? ops::squeeze(y, {-1}) : y;
}

Value euclideanNorm(const Value &x, const std::vector<int64_t> &axes) {
  const ScaledNorm norm = scaledNorm(x, Axes(axes));
  const Value root = ops::sqrt(norm.squares);
  return norm.scale.defined() ? root / norm.scale : root;
}

} // namespace halftone::detail
