// The next values of a learning-rate schedule, where the steps run: no step asks the host for its rate.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/Variables.h"
#include "halftone/Optimizers.h"
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace halftone::detail {

/// For schedules that are functions of the step alone. The host computes their values `length` at a time; a step that
/// has run looks up the rate of the next one by the count of steps, so that a step that was skipped changes nothing.
class RateTable {
public:
  static constexpr int64_t length = 256;
  /// `optimizer` and `dtype`: of the rate that the table feeds.
  RateTable(const std::string &optimizer, DType dtype);
  std::vector<Variable> variables() const { return {values_, first_}; }
  /// Recorded: the rate at `step`, a scalar int32.
  Value at(const Value &step) const;
  struct Play {
    const Variable &steps, &rate; // the count, which the play may raise, and what it then sets to at(steps)
    int64_t mostSteps;            // by which it raises the count
  };
  /// Before each such play. Reads the count, which waits, when the table may end or somebody else has written it.
  void prepare(const LearningRate &schedule, const Play &play);

private:
  Variable values_, first_;    // those of the steps from `first_` on
  std::mutex mutex_;           // guards what follows
  int64_t mostSteps_ = length; // since the table was filled: the count was `first_` then
  uint64_t version_ = 0;       // of the count, when nobody but the plays wrote it
};

} // namespace halftone::detail
