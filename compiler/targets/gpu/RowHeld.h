// The elements of a row that a thread holds in registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/RowTeams.h"

namespace halftone::compiler {

/// Values of tensors, one per row or one for each of a phase's steps. An operand that several phases read is loaded
/// once, and a phase does not load what an earlier phase computed.
class RowHeld {
public:
  explicit RowHeld(const RowTeams &teams) : teams(teams) {}

  /// Loads the inputs that are not held: those of the row if there are no steps, otherwise those of all steps.
  void load(RowPhase &phase, llvm::ArrayRef<RowStep> steps);
  /// Holds the values of an output, one for each step.
  void keep(RowPhase &phase, const RowOutput &output, const Values &values);
  /// A phase's inputs at a step; null for those that are not held.
  Values inputsAt(const RowPhase &phase, size_t step) const;
  /// Loads the elements at the current index; zero, without a memory access, if the condition does not hold.
  Emitted loadIf(Emitted condition, const TensorStorage &storage, const TensorAccess &access, const Lanes &lanes) const;

  size_t size() const { return held.size(); }
  /// Drops all tensors after the first `count`.
  void shrink(size_t count) { held.resize(count); }

private:
  struct Held {
    mlir::Value tensor;
    TensorAccess access;
    Values values; // one for the row, or one vector for each step
  };
  const Held *find(mlir::Value tensor, const TensorAccess &access) const;

  const RowTeams &teams;
  std::vector<Held> held;
};

} // namespace halftone::compiler
