// The steps of a phase of a loop or row kernel along its vector dim, on CPUs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/RowPlan.h"

namespace halftone::compiler {

/// All functions emit code at the current index of the phase's other dims.
class RowVectors {
public:
  using Phase = RowPlan::Phase;
  using Output = RowPlan::Output;

  explicit RowVectors(KernelFrame &frame) : frame(frame) {}

  /// The number of vectors that a phase processes at a time: several if it would otherwise wait for its accumulators or
  /// for the steps of a long function, as many as the registers and the bound on interleaved code permit.
  int64_t groupsOf(Phase &phase);
  /// Emits the vector dim from `begin` to `end`: whole vectors, then a masked step or scalar ones. For a large body,
  /// one masked loop does it all, so the kernel has one copy of the body. `start` has a vector accumulator for each
  /// accumulator of the phase and, on targets without masked memory, followed by one scalar accumulator for each, used
  /// in the scalar steps. The result has the same layout.
  Values emit(Phase &phase, Emitted begin, Emitted end, const Values &start);
  /// Emits loads, body and stores; returns the carried accumulators.
  Values emitStep(Phase &phase, llvm::ArrayRef<Emitted> carried, const Lanes &lanes);

  llvm::SmallDenseMap<unsigned, Emitted> loadedInputs; // inputs of the next steps that are already loaded
  Emitted nextRow;                                     // the distance to the next row, in elements
  bool streaming = false;                              // results that may stream are stored non-temporally

private:
  bool takesPairs(Phase &phase);
  void loadPairs(Phase &phase);
  Emitted emitGroups(Phase &phase, Emitted begin, Emitted end, Values &carried);
  Values emitGroup(Phase &phase, Emitted column, int64_t groups, const Values &carried);
  Values emitMaskedStep(Phase &phase, Emitted begin, Emitted end, const Values &carried);
  Values argumentsOf(Phase &phase, llvm::ArrayRef<Emitted> carried, const Lanes &lanes);
  void emitPrefetches(Phase &phase);

  KernelFrame &frame;
  llvm::SmallDenseMap<unsigned, Emitted> pairs; // of the current two steps of a group, as 32-bit integers
  std::vector<Values> unflagged; // by output: values of a group's steps, which are checked for NaN together
};

} // namespace halftone::compiler
