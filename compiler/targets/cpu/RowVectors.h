// The steps of a phase of a loop or row kernel along its vector dim on CPUs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/RowPlan.h"

namespace halftone::compiler {

/// All functions emit code at the present index of the phase's other dims.
class RowVectors {
public:
  using Phase = RowPlan::Phase;
  using Output = RowPlan::Output;

  explicit RowVectors(KernelFrame &frame) : frame(frame) {}

  /// How many vectors a phase does at a time: several where it would wait for its accumulators or for the steps of a long
  /// function, as many as the registers hold and the bound on interleaved code allows.
  int64_t groupsOf(Phase &phase);
  /// The vector dim from `begin` to `end`: whole vectors, then a masked step or scalar ones. Where a body is large, one
  /// masked loop does all, so that the kernel has one copy of it. `start` has an accumulator of lanes for each of the phase's
  /// and, on targets without masked memory, one for the scalar steps behind those; so has the result.
  Values emit(Phase &phase, Emitted begin, Emitted end, const Values &start);
  /// Loads, body, stores; returns the accumulators that are carried on.
  Values emitStep(Phase &phase, llvm::ArrayRef<Emitted> carried, const Lanes &lanes);

  llvm::SmallDenseMap<unsigned, Emitted> atHand; // inputs of the next steps that need no load
  Emitted nextRow;                               // how many elements ahead it is
  bool streaming = false;                        // results that may stream go past the caches

private:
  bool takesPairs(Phase &phase);
  void loadPairs(Phase &phase);
  Emitted emitGroups(Phase &phase, Emitted begin, Emitted end, Values &carried);
  Values emitGroup(Phase &phase, Emitted column, int64_t groups, const Values &carried);
  Values emitMaskedStep(Phase &phase, Emitted begin, Emitted end, const Values &carried);
  Values argumentsOf(Phase &phase, llvm::ArrayRef<Emitted> carried, const Lanes &lanes);
  void emitPrefetches(Phase &phase);

  KernelFrame &frame;
  llvm::SmallDenseMap<unsigned, Emitted> pairs; // of the present two steps of a group, as 32-bit integers
  std::vector<Values> unflagged; // by output: values of a group's steps that are looked at for NaN together
};

} // namespace halftone::compiler
