// GlobalMaxPooling and GlobalAveragePooling: one element per channel and sample.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/FieldsImage.h"
#include "frontend/layers/PlainBody.h"
#include "frontend/layers/SpatialAxes.h"
#include "frontend/ops/Masks.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

using Reduce = Value (*)(const Value &x, const Axes &axis, bool keepdims);

template <Reduce reduce, int64_t spatial, class LayerClass>
std::unique_ptr<LayerBody> global(const GlobalPoolingArgs &args) {
  using Options = GlobalPoolingOptions<LayerClass>;
  return plain(Options{args}, [](const Value &x, const Options &options, const CallContext &) {
    requireRank(x.shape(), spatial + 2);
    return reduce(x, Axes(spatialAxes(spatial, options.data_format)), options.keepdims);
  });
}

/// The mean over the steps for which a second input, or the input's own mask, is true.
class SequenceMeanBody final : public BodyOf<GlobalPoolingOptions<GlobalAveragePooling1D>> {
public:
  using BodyOf::BodyOf;
  size_t most_inputs() const override { return 2; }
  Values call(const Values &inputs, const CallContext &) override {
    const Value x = inputs[0];
    requireRank(x.shape(), 3);
    const int64_t steps = spatialAxes(1, options_.data_format)[0];
    const Value mask = asMask(inputs.size() > 1 ? inputs[1] : maskOf(x));
    if (!mask.defined())
      return ops::mean(x, steps, options_.keepdims);
    // Sums use float32 at least: a float16 sum overflows long before its mean does.
    const DType dtype = floatOf(x.dtype());
    const Value wide = asDtype(x, atLeastFloat32(dtype)), counts = stepMask(mask, x.shape(), steps);
    const Value shown = ops::where(broadcastTo(counts, x.shape()), wide, ops::zeros_like(wide));
    const Value count = ops::sum(asDtype(counts, wide.dtype(), "mask"), steps, options_.keepdims);
    const Value divisor = ops::maximum(count, ops::ones_like(count)); // without a step, the mean is 0
    return asDtype(ops::sum(shown, steps, options_.keepdims) / divisor, dtype);
  }

private:
  /// The mask with a feature axis of extent 1 and one element per step: broadcast here, so that its sum counts steps.
  /// value_error naming both shapes if it does not broadcast.
  static Value stepMask(const Value &mask, const Shape &input, int64_t steps) {
    const Shape given = mask.shape();
    const int64_t batch = input[0], length = input[steps];
    const auto fits = [](int64_t extent, int64_t whole) { return extent == 1 || extent == whole; };
    if (given.rank() < 1 || given.rank() > 2 || !fits(given[-1], length) ||
        (given.rank() == 2 && !fits(given[0], batch)))
      throw Error(
          ErrorKind::value_error,
          fmt::format("The mask has shape {}, which does not broadcast to ({}, {}), the samples and steps of the "
                      "input, which has shape {}",
                      given.str(), batch, length, input.str()));
    return ops::expand_dims(broadcastTo(mask, {given.rank() == 2 ? given[0] : 1, length}), steps == 1 ? 2 : 1);
  }
};

} // namespace

GlobalMaxPooling1D::GlobalMaxPooling1D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::max, 1, GlobalMaxPooling1D>(args), "GlobalMaxPooling1D", layerArgs(args), where) {}
GlobalMaxPooling2D::GlobalMaxPooling2D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::max, 2, GlobalMaxPooling2D>(args), "GlobalMaxPooling2D", layerArgs(args), where) {}
GlobalMaxPooling3D::GlobalMaxPooling3D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::max, 3, GlobalMaxPooling3D>(args), "GlobalMaxPooling3D", layerArgs(args), where) {}
GlobalAveragePooling1D::GlobalAveragePooling1D(const GlobalPoolingArgs &args, Where where)
    : Layer(std::make_unique<SequenceMeanBody>(GlobalPoolingOptions<GlobalAveragePooling1D>{args}),
            "GlobalAveragePooling1D", layerArgs(args), where) {}
GlobalAveragePooling2D::GlobalAveragePooling2D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::mean, 2, GlobalAveragePooling2D>(args), "GlobalAveragePooling2D", layerArgs(args), where) {}
GlobalAveragePooling3D::GlobalAveragePooling3D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::mean, 3, GlobalAveragePooling3D>(args), "GlobalAveragePooling3D", layerArgs(args), where) {}

} // namespace halftone::layers
