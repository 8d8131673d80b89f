// Layers without weights: activations, shapes, rescaling, functions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/PlainBody.h"
#include "frontend/layers/SpatialAxes.h"
#include "frontend/ops/Masks.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone::layers {
using namespace detail;

namespace {

Value activate(const Value &x, const ActivationOptions &options, const CallContext &) { return options.activation(x); }

/// keras.activations.relu. The gradient at a kink is that of its component ops.
Value relu(const Value &given, const ReLUOptions &options, const CallContext &) {
  const double slope = options.negative_slope, threshold = options.threshold;
  const Value x = slope == 0.0 ? given : asFloat(given); // with a slope, the result is a float
  if (slope != 0.0 && !options.max_value && threshold == 0.0)
    return ops::leaky_relu(x, slope);
  Value y;
  if (threshold != 0.0)
    y = ops::where(ops::greater(x, threshold), x, ops::zeros_like(x));
  else if (options.max_value == 6.0)
    y = ActivationArg("relu6")(x);
  else
    y = ops::relu(x);
  if (options.max_value && !(threshold == 0.0 && *options.max_value == 6.0))
    y = ops::clip(y, 0.0, *options.max_value);
  if (slope == 0.0)
    return y;
  return y - slope * ops::relu(threshold == 0.0 ? -x : threshold - x);
}

Value leakyRelu(const Value &x, const LeakyReLUOptions &options, const CallContext &) {
  return ops::leaky_relu(x, options.negativeSlope);
}
Value elu(const Value &x, const ELUOptions &options, const CallContext &) { return ops::elu(x, options.alpha); }

class SoftmaxBody final : public BodyOf<SoftmaxOptions> {
public:
  using BodyOf::BodyOf;
  Values call(const Values &inputs, const CallContext &context) override {
    return softmaxOver(asComputed(inputs[0], context), options_.axis,
                       inputs.size() > 1 ? inputs[1] : maskOf(inputs[0]));
  }
};

Value flatten(const Value &x, const FlattenOptions &options, const CallContext &) {
  const Shape shape = x.shape();
  const int64_t rank = shape.rank();
  if (rank < 1)
    throw Error(ErrorKind::value_error, "Flatten needs an input with a batch dimension, got a scalar");
  int64_t rest = 1;
  for (int64_t i = 1; i < rank; ++i)
    rest = extentProduct(rest, shape[i]);
  if (options.data_format == DataFormat::channels_last || rank < 3)
    return ops::reshape(x, Shape{shape[0], rest});
  std::vector<int64_t> channelsLast(static_cast<size_t>(rank));
  std::iota(channelsLast.begin(), channelsLast.end(), 0);
  std::rotate(channelsLast.begin() + 1, channelsLast.begin() + 2, channelsLast.end());
  return ops::reshape(ops::transpose(x, channelsLast), Shape{shape[0], rest});
}

Value reshape(const Value &x, const ReshapeOptions &options, const CallContext &) {
  std::vector<int64_t> dims = options.targetShape;
  dims.insert(dims.begin(), x.shape()[0]);
  return ops::reshape(x, Shape(dims));
}

Value rescale(const Value &x, const RescalingOptions &options, const CallContext &context) {
  const DType dtype = context.compute_dtype();
  const auto number = [](const NumberOrTensor &given) { return given.values().to_vector<double>()[0]; };
  const auto tensor = [&](const NumberOrTensor &given) { return constant(given.values().astype(dtype)); };
  const Value y = ops::cast(x, dtype);
  const Value scaled = options.scale.is_number() ? y * number(options.scale) : y * tensor(options.scale);
  return options.offset.is_number() ? scaled + number(options.offset) : scaled + tensor(options.offset);
}

Value permute(const Value &x, const PermuteOptions &options, const CallContext &) {
  std::vector<int64_t> axes{0};
  axes.insert(axes.end(), options.dims.begin(), options.dims.end());
  requireRank(x.shape(), std::ssize(axes));
  return ops::transpose(x, axes);
}

Value repeatVector(const Value &x, const RepeatVectorOptions &options, const CallContext &) {
  requireRank(x.shape(), 2);
  return ops::repeat(ops::expand_dims(x, 1), options.n, 1);
}

class CustomScaleBody final : public BodyOf<CustomScaleOptions> {
public:
  using BodyOf::BodyOf;
  Values call(const Values &inputs, const CallContext &) override {
    if (inputs.size() != 2)
      throw Error(ErrorKind::value_error, fmt::format("CustomScaleLayer takes two inputs, got {}", inputs.size()));
    return inputs[0] + inputs[1] * options_.scale;
  }
};

class LambdaBody final : public LayerBody {
public:
  LambdaBody(std::function<Value(const Values &)> function, size_t mostInputs)
      : function_(std::move(function)), mostInputs_(mostInputs) {}
  Values call(const Values &inputs, const CallContext &) override { return function_(inputs); }
  size_t most_inputs() const override { return mostInputs_; }
  void get_config(Config &) const override {
    throw Error(
        ErrorKind::value_error,
        "A Lambda has no config, since a config cannot hold its function. Put the function into the call() of a "
        "struct with get_config() and from_config(), which register_custom<T>() registers, and use a Custom of it "
        "instead of the Lambda");
  }

private:
  std::function<Value(const Values &)> function_;
  size_t mostInputs_; // 0: any number
};

void requireNotNegative(const Layer &layer, const char *argument, double value, Where where) {
  if (value < 0.0)
    throw Error(ErrorKind::value_error,
                fmt::format("{0} of a ReLU layer cannot be {1}negative value. Received: {0}={2}", argument,
                            std::string_view(argument) == "max_value" ? "a " : "None or a ", value),
                layer.name(), where);
}

Value same(const Value &x, const IdentityOptions &, const CallContext &) { return x; }

class ActivityRegularizationBody final : public BodyOf<ActivityRegularizationOptions> {
public:
  using BodyOf::BodyOf;
  Values call(const Values &inputs, const CallContext &) override { return inputs[0]; }
  /// As in Keras, the factors take the place of the regularizer.
  void get_config(Config &config) const override {
    nlohmann::ordered_json fields = ConfigAccess::json(config);
    fields.erase("activity_regularizer");
    config = ConfigAccess::make(std::move(fields));
    BodyOf::get_config(config);
  }
};

} // namespace

Identity::Identity(const LayerArgs &args, Where where)
    : Layer(plain(IdentityOptions{args}, same), "Identity", args, where) {}

ActivityRegularization::ActivityRegularization(const ActivityRegularizationArgs &args, Where where)
    : Layer(std::make_unique<ActivityRegularizationBody>(ActivityRegularizationOptions{args}), "ActivityRegularization",
            {regularizers::L1L2(args.l1, args.l2), args.trainable, args.dtype, args.autocast, args.name}, where) {}

Activation::Activation(const ActivationArg &activation, const ActivationArgs &args, Where where)
    : Layer(plain(ActivationOptions{args, activation}, activate), "Activation", layerArgs(args), where) {}

ReLU::ReLU(const ReLUArgs &args, Where where) : Layer(plain(ReLUOptions{args}, relu), "ReLU", layerArgs(args), where) {
  requireNotNegative(*this, "max_value", args.max_value.value_or(0.0), where);
  requireNotNegative(*this, "negative_slope", args.negative_slope, where);
  requireNotNegative(*this, "threshold", args.threshold, where);
}

LeakyReLU::LeakyReLU(double negative_slope, const ActivationArgs &args, Where where)
    : Layer(plain(LeakyReLUOptions{args, negative_slope}, leakyRelu), "LeakyReLU", layerArgs(args), where) {
  if (!(negative_slope >= 0.0))
    throw Error(ErrorKind::value_error,
                fmt::format("The negative_slope value of a Leaky ReLU layer cannot be None or negative value. Expected "
                            "a float. Received: negative_slope={}",
                            negative_slope),
                name(), where);
}

ELU::ELU(double alpha, const ActivationArgs &args, Where where)
    : Layer(plain(ELUOptions{args, alpha}, elu), "ELU", layerArgs(args), where) {}

Softmax::Softmax(const Axes &axis, const SoftmaxArgs &args, Where where)
    : Layer(std::make_unique<SoftmaxBody>(SoftmaxOptions{args, axis}), "Softmax", layerArgs(args), where) {
  if (axis.list().empty())
    throw Error(ErrorKind::value_error, "Softmax needs at least one axis", name(), where);
}

Flatten::Flatten(const FlattenArgs &args, Where where)
    : Layer(plain(FlattenOptions{args}, flatten), "Flatten", layerArgs(args), where) {}

Reshape::Reshape(const Shape &target_shape, const ReshapeArgs &args, Where where)
    : Layer(plain(ReshapeOptions{args, target_shape.dims()}, reshape), "Reshape", layerArgs(args), where) {
  if (std::ranges::count(target_shape.dims(), -1) > 1)
    throw Error(ErrorKind::value_error,
                fmt::format("`target_shape` can have `-1` for a single unknown dimension. Received: target_shape={}",
                            target_shape.str()),
                name(), where);
}

Rescaling::Rescaling(const NumberOrTensor &scale, const NumberOrTensor &offset, const RescalingArgs &args, Where where)
    : Layer(plain(RescalingOptions{args, scale, offset}, rescale), "Rescaling", layerArgs(args, true), where) {}

CustomScaleLayer::CustomScaleLayer(double scale, const LayerArgs &args, Where where)
    : Layer(std::make_unique<CustomScaleBody>(CustomScaleOptions{args, scale}), "CustomScaleLayer", args, where) {}

Permute::Permute(const std::vector<int64_t> &dims, const LayerArgs &args, Where where)
    : Layer(plain(PermuteOptions{args, dims}, permute), "Permute", args, where) {
  std::vector<int64_t> ascending = dims;
  std::ranges::sort(ascending);
  for (size_t i = 0; i < ascending.size(); ++i)
    if (ascending[i] != static_cast<int64_t>(i) + 1)
      throw Error(
          ErrorKind::value_error,
          fmt::format("Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must "
                      "be consecutive and start from 1. Received dims=({})",
                      fmt::join(dims, ", ")),
          name(), where);
}

RepeatVector::RepeatVector(int64_t n, const LayerArgs &args, Where where)
    : Layer(plain(RepeatVectorOptions{args, n}, repeatVector), "RepeatVector", args, where) {
  requirePositive(*this, "n", n, where);
}

/// The user's `function`. value_error if it is empty.
template <class F> static F called(F function, Where where) {
  if (!function)
    throw Error(ErrorKind::value_error, "Lambda needs a function; received an empty one", "", where);
  return function;
}
Lambda::Lambda(std::function<Value(const Value &)> function, const LambdaArgs &args, Where where)
    : Layer(
          std::make_unique<LambdaBody>(
              [function = called(std::move(function), where)](const Values &inputs) { return function(inputs[0]); }, 1),
          "Lambda", layerArgs(args), where) {}
Lambda::Lambda(OfAll function, const LambdaArgs &args, Where where)
    : Layer(std::make_unique<LambdaBody>(called(std::move(function.function), where), 0), "Lambda", layerArgs(args),
            where) {}

} // namespace halftone::layers
