// BatchNormalization: with batch statistics in training, with moving statistics otherwise.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/layers/Fields.h"
#include "frontend/layers/Normalized.h"
#include "frontend/ops/Masks.h"
#include "halftone/Ops.h"

namespace halftone::layers {
using namespace detail;

namespace {

class BatchNormalizationBody final : public BodyOf<BatchNormalizationOptions> {
public:
  explicit BatchNormalizationBody(const BatchNormalizationArgs &args) : BodyOf({args}), affine_(args) {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    int64_t axis = normalizeAxis("BatchNormalization", options_.axis, shapes.at(0).rank());
    Shape shape = extentsOf("BatchNormalization", shapes[0], {axis});
    affine_.build(context, shape);
    auto statistic = [&](const char *name, const Initializer &initializer) {
      return context.add_weight(
          {.shape = shape, .initializer = initializer, .trainable = false, .autocast = false, .name = name});
    };
    mean_ = statistic("moving_mean", options_.moving_mean_initializer);
    variance_ = statistic("moving_variance", options_.moving_variance_initializer);
    axis_ = axis;
    layer_ = &context.layer();
  }
  Values call(const Values &inputs, const CallContext &context) override {
    Value x = widened(inputs[0]);
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      if (axis != axis_)
        axes.push_back(axis);
    Moments moments{along(mean_, x, {axis_}), along(variance_, x, {axis_})};
    if (context.training() && layer_->trainable) {
      Moments moving = moments;
      const Value mask = asMask(inputs.size() > 1 ? inputs[1] : maskOf(inputs[0]));
      if (mask.defined()) {
        const Value weights = weightsOf(mask, x, axis_);
        moments = options_.synchronized ? momentsOfAll(x, axes, weights) : momentsOf(x, axes, weights);
      } else {
        moments = options_.synchronized ? momentsOfAll(x, axes) : momentsOf(x, axes);
      }
      move(mean_, moving.mean, ofAll(moments.mean, x));
      move(variance_, moving.variance, ofAll(moments.variance, x));
      if (!mask.defined())
        return asDtype(byBatch(x, moments, axes), context.compute_dtype(), "normalization");
    }
    Value y = (x - moments.mean) * ops::rsqrt(moments.variance + options_.epsilon);
    return asDtype(affine_(y, {axis_}), context.compute_dtype(), "normalization");
  }

private:
  /// The moments over the rows of all processes.
  static Moments momentsOfAll(const Value &x, const std::vector<int64_t> &axes) {
    const Value mean = meanOfParts(meanOver(x, axes), x.shape()[0]);
    return {mean, meanOfParts(meanOver(ops::square(x - mean), axes), x.shape()[0])};
  }
  /// Like the above, with elements weighted as in momentsOf().
  static Moments momentsOfAll(const Value &x, const std::vector<int64_t> &axes, const Value &weights) {
    const Value count = sumOverProcesses(sumOver(weights, axes)) + 1e-7;
    const Value mean = sumOverProcesses(sumOver(x * weights, axes)) / count;
    return {mean, sumOverProcesses(sumOver(ops::square(x - mean) * weights, axes)) / count};
  }
  /// Converts a statistic over the rows by which x is normalized to a statistic over all rows.
  Value ofAll(const Value &statistic, const Value &x) const {
    return options_.synchronized ? statistic : meanOfParts(statistic, x.shape()[0]);
  }
  /// Normalizes x by its own moments over `axes`, with scale and offset. The gradient is in closed form and needs two
  /// sums over the batch, which are the gradients of scale and offset.
  Value byBatch(const Value &x, const Moments &moments, const std::vector<int64_t> &axes) const {
    const Value deviation = ops::rsqrt(moments.variance + options_.epsilon);
    const Value normalized = (x - moments.mean) * deviation;
    const Value scale = affine_.scale ? along(affine_.gamma, x, {axis_}) : Value();
    const Value offset = affine_.center ? along(affine_.beta, x, {axis_}) : Value();
    std::vector<Value> arguments{x};
    Value y = normalized;
    if (affine_.scale) {
      arguments.push_back(scale);
      y = y * scale;
    }
    if (affine_.center) {
      arguments.push_back(offset);
      y = y + offset;
    }
    return tracing().customGradient(y, arguments, [&](const Value &upstream) {
      const Value byOffset = sumOver(upstream, axes), byScale = sumOver(upstream * normalized, axes);
      const Value centered = upstream - meanOfSum(byOffset, x, axes) - normalized * meanOfSum(byScale, x, axes);
      std::vector<Value> cotangents{centered * (affine_.scale ? scale * deviation : deviation)};
      if (affine_.scale)
        cotangents.push_back(byScale);
      if (affine_.center)
        cotangents.push_back(byOffset);
      return cotangents;
    });
  }
  /// The mean, over the elements whose moments normalize x, of a sum over this process's elements.
  Value meanOfSum(const Value &sum, const Value &x, const std::vector<int64_t> &axes) const {
    const Value mean = sum / countOver(x, axes);
    return options_.synchronized ? meanOfParts(mean, x.shape()[0]) : mean;
  }
  /// Updates a moving statistic towards that of the batch. If the result is not finite, the statistic is unchanged.
  void move(const Variable &statistic, const Value &old, const Value &batch) const {
    Value next = old * options_.momentum + batch * (1.0 - options_.momentum);
    Value kept = ops::where(ops::isfinite(next), next, old);
    statistic.assign(ops::reshape(kept, statistic.shape()));
  }

  ScaleAndOffset affine_;
  Variable mean_, variance_;
  int64_t axis_ = 0;
  const LayerImpl *layer_ = nullptr; // the layer of this body
};

} // namespace

BatchNormalization::BatchNormalization(const BatchNormalizationArgs &args, Where where)
    : Layer(std::make_unique<BatchNormalizationBody>(args), "BatchNormalization", layerArgs(args), where) {}

} // namespace halftone::layers
