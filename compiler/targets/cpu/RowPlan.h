// The phases of a loop or row kernel on CPUs, with the facts and the memory that their code shares.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KeptElements.h"
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/PackedStore.h"
#include <optional>

namespace halftone::compiler {

struct RowPlan {
  /// One output of a generic, its storage and its combiner.
  struct Output {
    unsigned position;
    std::string combiner;
    TensorAccess access;
    TensorStorage storage; // of an elementwise output or a partial reduction
    bool isPartial = false, isCarried = false;
    bool mayStream = false; // a full result, written a vector at a time
    int accumulator = -1;   // of a carried output: its index
    Emitted chunk = {};     // of a partial reduction that rounds: memory for totals of a chunk of rows, and of chunks
    int nanFlag = -1;       // the accumulator that records whether there was a NaN, if the output's own ignores NaN
  };
  /// One generic, vectorized along its vector dim, the last inner one.
  struct Phase {
    mlir::linalg::GenericOp generic;
    llvm::SmallVector<TensorAccess> inputAccesses;
    llvm::SmallVector<Output> outputs;
    llvm::SmallVector<std::string> combiners; // of the accumulators: those of carried outputs, then flags
    Values neutral;                           // of the accumulators
    llvm::SmallVector<int> inner;             // the inner dims that it iterates over: all, those of one shape, or none
    llvm::SmallVector<unsigned> prefetched;   // inputs whose next row is prefetched
    bool isRounded = false;                   // an accumulator's totals are rounded
    int64_t codeSize = 0;                     // per copy of the body

    int vectorDim() const { return inner.back(); }
  };
  /// A range of indices of a phase's vector dim.
  struct Columns {
    Emitted begin, end;
  };

  /// Divides the kernel's dims into outer and inner ones.
  explicit RowPlan(KernelFrame &frame);
  // Each of these adds facts to those of the functions before it, and emits their addresses and conditions.
  void readPhases();
  /// Assigns a row of scratch to each tensor between phases. Returns the scratch offset after the rows.
  Emitted placeScratch();
  /// Assigns staging memory to each packed result. Fails with a diagnostic if a layout is not supported.
  mlir::LogicalResult findPacked();
  void choosePrefetches();
  void chooseStreams();
  /// In-place kernels skip rows that keep their elements.
  void findKept();

  KernelFrame &frame;
  llvm::SmallVector<int> outer, inner;
  std::vector<Phase> phases;
  std::vector<std::pair<Output *, PackedStore>> packed; // packed results
  Emitted streams;                                      // whether results are stored non-temporally; null: never
  std::optional<KeptElements> kept;                     // of a loop that may keep rows unchanged
  Emitted isInPlace;                                    // whether it is in place

private:
  Phase phaseOf(mlir::linalg::GenericOp generic);
  void flagNan(Phase &phase, Output &output);
  bool isWhole(const TensorAccess &access) const;
};

} // namespace halftone::compiler
