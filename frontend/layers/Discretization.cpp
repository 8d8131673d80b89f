// Discretization: maps numbers to bins, whose boundaries are given or are quantiles of data.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/CategoryVectors.h"
#include "frontend/layers/FieldsPreprocessing.h"
#include "frontend/layers/LookupState.h"
#include "frontend/layers/Quantiles.h"
#include "halftone/Ops.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/ConfigurationEpoch.h"
#include "runtime/base/FloatMode.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class DiscretizationBody final : public BodyOf<DiscretizationOptions> {
public:
  using BodyOf::BodyOf;
  Values call(const Values &inputs, const CallContext &context) override {
    if (!options_.boundaries)
      throw Error(ErrorKind::value_error,
                  "You need to either pass the `bin_boundaries` argument at construction time or "
                  "call `adapt(dataset)` before you can start using the `Discretization` layer.");
    const std::vector<double> &boundaries = *options_.boundaries;
    const Value x = asDtype(inputs[0], floatxDtype(), "layer input");
    const Value bins = boundaries.empty()
                           ? tracing().splat(0, x.shape(), DType::int32)
                           : ops::searchsorted(constant(Tensor(std::vector(boundaries)).astype(x.dtype())), x, "right");
    const bool isInt = options_.output_mode == OutputMode::int_;
    return categoryVectors(
        bins, {options_.output_mode, std::ssize(boundaries) + 1, isInt ? DType::int32 : context.compute_dtype()});
  }
  /// As in Keras, whose Discretization takes no `trainable`.
  void get_config(Config &config) const override {
    const std::string name = config.get_string("name");
    const Config policy = config.get_object("dtype");
    config = Config();
    writeFields(config, options_, layerFields<DiscretizationOptions>);
    config.set("name", name);
    config.set("dtype", policy);
  }
  const DiscretizationOptions &options() const { return options_; }
  void setBoundaries(std::vector<double> boundaries) {
    options_.boundaries = std::move(boundaries);
    bumpConfigurationEpoch();
  }
};

DiscretizationOptions optionsOfBins(const DiscretizationArgs &args) {
  DiscretizationOptions options{args, {}};
  if (!args.bin_boundaries.empty())
    options.boundaries = args.bin_boundaries;
  return options;
}
DiscretizationBody &bodyOfBins(LayerImpl &impl) { return static_cast<DiscretizationBody &>(*impl.body); }

template <class Read> void adaptBins(LayerImpl &impl, Read read) {
  const FloatMode mode;
  try {
    DiscretizationBody &body = bodyOfBins(impl);
    if (!body.options().num_bins)
      throw Error(ErrorKind::value_error, "Cannot adapt a Discretization layer that has been initialized with "
                                          "`bin_boundaries`, use `num_bins` instead.");
    if (*body.options().num_bins == 0)
      throw Error(ErrorKind::value_error, "adapt() needs at least one bin. Received: num_bins=0");
    QuantileSummary summary(body.options().epsilon);
    read(
        [&](const Tensor &data) { summary.add(TensorAccess::onHost(data).astype(DType::float32).to_vector<float>()); });
    body.setBoundaries(summary.boundaries(*body.options().num_bins));
  } catch (const Error &error) {
    rethrowWithLayer(error, impl);
  }
}

} // namespace

Discretization::Discretization(const DiscretizationArgs &args, Where where)
    : Layer(std::make_unique<DiscretizationBody>(optionsOfBins(args)), "Discretization",
            {.trainable = args.trainable, .dtype = args.dtype, .autocast = false, .name = args.name}, where) {
  const auto refuse = [&](const std::string &message) { throw Error(ErrorKind::value_error, message, name(), where); };
  if (args.output_mode == OutputMode::tf_idf)
    refuse("`output_mode` of Discretization must be 'int', 'one_hot', 'multi_hot' or 'count'. Received: "
           "output_mode=tf_idf");
  if (args.num_bins && *args.num_bins < 0)
    refuse(fmt::format("`num_bins` must be greater than or equal to 0. Received: `num_bins={}`", *args.num_bins));
  if (args.num_bins && !args.bin_boundaries.empty())
    refuse(
        fmt::format("Both `num_bins` and `bin_boundaries` should not be set. Received: `num_bins={}` and {} boundaries",
                    *args.num_bins, args.bin_boundaries.size()));
  if (!args.num_bins && args.bin_boundaries.empty())
    refuse("You need to set either `num_bins` or `bin_boundaries`.");
  if (!(args.epsilon > 0.0 && std::isfinite(args.epsilon)))
    refuse(fmt::format("`epsilon` must be positive and finite. Received: epsilon={}", args.epsilon));
  if (!std::ranges::is_sorted(args.bin_boundaries))
    refuse("`bin_boundaries` must be ascending");
}
void Discretization::adapt(const Tensor &data) const {
  adaptBins(*impl_, [&](const auto &add) { add(data); });
}
void Discretization::adapt(const Dataset &data, std::optional<int64_t> steps) const {
  adaptBins(*impl_, [&](const auto &add) { forEachInput(data, steps, add); });
}
std::vector<double> Discretization::bin_boundaries() const {
  return bodyOfBins(*impl_).options().boundaries.value_or(std::vector<double>());
}

} // namespace halftone::layers

halftone::Layer halftone::detail::DiscretizationOptions::layer() const {
  layers::DiscretizationArgs args = *this;
  if (!num_bins)
    args.bin_boundaries = boundaries.value_or(std::vector<double>());
  layers::Discretization layer(args);
  if (num_bins && boundaries)
    layers::bodyOfBins(*layer.impl()).setBoundaries(*boundaries);
  return layer;
}
