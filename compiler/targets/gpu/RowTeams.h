// The threads of a block that share the rows of a row kernel, and the kernel's generics as phases.
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
    row,     // over the inner dims: one value per row, for later phases
    block,   // a partial reduction to one value
    columns, // a partial reduction that keeps the inner dims: in registers if these hold the row
    memory,  // any other partial reduction: in memory, in the block's partial result, one thread per element
  };

  /// Returns true for a partial reduction that threads accumulate in registers.
  bool isPartialInRegisters() const { return combining == Combining::block || combining == Combining::columns; }

  unsigned position = 0;
  std::string combiner;
  TensorAccess access;
  TensorStorage storage;
  Combining combining = Combining::none;
  Values running = {}; // accumulators: for `columns` one per step, for `row` and `block` one
};

/// A generic.
struct RowPhase {
  mlir::linalg::GenericOp generic;
  llvm::SmallVector<TensorAccess> inputAccesses;
  std::vector<RowOutput> outputs;
  llvm::SmallVector<int> inner; // the inner dims that it iterates over: all, those of one shape, or none
  Lanes lanes;
};

/// One vector of a phase: its index, and whether it is inside the phase's range.
struct RowStep {
  Values index;     // of the phase's inner dims
  Emitted isInside; // null: always
};

/// Each team, a row of the block's threads, processes every `teams`-th row of the block; within a row, each thread
/// processes every `across`-th vector. So a thread reads no element of a row that another thread wrote, and loads
/// operands once if its steps hold the whole row.
class RowTeams {
public:
  /// The number of vectors that a thread processes at a time if registers do not hold the row.
  static constexpr int64_t longSteps = 2;

  RowTeams(GridFrame &frame, const RowTile &tile);

  bool keepsRows() const { return tile.steps > 0; }
  /// On failure a diagnostic names a partial reduction that is not supported.
  mlir::FailureOr<RowPhase> phaseOf(mlir::linalg::GenericOp generic) const;
  /// The vectors of this thread, `across` apart, from the row's element `begin` on.
  llvm::SmallVector<RowStep> stepsFrom(const RowPhase &phase, Emitted begin) const;
  void moveTo(const RowPhase &phase, const RowStep &step) const;
  /// Combines a team's scalars or vectors to totals.
  Values total(llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> own) const;
  /// Whether this thread is the first of its team.
  Emitted isFirst() const { return equal(threads.thread, threads.thread.like(0)); }

  GridFrame &frame;
  const RowTile tile;
  const ThreadTile threads;
  llvm::SmallVector<int> outer, inner;
  Emitted isRowInside; // whether the team's row is in the block; null: always

private:
  mlir::FailureOr<RowOutput::Combining> combiningOf(const RowPhase &phase, const RowOutput &output) const;
};

/// The conjunction of both conditions; null means true.
Emitted both(Emitted a, Emitted b);

} // namespace halftone::compiler
