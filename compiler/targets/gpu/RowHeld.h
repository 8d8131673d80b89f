// The elements of a row that a thread has in registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/RowTeams.h"

namespace halftone::compiler {

/// Values of tensors, of the row or of each of a phase's steps. An operand that several phases read is loaded once, and what one
/// phase computes is not loaded by the next.
class RowHeld {
public:
  explicit RowHeld(const RowTeams &teams) : teams(teams) {}

  /// Loads the inputs that are not at hand: those of the row, if there are no steps, else those of all steps.
  void load(RowPhase &phase, llvm::ArrayRef<RowStep> steps);
  /// Keeps the values of an output, one of each step.
  void keep(RowPhase &phase, const RowOutput &output, const Values &values);
  /// A phase's inputs at a step; null for those that are not at hand.
  Values inputsAt(const RowPhase &phase, size_t step) const;
  /// The elements at the present index; zero, and no access to memory, where the condition does not hold.
  Emitted loadIf(Emitted condition, const TensorStorage &storage, const TensorAccess &access, const Lanes &lanes) const;

  size_t size() const { return held.size(); }
  /// Forgets all tensors after the first `count`.
  void shrink(size_t count) { held.resize(count); }

private:
  struct Held {
    mlir::Value tensor;
    TensorAccess access;
    Values values; // one of the row, or one vector of each step
  };
  const Held *find(mlir::Value tensor, const TensorAccess &access) const;

  const RowTeams &teams;
  std::vector<Held> held;
};

} // namespace halftone::compiler
