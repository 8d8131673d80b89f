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

/// The threads of a block as `down` rows of `across` threads, both powers of two. A row of threads takes every `down`-th
/// row of the block's range; in it, each thread takes every `across`-th step of `vector` elements. So the threads of a
/// warp touch memory side by side, and each element has one thread.
class ThreadTile {
public:
  /// `across` is as large as a row with `columns` elements needs, at least `least` (a power of two), and at most all
  /// threads.
  ThreadTile(GridFrame &frame, Emitted columns, int64_t vector, int64_t least = 1);

  /// Code for each row of this thread, and for each step in it: `body` gets the index where the step begins.
  void eachRow(Span rows, llvm::function_ref<void(Emitted row)> body) const;
  void eachStep(Span columns, llvm::function_ref<void(Emitted column)> body) const;
  /// The same for code that carries accumulators, which begin as `neutral`: `body` gets them and returns the next ones.
  Values sumRows(Span rows, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> neutral,
                 llvm::function_ref<Values(Emitted row, const Values &)> body) const;
  Values sumSteps(Span columns, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> neutral,
                  llvm::function_ref<Values(Emitted column, const Values &)> body) const;
  /// The same steps with as many rounds for each thread of the block, which may so wait for each other: `isInside` says
  /// whether the thread has a step in this round; otherwise `column` is that of the first thread.
  void eachRound(Span columns, llvm::function_ref<void(Emitted column, Emitted isInside)> body) const;

  Emitted across, down;      // threads along each side
  Emitted rowThread, thread; // this thread's row, and its place in the row
  int64_t vector;

private:
  GridFrame &frame;
};

/// The largest number of elements that a thread takes in one step: 16 bytes of the widest element that `generic` reads
/// or writes along `dim`, at most 8, or 2 if its body has a long function; 1 if it looks elements up.
int64_t vectorOf(const BlockFrame &frame, mlir::linalg::GenericOp generic, int dim);

/// Code for steps along a dim: `body` gets aligned lanes of `vectors` if `multiple` is a multiple of their number, else
/// single elements. Both ways return values of the same types.
Values inVectors(GridFrame &frame, Emitted multiple, const Lanes &vectors,
                 llvm::function_ref<Values(const Lanes &)> body);

} // namespace halftone::compiler
