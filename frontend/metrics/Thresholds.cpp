// Compares predictions with thresholds and counts.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/Thresholds.h"
#include "frontend/graph/Literals.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/losses/LossImpl.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

constexpr double lowest = -1e10; // Keras's NEG_INF, the threshold and value of predictions outside the top k

/// Extends sample weights to the rank of the predictions; weights per sample get an axis of extent 1.
Value weightFor(const Value &weight, const Value &t, DType dtype) {
  if (!weight.defined())
    return weight;
  Value w = ops::expand_dims(asDtype(weight, dtype, "metric"), -1);
  return w.rank() == t.rank() + 1 ? ops::squeeze(w, -1) : w;
}

/// Keeps the k largest predictions of each row, the first ones among equals, and replaces the others by the lowest
/// value.
Value keepTop(const Value &p, int64_t k) {
  if (p.rank() < 1 || k < 1 || k > p.shape()[-1])
    throw Error(
        ErrorKind::value_error,
        fmt::format("`top_k` must be from 1 to the extent of the last axis. Received: top_k={}, y_pred.shape={}", k,
                    p.shape().str()));
  const Value each = ops::expand_dims(p, -1), other = ops::expand_dims(p, -2);
  std::vector<int64_t> dims = p.shape().dims();
  dims.push_back(dims.back());
  const Shape pairs(dims);
  const Value position = tracing().iota(p.rank() - 1, pairs, DType::int32),
              rival = tracing().iota(p.rank(), pairs, DType::int32);
  const Value before =
      ops::logical_or(ops::greater(other, each), ops::logical_and(ops::equal(other, each), ops::less(rival, position)));
  const Value rank = ops::sum(asDtype(before, DType::int32, "metric"), -1);
  return ops::where(ops::less(rank, k), p, ops::full_like(p, lowest));
}

Value onlyClass(const Value &x, int64_t classId) {
  if (x.rank() < 2)
    throw Error(ErrorKind::value_error,
                fmt::format("When class_id is provided, y_pred must be a 2D array with shape (num_samples, "
                            "num_classes), found shape: {}",
                            x.shape().str()));
  const int64_t classes = x.shape()[-1], index = classId < 0 ? classId + classes : classId;
  if (index < 0 || index >= classes)
    throw Error(
        ErrorKind::value_error,
        fmt::format("`class_id` is out of range. Received: class_id={}, y_pred.shape={}", classId, x.shape().str()));
  std::vector<int64_t> start(static_cast<size_t>(x.rank()), 0), extent = x.shape().dims();
  start.back() = index;
  extent.back() = 1;
  return tracing().slice(x, start, Shape(extent));
}

/// Expands (1, ...) to (thresholds, ...): whether a prediction is above each threshold.
Value above(const Value &p, const Thresholds &thresholds) {
  const int64_t count = thresholds.count;
  std::vector<int64_t> column(static_cast<size_t>(p.rank()), 1);
  column[0] = count;
  if (!thresholds.even)
    return ops::greater(p, ops::reshape(vectorOf(thresholds.values, p.dtype()), Shape(column)));
  Value bucket = ops::ceil(ops::clip(p, 0.0, 1.0) * static_cast<double>(count - 1)) - 1.0;
  if (thresholds.beyond) // then 0 is above the first one
    bucket = ops::maximum(bucket, ops::zeros_like(bucket));
  return ops::greater_equal(bucket, tracing().iota(0, Shape(column), p.dtype()));
}

} // namespace

Thresholds evenThresholds(int64_t count, bool beyond) {
  if (count == 1)
    return {.values = {0.5}};
  return {.count = count, .even = true, .beyond = beyond};
}

Thresholds givenThresholds(const Numbers &given, bool topK) {
  if (given.list().empty())
    return {.values = {topK ? lowest : 0.5}};
  std::vector<double> invalid;
  std::ranges::copy_if(given.list(), std::back_inserter(invalid), [](double t) { return !(t >= 0.0 && t <= 1.0); });
  if (!invalid.empty())
    throw Error(ErrorKind::value_error,
                fmt::format("Threshold values must be in [0, 1]. Received: [{}]", fmt::join(invalid, ", ")));
  return {.count = std::ssize(given.list()), .even = areEven(given.list()), .values = given.list()};
}

bool areEven(const std::vector<double> &thresholds) {
  if (thresholds.size() < 3)
    return false;
  for (size_t i = 0; i < thresholds.size(); ++i) { // numpy.allclose
    const double even = static_cast<double>(i) / static_cast<double>(thresholds.size() - 1);
    if (!(std::abs(thresholds[i] - even) <= config::epsilon() + 1e-5 * even))
      return false;
  }
  return true;
}

Confusion confusionOf(const Value &yTrue, const Value &yPred, const Value &weight, const Thresholds &thresholds,
                      const Selection &selection, DType dtype) {
  Value t = asDtype(yTrue, dtype, "metric"), p = asDtype(yPred, dtype, "metric");
  matchRanks(t, p);
  requireSameShape("metric", t, p);
  Value w = weightFor(weight, t, dtype);
  if (selection.topK)
    p = keepTop(p, *selection.topK);
  if (selection.classId) {
    t = onlyClass(t, *selection.classId);
    p = onlyClass(p, *selection.classId);
  }
  if (!selection.labelWeights.empty() && !selection.byLabel) {
    if (p.rank() < 2 || p.shape()[-1] != std::ssize(selection.labelWeights))
      throw Error(ErrorKind::value_error, fmt::format("`label_weights` has {} numbers. Received: y_pred.shape={}",
                                                      selection.labelWeights.size(), p.shape().str()));
    const Value labels = vectorOf(selection.labelWeights, dtype);
    w = w.defined() ? w * labels : labels;
  }
  // An axis of thresholds comes first.
  const Shape flat = selection.byLabel ? Shape{1, p.shape()[0], p.shape()[1]} : Shape{1, p.shape().elements()};
  const auto lined = [&](const Value &x) { return ops::reshape(x, flat); };
  if (w.defined())
    w = lined(broadcastTo(w, p.shape()));
  const Value positive = above(lined(p), thresholds), negative = ops::logical_not(positive);
  const Value label = lined(ops::not_equal(t, ops::zeros_like(t))), other = ops::logical_not(label);
  const auto count = [&](const Value &is, const Value &predicted) {
    const Value both = ops::logical_and(is, predicted);
    const Value one = w.defined() ? ops::where(both, w, ops::zeros_like(w)) : asDtype(both, dtype, "metric");
    return ops::sum(one, 1);
  };
  return {count(label, positive), count(other, positive), count(other, negative), count(label, negative)};
}

void addTo(const Variable &state, const Value &value) {
  const std::shared_ptr<VariableImpl> &impl = state.impl();
  state.assign(tracing().read(impl, impl->dtype) + sumOfRows(asDtype(value, impl->dtype, "metric")));
}

double divideNoNan(double a, double b) { return b == 0.0 ? 0.0 : a / b; }

void CountsRule::update(const std::vector<Variable> &state, const Value &yTrue, const Value &yPred,
                        const Value &weight) const {
  const Confusion counted = confusionOf(yTrue, yPred, weight, thresholds_, selection_, state[0].impl()->dtype);
  const Value *const values[] = {&counted.truePositives, &counted.falsePositives, &counted.trueNegatives,
                                 &counted.falseNegatives};
  const std::vector<Count> order = counts();
  for (size_t i = 0; i < order.size(); ++i)
    addTo(state[i], *values[order[i]]);
}

MetricRule::State CountsRule::state(const Shape &, const Shape &yPred) const {
  constexpr const char *names[] = {"true_positives", "false_positives", "true_negatives", "false_negatives"};
  State variables;
  for (const Count count : counts())
    variables.emplace_back(names[count], shape(yPred));
  return variables;
}

} // namespace halftone::detail
