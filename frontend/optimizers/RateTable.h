// Upcoming values of a learning-rate schedule in device memory, so that no step waits for the host.
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

/// A rate table for schedules that depend only on the step. The host computes `length` values at a time. Each step ends
/// by looking up the rate of the next step by the step count. A skipped step does not increment the count and so keeps
/// the rate.
class RateTable {
public:
  static constexpr int64_t length = 256;
  /// `optimizer` and `dtype` are those of the rate variable that the table feeds.
  RateTable(const std::string &optimizer, DType dtype);
  std::vector<Variable> variables() const { return {values_, first_}; }
  /// Records the lookup of the rate at `step`, a scalar int32.
  Value at(const Value &step) const;
  /// The host work before a play that increments the count `steps` by up to `maxSteps` and sets `rate` to at(steps).
  /// If the table may be exhausted, or if anything other than plays has written the count, it waits for the count,
  /// reads it and refills the table.
  BeforePlay::Begin prepare(const LearningRate &schedule, const Variable &steps, const Variable &rate,
                            int64_t maxSteps);

private:
  /// Returns true if the table has the rates for a play that starts at version `version` of the count.
  bool reaches(uint64_t version, int64_t maxSteps);

  Variable values_, first_;   // values_: the rates of the steps from `first_` on
  std::mutex mutex_;          // guards the members below
  int64_t maxSteps_ = length; // upper bound of the steps since the table was filled, when the count was `first_`
  uint64_t version_ = 0;      // of the count, if only plays have written it
};

} // namespace halftone::detail
