// Cross-entropies of probabilities and of logits.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/losses/Fields.h"
#include "frontend/ops/InnerSums.h"
#include "frontend/ops/Operations.h"
#include "frontend/ops/Softplus.h"
#include "halftone/Ops.h"
#include <fmt/format.h>
#include <limits>

namespace halftone::losses {
using namespace detail;

namespace {

/// Probabilities clipped to [epsilon, 1 - epsilon] with Keras's epsilon. In narrow dtypes 1 - epsilon would round to 1
/// and log(1 - p) would be -inf, so the upper bound is smaller there.
Value clipped(const Value &p) {
  double epsilon = config::epsilon(), upper = 1.0 - epsilon;
  if (p.dtype() == DType::float16)
    upper = 1.0 - 0x1p-11;
  else if (p.dtype() == DType::bfloat16)
    upper = 1.0 - 0x1p-8;
  return ops::clip(p, epsilon, upper);
}

Value smoothed(const Value &target, double smoothing, double uniform) {
  return smoothing == 0.0 ? target : target * (1.0 - smoothing) + smoothing * uniform;
}

/// The number of classes, which is the extent of `axis`.
double classesAlong(const std::string &loss, const Value &output, int64_t axis) {
  return static_cast<double>(output.shape()[normalizeAxis(loss, axis, output.rank())]);
}

void checkSmoothing(double smoothing) {
  if (!(smoothing >= 0.0 && smoothing <= 1.0))
    throw Error(ErrorKind::value_error, fmt::format("`label_smoothing` must be a float between [0, 1]. Received: "
                                                    "label_smoothing={}",
                                                    smoothing));
}
std::shared_ptr<LossImpl> implOf(const CrossentropyArgs &args, const char *name) {
  checkSmoothing(args.label_smoothing);
  std::shared_ptr<LossImpl> impl = lossImplOf(args, name);
  impl->axis = args.axis;
  return impl;
}

Value binary(const Value &target, const Value &output, bool fromLogits) {
  if (fromLogits) {
    // x ((x > 0) - t) + log(1 + exp(-|x|)): no intermediate overflows. The gradient is ((x > 0) - t) plus that of the
    // second term, which alone remains for a confident correct label; max(x, 0) - x t would add 1, the small gradient
    // and -1.
    const Value step = asDtype(ops::greater(output, ops::zeros_like(output)), output.dtype(), "loss");
    return output * (step - target) + softplusParts(output).curved;
  }
  Value p = clipped(output);
  return -(target * ops::log(p) + (1.0 - target) * ops::log(1.0 - p));
}

/// Labels, and a mask of the elements whose index along `axis` equals the label.
struct Picked {
  Value labels, chosen;
};
Picked pick(const Value &target, const Value &output, int64_t axis) {
  Value t = target;
  Shape shape = output.shape();
  if (t.rank() == output.rank() && t.rank() > 0 && t.shape()[-1] == 1)
    t = ops::squeeze(t, -1);
  std::vector<int64_t> dims = shape.dims();
  dims.erase(dims.begin() + axis);
  if (t.shape() != Shape(dims))
    throw Error(ErrorKind::value_error,
                fmt::format("Arguments `target` and `output` must have the same shape up until the last dimension: "
                            "target.shape={}, output.shape={}",
                            target.shape().str(), shape.str()));
  t = asDtype(t, DType::int32, "index");
  Value classes = tracing().iota(axis, shape, DType::int32);
  return {t, ops::equal(ops::expand_dims(t, axis), classes)};
}

/// 1, or NaN for an invalid label: a compiled plan cannot throw.
Value outOfRange(const Value &labels, const Value &valid, int64_t classes, const Value &like) {
  Value known = ops::logical_and(ops::greater_equal(labels, ops::zeros_like(labels)), ops::less(labels, classes));
  if (valid.defined())
    known = ops::logical_or(known, ops::logical_not(valid));
  return ops::where(known, ops::ones_like(like), ops::full_like(like, std::numeric_limits<double>::quiet_NaN()));
}

void requireClasses(const Value &output) {
  if (output.rank() < 1)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Argument `output` must be at least rank 1. Received: output.shape={}", output.shape().str()));
}
Value powerOf(const Value &x, double exponent) { return ops::power(x, ops::full_like(x, exponent)); }

/// The factors of the classes along the last axis.
Value alphasFor(const Numbers &alpha, const Value &entries) {
  if (alpha.list().size() == 1)
    return ops::full_like(entries, alpha.list()[0]);
  if (std::ssize(alpha.list()) != entries.shape()[-1])
    throw Error(ErrorKind::value_error,
                fmt::format("`alpha` has {} numbers for {} classes", alpha.list().size(), entries.shape()[-1]));
  std::vector<Value> factors;
  for (const double each : alpha.list())
    factors.push_back(tracing().splat(each, {1}, entries.dtype()));
  return broadcastTo(ops::concatenate(factors, 0), entries.shape());
}

LossEntries sparse(const Value &target, const Value &output, const SparseCrossentropyArgs &args) {
  requireClasses(output);
  int64_t axis = normalizeAxis("sparse_categorical_crossentropy", args.axis, output.rank());
  Picked picked = pick(target, output, axis);
  auto entry = [&](const Value &x) { return ops::sum(ops::where(picked.chosen, x, ops::zeros_like(x)), Axes{axis}); };
  Value values;
  if (args.from_logits) {
    const Value below = belowLargest(output, Axes{axis});
    values = asDtype(ops::log(ops::sum(ops::exp(below), Axes{axis})) - entry(below), output.dtype());
  } else {
    values = -ops::log(clipped(entry(sharesOf(output, Axes{axis}))));
  }
  Value valid;
  if (args.ignore_class)
    valid = ops::not_equal(picked.labels, *args.ignore_class);
  values = values * outOfRange(picked.labels, valid, output.shape()[axis], values);
  if (valid.defined())
    values = ops::where(valid, values, ops::zeros_like(values));
  return {values, valid};
}

} // namespace

BinaryCrossentropy::BinaryCrossentropy(const CrossentropyArgs &args)
    : Loss([&] {
        auto impl = implOf(args, "binary_crossentropy");
        impl->formula = [args, what = impl->name](const Value &yTrue, const Value &yPred) {
          Value t = yTrue, p = yPred;
          matchRanks(t, p);
          requireSameShape(what, t, p);
          Value entries = binary(smoothed(t, args.label_smoothing, 0.5), p, args.from_logits);
          return LossEntries{ops::mean(entries, Axes{args.axis}), {}};
        };
        return Loss(std::shared_ptr<const LossImpl>(std::move(impl)));
      }()) {}

CategoricalCrossentropy::CategoricalCrossentropy(const CrossentropyArgs &args)
    : Loss([&] {
        auto impl = implOf(args, "categorical_crossentropy");
        impl->formula = [args, what = impl->name](const Value &yTrue, const Value &yPred) {
          Value t = yTrue, p = yPred;
          matchRanks(t, p);
          requireSameShape(what, t, p);
          if (p.rank() < 1)
            throw Error(ErrorKind::value_error, "Arguments `target` and `output` must be at least rank 1. Received: "
                                                "target.shape=(), output.shape=()");
          t = smoothed(t, args.label_smoothing, 1.0 / classesAlong(what, p, args.axis));
          Value logs =
              args.from_logits ? ops::log_softmax(p, args.axis) : ops::log(clipped(sharesOf(p, Axes{args.axis})));
          return LossEntries{-ops::sum(t * logs, Axes{args.axis}), {}};
        };
        return Loss(std::shared_ptr<const LossImpl>(std::move(impl)));
      }()) {}

SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(const SparseCrossentropyArgs &args)
    : Loss([&] {
        auto impl = lossImplOf(args, "sparse_categorical_crossentropy");
        impl->classLabels = true;
        impl->axis = args.axis;
        impl->ignoreClass = args.ignore_class;
        impl->formula = [args](const Value &yTrue, const Value &yPred) { return sparse(yTrue, yPred, args); };
        return Loss(std::shared_ptr<const LossImpl>(std::move(impl)));
      }()) {}

CategoricalGeneralizedCrossEntropy::CategoricalGeneralizedCrossEntropy(double q, const LossArgs &args)
    : Loss([&] {
        if (!(q > 0.0 && q < 1.0))
          throw Error(ErrorKind::value_error, fmt::format("q must be in the interval (0, 1). Received: q={}", q));
        auto impl = lossImplOf(args, "categorical_generalized_cross_entropy");
        impl->classLabels = true;
        impl->addConfig = [q](Config &config) { config.set("q", q); };
        impl->formula = [q](const Value &yTrue, const Value &yPred) {
          requireClasses(yPred);
          const Picked picked = pick(yTrue, yPred, yPred.rank() - 1);
          const Value p = ops::sum(ops::where(picked.chosen, yPred, ops::zeros_like(yPred)), -1);
          const Value values = (1.0 - ops::power(p, ops::full_like(p, q))) / q;
          return LossEntries{values * outOfRange(picked.labels, {}, yPred.shape()[-1], values), {}};
        };
        return Loss(std::shared_ptr<const LossImpl>(std::move(impl)));
      }()) {}

BinaryFocalCrossentropy::BinaryFocalCrossentropy(const BinaryFocalArgs &args)
    : Loss([&] {
        checkSmoothing(args.label_smoothing);
        auto impl = lossImplOf(args, "binary_focal_crossentropy");
        impl->formula = [args, what = impl->name](const Value &yTrue, const Value &yPred) {
          Value t = yTrue, p = yPred;
          matchRanks(t, p);
          requireSameShape(what, t, p);
          t = smoothed(t, args.label_smoothing, 0.5);
          p = args.from_logits ? ops::sigmoid(p) : p;
          const Value ofTarget = t * p + (1.0 - t) * (1.0 - p);
          Value entries = powerOf(1.0 - ofTarget, args.gamma) * binary(t, p, false);
          if (args.apply_class_balancing)
            entries = entries * (t * args.alpha + (1.0 - t) * (1.0 - args.alpha));
          return LossEntries{ops::mean(entries, Axes{args.axis}), {}};
        };
        return Loss(std::shared_ptr<const LossImpl>(std::move(impl)));
      }()) {}

CategoricalFocalCrossentropy::CategoricalFocalCrossentropy(const CategoricalFocalArgs &args)
    : Loss([&] {
        checkSmoothing(args.label_smoothing);
        auto impl = lossImplOf(args, "categorical_focal_crossentropy");
        impl->formula = [args, what = impl->name](const Value &yTrue, const Value &yPred) {
          Value t = yTrue, p = yPred;
          matchRanks(t, p);
          requireSameShape(what, t, p);
          requireClasses(p);
          t = smoothed(t, args.label_smoothing, 1.0 / classesAlong(what, p, args.axis));
          p = clipped(sharesOf(args.from_logits ? ops::softmax(p, args.axis) : p, Axes{args.axis}));
          Value entries = powerOf(1.0 - p, args.gamma) * -(t * ops::log(p));
          entries = entries * alphasFor(args.alpha, entries);
          return LossEntries{ops::sum(entries, Axes{args.axis}), {}};
        };
        return Loss(std::shared_ptr<const LossImpl>(std::move(impl)));
      }()) {}

} // namespace halftone::losses
