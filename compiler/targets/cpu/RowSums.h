// Accumulators of loop and row kernels on CPUs: chunks of long sums, partial reductions, and the memory of totals.
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

  /// Assigns memory to the totals of chunks, from scratch offset `offset` on.
  void placeTotals(Emitted offset);
  /// Points each partial reduction to the block's partial result in its buffer and initializes it with the neutral
  /// element.
  void clearPartials(Emitted block);
  /// Emits rows `rowBegin` to `rowEnd` by calling `rows`. Partial reductions add one chunk of rows at a time.
  void emitRowChunks(Emitted rowBegin, Emitted rowEnd, llvm::function_ref<void(Emitted begin, Emitted end)> rows);
  /// Emits the loops of a phase. A sum that rounds is split into chunks of the vector dim and of the lines before it.
  Values emitTotals(Phase &phase, const RowPlan::Columns &columns);
  /// Makes `totals` the results of the phase, or combines them with the partial reductions.
  void finish(Phase &phase, llvm::ArrayRef<Emitted> totals);

private:
  void alongPartial(const Output &output, llvm::function_ref<void(Emitted at, llvm::ArrayRef<mlir::Type> types)> each);
  void clearPartial(const Phase &phase, const Output &output, Emitted pointer);
  void alongChunk(const Output &output,
                  llvm::function_ref<void(Emitted at, const PairwiseTotals &pairs, const Values &values)> each);
  Values foldedTotals(Phase &phase, llvm::function_ref<Values(const Values &)> loops);
  void combineIntoMemory(const Output &output, Emitted value);

  KernelFrame &frame;
  RowPlan &plan;
  RowVectors &vectors;
  Emitted totals;     // memory for the totals of a row's chunks
  Emitted lineTotals; // memory for the totals of chunks of a row's lines
};

} // namespace halftone::compiler
