// Counts right and wrong predictions at thresholds. Precision, recall and areas under curves follow from the counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/metrics/MetricImpl.h"
#include <optional>

namespace halftone::detail {

struct Thresholds {
  int64_t count = 1;
  /// From 0 to 1 at equal distances. As Keras does, predictions are then not compared with the thresholds, but put in
  /// buckets: a prediction near a threshold may fall to its other side.
  bool even = false;
  bool beyond = false;          // even ones: the first and the last lie a little outside of 0 and 1
  std::vector<double> values{}; // of those that are not even
};
/// `count` even ones; one alone is 0.5.
Thresholds evenThresholds(int64_t count, bool beyond = false);
/// The given ones, 0.5 if there are none, or with top_k one below every prediction. value_error outside of [0, 1].
Thresholds givenThresholds(const Numbers &given, bool topK = false);
/// Whether thresholds are 0, 1 and those between at equal distances, at least three in all.
bool areEven(const std::vector<double> &thresholds);

/// Which predictions count, and how.
struct Selection {
  std::optional<int64_t> topK{}, classId{};
  bool byLabel = false; // counts of (batch, labels) by the label
  std::vector<double> labelWeights{};
};
/// (thresholds), or by label (thresholds, labels).
struct Confusion {
  Value truePositives, falsePositives, trueNegatives, falseNegatives;
};
/// The counts of a batch in `dtype`, with `weight`, if that is defined, as the samples' weights. value_error for shapes
/// that do not fit, or a class that is none.
Confusion confusionOf(const Value &yTrue, const Value &yPred, const Value &weight, const Thresholds &thresholds,
                      const Selection &selection, DType dtype);

/// Adds values to variables.
void addTo(const Variable &state, const Value &value);
/// a / b, or 0 where b is 0.
double divideNoNan(double a, double b);

/// The counts of each threshold as state: all four of them, or those whose names are given.
class CountsRule : public MetricRule {
public:
  enum Count : uint8_t { tp, fp, tn, fn };
  CountsRule(Thresholds thresholds, Selection selection)
      : thresholds_(std::move(thresholds)), selection_(std::move(selection)) {}
  void update(const std::vector<Variable> &state, const Value &yTrue, const Value &yPred,
              const Value &weight) const override;

protected:
  /// The counts in the order of the state.
  virtual std::vector<Count> counts() const { return {tp, tn, fp, fn}; }
  State state(const Shape &yTrue, const Shape &yPred) const override;
  virtual Shape shape(const Shape &) const { return {thresholds_.count}; }
  Thresholds thresholds_;
  Selection selection_;
};

} // namespace halftone::detail
