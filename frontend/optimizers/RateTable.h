// The next values of a learning-rate schedule, in the device's memory: no step asks the host for its rate.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include "halftone/Optimizers.h"
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace halftone::detail {

/// For schedules that are functions of the step alone. The host computes `length` values at a time. At its end a step
/// looks up the rate of the next step by the count of steps; a skipped step does not raise the count, so the rate
/// stays.
class RateTable {
public:
  static constexpr int64_t length = 256;
  /// `optimizer` and `dtype` are those of the rate that the table feeds.
  RateTable(const std::string &optimizer, DType dtype);
  std::vector<Variable> variables() const { return {values_, first_}; }
  /// Records the lookup of the rate at `step`, a scalar int32.
  Value at(const Value &step) const;
  struct Play {
    const Variable &steps, &rate; // the count, which the play may raise, and the variable that it sets to at(steps)
    int64_t mostSteps;            // the most by which the play raises the count
  };
  /// Call it before each such play. If the table may end, or if something other than plays wrote the count, it reads
  /// the count, and waits for it.
  void prepare(const LearningRate &schedule, const Play &play);

private:
  Variable values_, first_;    // values_: the rates of the steps from `first_` on
  std::mutex mutex_;           // guards the members below
  int64_t mostSteps_ = length; // the most steps since the table was filled, when the count was `first_`
  uint64_t version_ = 0;       // of the count, if nothing but plays has written it
};

} // namespace halftone::detail
