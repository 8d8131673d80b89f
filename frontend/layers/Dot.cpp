// Dot: batched contraction of two inputs over one axis of each.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/Fields.h"
#include "frontend/ops/InnerSums.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class DotBody final : public BodyOf<DotOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &, const std::vector<Shape> &shapes) override { requireFit(shapes); }
  Values call(const Values &inputs, const CallContext &context) override {
    std::vector<Shape> shapes;
    for (const Value &input : inputs)
      shapes.push_back(input.shape());
    requireFit(shapes);
    const auto [axis, otherAxis] = axesOf(shapes);
    Value x = inputs[0], y = inputs[1];
    if (options_.normalize) {
      x = asComputed(x, context);
      y = asComputed(y, context);
      constexpr double most = 1e7; // 1 / the smallest norm by which an input is divided
      x = asDtype(unitAlong(x, axis, most), x.dtype(), "normalization");
      y = asDtype(unitAlong(y, otherAxis, most), y.dtype(), "normalization");
    }
    // (batch, rows, n) times (batch, n, columns)
    const int64_t batch = shapes[0][0], n = shapes[0][axis];
    std::vector<int64_t> result{batch};
    const auto others = [&](const Shape &shape, int64_t summed) {
      int64_t count = 1;
      for (int64_t i = 1; i < shape.rank(); ++i)
        if (i != summed) {
          result.push_back(shape[i]);
          count = extentProduct(count, shape[i]);
        }
      return count;
    };
    const int64_t rows = others(shapes[0], axis), columns = others(shapes[1], otherAxis);
    if (result.size() == 1)
      result.push_back(1);
    const Value product = ops::matmul(ops::reshape(ops::moveaxis(x, axis, -1), Shape{batch, rows, n}),
                                      ops::reshape(ops::moveaxis(y, otherAxis, 1), Shape{batch, n, columns}));
    return ops::reshape(product, Shape(result));
  }

private:
  /// The non-negative axes.
  std::pair<int64_t, int64_t> axesOf(const std::vector<Shape> &shapes) const {
    const std::vector<int64_t> &axes = options_.axes.list();
    return {normalizeAxis("Dot", axes.front(), shapes[0].rank()), normalizeAxis("Dot", axes.back(), shapes[1].rank())};
  }
  /// value_error unless there are two equal batches with equal extents along the axes.
  void requireFit(const std::vector<Shape> &shapes) const {
    if (shapes.size() != 2)
      throw Error(ErrorKind::value_error, fmt::format("A `Dot` layer should be called on a list of 2 inputs. Received: "
                                                      "{} inputs",
                                                      shapes.size()));
    const std::string given = fmt::format("{} and {}", shapes[0].str(), shapes[1].str());
    if (shapes[0].rank() < 2 || shapes[1].rank() < 2)
      throw Error(ErrorKind::value_error,
                  "Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes " + given);
    const auto [x, y] = axesOf(shapes);
    if (x == 0 || y == 0)
      throw Error(ErrorKind::value_error, "Cannot perform batch_dot over axis 0, which is the batch axis");
    const bool known = shapes[0][x] >= 0 && shapes[1][y] >= 0;
    if (known && shapes[0][x] != shapes[1][y])
      throw Error(ErrorKind::value_error,
                  fmt::format("Incompatible input shapes: axis values {} (at axis {}) != {} (at axis {}). Full input "
                              "shapes: {}",
                              shapes[0][x], x, shapes[1][y], y, given));
    if (shapes[0][0] != shapes[1][0])
      throw Error(ErrorKind::value_error, "Cannot do batch_dot on inputs with different batch sizes. Received inputs "
                                          "with shapes " +
                                              given);
  }
};

} // namespace

Dot::Dot(const Axes &axes, const DotArgs &args, Where where)
    : Layer(std::make_unique<DotBody>(DotOptions{args, axes}), "Dot", layerArgs(args), where) {
  if (axes.list().empty() || axes.list().size() > 2)
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid format for argument `axes`: it should contain two elements. Received: axes=[{}]",
                            fmt::join(axes.list(), ", ")),
                name(), where);
}

} // namespace halftone::layers
