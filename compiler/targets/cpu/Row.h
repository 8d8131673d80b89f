// The emitter of elementwise loops and row kernels, shared by its parts: rows, their phases, squares of transposed
// loops. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/Lanes.h"
#include "compiler/targets/cpu/PackedStore.h"

namespace halftone::compiler {

class RowEmitter {
public:
  explicit RowEmitter(KernelFrame &frame) : frame(frame), vectorDim(frame.dims - 1) {
    for (int dim = 0; dim < frame.dims; ++dim)
      (dim < frame.source.form.outer ? outer : inner).push_back(dim);
  }
  mlir::LogicalResult emit(bool isLoop);

private:
  using Values = KernelFrame::Values;

  /// One output of a generic, its home and its combiner.
  struct Output {
    unsigned number;
    std::string combiner;
    TensorAccess access;
    TensorHome home; // where an elementwise output or a side reduction is stored
    bool isPartial = false, isCarried = false;
    bool mayStream = false; // a full result, written a vector at a time
    int accumulator = -1;   // of a carried output: its number
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
  };

  Phase phaseOf(mlir::linalg::GenericOp generic);
  void flagNan(Phase &phase, Output &output);
  void placeScratch();
  void choosePrefetches();
  void chooseStreams();
  mlir::LogicalResult findPacked();
  mlir::LogicalResult clearPartials(mlir::Value block);
  mlir::LogicalResult emitStagedRows(mlir::Value rowBegin, mlir::Value rowEnd);
  mlir::LogicalResult emitRows(mlir::Value rowBegin, mlir::Value rowEnd);
  mlir::LogicalResult emitRow();

  mlir::LogicalResult emitScalar(Phase &phase);
  mlir::LogicalResult emitInner(Phase &phase);
  mlir::FailureOr<Values> emitEitherWay(Phase &phase, const Values &carried);
  mlir::FailureOr<Values> emitVectors(Phase &phase, mlir::ValueRange carried);
  int64_t groupsOf(Phase &phase);
  bool takesPairs(Phase &phase);
  void loadPairs(Phase &phase);
  mlir::Value halfOf(mlir::Value pair, bool upper);
  mlir::FailureOr<mlir::Value> emitGroups(Phase &phase, Values &carried);
  mlir::Value orNan(mlir::Value flag, llvm::ArrayRef<mlir::Value> values);
  mlir::FailureOr<Values> emitMaskedStep(Phase &phase, mlir::Value begin, const Values &carried);
  mlir::FailureOr<Values> emitStep(Phase &phase, llvm::ArrayRef<mlir::Value> carried, const Lanes &lanes);
  void emitPrefetches(Phase &phase);
  void finishCarried(Phase &phase, llvm::ArrayRef<mlir::Value> totals);
  void combineIntoMemory(const Output &output, mlir::Value value);

  /// Numbers of the inputs to transpose.
  llvm::SmallVector<unsigned> transposedInputs(const Phase &phase);
  mlir::LogicalResult emitSquares(mlir::Value rowBegin, mlir::Value rowEnd, llvm::ArrayRef<unsigned> transposed);
  mlir::LogicalResult emitSquare(llvm::ArrayRef<unsigned> transposed);
  mlir::Value squareRow(unsigned place, mlir::Type element, mlir::Value row);

  KernelFrame &frame;
  int vectorDim; // the last inner dim of the present phase
  llvm::SmallVector<int> outer, inner;
  std::vector<Phase> phases;
  mlir::Value columnBegin, columnEnd;                   // of the vector dim, in the present block
  mlir::Value nextRow;                                  // how many elements ahead it is
  mlir::Value stagedBegin;                              // the first row of those that are staged
  mlir::Value streams;                                  // whether results go past the caches; null: none ever does
  bool streaming = false;                               // in the code for that
  std::vector<std::pair<Output *, PackedStore>> packed; // results that are stored as panels
  llvm::SmallDenseMap<unsigned, mlir::Value> atHand;    // inputs of the next steps that need no load
  llvm::SmallDenseMap<unsigned, mlir::Value> pairs;     // of the present two steps of a group, as 32-bit integers
  std::vector<Values> unflagged; // by output: values of a group's steps that are looked at for NaN together
};

} // namespace halftone::compiler
