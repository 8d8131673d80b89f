// The next values of a learning-rate schedule, in the device's memory: no step asks the host for its rate.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include "halftone/Optimizers.h"
#include "runtime/BeforePlay.h"
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
  /// The host's work before each play that raises the count `steps` by up to `mostSteps` and sets `rate` to at(steps). If the
  /// table may end, or if something other than plays wrote the count, it reads the count, and waits for it.
  BeforePlay::Begin prepare(const LearningRate &schedule, const Variable &steps, const Variable &rate,
                            int64_t mostSteps);

private:
  /// Whether the table has the rates of a play that begins at that version of the count.
  bool reaches(uint64_t version, int64_t mostSteps);

  Variable values_, first_;    // values_: the rates of the steps from `first_` on
  std::mutex mutex_;           // guards the members below
  int64_t mostSteps_ = length; // the most steps since the table was filled, when the count was `first_`
  uint64_t version_ = 0;       // of the count, if nothing but plays has written it
};

} // namespace halftone::detail
