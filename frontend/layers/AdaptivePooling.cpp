// AdaptiveAveragePooling and AdaptiveMaxPooling: a given number of windows that cover each spatial axis evenly.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/FieldsImage.h"
#include "frontend/layers/PlainBody.h"
#include "frontend/layers/SpatialAxes.h"
#include "halftone/Ops.h"
#include <fmt/format.h>
#include <limits>

namespace halftone::layers {
using namespace detail;

namespace {

/// A mask (windows, extent), true if a window contains an element, that is, if floor(i * extent / windows) <= j and j <
/// ceil((i + 1) * extent / windows).
Value membership(int64_t windows, int64_t extent) {
  const Shape shape{windows, extent};
  const Value i = tracing().iota(0, shape, DType::int64), j = tracing().iota(1, shape, DType::int64);
  const auto times = [](const Value &x, int64_t factor) { return x * scalarLike(factor, x); };
  const Value one = ops::ones_like(i);
  return ops::logical_and(ops::less(times(i, extent), times(j + one, windows)),
                          ops::less(times(j, windows), times(i + one, extent)));
}

Value meanAlong(const Value &given, int64_t axis, int64_t windows) {
  const Value x = atLeastFloat32(asFloat(given)),
              inside = asDtype(membership(windows, x.shape()[axis]), x.dtype(), "pooling");
  const Value sums = ops::moveaxis(ops::tensordot(x, inside, Axes{axis}, Axes{1}), -1, axis);
  std::vector<int64_t> column(static_cast<size_t>(x.rank() - axis), 1);
  column[0] = windows;
  return asDtype(sums / ops::reshape(ops::sum(inside, 1), Shape(column)), floatOf(given.dtype()), "pooling");
}

Value maxAlong(const Value &x, int64_t axis, int64_t windows) {
  std::vector<int64_t> spread = x.shape().dims(), positions(static_cast<size_t>(x.rank() + 1 - axis), 1);
  spread.insert(spread.begin() + axis, windows);
  positions[0] = windows;
  positions[1] = x.shape()[axis];
  const Shape shape(spread);
  const Value inside = broadcastTo(ops::reshape(membership(windows, x.shape()[axis]), Shape(positions)), shape);
  const Value all = broadcastTo(ops::expand_dims(x, axis), shape);
  const double lowest = is_float(x.dtype()) ? -std::numeric_limits<double>::infinity() : 0.0;
  const Value least = is_float(x.dtype()) ? ops::full_like(all, lowest) : broadcastTo(ops::min(x, {}, false), shape);
  return ops::max(ops::where(inside, all, least), axis + 1);
}

using Along = Value (*)(const Value &x, int64_t axis, int64_t windows);

template <Along along, int64_t spatial, class LayerClass>
std::unique_ptr<LayerBody> adaptive(const Integers &size, const AdaptivePoolingArgs &args) {
  using Options = AdaptivePoolingOptions<LayerClass>;
  return plain(Options{args, forEachAxis(size, spatial)},
               [](const Value &x, const Options &options, const CallContext &) {
                 requireRank(x.shape(), spatial + 2);
                 Value pooled = x;
                 const std::vector<int64_t> axes = spatialAxes(spatial, options.data_format);
                 for (size_t i = 0; i < axes.size(); ++i) {
                   if (x.shape()[axes[i]] == 0)
                     throw Error(ErrorKind::value_error,
                                 fmt::format("no window can cover a spatial axis of extent 0. Received: input shape {}",
                                             x.shape().str()));
                   pooled = along(pooled, axes[i], options.outputSize.list()[i]);
                 }
                 return pooled;
               });
}
void check(const Layer &layer, const Integers &size, int64_t spatial, Where where) {
  requireEntries(layer, "output_size", forEachAxis(size, spatial), spatial, 1, where);
}

} // namespace

AdaptiveAveragePooling1D::AdaptiveAveragePooling1D(const Integers &output_size, const AdaptivePoolingArgs &args,
                                                   Where where)
    : Layer(adaptive<meanAlong, 1, AdaptiveAveragePooling1D>(output_size, args), "AdaptiveAveragePooling1D",
            layerArgs(args), where) {
  check(*this, output_size, 1, where);
}
AdaptiveAveragePooling2D::AdaptiveAveragePooling2D(const Integers &output_size, const AdaptivePoolingArgs &args,
                                                   Where where)
    : Layer(adaptive<meanAlong, 2, AdaptiveAveragePooling2D>(output_size, args), "AdaptiveAveragePooling2D",
            layerArgs(args), where) {
  check(*this, output_size, 2, where);
}
AdaptiveAveragePooling3D::AdaptiveAveragePooling3D(const Integers &output_size, const AdaptivePoolingArgs &args,
                                                   Where where)
    : Layer(adaptive<meanAlong, 3, AdaptiveAveragePooling3D>(output_size, args), "AdaptiveAveragePooling3D",
            layerArgs(args), where) {
  check(*this, output_size, 3, where);
}
AdaptiveMaxPooling1D::AdaptiveMaxPooling1D(const Integers &output_size, const AdaptivePoolingArgs &args, Where where)
    : Layer(adaptive<maxAlong, 1, AdaptiveMaxPooling1D>(output_size, args), "AdaptiveMaxPooling1D", layerArgs(args),
            where) {
  check(*this, output_size, 1, where);
}
AdaptiveMaxPooling2D::AdaptiveMaxPooling2D(const Integers &output_size, const AdaptivePoolingArgs &args, Where where)
    : Layer(adaptive<maxAlong, 2, AdaptiveMaxPooling2D>(output_size, args), "AdaptiveMaxPooling2D", layerArgs(args),
            where) {
  check(*this, output_size, 2, where);
}
AdaptiveMaxPooling3D::AdaptiveMaxPooling3D(const Integers &output_size, const AdaptivePoolingArgs &args, Where where)
    : Layer(adaptive<maxAlong, 3, AdaptiveMaxPooling3D>(output_size, args), "AdaptiveMaxPooling3D", layerArgs(args),
            where) {
  check(*this, output_size, 3, where);
}

} // namespace halftone::layers
