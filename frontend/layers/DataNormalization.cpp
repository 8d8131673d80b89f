// Normalization: by a given mean and variance, or by those computed once from data.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/DatasetAccess.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/Fields.h"
#include "frontend/layers/Normalized.h"
#include "halftone/Jit.h"
#include "halftone/Ops.h"
#include "runtime/base/FloatMode.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

/// Mean and variance of `count` elements per kept index.
struct DataMoments {
  std::vector<double> mean, variance;
  double count = 0.0;

  /// Merges the moments of additional elements: the variance is around the common mean.
  void add(const DataMoments &other) {
    const double all = count + other.count, share = other.count / all;
    for (size_t i = 0; i < mean.size(); ++i) {
      const double joint = mean[i] * (1.0 - share) + other.mean[i] * share;
      const double ours = mean[i] - joint, theirs = other.mean[i] - joint;
      variance[i] = (variance[i] + ours * ours) * (1.0 - share) + (other.variance[i] + theirs * theirs) * share;
      mean[i] = joint;
    }
    count = all;
  }
};

class NormalizationBody final : public BodyOf<NormalizationOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    rank_ = shapes.at(0).rank();
    kept_.clear();
    for (int64_t axis : options_.axis.list())
      kept_.push_back(normalizeAxis("Normalization", axis, rank_));
    std::ranges::sort(kept_);
    extents_ = extentsOf("Normalization", shapes[0], kept_);
    if (options_.mean.defined()) {
      checkGiven();
      return;
    }
    const auto weight = [&](const char *name, const Shape &shape, const char *initializer, std::optional<DType> dtype) {
      return context.add_weight({.shape = shape,
                                 .initializer = initializer,
                                 .dtype = dtype,
                                 .trainable = false,
                                 .autocast = false,
                                 .name = name});
    };
    mean_ = weight("mean", extents_, "zeros", {});
    variance_ = weight("variance", extents_, "ones", {});
    weight("count", {}, "zeros", DType::int32); // unused, but in Keras files
  }
  Values call(const Values &inputs, const CallContext &context) override {
    const DType dtype = context.compute_dtype();
    const Value x = asDtype(inputs[0], dtype, "layer input");
    if (x.rank() != rank_ || extentsOf("Normalization", x.shape(), kept_) != extents_)
      throw Error(ErrorKind::value_error,
                  fmt::format("The layer was built for extents {} of the axes ({}), but its input has shape {}",
                              extents_.str(), fmt::join(kept_, ", "), x.shape().str()));
    const bool isGiven = options_.mean.defined();
    const Value mean = spread(isGiven ? constant(options_.mean) : Value(mean_), dtype);
    const Value variance = spread(isGiven ? constant(options_.variance) : Value(variance_), dtype);
    const Value deviation = ops::maximum(ops::sqrt(variance), ops::full_like(variance, config::epsilon()));
    return options_.invert ? mean + x * deviation : (x - mean) / deviation;
  }

  void adapt(const DataMoments &moments) const {
    mean_.assign(Tensor(moments.mean, extents_));
    variance_.assign(Tensor(moments.variance, extents_));
  }
  DataMoments momentsOf(const Tensor &data) const {
    std::vector<int64_t> reduced;
    double count = 1.0;
    for (int64_t axis = 0; axis < rank_; ++axis)
      if (!std::ranges::binary_search(kept_, axis)) {
        reduced.push_back(axis);
        count *= static_cast<double>(data.shape()[axis]);
      }
    const auto program =
        jit([reduced](const Value &x) { return Values{ops::mean(x, Axes(reduced)), ops::var(x, Axes(reduced))}; });
    const Tensors results = program(data);
    const auto numbers = [](const Tensor &t) { return t.astype(DType::float64).to_vector<double>(); };
    return {numbers(results[0]), numbers(results[1]), count};
  }
  void requireFits(const Shape &shape) const {
    if (options_.mean.defined())
      throw Error(ErrorKind::value_error, "adapt() computes mean and variance, but the layer was given them");
    if (shape.rank() != rank_ || extentsOf("Normalization", shape, kept_) != extents_)
      throw Error(ErrorKind::value_error,
                  fmt::format("The layer was built for extents {} of the axes ({}), but adapt() is being called with "
                              "data with an incompatible shape, data.shape={}",
                              extents_.str(), fmt::join(kept_, ", "), shape.str()));
  }

private:
  /// The shape of the given mean, extended by 1 for each missing axis: its axes are the last of the kept axes.
  Shape spreadShape(const Shape &given) const {
    std::vector<int64_t> dims(static_cast<size_t>(rank_), 1);
    for (int64_t i = 1; i <= given.rank(); ++i)
      dims[static_cast<size_t>(kept_[kept_.size() - static_cast<size_t>(i)])] = given[-i];
    return Shape(std::move(dims));
  }
  Value spread(const Value &statistic, DType dtype) const {
    return asDtype(ops::reshape(statistic, spreadShape(statistic.shape())), dtype, "normalization");
  }
  void checkGiven() const {
    const Shape given = options_.mean.shape();
    for (int64_t i = 1; i <= given.rank(); ++i)
      if (given[-i] != 1 && given[-i] != extents_[-i])
        throw Error(ErrorKind::value_error,
                    fmt::format("`mean` of shape {} does not broadcast to the extents {} of the axes ({})", given.str(),
                                extents_.str(), fmt::join(kept_, ", ")));
  }

  int64_t rank_ = 0;
  std::vector<int64_t> kept_;
  Shape extents_; // of the kept axes
  Variable mean_, variance_;
};

/// Builds the layer for data of this shape if it is not built, and checks the data.
NormalizationBody &prepared(LayerImpl &impl, const Shape &shape) {
  auto &body = static_cast<NormalizationBody &>(*impl.body);
  try {
    if (shape.rank() == 0)
      throw Error(ErrorKind::value_error, "adapt() needs data with a batch axis, got a scalar");
    std::vector<int64_t> dims = shape.dims();
    dims[0] = -1;
    if (!impl.built)
      impl.build({Shape(std::move(dims))});
    body.requireFits(shape);
  } catch (const Error &error) {
    rethrowWithLayer(error, impl);
  }
  return body;
}

} // namespace

Normalization::Normalization(const Axes &axis, const NormalizationArgs &args, Where where)
    : Layer(std::make_unique<NormalizationBody>(NormalizationOptions{args, axis}), "Normalization",
            layerArgs(args, true), where) {
  const auto text = [](const Tensor &t) { return t.defined() ? t.shape().str() : "None"; };
  const auto refuse = [&](std::string_view expected) {
    throw Error(ErrorKind::value_error,
                fmt::format("When setting values directly, {}. Received: mean of shape {} and variance of shape {}",
                            expected, text(args.mean), text(args.variance)),
                name(), where);
  };
  if (args.mean.defined() != args.variance.defined())
    refuse("both `mean` and `variance` must be set");
  if (!args.mean.defined())
    return;
  if (args.mean.shape() != args.variance.shape())
    refuse("`mean` and `variance` must have the same shape");
  if (args.mean.shape().rank() > std::ssize(axis.list()))
    refuse(fmt::format("the rank of `mean` must be at most the number of axes ({})", axis.list().size()));
}

void Normalization::adapt(const Tensor &data) const {
  const FloatMode mode;
  const NormalizationBody &body = prepared(*impl_, data.shape());
  if (data.size() == 0)
    throw Error(ErrorKind::value_error, "adapt() received no data", path(), impl_->where);
  body.adapt(body.momentsOf(data));
}

void Normalization::adapt(const Dataset &data) const {
  const FloatMode mode;
  if (DatasetAccess::isEndless(data))
    throw Error(ErrorKind::value_error,
                "adapt() reads all batches, but repeat() without a count never ends: pass the dataset without "
                "repeat(), or take(count) of this one",
                path(), impl_->where);
  DataMoments all;
  for (const Batch &batch : data) {
    const Tensor x = batch.x[0];
    const NormalizationBody &body = prepared(*impl_, x.shape());
    if (x.size() == 0)
      continue;
    const DataMoments part = body.momentsOf(x);
    if (all.count == 0.0)
      all = part;
    else
      all.add(part);
  }
  if (all.count == 0.0)
    throw Error(ErrorKind::value_error, "adapt() received no data", path(), impl_->where);
  static_cast<const NormalizationBody &>(body()).adapt(all);
}

} // namespace halftone::layers
