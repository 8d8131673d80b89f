// Accumulators of loops and row kernels on CPUs: chunks of long sums, side reductions, and the memory of totals.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/LongSums.h"
#include "compiler/targets/cpu/RowVectors.h"

namespace halftone::compiler {

class RowSums {
public:
  using Phase = RowPlan::Phase;
  using Output = RowPlan::Output;

  RowSums(RowPlan &plan, RowVectors &vectors) : frame(plan.frame), plan(plan), vectors(vectors) {}

  /// Gives the totals of chunks their memory, from `offset` of the scratch on.
  void placeTotals(Emitted offset);
  /// Points each side reduction to the block's piece of its buffer and fills that with the neutral element.
  void clearPartials(Emitted block);
  /// Rows from `rowBegin` to `rowEnd`, by `rows`. Side reductions take in a chunk of rows at a time.
  void emitRowChunks(Emitted rowBegin, Emitted rowEnd, llvm::function_ref<void(Emitted begin, Emitted end)> rows);
  /// The loops of a phase. A sum that rounds goes over chunks of the vector dim and of the lines before it.
  Values emitTotals(Phase &phase, const RowPlan::Columns &columns);
  /// Makes `totals` the results of the phase, or adds them to the side reductions.
  void finish(Phase &phase, llvm::ArrayRef<Emitted> totals);

private:
  void alongPiece(const Output &output, llvm::function_ref<void(Emitted at, llvm::ArrayRef<mlir::Type> types)> each);
  void clearPiece(const Phase &phase, const Output &output, Emitted pointer);
  void alongChunk(const Output &output,
                  llvm::function_ref<void(Emitted at, const PairwiseTotals &pairs, const Values &values)> each);
  Values foldedTotals(Phase &phase, llvm::function_ref<Values(const Values &)> loops);
  void combineIntoMemory(const Output &output, Emitted value);

  KernelFrame &frame;
  RowPlan &plan;
  RowVectors &vectors;
  Emitted totals;     // memory for the totals of a row's chunks
  Emitted lineTotals; // and of chunks of lines of a row
};

} // namespace halftone::compiler
