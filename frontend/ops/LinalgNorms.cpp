// keras.ops.norm on Values: vector and matrix norms.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Matrices.h"
#include "frontend/ops/Operations.h"
#include "halftone/Linalg.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

Value summed(const Value &x, int64_t axis) { return sum(abs(x), {axis}, true); }
/// The maximum; 0 along an empty axis.
Value largest(const Value &x, int64_t axis) {
  return x.shape()[axis] == 0 ? sum(x, {axis}, true) : max(x, {axis}, true);
}

Value vectorNorm(const Value &x, double order, int64_t axis) {
  if (std::isinf(order))
    return order > 0 ? max(abs(x), {axis}, true) : min(abs(x), {axis}, true);
  if (order == 0)
    return cast(sum(cast(not_equal(x, 0), DType::int32), {axis}, true), x.dtype());
  if (order == 1)
    return summed(x, axis);
  if (order == 2)
    return euclideanNorm(x, {axis});
  return power(sum(power(abs(x), order), {axis}, true), 1.0 / order);
}

[[noreturn]] void refuse(const char *kind, const std::optional<NormOrder> &order) {
  throw Error(ErrorKind::value_error,
              fmt::format("Invalid `ord` argument for {} norm. Received: ord={}", kind,
                          order->word() ? std::string(order->word()->word()) : fmt::format("{}", order->number())));
}

/// Norms from the singular values: 2, -2 or "nuc".
Value spectralNorm(const Value &x, const NormOrder &order, int64_t row, int64_t column) {
  const Value s = svd(moveaxis(x, {row, column}, {-2, -1}), {.full_matrices = false, .compute_uv = false})[0];
  const int64_t last = s.rank() - 1;
  const Value norm = order.word() ? sum(s, {last}, true) : order.number() > 0 ? largest(s, last) : min(s, {last}, true);
  std::vector<int64_t> dims = x.shape().dims();
  dims[static_cast<size_t>(row)] = dims[static_cast<size_t>(column)] = 1;
  return reshape(norm, Shape(std::move(dims)));
}

Value matrixNorm(const Value &x, const std::optional<NormOrder> &order, int64_t row, int64_t column) {
  if (!order || (order->word() && *order->word() == MatrixNorm::fro))
    return euclideanNorm(x, row < column ? std::vector{row, column} : std::vector{column, row});
  const double number = order->number();
  if (order->word() || std::abs(number) == 2)
    return spectralNorm(x, *order, row, column);
  if (std::abs(number) != 1 && !std::isinf(number))
    refuse("matrix", order);
  const bool ofRows = std::isinf(number);
  const Value sums = summed(x, ofRows ? column : row);
  return number > 0 ? largest(sums, ofRows ? row : column) : min(sums, {ofRows ? row : column}, true);
}

Value normOf(const Value &given, const NormArgs &args) {
  const DType dtype = given.dtype() == DType::int64 ? floatxDtype() : floatOf(given.dtype());
  const Value x = atLeastFloat32(asDtype(given, dtype));
  std::vector<int64_t> axes;
  for (const int64_t axis : args.axis.list())
    axes.push_back(normalizeAxis("norm", axis, x.rank()));
  if (axes.empty())
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      axes.push_back(axis);
  Value norm;
  if (!args.ord && args.axis.list().empty())
    norm = x.rank() == 0 ? abs(x) : euclideanNorm(x, axes);
  else if (axes.size() == 1 && args.ord && args.ord->word())
    refuse("vector", args.ord);
  else if (axes.size() == 1)
    norm = vectorNorm(x, args.ord ? args.ord->number() : 2, axes[0]);
  else if (axes.size() == 2 && axes[0] != axes[1])
    norm = matrixNorm(x, args.ord, axes[0], axes[1]);
  else
    throw Error(ErrorKind::value_error,
                fmt::format("norm: expected one axis for vectors or two for matrices, got {} of a Value of shape {}",
                            axes.size(), x.shape().str()));
  const Value kept = args.keepdims || axes.empty() ? norm : squeeze(norm, Axes(axes));
  return asDtype(kept, dtype);
}

/// The config of the arguments, with null for no order; nullopt if JSON cannot represent the order.
std::optional<Config> configOfNorm(const NormArgs &args) {
  Config config;
  if (args.ord && args.ord->word())
    setField(config, "ord", std::string(args.ord->word()->word()));
  else if (args.ord && std::isinf(args.ord->number()))
    return std::nullopt;
  else if (args.ord)
    setField(config, "ord", args.ord->number());
  if (!args.axis.list().empty())
    setField(config, "axis", args.axis.list());
  setField(config, "keepdims", args.keepdims);
  return config;
}

} // namespace

Value norm(const Value &x, const NormArgs &args) {
  if (isSymbolic(x))
    if (const std::optional<Config> config = configOfNorm(args))
      return recordOperation("Norm", {x}, *config);
  return applyOne("norm", {x}, [args](const List &v) { return normOf(v[0], args); });
}

} // namespace halftone::ops
