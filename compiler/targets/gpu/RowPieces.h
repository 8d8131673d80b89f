// The side reductions of a row kernel: a block's piece of each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/RowTeams.h"

namespace halftone::compiler {

/// Threads add up in registers, over the block's rows, what RowOutput::isPieceInRegisters says; the rest in memory.
class RowPieces {
public:
  RowPieces(const RowTeams &teams, std::vector<RowPhase> &phases) : teams(teams), phases(phases) {}

  /// Points each side reduction to the block's piece of its buffer, and gives it its first value.
  void begin();
  /// Stores the totals of those in registers.
  void finish();

  /// The accumulators of those in registers, and the combiner of each.
  Values running() const;
  llvm::SmallVector<std::string> combiners() const;
  void setRunning(llvm::ArrayRef<Emitted> values);

private:
  /// Stores the totals of `outputs`, of one combiner.
  void finish(RowPhase &phase, llvm::ArrayRef<RowOutput *> outputs);

  const RowTeams &teams;
  std::vector<RowPhase> &phases;
};

} // namespace halftone::compiler
