// The partial reductions of a row kernel: a block's partial result of each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/RowTeams.h"

namespace halftone::compiler {

/// Threads accumulate the outputs of RowOutput::isPartialInRegisters in registers over the block's rows; the others in
/// memory.
class RowPartials {
public:
  RowPartials(const RowTeams &teams, std::vector<RowPhase> &phases) : teams(teams), phases(phases) {}

  /// Points each partial reduction to the block's partial result in its buffer, and initializes it.
  void begin();
  /// Stores the totals of the partial reductions in registers.
  void finish();

  /// The accumulators of the partial reductions in registers, and the combiner of each.
  Values running() const;
  llvm::SmallVector<std::string> combiners() const;
  void setRunning(llvm::ArrayRef<Emitted> values);

private:
  /// Stores the totals of `outputs`, which have the same combiner.
  void finish(RowPhase &phase, llvm::ArrayRef<RowOutput *> outputs);

  const RowTeams &teams;
  std::vector<RowPhase> &phases;
};

} // namespace halftone::compiler
