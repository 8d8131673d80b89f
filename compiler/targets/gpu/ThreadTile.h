// How the threads of a block share rows of elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/gpu/GridFrame.h"

namespace halftone::compiler {

/// A range of indices.
struct Span {
  Emitted begin, end;
};

/// The threads of a block as `down` rows of `across` threads, both powers of two. A row of threads processes every
/// `down`-th row of the block's range; within a row, each thread processes every `across`-th step of `vector` elements.
/// So the threads of a warp access adjacent memory, and each element belongs to one thread.
class ThreadTile {
public:
  /// `across` is the number of threads that a row with `columns` elements needs, at least `minSteps` (a power of two)
  /// and at most all threads.
  ThreadTile(GridFrame &frame, Emitted columns, int64_t vector, int64_t minSteps = 1);

  /// Emits `body` for each row of this thread, or for each step in a row; `body` gets the index at which the step
  /// begins.
  void eachRow(Span rows, llvm::function_ref<void(Emitted row)> body) const;
  void eachStep(Span columns, llvm::function_ref<void(Emitted column)> body) const;
  /// Like eachRow() and eachStep(), with carried accumulators, which start as `neutral`; `body` maps them to the next
  /// ones.
  Values sumRows(Span rows, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> neutral,
                 llvm::function_ref<Values(Emitted row, const Values &)> body) const;
  Values sumSteps(Span columns, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> neutral,
                  llvm::function_ref<Values(Emitted column, const Values &)> body) const;
  /// Like eachStep(), with the same number of rounds for each thread of the block, so threads may synchronize in
  /// `body`. `isInside` tells whether the thread has a step in this round; otherwise `column` is that of the first
  /// thread.
  void eachRound(Span columns, llvm::function_ref<void(Emitted column, Emitted isInside)> body) const;

  Emitted across, down;      // threads along each side
  Emitted rowThread, thread; // this thread's row, and its index in the row
  int64_t vector;

private:
  GridFrame &frame;
};

/// The largest number of elements that a thread may process in one step: 16 bytes of the widest element type that
/// `generic` accesses along `dim`, at most 8, or 2 if its body has a long function; 1 if it looks up elements.
int64_t vectorOf(const BlockFrame &frame, mlir::linalg::GenericOp generic, int dim);

/// Emits steps along a dim: `body` gets aligned lanes of `vectors` if `multiple` is a multiple of their number,
/// otherwise single elements. Both paths return values of the same types.
Values inVectors(GridFrame &frame, Emitted multiple, const Lanes &vectors,
                 llvm::function_ref<Values(const Lanes &)> body);

} // namespace halftone::compiler
