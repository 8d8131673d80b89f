// The threads of a block that share the rows of a row kernel, and the kernel's generics as phases of a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/gpu/RowThreads.h"
#include "compiler/targets/gpu/ThreadTile.h"

namespace halftone::compiler {

/// One output of a generic and its storage.
struct RowOutput {
  enum class Combining {
    none,    // elementwise
    row,     // over the inner dims: a value of the row, for later phases
    block,   // a side reduction to one value
    columns, // a side reduction that keeps the inner dims: in registers, where these hold the row
    memory,  // any other side reduction: in the block's piece, each element by one thread
  };

  /// Whether it is a side reduction that threads add up in registers.
  bool isPieceInRegisters() const { return combining == Combining::block || combining == Combining::columns; }

  unsigned position = 0;
  std::string combiner;
  TensorAccess access;
  TensorStorage storage;
  Combining combining = Combining::none;
  Values running = {}; // accumulators: for `columns` one of each step, for `row` and `block` one
};

/// A generic.
struct RowPhase {
  mlir::linalg::GenericOp generic;
  llvm::SmallVector<TensorAccess> inputAccesses;
  std::vector<RowOutput> outputs;
  llvm::SmallVector<int> inner; // the inner dims that it runs along: all, those of one shape, or none
  Lanes lanes;
};

/// One vector of a phase: where it begins, and whether the phase has it.
struct RowStep {
  Values index;     // of the phase's inner dims
  Emitted isInside; // null: always
};

/// Each team, a row of the block's threads, takes every `teams`-th row of the block; in it, each thread takes every
/// `across`-th vector. So a thread reads no element of a row that another thread wrote, and reads operands once where its
/// steps hold the whole row.
class RowTeams {
public:
  /// Vectors that a thread has at a time of a row that registers do not hold.
  static constexpr int64_t longSteps = 2;

  RowTeams(GridFrame &frame, const RowTile &tile);

  bool keepsRows() const { return tile.steps > 0; }
  /// On failure a diagnostic names a side reduction that has no code.
  mlir::FailureOr<RowPhase> phaseOf(mlir::linalg::GenericOp generic) const;
  /// The vectors of this thread, `across` apart, from the row's element `begin` on.
  llvm::SmallVector<RowStep> stepsFrom(const RowPhase &phase, Emitted begin) const;
  void standAt(const RowPhase &phase, const RowStep &step) const;
  /// The totals of a team's scalars or vectors.
  Values total(llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> own) const;
  /// Whether this thread is its team's first one.
  Emitted isFirst() const { return equal(threads.thread, threads.thread.like(0)); }

  GridFrame &frame;
  const RowTile tile;
  const ThreadTile threads;
  llvm::SmallVector<int> outer, inner;
  Emitted isRowInside; // whether the block has this team's row; null: always

private:
  mlir::FailureOr<RowOutput::Combining> combiningOf(const RowPhase &phase, const RowOutput &output) const;
};

/// Both conditions; null stands for one that always holds.
Emitted both(Emitted a, Emitted b);

} // namespace halftone::compiler
