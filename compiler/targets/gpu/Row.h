// The emitter of rows on GPUs: teams of threads that keep a row in registers, or all threads along a long row.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"
#include "compiler/kernels/RowTile.h"
#include "compiler/targets/gpu/Reduce.h"

namespace halftone::compiler {

/// Each team, a row of the block's threads, takes every `teams`-th row of the block; in it, each thread takes every
/// `across`-th vector. So a thread reads no element of a row that another thread wrote, and reads operands once where its
/// steps hold the whole row.
class TeamRowEmitter {
public:
  TeamRowEmitter(GridFrame &frame, const RowTile &tile);
  mlir::LogicalResult emit();

private:
  /// How an output is combined.
  enum class Combining {
    none,    // elementwise
    row,     // over the inner dims: a value of the row, for later phases
    block,   // a side reduction to one value
    columns, // a side reduction that keeps the inner dims: in registers, where these hold the row
    memory,  // any other side reduction: in the block's piece, each element by one thread
  };
  /// One output of a generic and its storage.
  struct Output {
    unsigned position = 0;
    std::string combiner;
    TensorAccess access;
    TensorStorage storage;
    Combining combining = Combining::none;
    Values running = {}; // accumulators: for `columns` one of each step, for `row` and `block` one
  };
  struct Phase {
    mlir::linalg::GenericOp generic;
    llvm::SmallVector<TensorAccess> inputAccesses;
    std::vector<Output> outputs;
    llvm::SmallVector<int> inner; // the inner dims that it runs along: all, those of one shape, or none
    Lanes lanes;
  };
  /// One vector of a phase: where it begins, and whether the phase has it.
  struct Step {
    Values index;     // of the phase's inner dims
    Emitted isInside; // null: always
  };
  /// Elements of a tensor that are at hand: one of the row, or of each step one vector.
  struct Held {
    mlir::Value tensor;
    TensorAccess access;
    Values values;
  };

  mlir::FailureOr<Phase> phaseOf(mlir::linalg::GenericOp generic);
  mlir::FailureOr<Combining> combiningOf(Phase &phase, const Output &output);
  bool keepsRows() const { return tile.steps > 0; }
  void placeScratch();
  void beginPieces();
  void finishPieces();
  void finishPiece(Phase &phase, llvm::ArrayRef<Output *> outputs);

  void emitRow(Emitted row);
  void emitInner(Phase &phase);
  void emitOuter(Phase &phase);
  llvm::SmallVector<Step> stepsFrom(const Phase &phase, Emitted begin);
  void emitSteps(Phase &phase, llvm::ArrayRef<Step> steps);
  void holdInputs(Phase &phase, llvm::ArrayRef<Step> steps);
  Values inputsAt(const Phase &phase, size_t step);
  Values bodyAt(Phase &phase, size_t step, const Step &place);
  void storeAt(Phase &phase, const Values &yields);
  void standAt(const Phase &phase, const Step &step);
  void totalRow(Phase &phase);
  Values overTeam(llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> own);

  bool isOfRow(const Phase &phase, const TensorAccess &access) const;
  const Held *heldOf(mlir::Value tensor, const TensorAccess &access) const;
  Emitted loadIf(Emitted condition, const TensorStorage &storage, const TensorAccess &access, const Lanes &lanes);
  Values running(Phase &phase) const;
  void setRunning(Phase &phase, llvm::ArrayRef<Emitted> values);
  Values blockTotals();
  llvm::SmallVector<std::string> blockCombiners() const;
  void setBlockTotals(llvm::ArrayRef<Emitted> values);

  GridFrame &frame;
  const RowTile tile;
  const ThreadTile threads;
  llvm::SmallVector<int> outer, inner;
  std::vector<Phase> phases;
  std::vector<Held> held;
  Emitted isRowInside; // whether the block has this team's row; null: always
};

} // namespace halftone::compiler
