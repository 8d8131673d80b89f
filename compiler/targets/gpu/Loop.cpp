// Elementwise loops and their partial reductions.
// SPDX-License-Identifier: Apache-2.0
//
//   block: rows x columns; thread: for its rows: for its steps in the row: load, body, store
//
// A partial reduction that keeps columns has a separate, earlier pass: each thread iterates over the rows with
// accumulators for one step of columns; then the threads of a column are combined. Only the last pass stores results,
// since they may overwrite operands.
#include "compiler/targets/gpu/Emitters.h"
#include "compiler/targets/gpu/Reduce.h"
#include "compiler/targets/gpu/Squares.h"
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

namespace {

/// The outputs that one pass over the block's elements computes.
struct Pass {
  SmallVector<int> kept;         // dims that the accumulators keep; none: scalars
  SmallVector<unsigned> outputs; // partial reductions
  bool stores = false;           // the elementwise outputs too
};

class LoopEmitter {
public:
  explicit LoopEmitter(GridFrame &frame)
      : frame(frame), generic(frame.source.generics.front()), columnDim(int(frame.dims) - 1),
        combiners(combinersOf(generic)), vector(vectorOf(frame, generic, columnDim)), squares(frame, generic) {}
  FailureOr<std::string> emit();

private:
  SmallVector<Pass> passes();
  void findBlock();
  SmallVector<std::string> combinersIn(const Pass &pass) const;
  Values neutral(const Pass &pass, const Lanes &lanes);
  Values emitStep(const Pass &pass, const Lanes &lanes, Emitted row, ArrayRef<Emitted> carried);
  void storePartial(const Pass &pass, ArrayRef<Emitted> totals, const Lanes &lanes);
  void emitKept(const Pass &pass, const Lanes &lanes);
  Values emitRows(const Pass &pass, Span rows, Span columns, const Lanes &lanes);
  Values emitSquares(const Pass &pass, const Lanes &lanes);
  void emitAll(const Pass &pass);

  GridFrame &frame;
  linalg::GenericOp generic;
  int columnDim;
  SmallVector<std::string> combiners; // of the outputs
  int64_t vector;
  Squares squares;
  Span rows, columns; // of the block
};

/// Returns one pass for each set of kept dims; the pass without kept dims, if it has work, is the last.
SmallVector<Pass> LoopEmitter::passes() {
  SmallVector<Pass> all;
  Pass last;
  for (unsigned output = 0; output < combiners.size(); ++output) {
    if (combiners[output].empty()) {
      last.stores = true;
      continue;
    }
    SmallVector<int> kept = frame.source.accessOf(generic, *generic.getDpsInitOperand(output)).dims;
    llvm::erase_if(kept, [](int dim) { return dim < 0; }); // an axis of extent 1
    if (kept.empty()) {
      last.outputs.push_back(output);
      continue;
    }
    Pass *pass = llvm::find_if(all, [&](const Pass &each) { return each.kept == kept; });
    if (pass == all.end())
      pass = &all.emplace_back(Pass{kept, {}, false});
    pass->outputs.push_back(output);
  }
  if (last.outputs.empty() && !all.empty())
    all.back().stores = last.stores;
  else
    all.push_back(last);
  return all;
}

SmallVector<std::string> LoopEmitter::combinersIn(const Pass &pass) const {
  return llvm::map_to_vector(pass.outputs, [&](unsigned output) { return combiners[output]; });
}

Values LoopEmitter::neutral(const Pass &pass, const Lanes &lanes) {
  Values values;
  for (unsigned output : pass.outputs)
    values.push_back(frame.splat(frame.initialOf(generic, output), lanes.count));
  return values;
}

/// Emits loads, body and stores at the current index, which is in `row`. Returns the next accumulators of the pass.
Values LoopEmitter::emitStep(const Pass &pass, const Lanes &lanes, Emitted row, ArrayRef<Emitted> carried) {
  const auto fromSquare = [&](unsigned input) { return squares.read(input, row, lanes); };
  Values arguments = loadInputs(frame, generic, lanes, fromSquare), next;
  for (unsigned output = 0; output < combiners.size(); ++output) {
    if (combiners[output].empty())
      arguments.push_back({});
    else if (const auto *own = llvm::find(pass.outputs, output); own != pass.outputs.end())
      arguments.push_back(carried[size_t(own - pass.outputs.begin())]);
    else // computed by another pass
      arguments.push_back(frame.splat(frame.initialOf(generic, output), lanes.count));
  }
  for (auto [output, value] : llvm::enumerate(emitBody(frame, generic, arguments, lanes))) {
    if (llvm::is_contained(pass.outputs, output))
      next.push_back(value);
    else if (pass.stores && combiners[output].empty())
      storeLanes(frame, value, frame.storage.lookup(generic.getResult(unsigned(output))),
                 frame.source.accessOf(generic, *generic.getDpsInitOperand(int64_t(output))), lanes);
  }
  return next;
}

/// Stores totals at the current index of the kept dims in the block's partial result of each buffer.
void LoopEmitter::storePartial(const Pass &pass, ArrayRef<Emitted> totals, const Lanes &lanes) {
  for (auto [output, total] : llvm::zip(pass.outputs, totals)) {
    TensorStorage result = frame.storage.lookup(generic.getResult(output));
    result.pointer = frame.address(result.pointer, result.element, frame.block * frame.size(pass.kept));
    storeLanes(frame, total, result, frame.source.accessOf(generic, *generic.getDpsInitOperand(output)), lanes);
  }
}

/// Emits a pass whose accumulators keep `pass.kept`, the last dims; threads take steps of these dims, linearised.
void LoopEmitter::emitKept(const Pass &pass, const Lanes &lanes) {
  const SmallVector<int> reduced = llvm::to_vector(llvm::seq<int>(0, pass.kept.front()));
  SmallVector<int> keptRows = pass.kept;
  keptRows.pop_back();
  const Emitted each = frame.size(keptRows);
  const Span own{divideUnsigned(rows.begin, each), divideUnsigned(rows.end, each)};
  const Emitted keptSize = frame.size(pass.kept);
  const ThreadTile tile(frame, keptSize, std::max<int64_t>(lanes.count, 1));
  tile.eachRound({frame.constant(0), keptSize}, [&](Emitted column, Emitted isInside) {
    frame.delinearize(column, pass.kept);
    const Span here{own.begin, select(isInside, own.end, own.begin)};
    const Values sums =
        tile.sumRows(here, combinersIn(pass), neutral(pass, lanes), [&](Emitted row, const Values &carried) {
          frame.delinearize(row, reduced);
          return emitStep(pass, lanes, row, carried);
        });
    const Values totals = foldRows(frame, tile, combinersIn(pass), sums);
    frame.branch(isInside & equal(tile.rowThread, tile.rowThread.like(0)), [&] {
      frame.delinearize(column, pass.kept);
      storePartial(pass, totals, lanes);
    });
  });
}

/// Emits some of the block's elements; returns the thread's accumulators, as scalars.
Values LoopEmitter::emitRows(const Pass &pass, Span rows, Span columns, const Lanes &lanes) {
  const SmallVector<int> outer = llvm::to_vector(llvm::seq<int>(0, columnDim));
  const ThreadTile tile(frame, columns.end - columns.begin, std::max<int64_t>(lanes.count, 1));
  const SmallVector<std::string> names = combinersIn(pass);
  const Values none = neutral(pass, lanes);
  const Values sums = tile.sumRows(rows, names, none, [&](Emitted row, const Values &ofRows) {
    frame.delinearize(row, outer);
    const Values ofRow = tile.sumSteps(columns, names, none, [&](Emitted column, const Values &carried) {
      frame.index[columnDim] = column;
      return emitStep(pass, lanes, row, carried);
    });
    return combineAll(frame, names, ofRows, ofRow);
  });
  return lanes.count > 0 ? combineLanes(frame, names, sums) : sums;
}

/// Emits the block square by square. Such a kernel has no partial reductions.
Values LoopEmitter::emitSquares(const Pass &pass, const Lanes &lanes) {
  const Emitted step = frame.constant(Squares::side);
  frame.loop(rows.begin, rows.end, step, [&](Emitted row) {
    frame.loop(columns.begin, columns.end, step, [&](Emitted column) {
      const Span here{row, minimum(rows.end, row + step)}, across{column, minimum(columns.end, column + step)};
      squares.load(here, across);
      emitRows(pass, here, across, lanes);
    });
  });
  return {};
}

/// Emits a pass with scalar accumulators.
void LoopEmitter::emitAll(const Pass &pass) {
  // With one row, a block's steps are aligned if its first one is; the columns after them are processed one by one.
  const bool isFlat = columnDim == 0;
  const Lanes vectors{vector, columnDim};
  const Values sums =
      inVectors(frame, isFlat ? columns.begin : frame.extents[columnDim], vectors, [&](const Lanes &lanes) {
        if (!isFlat || lanes.count == 0)
          return squares.isEmpty() ? emitRows(pass, rows, columns, lanes) : emitSquares(pass, lanes);
        const Emitted width = frame.constant(lanes.count);
        const Emitted end = columns.begin + divideUnsigned(columns.end - columns.begin, width) * width;
        const Values whole = emitRows(pass, rows, {columns.begin, end}, lanes);
        return combineAll(frame, combinersIn(pass), whole, emitRows(pass, rows, {end, columns.end}, {0, columnDim}));
      });
  if (pass.outputs.empty())
    return;
  const Values totals = foldBlock(frame, combinersIn(pass), sums);
  frame.branch(equal(frame.thread, frame.thread.like(0)), [&] { storePartial(pass, totals, {}); });
}

void LoopEmitter::findBlock() {
  const Emitted blockRows = frame.extents[size_t(frame.dims)], blockColumns = frame.extents[size_t(frame.dims) + 1];
  const Emitted rowCount = frame.size(llvm::to_vector(llvm::seq<int>(0, columnDim)));
  const Emitted extent = frame.extents[columnDim], columnBlocks = ceilDivideUnsigned(extent, blockColumns);
  const Emitted rowBegin = divideUnsigned(frame.block, columnBlocks) * blockRows;
  const Emitted columnBegin = remainderUnsigned(frame.block, columnBlocks) * blockColumns;
  rows = {rowBegin, minimum(rowCount, rowBegin + blockRows)};
  columns = {columnBegin, minimum(extent, columnBegin + blockColumns)};
}

FailureOr<std::string> LoopEmitter::emit() {
  for (const TensorForm &result : frame.source.form.results)
    if (result.panels)
      return frame.source.function.emitError("packed results of loop kernels are not supported on this target");
  findBlock();
  for (auto [number, pass] : llvm::enumerate(passes())) {
    if (number > 0) // earlier passes have read what this one may overwrite
      frame.barrier();
    if (pass.kept.empty())
      emitAll(pass);
    else
      inVectors(frame, frame.extents[columnDim], {vector, columnDim}, [&](const Lanes &lanes) {
        emitKept(pass, lanes);
        return Values();
      });
  }
  return fmt::format("{} threads, vectors of {}", frame.threads, vector);
}

} // namespace

FailureOr<std::string> emitLoop(GridFrame &frame) { return LoopEmitter(frame).emit(); }

} // namespace halftone::compiler
