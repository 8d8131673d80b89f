// The order of long sums: the totals of chunks are combined in pairs, so rounding errors grow with log n.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"

namespace halftone::compiler {

/// The number of values that one accumulator adds in sequence. Rounding errors of equal values do not cancel: a single
/// accumulator over n of them is off by n/2 roundings in the worst case.
inline constexpr int64_t maxAdditions = 32;
/// The largest chunk of a row, in elements.
inline constexpr int64_t maxPerChunk = 1024;

/// Returns true if `combiner` rounds when it combines values of `type`, a scalar or vector: a sum or product of floats.
bool roundsTotals(llvm::StringRef combiner, mlir::Type type);

/// The totals of chunks, combined in adjacent pairs, level by level; an odd last total moves up a level. Memory holds
/// one total per level, like the bits of a binary counter.
class PairwiseTotals {
public:
  /// Enough for 2^32 chunks.
  static constexpr int64_t levels = 32;
  /// The bytes of a level's slot for an accumulator of `type`.
  static int64_t slotBytes(mlir::Type type);

  /// The slots are at `memory`, those of a level contiguous; levels are `pitch` bytes apart.
  PairwiseTotals(BlockFrame &frame, llvm::ArrayRef<std::string> combiners, Emitted memory, Emitted pitch)
      : frame(frame), combiners(combiners), memory(memory), pitch(pitch) {}
  /// Adds the totals of chunk `chunk`, counted from 0.
  void push(Emitted chunk, llvm::ArrayRef<Emitted> totals) const;
  /// The totals of the `pushed` chunks and of `last`, the chunk after them.
  Values totalWith(Emitted pushed, llvm::ArrayRef<Emitted> last) const;

private:
  Values combinedWith(Emitted level, llvm::ArrayRef<Emitted> totals) const;
  Emitted slotOf(Emitted level, int64_t offset) const;

  BlockFrame &frame;
  llvm::ArrayRef<std::string> combiners;
  Emitted memory, pitch;
};

/// The totals of the values from `begin` to `end`. `sum` returns the totals of one chunk of at most `chunk` values. The
/// totals of an empty range are `neutral`. `memory` has PairwiseTotals::levels slots for each accumulator.
Values sumInChunks(BlockFrame &frame, llvm::ArrayRef<std::string> combiners, Emitted memory, Emitted begin, Emitted end,
                   Emitted chunk, llvm::ArrayRef<Emitted> neutral,
                   llvm::function_ref<Values(Emitted begin, Emitted end)> sum);

/// Like sumInChunks(), without memory for totals: a loop by `step` that carries accumulators, which start as `neutral`.
/// If totals are rounded, an accumulator adds `maxAdditions` iterations and is then added to an accumulator of the
/// next of `levels` levels; the last level adds all that remain.
Values sumInRegisters(BlockFrame &frame, llvm::ArrayRef<std::string> combiners, Emitted begin, Emitted end,
                      Emitted step, llvm::ArrayRef<Emitted> neutral,
                      llvm::function_ref<Values(Emitted at, const Values &)> body, int levels = 3);

} // namespace halftone::compiler
