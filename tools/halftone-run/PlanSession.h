// An executable bound to its own variables, ready to play.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Interpretation.h"
#include "runtime/Player.h"
#include "runtime/plan/Executable.h"
#include <memory>
#include <span>
#include <vector>

namespace halftone::tools {

class PlanSession {
public:
  /// Loads the kernels and creates the plan's variables with the values in `variables`, which may hold more. key_error
  /// for a missing variable; other errors as for DeviceRuntime::load() and Player::bind().
  static StatusOr<PlanSession> open(std::shared_ptr<const Executable> executable, std::shared_ptr<DeviceRuntime> device,
                                    const VariableTensors &variables);
  /// Runs the plan once and returns its fetches in host memory.
  StatusOr<std::vector<Tensor>> play(std::span<const Tensor> feeds);
  /// Copies the current values into `variables`.
  Status readVariables(VariableTensors &variables) const;

private:
  PlanSession() = default;
  VariableBinding binding_;
  std::shared_ptr<Player> player_;
};

} // namespace halftone::tools
