// The accuracy metrics: 1 for each correctly predicted sample.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/metrics/Fields.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone {
namespace detail {

namespace {

Value asEntries(const Value &right) { return asDtype(right, floatxDtype(), "metric"); }

void requireRank(const char *what, const Value &yTrue, const Value &yPred) {
  if (yTrue.rank() < 1 || yPred.rank() < 1)
    throw Error(ErrorKind::value_error, fmt::format("{} needs a batch of targets and predictions. Received: "
                                                    "y_true.shape={}, y_pred.shape={}",
                                                    what, yTrue.shape().str(), yPred.shape().str()));
}

/// Class indices without a trailing axis of extent 1. value_error unless they match the predictions' leading axes.
Value sparseLabels(const char *what, const Value &yTrue, const Value &yPred) {
  requireRank(what, yTrue, yPred);
  Value labels = yTrue.rank() == yPred.rank() && yTrue.shape()[-1] == 1 ? ops::squeeze(yTrue, -1) : yTrue;
  std::vector<int64_t> leading = yPred.shape().dims();
  leading.pop_back();
  if (labels.shape() != Shape(leading))
    throw Error(ErrorKind::value_error,
                fmt::format("{} needs one class index for each prediction. Received: y_true.shape={}, y_pred.shape={}",
                            what, yTrue.shape().str(), yPred.shape().str()));
  return labels;
}

/// TensorFlow's in_top_k.
Value inTopK(const Value &labels, const Value &yPred, int64_t k) {
  Value scores = asFloat(yPred);
  Value classes = tracing().iota(scores.rank() - 1, scores.shape(), DType::int32);
  Value chosen = ops::equal(ops::expand_dims(asDtype(labels, DType::int32, "index"), -1), classes);
  Value target = ops::sum(ops::where(chosen, scores, ops::zeros_like(scores)), -1, true);
  Value count = ops::sum(asDtype(ops::greater(scores, target), DType::int32, "metric"), -1);
  int64_t last = scores.rank() - 1;
  Value isClass = tracing().reduce(ReduceKind::logical_or, chosen, {last}, DType::bool_);
  Value finite = tracing().reduce(ReduceKind::logical_and, ops::isfinite(scores), {last}, DType::bool_);
  Value close = ops::less(count, k);
  return ops::logical_and(close, ops::logical_and(isClass, finite));
}

} // namespace

Value accuracyEntries(const Value &yTrue, const Value &yPred) {
  Value t = yTrue, p = yPred;
  matchRanks(t, p);
  requireSameShape("accuracy", t, p);
  return asEntries(ops::equal(t, p));
}
Value binaryAccuracyEntries(const Value &yTrue, const Value &yPred, double threshold) {
  Value t = yTrue, p = asFloat(yPred);
  matchRanks(t, p);
  requireSameShape("binary_accuracy", t, p);
  Value positive = asDtype(ops::greater(p, ops::full_like(p, threshold)), p.dtype(), "metric");
  return asEntries(ops::equal(asDtype(t, p.dtype(), "metric"), positive));
}
Value categoricalAccuracyEntries(const Value &yTrue, const Value &yPred) {
  requireRank("categorical_accuracy", yTrue, yPred);
  requireSameShape("categorical_accuracy", yTrue, yPred);
  return asEntries(ops::equal(ops::argmax(yTrue), ops::argmax(yPred)));
}
Value sparseCategoricalAccuracyEntries(const Value &yTrue, const Value &yPred) {
  Value labels = sparseLabels("sparse_categorical_accuracy", yTrue, yPred);
  Value right = asEntries(ops::equal(labels, ops::argmax(yPred)));
  return right.rank() > 1 && right.shape()[-1] == 1 ? ops::squeeze(right, -1) : right;
}
Value topKEntries(const Value &yTrue, const Value &yPred, int64_t k) {
  requireRank("top_k_categorical_accuracy", yTrue, yPred);
  requireSameShape("top_k_categorical_accuracy", yTrue, yPred);
  return asEntries(inTopK(ops::argmax(yTrue), yPred, k));
}
Value sparseTopKEntries(const Value &yTrue, const Value &yPred, int64_t k) {
  return asEntries(inTopK(sparseLabels("sparse_top_k_categorical_accuracy", yTrue, yPred), yPred, k));
}

} // namespace detail

namespace metrics {
using namespace detail;

namespace {

template <class MetricClass, class Args>
Metric meanOfEntries(const char *className, const char *name, const Args &args, MetricFormula formula) {
  return metricOfClass(className, name, MetricOptions<MetricClass, Args>{args}, meanOf(std::move(formula)));
}
void checkK(int64_t k) {
  if (k < 1)
    throw Error(ErrorKind::value_error, fmt::format("`k` must be a positive integer. Received: k={}", k));
}
void checkThreshold(double threshold) {
  if (!(threshold > 0.0 && threshold < 1.0))
    throw Error(ErrorKind::value_error, fmt::format("Invalid value for argument `threshold`. Expected a value in "
                                                    "interval (0, 1). Received: threshold={}",
                                                    threshold));
}

} // namespace

Accuracy::Accuracy(const MetricArgs &args)
    : Metric(meanOfEntries<Accuracy>("Accuracy", "accuracy", args, accuracyEntries)) {}
BinaryAccuracy::BinaryAccuracy(const BinaryAccuracyArgs &args)
    : Metric(meanOfEntries<BinaryAccuracy>("BinaryAccuracy", "binary_accuracy", args,
                                           [threshold = args.threshold](const Value &yTrue, const Value &yPred) {
                                             return binaryAccuracyEntries(yTrue, yPred, threshold);
                                           })) {
  checkThreshold(args.threshold);
}
CategoricalAccuracy::CategoricalAccuracy(const MetricArgs &args)
    : Metric(meanOfEntries<CategoricalAccuracy>("CategoricalAccuracy", "categorical_accuracy", args,
                                                categoricalAccuracyEntries)) {}
SparseCategoricalAccuracy::SparseCategoricalAccuracy(const MetricArgs &args)
    : Metric(meanOfEntries<SparseCategoricalAccuracy>("SparseCategoricalAccuracy", "sparse_categorical_accuracy", args,
                                                      sparseCategoricalAccuracyEntries)) {}
TopKCategoricalAccuracy::TopKCategoricalAccuracy(const TopKArgs &args)
    : Metric(meanOfEntries<TopKCategoricalAccuracy>(
          "TopKCategoricalAccuracy", "top_k_categorical_accuracy", args,
          [k = args.k](const Value &yTrue, const Value &yPred) { return topKEntries(yTrue, yPred, k); })) {
  checkK(args.k);
}
SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(const TopKArgs &args)
    : Metric(meanOfEntries<SparseTopKCategoricalAccuracy>(
          "SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy", args,
          [k = args.k](const Value &yTrue, const Value &yPred) { return sparseTopKEntries(yTrue, yPred, k); })) {
  checkK(args.k);
}

} // namespace metrics
} // namespace halftone
