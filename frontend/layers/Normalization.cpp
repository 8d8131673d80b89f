// Normalization over the features of a sample: by layer, by group, by root mean square, to unit length.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "frontend/layers/Normalized.h"
#include "halftone/Layers.h"
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

class LayerNormalizationBody final : public LayerBody {
public:
  explicit LayerNormalizationBody(const NormalizationArgs &args)
      : axis_(args.axis), epsilon_(args.epsilon), affine_{.center = args.center,
                                                          .scale = args.scale,
                                                          .betaInitializer = args.beta_initializer,
                                                          .gammaInitializer = args.gamma_initializer,
                                                          .betaRegularizer = args.beta_regularizer,
                                                          .gammaRegularizer = args.gamma_regularizer} {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    std::vector<int64_t> axes = checkedAxes("LayerNormalization", axis_, shapes.at(0));
    affine_.build(context, extentsOf("LayerNormalization", shapes[0], axes));
    axes_ = axes;
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = widened(inputs[0]);
    Moments moments = momentsOf(x, axes_);
    Value y = (x - moments.mean) * ops::rsqrt(moments.variance + epsilon_);
    return asDtype(affine_(y, axes_), context.compute_dtype(), "normalization");
  }
  void get_config(Config &config) const override {
    if (axes_.empty() && axis_.list().size() == 1)
      config.set("axis", axis_.list()[0]);
    else
      setList(config, "axis", axes_.empty() ? axis_.list() : axes_);
    config.set("epsilon", epsilon_);
    affine_.addConfig(config);
  }

private:
  Axes axis_;
  double epsilon_;
  ScaleAndOffset affine_;
  std::vector<int64_t> axes_; // ascending, from the front, once the layer is built
};

class GroupNormalizationBody final : public LayerBody {
public:
  explicit GroupNormalizationBody(const GroupNormalizationArgs &args)
      : args_(args), affine_{.center = args.center,
                             .scale = args.scale,
                             .betaInitializer = args.beta_initializer,
                             .gammaInitializer = args.gamma_initializer,
                             .betaRegularizer = args.beta_regularizer,
                             .gammaRegularizer = args.gamma_regularizer} {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    int64_t axis = normalizeAxis("GroupNormalization", args_.axis, shapes.at(0).rank());
    if (axis == 0)
      throw Error(ErrorKind::value_error, "GroupNormalization cannot normalize along the batch axis");
    int64_t channels = extentsOf("GroupNormalization", shapes[0], {axis})[0];
    int64_t groups = args_.groups == -1 ? channels : args_.groups;
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
    Value y = (grouped - moments.mean) * ops::rsqrt(moments.variance + args_.epsilon);
    return asDtype(affine_(ops::reshape(y, x.shape()), {axis_}), context.compute_dtype(), "normalization");
  }
  void get_config(Config &config) const override {
    config.set("groups", groups_ ? groups_ : args_.groups);
    config.set("axis", args_.axis);
    config.set("epsilon", args_.epsilon);
    affine_.addConfig(config);
  }

private:
  GroupNormalizationArgs args_;
  ScaleAndOffset affine_;
  int64_t axis_ = 0, groups_ = 0;
};

class RMSNormalizationBody final : public LayerBody {
public:
  explicit RMSNormalizationBody(const RMSNormalizationArgs &args) : axis_(args.axis), epsilon_(args.epsilon) {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    std::vector<int64_t> axes = checkedAxes("RMSNormalization", axis_, shapes.at(0));
    scale_ = context.add_weight(
        {.shape = extentsOf("RMSNormalization", shapes[0], axes), .initializer = "ones", .name = "scale"});
    axes_ = axes;
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = widened(inputs[0]);
    Value inverse = ops::rsqrt(meanOver(ops::square(x), axes_) + epsilon_);
    Value y = x * inverse * along(scale_, x, axes_);
    DType result = is_float(inputs[0].dtype()) ? inputs[0].dtype() : context.compute_dtype();
    return asDtype(y, result, "normalization");
  }
  void get_config(Config &config) const override {
    if (axes_.empty() && axis_.list().size() == 1)
      config.set("axis", axis_.list()[0]);
    else
      setList(config, "axis", axis_.list());
    config.set("epsilon", epsilon_);
  }

private:
  Axes axis_;
  double epsilon_;
  Variable scale_;
  std::vector<int64_t> axes_;
};

class UnitNormalizationBody final : public LayerBody {
public:
  explicit UnitNormalizationBody(const Axes &axis) : axis_(axis) {}
  void build(BuildContext &, const std::vector<Shape> &shapes) override {
    axes_ = checkedAxes("UnitNormalization", axis_, shapes.at(0));
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = is_float(inputs[0].dtype()) ? inputs[0] : asDtype(inputs[0], context.compute_dtype(), "normalization");
    Value inverse = ops::rsqrt(sumOver(ops::square(x), axes_));
    // Keras's bound, 1e12, is inf in float16; inf times the entries of a zero vector would be NaN.
    return x * ops::minimum(inverse, ops::full_like(inverse, x.dtype() == DType::float16 ? 65504.0 : 1e12));
  }
  void get_config(Config &config) const override {
    if (axis_.list().size() == 1)
      config.set("axis", axis_.list()[0]);
    else
      setList(config, "axis", axis_.list());
  }

private:
  Axes axis_;
  std::vector<int64_t> axes_;
};

} // namespace

LayerNormalization::LayerNormalization(const NormalizationArgs &args, Where where)
    : Layer(std::make_unique<LayerNormalizationBody>(args), "LayerNormalization",
            {.trainable = args.trainable, .dtype = args.dtype, .autocast = false, .name = args.name}, where) {}

GroupNormalization::GroupNormalization(const GroupNormalizationArgs &args, Where where)
    : Layer(std::make_unique<GroupNormalizationBody>(args), "GroupNormalization",
            {.trainable = args.trainable, .dtype = args.dtype, .autocast = false, .name = args.name}, where) {
  if (args.groups < 1 && args.groups != -1)
    throw Error(
        ErrorKind::value_error,
        fmt::format("`groups` must be positive, or -1 for one group a channel. Received: groups={}", args.groups),
        name(), where);
}

RMSNormalization::RMSNormalization(const RMSNormalizationArgs &args, Where where)
    : Layer(std::make_unique<RMSNormalizationBody>(args), "RMSNormalization", {.dtype = args.dtype, .name = args.name},
            where) {}

UnitNormalization::UnitNormalization(const UnitNormalizationArgs &args, Where where)
    : Layer(std::make_unique<UnitNormalizationBody>(args.axis), "UnitNormalization",
            {.dtype = args.dtype, .name = args.name}, where) {}

} // namespace halftone::layers
