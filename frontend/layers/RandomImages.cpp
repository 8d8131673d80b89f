// RandomFlip and RandomTranslation: changes each image of a batch separately in training.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RandomImages.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/Normalized.h"
#include "frontend/ops/ImageSampling.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class RandomFlipBody final : public RandomImagesBody<RandomFlipOptions> {
  using RandomImagesBody::RandomImagesBody;
  Value changed(const Value &x, const std::array<int64_t, 2> &axes) const override {
    const Value draws = uniform(nextKey(state_), {x.shape()[0], 1, 1, 1});
    Value flipped = x;
    if (options_.mode != FlipMode::vertical)
      flipped = ops::flip(flipped, axes[1]);
    if (options_.mode != FlipMode::horizontal)
      flipped = ops::flip(flipped, axes[0]);
    return ops::where(ops::less_equal(draws, ops::full_like(draws, 0.5)), flipped, x);
  }
};

/// The source of the pixels along an axis: a float32 coordinate per image and index, (batch, extent).
struct Source {
  Value coordinate;
  int64_t axis;
};

class RandomTranslationBody final : public RandomImagesBody<RandomTranslationOptions> {
  using RandomImagesBody::RandomImagesBody;
  Value changed(const Value &x, const std::array<int64_t, 2> &axes) const override {
    Value y = moved(widened(x), {coordinates(x, axes[0], options_.heightFactor), axes[0]});
    y = moved(y, {coordinates(x, axes[1], options_.widthFactor), axes[1]});
    return asDtype(y, x.dtype(), "translation");
  }

  Value coordinates(const Value &x, int64_t axis, const Factor &factor) const {
    const int64_t batch = x.shape()[0], extent = x.shape()[axis];
    const Value part = uniformBetween(nextKey(state_), {batch, 1}, boundsOf(factor));
    return tracing().iota(1, Shape{batch, extent}, DType::float32) - part * static_cast<double>(extent);
  }

  Value moved(const Value &x, const Source &source) const {
    if (options_.interpolation == Interpolation::nearest) // rounds half away from 0
      return looked(x, {ops::sign(source.coordinate) * ops::floor(ops::abs(source.coordinate) + 0.5), source.axis});
    const Value lower = ops::floor(source.coordinate);
    const Value share = asDtype(spread(source.coordinate - lower, x, source.axis), x.dtype());
    return looked(x, {lower, source.axis}) * (1.0 - share) + looked(x, {lower + 1.0, source.axis}) * share;
  }

  /// Reshapes (batch, extent) to a factor of x.
  static Value spread(const Value &value, const Value &x, int64_t axis) {
    std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
    dims[0] = x.shape()[0];
    dims[static_cast<size_t>(axis)] = x.shape()[axis];
    return ops::reshape(value, Shape(std::move(dims)));
  }

  /// The pixels at integral coordinates, which may be out of range.
  Value looked(const Value &x, const Source &source) const {
    const Value index = ops::cast(source.coordinate, DType::int32);
    const Value inside = indexByFillMode(index, x.shape()[source.axis], options_.fill_mode);
    Value pixels = taken(x, inside, source.axis);
    if (options_.fill_mode != FillMode::constant)
      return pixels;
    return ops::where(spread(ops::equal(index, inside), x, source.axis), pixels,
                      ops::full_like(x, options_.fill_value));
  }

  /// Gathers x at indices (batch, extent) of an axis, with the batch, the axes before `axis` and `axis` itself
  /// collapsed to one.
  static Value taken(const Value &x, const Value &index, int64_t axis) {
    const Shape shape = x.shape();
    std::vector<int64_t> rows(shape.begin(), shape.begin() + axis + 1), rest{-1};
    rest.insert(rest.end(), shape.begin() + axis + 1, shape.end());
    const DType dtype = indexDtype(shape.elements());
    Value row = broadcastTo(spread(asDtype(index, dtype), x, axis), shapeOfRows(rows, x.rank()));
    row = ops::reshape(row, Shape(rows));
    int64_t stride = 1;
    for (int64_t i = axis; i > 0; --i) {
      stride = extentProduct(stride, shape[i]);
      row = row + tracing().iota(i - 1, Shape(rows), dtype) * stride;
    }
    return ops::reshape(ops::take(ops::reshape(x, Shape(rest)), row, 0), shape);
  }
  static Shape shapeOfRows(std::vector<int64_t> rows, int64_t rank) {
    rows.resize(static_cast<size_t>(rank), 1);
    return Shape(std::move(rows));
  }
};

} // namespace

RandomFlip::RandomFlip(Choice<FlipMode> mode, const RandomImageArgs &args, Where where)
    : Layer(std::make_unique<RandomFlipBody>(RandomFlipOptions{args, mode}), "RandomFlip", layerArgs(args), where) {}

RandomTranslation::RandomTranslation(const Factor &height_factor, const Factor &width_factor,
                                     const RandomTransformArgs &args, Where where)
    : Layer(std::make_unique<RandomTranslationBody>(RandomTranslationOptions{args, height_factor, width_factor}),
            "RandomTranslation", layerArgs(args), where) {
  requireFactor(*this, "height_factor", height_factor, -1.0, LeastFactor::allowed, where);
  requireFactor(*this, "width_factor", width_factor, -1.0, LeastFactor::allowed, where);
  requireTransform(*this, args.fill_mode, args.interpolation, where);
}

} // namespace halftone::layers
