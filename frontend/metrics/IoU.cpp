// Intersection over union of classes, from a confusion matrix.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/metrics/Fields.h"
#include "frontend/metrics/Thresholds.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::metrics {
using namespace detail;

namespace {

/// The arguments shared by all classes.
struct Facts {
  int64_t classes;
  std::optional<std::vector<int64_t>> targets; // nullopt: all classes
  IoUArgs args;
  std::optional<double> threshold{}; // predictions of at least this are class 1
};

class IoURule final : public MetricRule {
public:
  explicit IoURule(Facts facts) : facts_(std::move(facts)) {}
  State state(const Shape &, const Shape &) const override {
    return {{"total_confusion_matrix", {facts_.classes, facts_.classes}}};
  }
  void update(const std::vector<Variable> &state, const Value &yTrue, const Value &yPred,
              const Value &weight) const override {
    const DType dtype = state[0].impl()->dtype;
    Value predicted = yPred;
    if (facts_.threshold) {
      const Value p = asDtype(yPred, DType::float32, "metric");
      predicted = ops::greater_equal(p, ops::full_like(p, *facts_.threshold));
    }
    const Value t = classesOf(yTrue, facts_.args.sparse_y_true), p = classesOf(predicted, facts_.args.sparse_y_pred);
    if (t.shape() != p.shape())
      throw Error(ErrorKind::value_error,
                  fmt::format("IoU needs one target class for each predicted one. Received: y_true.shape={}, "
                              "y_pred.shape={}",
                              yTrue.shape().str(), yPred.shape().str()));
    const Value known = ops::logical_and(isClass(t), isClass(p));
    // Weights are truncated for an integer dtype, as in Keras. Sums use float64: float32 represents no odd number above
    // 2^24.
    Value counted = asDtype(known, DType::float64, "metric");
    if (weight.defined())
      counted =
          counted * asDtype(broadcastTo(flat(asDtype(weight, dtype, "metric")), t.shape()), DType::float64, "metric");
    if (facts_.args.ignore_class)
      counted = counted * asDtype(ops::not_equal(t, *facts_.args.ignore_class), DType::float64, "metric");
    const Value rows = ops::expand_dims(counted, -1) * ops::one_hot(t, facts_.classes, DType::float64);
    addTo(state[0], ops::matmul(ops::transpose(rows), ops::one_hot(p, facts_.classes, DType::float64)));
  }
  std::vector<double> results(const std::vector<std::vector<double>> &state) const override {
    const auto count = static_cast<size_t>(facts_.classes);
    double sum = 0.0, valid = 0.0;
    const auto add = [&](size_t chosen) {
      const double both = state[0][chosen * count + chosen];
      double either = -both;
      for (size_t i = 0; i < count; ++i)
        either += state[0][chosen * count + i] + state[0][i * count + chosen];
      if (either > 1e-9) {
        sum += both / (either + config::epsilon());
        valid += 1.0;
      }
    };
    if (facts_.targets)
      for (const int64_t target : *facts_.targets)
        add(static_cast<size_t>(target < 0 ? target + facts_.classes : target));
    else
      for (size_t chosen = 0; chosen < count; ++chosen)
        add(chosen);
    return {sum / (valid + config::epsilon())};
  }

private:
  static Value flat(const Value &x) { return x.rank() > 1 ? ops::reshape(x, {x.shape().elements()}) : x; }
  /// Converts x to a vector of class indices.
  Value classesOf(const Value &x, bool sparse) const {
    return flat(asDtype(sparse ? x : ops::argmax(x, facts_.args.axis), DType::int32, "metric"));
  }
  Value isClass(const Value &x) const {
    return ops::logical_and(ops::greater_equal(x, ops::zeros_like(x)), ops::less(x, facts_.classes));
  }
  Facts facts_;
};

template <class Options> Metric iouOf(const char *className, const Options &options, Facts facts) {
  if (facts.classes < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("`num_classes` must be at least 1. Received: num_classes={}", facts.classes));
  for (const int64_t target : facts.targets.value_or(std::vector<int64_t>{}))
    if (target >= facts.classes || target < -facts.classes)
      throw Error(ErrorKind::value_error,
                  fmt::format("Target class id {} is out of range, which is [0, {}).", target, facts.classes));
  if (facts.targets && facts.targets->empty())
    throw Error(ErrorKind::value_error, "`target_class_ids` is empty");
  const DType dtype = options.dtype.empty() ? DType::int32 : options.dtype.get().compute_dtype();
  const std::string name = options.name.empty() ? uniqueName(className) : options.name;
  return metricOfClass(className, name, options, dtype, std::make_shared<IoURule>(std::move(facts)));
}

IoUArgs withOneHotTargets(const OneHotIoUArgs &args) {
  return {.ignore_class = args.ignore_class,
          .sparse_y_true = false,
          .sparse_y_pred = args.sparse_y_pred,
          .axis = args.axis};
}

} // namespace

IoU::IoU(int64_t num_classes, const std::vector<int64_t> &target_class_ids, const IoUArgs &args)
    : Metric(iouOf("IoU", TargetClassesOptions<IoU, IoUArgs>{{args, num_classes}, target_class_ids},
                   {num_classes, target_class_ids, args})) {}
BinaryIoU::BinaryIoU(const std::vector<int64_t> &target_class_ids, const BinaryIoUArgs &args)
    : Metric(iouOf("BinaryIoU", BinaryIoUOptions{args, target_class_ids}, {2, target_class_ids, {}, args.threshold})) {}
MeanIoU::MeanIoU(int64_t num_classes, const IoUArgs &args)
    : Metric(iouOf("MeanIoU", ClassesOptions<MeanIoU, IoUArgs>{args, num_classes}, {num_classes, std::nullopt, args})) {
}
OneHotIoU::OneHotIoU(int64_t num_classes, const std::vector<int64_t> &target_class_ids, const OneHotIoUArgs &args)
    : Metric(iouOf("OneHotIoU", TargetClassesOptions<OneHotIoU, OneHotIoUArgs>{{args, num_classes}, target_class_ids},
                   {num_classes, target_class_ids, withOneHotTargets(args)})) {}
OneHotMeanIoU::OneHotMeanIoU(int64_t num_classes, const OneHotIoUArgs &args)
    : Metric(iouOf("OneHotMeanIoU", ClassesOptions<OneHotMeanIoU, OneHotIoUArgs>{args, num_classes},
                   {num_classes, std::nullopt, withOneHotTargets(args)})) {}

} // namespace halftone::metrics
