// Normalization over the features of a sample: layer, group, RMS and unit normalization.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/Fields.h"
#include "frontend/layers/Normalized.h"
#include "frontend/ops/InnerSums.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone::layers {
using namespace detail;

namespace {

std::vector<int64_t> checkedAxes(const char *layer, const Axes &axis, const Shape &input) {
  if (axis.list().empty())
    throw Error(ErrorKind::value_error, fmt::format("layer {} needs at least one axis", layer));
  return normalizeAxes(layer, axis.list(), input.rank());
}

class LayerNormalizationBody final : public BodyOf<LayerNormalizationOptions> {
public:
  explicit LayerNormalizationBody(const LayerNormalizationArgs &args) : BodyOf({args}), affine_(args) {
    affine_.scale |= args.rms_scaling;
    affine_.center &= !args.rms_scaling;
  }
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    std::vector<int64_t> axes = checkedAxes("LayerNormalization", options_.axis, shapes.at(0));
    affine_.build(context, extentsOf("LayerNormalization", shapes[0], axes));
    axes_ = axes;
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = widened(inputs[0]);
    Moments moments = momentsOf(x, axes_);
    Value centered = options_.rms_scaling ? x : x - moments.mean;
    Value y = centered * ops::rsqrt(moments.variance + options_.epsilon);
    return asDtype(affine_(y, axes_), context.compute_dtype(), "normalization");
  }
  void get_config(Config &config) const override {
    BodyOf::get_config(config);
    if (!axes_.empty())
      setField(config, "axis", axes_);
  }

private:
  ScaleAndOffset affine_;
  std::vector<int64_t> axes_; // ascending, non-negative, once the layer is built
};

class GroupNormalizationBody final : public BodyOf<GroupNormalizationOptions> {
public:
  explicit GroupNormalizationBody(const GroupNormalizationArgs &args) : BodyOf({args}), affine_(args) {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    int64_t axis = normalizeAxis("GroupNormalization", options_.axis, shapes.at(0).rank());
    if (axis == 0)
      throw Error(ErrorKind::value_error, "GroupNormalization cannot normalize along the batch axis");
    int64_t channels = extentsOf("GroupNormalization", shapes[0], {axis})[0];
    int64_t groups = options_.groups == -1 ? channels : options_.groups;
    if (groups > channels)
      throw Error(ErrorKind::value_error, fmt::format("Number of groups ({}) cannot be more than the number of "
                                                      "channels ({}).",
                                                      groups, channels));
    if (channels % groups != 0)
      throw Error(ErrorKind::value_error, fmt::format("The number of channels ({}) must be a multiple of the number of "
                                                      "groups ({}).",
                                                      channels, groups));
    affine_.build(context, {channels});
    axis_ = axis;
    groups_ = groups;
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = widened(inputs[0]);
    std::vector<int64_t> dims = x.shape().dims();
    dims[static_cast<size_t>(axis_)] /= groups_;
    dims.insert(dims.begin() + axis_, groups_);
    Value grouped = ops::reshape(x, Shape(dims));
    std::vector<int64_t> axes(dims.size());
    std::iota(axes.begin(), axes.end(), 0);
    std::erase_if(axes, [&](int64_t axis) { return axis == 0 || axis == axis_; });
    Moments moments = momentsOf(grouped, axes);
    Value y = (grouped - moments.mean) * ops::rsqrt(moments.variance + options_.epsilon);
    return asDtype(affine_(ops::reshape(y, x.shape()), {axis_}), context.compute_dtype(), "normalization");
  }
  void get_config(Config &config) const override {
    BodyOf::get_config(config);
    if (groups_)
      config.set("groups", groups_);
  }

private:
  ScaleAndOffset affine_;
  int64_t axis_ = 0, groups_ = 0;
};

class RMSNormalizationBody final : public BodyOf<RMSNormalizationOptions> {
public:
  explicit RMSNormalizationBody(const RMSNormalizationArgs &args) : BodyOf({args}) {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    std::vector<int64_t> axes = checkedAxes("RMSNormalization", options_.axis, shapes.at(0));
    scale_ = context.add_weight(
        {.shape = extentsOf("RMSNormalization", shapes[0], axes), .initializer = "ones", .name = "scale"});
    axes_ = axes;
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = widened(inputs[0]);
    Value inverse = ops::rsqrt(meanOver(ops::square(x), axes_) + options_.epsilon);
    Value y = x * inverse * along(scale_, x, axes_);
    DType result = is_float(inputs[0].dtype()) ? inputs[0].dtype() : context.compute_dtype();
    return asDtype(y, result, "normalization");
  }
  void get_config(Config &config) const override {
    BodyOf::get_config(config);
    if (!axes_.empty())
      setField(config, "axis", options_.axis.list());
  }

private:
  Variable scale_;
  std::vector<int64_t> axes_;
};

class UnitNormalizationBody final : public BodyOf<UnitNormalizationOptions> {
public:
  explicit UnitNormalizationBody(const UnitNormalizationArgs &args) : BodyOf({args}) {}
  void build(BuildContext &, const std::vector<Shape> &shapes) override {
    axes_ = checkedAxes("UnitNormalization", options_.axis, shapes.at(0));
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = is_float(inputs[0].dtype()) ? inputs[0] : asDtype(inputs[0], context.compute_dtype(), "normalization");
    return asDtype(unitAlong(x, Axes(axes_), 1e12), x.dtype(), "normalization");
  }

private:
  std::vector<int64_t> axes_;
};

} // namespace

LayerNormalization::LayerNormalization(const LayerNormalizationArgs &args, Where where)
    : Layer(std::make_unique<LayerNormalizationBody>(args), "LayerNormalization", layerArgs(args), where) {}

GroupNormalization::GroupNormalization(const GroupNormalizationArgs &args, Where where)
    : Layer(std::make_unique<GroupNormalizationBody>(args), "GroupNormalization", layerArgs(args), where) {
  if (args.groups < 1 && args.groups != -1)
    throw Error(
        ErrorKind::value_error,
        fmt::format("`groups` must be positive, or -1 for one group per channel. Received: groups={}", args.groups),
        name(), where);
}

RMSNormalization::RMSNormalization(const RMSNormalizationArgs &args, Where where)
    : Layer(std::make_unique<RMSNormalizationBody>(args), "RMSNormalization", layerArgs(args), where) {}

UnitNormalization::UnitNormalization(const UnitNormalizationArgs &args, Where where)
    : Layer(std::make_unique<UnitNormalizationBody>(args), "UnitNormalization", layerArgs(args), where) {}

} // namespace halftone::layers
