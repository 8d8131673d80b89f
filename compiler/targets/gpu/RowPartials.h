// The partial reductions of a row kernel, each with one partial result per block.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/RowTeams.h"

namespace halftone::compiler {

/// Over the block's rows, threads accumulate the outputs with RowOutput::isPartialInRegisters in registers, and the
/// others in memory.
class RowPartials {
public:
  RowPartials(const RowTeams &teams, std::vector<RowPhase> &phases) : teams(teams), phases(phases) {}

  /// Points each partial reduction to the block's partial result in its buffer, and initializes it.
  void begin();
  /// Stores the totals of the partial reductions that are accumulated in registers.
  void finish();

  /// The accumulators that are in registers, and the combiner of each.
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
