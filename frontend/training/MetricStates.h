// The variables that accumulate the metrics of a compiled model, for several concurrent runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Value.h"
#include "runtime/ProgramCache.h"
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace halftone::detail {

/// The initial values of metric variables that are not initialized with zeros.
using InitialValues = std::map<const VariableImpl *, Tensor>;

/// A run of fit(), evaluate() or one batch updates the metrics' own variables, in which Metric::result() then finds the
/// sums. A run that begins during another run (in a callback, or on another thread) uses separate variables, so that
/// neither resets the sums of the other. Separate variables are kept for later runs. Safe to use from several threads.
class MetricStates {
public:
  /// The slot of a run: 0 for the metrics' own variables.
  class Slot {
  public:
    explicit Slot(MetricStates &states);
    ~Slot();
    Slot(const Slot &) = delete;
    Slot &operator=(const Slot &) = delete;
    /// The substitutes for the metrics' `own` variables in a program; null for slot 0. New variables are initialized
    /// from `initial`, otherwise with zeros, on the default device.
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
