// Confusion counts at thresholds, from which precision, recall and areas under curves follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/metrics/MetricImpl.h"
#include <optional>

namespace halftone::detail {

struct Thresholds {
  int64_t count = 1;
  /// Equidistant thresholds from 0 to 1. As in Keras, predictions are then sorted into buckets instead of being
  /// compared with the thresholds, so a prediction near a threshold may fall on its other side.
  bool even = false;
  bool beyond = false;          // if even: the first and the last lie slightly outside of [0, 1]
  std::vector<double> values{}; // if not even
};
/// `count` even thresholds; a single one is 0.5.
Thresholds evenThresholds(int64_t count, bool beyond = false);
/// The given thresholds. If there are none, 0.5 or, with top_k, a threshold below every prediction. value_error for a
/// threshold outside of [0, 1].
Thresholds givenThresholds(const Numbers &given, bool topK = false);
/// Returns true if there are at least three thresholds, equidistant from 0 to 1.
bool areEven(const std::vector<double> &thresholds);

/// Selects the predictions to count.
struct Selection {
  std::optional<int64_t> topK{}, classId{};
  bool byLabel = false; // separate counts per label of (batch, labels)
  std::vector<double> labelWeights{};
};
/// Counts of shape (thresholds), or by label (thresholds, labels).
struct Confusion {
  Value truePositives, falsePositives, trueNegatives, falseNegatives;
};
/// The counts of a batch in `dtype`; `weight`, if defined, holds the sample weights. value_error for incompatible
/// shapes or an invalid class.
Confusion confusionOf(const Value &yTrue, const Value &yPred, const Value &weight, const Thresholds &thresholds,
                      const Selection &selection, DType dtype);

/// Adds values to variables.
void addTo(const Variable &state, const Value &value);
/// a / b, or 0 where b is 0.
double divideNoNan(double a, double b);

/// A rule with the counts at each threshold as state: all four of them, or the selected ones.
class CountsRule : public MetricRule {
public:
  enum Count : uint8_t { tp, fp, tn, fn };
  CountsRule(Thresholds thresholds, Selection selection)
      : thresholds_(std::move(thresholds)), selection_(std::move(selection)) {}
  void update(const std::vector<Variable> &state, const Value &yTrue, const Value &yPred,
              const Value &weight) const override;

protected:
  /// The counts, in the order of the state.
  virtual std::vector<Count> counts() const { return {tp, tn, fp, fn}; }
  State state(const Shape &yTrue, const Shape &yPred) const override;
  virtual Shape shape(const Shape &) const { return {thresholds_.count}; }
  Thresholds thresholds_;
  Selection selection_;
};

} // namespace halftone::detail
