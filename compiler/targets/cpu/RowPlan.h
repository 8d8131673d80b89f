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
    TensorStorage storage; // where an elementwise output or a side reduction is stored
    bool isPartial = false, isCarried = false;
    bool mayStream = false; // a full result, written a vector at a time
    int accumulator = -1;   // of a carried output: its position
    Emitted chunk = {};     // of a side reduction that rounds: memory for the totals of a chunk of rows, then of chunks
    int nanFlag = -1;       // the accumulator that says whether there was a NaN, where the output's own leaves it out
  };
  /// One generic. Along its vector dim, the last inner one, it takes a vector at a time.
  struct Phase {
    mlir::linalg::GenericOp generic;
    llvm::SmallVector<TensorAccess> inputAccesses;
    llvm::SmallVector<Output> outputs;
    llvm::SmallVector<std::string> combiners; // of the accumulators: of carried outputs, then flags
    Values neutral;                           // of the accumulators
    llvm::SmallVector<int> inner;             // the inner dims that it runs along: all, those of one shape, or none
    llvm::SmallVector<unsigned> prefetched;   // inputs of which it asks for the next row
    bool isRounded = false;                   // whether an accumulator's totals are
    int64_t codeSize = 0;                     // of one copy of the body

    int vectorDim() const { return inner.back(); }
  };
  /// A range of indices of a phase's vector dim.
  struct Columns {
    Emitted begin, end;
  };

  /// Splits the kernel's dims into outer and inner ones.
  explicit RowPlan(KernelFrame &frame);
  // Each of these adds facts to those of the functions before it, and emits the addresses and conditions that belong to them.
  void readPhases();
  /// Gives each tensor between phases its row of scratch. Returns the offset of the scratch behind the rows.
  Emitted placeScratch();
  /// Gives each packed result its place to be staged. Fails with a diagnostic if there is no code for a layout.
  mlir::LogicalResult findPacked();
  void choosePrefetches();
  void chooseStreams();
  /// In place, rows that keep their elements are passed over.
  void findKept();

  KernelFrame &frame;
  llvm::SmallVector<int> outer, inner;
  std::vector<Phase> phases;
  std::vector<std::pair<Output *, PackedStore>> packed; // results that are stored as panels
  Emitted streams;                                      // whether results go past the caches; null: none ever does
  std::optional<KeptElements> kept;                     // of a loop that may leave rows as they are
  Emitted isInPlace;                                    // whether it does

private:
  Phase phaseOf(mlir::linalg::GenericOp generic);
  void flagNan(Phase &phase, Output &output);
  bool isWhole(const TensorAccess &access) const;
};

} // namespace halftone::compiler
