// The emitter of elementwise loops and row kernels, shared by its parts: rows, their phases, squares of transposed
// loops. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KeptElements.h"
#include "compiler/kernels/LongSums.h"
#include "compiler/targets/cpu/PackedStore.h"
#include "compiler/targets/cpu/x86/Streaming.h"
#include <optional>

namespace halftone::compiler {

class RowEmitter {
public:
  explicit RowEmitter(KernelFrame &frame) : frame(frame), vectorDim(int(frame.dims) - 1) {
    for (int dim = 0; dim < frame.dims; ++dim)
      (dim < frame.source.form.outer ? outer : inner).push_back(dim);
  }
  mlir::LogicalResult emit(bool isLoop);

private:
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
  };

  Phase phaseOf(mlir::linalg::GenericOp generic);
  void flagNan(Phase &phase, Output &output);
  void placeScratch();
  void placeTotals(Emitted offset);
  void choosePrefetches();
  void chooseStreams();
  mlir::LogicalResult findPacked();
  void findKept();
  void clearPartials(Emitted block);
  void emitStagedRows(Emitted rowBegin, Emitted rowEnd);
  void emitRowChunks(Emitted rowBegin, Emitted rowEnd);
  void clearPiece(const Phase &phase, const Output &output, Emitted pointer);
  void alongChunk(const Output &output,
                  llvm::function_ref<void(Emitted at, const PairwiseTotals &pairs, const Values &values)> each);
  void alongPiece(const Output &output, llvm::function_ref<void(Emitted at, llvm::ArrayRef<mlir::Type> types)> each);
  void emitRows(Emitted rowBegin, Emitted rowEnd);
  void emitRow();

  void emitInner(Phase &phase);
  Values emitEitherWay(Phase &phase);
  Values emitTotals(Phase &phase);
  Values foldedTotals(Phase &phase, llvm::function_ref<Values(const Values &)> loops);
  Values emitVectors(Phase &phase, Emitted begin, Emitted end, const Values &start);
  int64_t groupsOf(Phase &phase);
  bool takesPairs(Phase &phase);
  void loadPairs(Phase &phase);
  Emitted emitGroups(Phase &phase, Emitted begin, Emitted end, Values &carried);
  Values emitGroup(Phase &phase, Emitted column, int64_t groups, const Values &carried);
  Values emitMaskedStep(Phase &phase, Emitted begin, Emitted end, const Values &carried);
  Values emitStep(Phase &phase, llvm::ArrayRef<Emitted> carried, const Lanes &lanes);
  Values argumentsOf(Phase &phase, llvm::ArrayRef<Emitted> carried, const Lanes &lanes);
  void emitPrefetches(Phase &phase);
  void finishCarried(Phase &phase, llvm::ArrayRef<Emitted> totals);
  void combineIntoMemory(const Output &output, Emitted value);

  /// Positions of the inputs to transpose.
  llvm::SmallVector<unsigned> transposedInputs(const Phase &phase);
  void emitSquares(Emitted rowBegin, Emitted rowEnd, llvm::ArrayRef<unsigned> transposed);
  void emitSquare(llvm::ArrayRef<unsigned> transposed);
  void emitSquareColumns(llvm::ArrayRef<unsigned> transposed, Emitted first, Emitted column);
  Emitted squareRow(unsigned place, mlir::Type element, Emitted row);

  KernelFrame &frame;
  int vectorDim; // the last inner dim of the present phase
  llvm::SmallVector<int> outer, inner;
  std::vector<Phase> phases;
  Emitted columnBegin, columnEnd;                       // of the vector dim, in the present block
  Emitted nextRow;                                      // how many elements ahead it is
  Emitted stagedBegin;                                  // the first row of those that are staged
  std::optional<KeptElements> kept;                     // of a loop that may leave rows as they are
  Emitted totals;                                       // memory for the totals of a row's chunks
  Emitted lineTotals;                                   // and of chunks of lines of a row
  Emitted isInPlace;                                    // whether it does
  Emitted streams;                                      // whether results go past the caches; null: none ever does
  bool streaming = false;                               // in the code for that
  std::vector<std::pair<Output *, PackedStore>> packed; // results that are stored as panels
  llvm::SmallDenseMap<unsigned, Emitted> atHand;        // inputs of the next steps that need no load
  llvm::SmallDenseMap<unsigned, Emitted> pairs;         // of the present two steps of a group, as 32-bit integers
  std::vector<Values> unflagged; // by output: values of a group's steps that are looked at for NaN together
};

} // namespace halftone::compiler
