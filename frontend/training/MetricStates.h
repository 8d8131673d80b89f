// The variables in which the metrics of a compiled model add up, for several runs at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"
#include "runtime/ProgramCache.h"
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace halftone::detail {

/// What the variables of metrics begin with, of those that do not begin with zeros.
using InitialValues = std::map<const VariableImpl *, Tensor>;

/// A run of fit(), evaluate() or one batch adds to the metrics' own variables, where Metric::result() finds the sums after it.
/// A run that begins while another one lasts (in a callback, or on another thread) adds to variables of its own instead, so
/// that neither resets the sums of the other. Those are kept for later runs. Safe to use from several threads.
class MetricStates {
public:
  /// The place that a run has while it lasts: 0 for the metrics' own variables.
  class Place {
  public:
    explicit Place(MetricStates &states);
    ~Place();
    Place(const Place &) = delete;
    Place &operator=(const Place &) = delete;
    /// What a program uses in place of the metrics' `own` variables; null for place 0. New variables begin with the values
    /// that `initial` has for their own ones, else with zeros, on the default device.
    std::shared_ptr<const VariableSubstitutes> substitutes(const std::vector<Variable> &own,
                                                           const InitialValues &initial) const;

  private:
    MetricStates &states_;
    size_t index_;
  };

private:
  struct State {
    bool isTaken = false;
    std::shared_ptr<const VariableSubstitutes> substitutes;
  };
  std::mutex mutex_;
  std::vector<State> states_{1};
};

} // namespace halftone::detail
