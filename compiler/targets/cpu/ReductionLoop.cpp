// Reduction loops.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for kept row in block, or a few of them: for column, a few vectors at a time:
//     accumulators; for each reduced index, in order: body; then the epilogue's body on the totals
// A row at which no tap of a window leaves its image has code without tests of taps. Where rows lie behind the reduced
// axes (the taps of a window, in the gradient by a depthwise kernel), operands are the same for many rows: a few rows are
// accumulated together, and parts of the last reduced axis at which their taps stay inside have code without tests.
#include "compiler/kernels/Lanes.h"
#include "compiler/kernels/WindowInterior.h"
#include "compiler/targets/cpu/Emitters.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

class ReductionLoopEmitter {
public:
  explicit ReductionLoopEmitter(KernelFrame &frame)
      : frame(frame), vectorDim(int(frame.dims) - 1), accumulation(frame.source.generics[0]),
        epilogue(frame.source.generics[1]) {
    for (int dim = 0; dim < frame.dims; ++dim) {
      if (dim >= frame.source.form.outer && dim < frame.source.form.outer + frame.source.form.reduced)
        reduced.push_back(dim);
      else if (dim != vectorDim)
        rows.push_back(dim);
    }
    interior.emplace(frame, accumulation, reduced);
  }
  void emit();

private:
  bool sharesRows() const { return !rows.empty() && !reduced.empty() && rows.back() > reduced.back(); }
  /// `count` rows from `row` on, side by side.
  void emitRows(Emitted row, int64_t count, Emitted columnBegin, Emitted columnEnd);
  /// Their columns, accumulated by `generic`.
  void emitRowsBy(linalg::GenericOp generic, Emitted columnBegin, Emitted columnEnd);
  /// `vectors` steps of the given lanes, side by side, at the present rows and column.
  void emitColumns(Emitted column, const Lanes &lanes, int64_t vectors);
  Values accumulateAll(const Values &initial, llvm::function_ref<Values(const Values &)> step);
  Values accumulateParts(const Values &initial, llvm::function_ref<Values(const Values &)> step);
  Values accumulate(ArrayRef<Emitted> accumulators, const Lanes &lanes);
  void finish(ArrayRef<Emitted> totals, const Lanes &lanes);
  void moveTo(const Values &row) {
    for (auto [dim, index] : llvm::zip_equal(rows, row))
      frame.index[size_t(dim)] = index;
  }

  KernelFrame &frame;
  int vectorDim;
  linalg::GenericOp accumulation, epilogue;
  linalg::GenericOp body; // of the present code: `accumulation`, or it without the bounds of its windows
  SmallVector<int> reduced, rows;
  SmallVector<Values> present; // the indices of the rows that are accumulated together
  std::optional<WindowInterior> interior;
};

Values ReductionLoopEmitter::accumulate(ArrayRef<Emitted> accumulators, const Lanes &lanes) {
  Values arguments = loadInputs(frame, body, lanes);
  arguments.append(accumulators.begin(), accumulators.end());
  return emitBody(frame, body, arguments, lanes);
}

void ReductionLoopEmitter::finish(ArrayRef<Emitted> totals, const Lanes &lanes) {
  for (auto [result, total] : llvm::zip(accumulation.getResults(), totals))
    frame.storage[result] = {{}, total.type(), total};
  storeOutputs(frame, epilogue, lanes);
}

void ReductionLoopEmitter::emitColumns(Emitted column, const Lanes &lanes, int64_t vectors) {
  const auto count = size_t(accumulation.getNumDpsInits());
  const auto forEach = [&](llvm::function_ref<void(size_t)> each) {
    size_t first = 0;
    for (const Values &row : present) {
      moveTo(row);
      for (int64_t vector = 0; vector < vectors; ++vector, first += count) {
        frame.index[vectorDim] = vector == 0 ? column : column + vector * lanes.count;
        each(first);
      }
    }
  };
  Values initial;
  forEach([&](size_t) {
    for (unsigned output = 0; output < count; ++output)
      initial.push_back(frame.splat(frame.initialOf(accumulation, output), lanes.count));
  });
  const Values totals = accumulateAll(initial, [&](const Values &accumulators) {
    Values next;
    forEach([&](size_t first) { next.append(accumulate(ArrayRef<Emitted>(accumulators).slice(first, count), lanes)); });
    return next;
  });
  forEach([&](size_t first) { finish(ArrayRef<Emitted>(totals).slice(first, count), lanes); });
}

/// One step after the other, in the order of the reduced axes.
Values ReductionLoopEmitter::accumulateAll(const Values &initial, llvm::function_ref<Values(const Values &)> step) {
  if (!sharesRows() || !interior->isKnown(vectorDim))
    return frame.loops(reduced, initial, step);
  return frame.loops(ArrayRef(reduced).drop_back(), initial,
                     [&](const Values &now) { return accumulateParts(now, step); });
}

/// The last reduced axis in short parts.
Values ReductionLoopEmitter::accumulateParts(const Values &initial, llvm::function_ref<Values(const Values &)> step) {
  const auto dim = size_t(reduced.back());
  const Emitted one = frame.constant(1), length = frame.constant(8), extent = frame.extents[dim];
  return frame.loop(frame.constant(0), extent, length, initial, [&](Emitted begin, const Values &before) {
    const Emitted end = minimum(begin + length, extent);
    Emitted inside;
    for (const Values &row : present)
      for (const Emitted &at : {begin, end - 1}) { // the index of a tap is monotonic between them
        moveTo(row);
        frame.index[dim] = at;
        const Emitted holds = interior->holdsAtIndex();
        inside = inside ? inside & holds : holds;
      }
    const auto by = [&](linalg::GenericOp generic) {
      return [&, generic] {
        body = generic;
        return frame.loop(begin, end, one, before, [&](Emitted at, const Values &now) {
          frame.index[dim] = at;
          return step(now);
        });
      };
    };
    return frame.choose(inside, by(interior->generic()), by(accumulation));
  });
}

void ReductionLoopEmitter::emitRows(Emitted row, int64_t count, Emitted columnBegin, Emitted columnEnd) {
  present.clear();
  for (int64_t i = 0; i < count; ++i) {
    frame.delinearize(i == 0 ? row : row + i, rows);
    present.emplace_back();
    for (int dim : rows)
      present.back().push_back(frame.index[size_t(dim)]);
  }
  const auto by = [&](linalg::GenericOp generic) {
    return [&, generic] { emitRowsBy(generic, columnBegin, columnEnd); };
  };
  if (interior->isKnown(vectorDim) && !sharesRows())
    frame.branch(interior->holds(), by(interior->generic()), by(accumulation));
  else
    by(accumulation)();
}

void ReductionLoopEmitter::emitRowsBy(linalg::GenericOp generic, Emitted columnBegin, Emitted columnEnd) {
  body = generic;
  // So many vectors side by side; a body without bounds leaves registers for many.
  const bool isSmall = (isShort(body) || body != accumulation) && body.getNumDpsInits() == 1 && present.size() == 1;
  const SmallVector<int64_t> counts = isSmall ? SmallVector<int64_t>{8, 4, 1} : SmallVector<int64_t>{4, 2, 1};
  const auto segment = [&](Emitted begin, Emitted end, int64_t step, const Lanes &lanes, int64_t count) {
    frame.loop(begin, end, frame.constant(step), [&](Emitted column) {
      frame.index[vectorDim] = column;
      emitColumns(column, lanes.limit ? maskedLanes(frame, lanes.count, vectorDim, lanes.limit) : lanes, count);
    });
  };
  Emitted begin = columnBegin;
  for (int64_t count : counts) {
    const int64_t step = count * frame.lanes;
    const Emitted end = begin + divideUnsigned(columnEnd - begin, frame.constant(step)) * step;
    segment(begin, end, step, {frame.lanes, vectorDim}, count);
    begin = end;
  }
  if (frame.target.hasMaskedMemory)
    segment(begin, columnEnd, frame.lanes, {frame.lanes, vectorDim, {}, columnEnd}, 1);
  else
    segment(begin, columnEnd, 1, {0, vectorDim}, 1);
}

void ReductionLoopEmitter::emit() {
  const Emitted one = frame.constant(1), columns = frame.extents[vectorDim], rowCount = frame.size(rows);
  const Emitted blockRows = frame.extents[frame.dims], blockColumns = frame.extents[frame.dims + 1];
  const Emitted columnBlocks = ceilDivideUnsigned(columns, blockColumns);
  const SmallVector<int64_t> counts = sharesRows() ? SmallVector<int64_t>{sharedRows, 1} : SmallVector<int64_t>{1};
  frame.loop(frame.blockBegin, frame.blockEnd, one, [&](Emitted block) {
    const Emitted rowBegin = divideUnsigned(block, columnBlocks) * blockRows;
    const Emitted rowEnd = minimum(rowCount, rowBegin + blockRows);
    const Emitted columnBegin = remainderUnsigned(block, columnBlocks) * blockColumns;
    const Emitted columnEnd = minimum(columns, columnBegin + blockColumns);
    Emitted begin = rowBegin;
    for (const int64_t count : counts) {
      const Emitted step = frame.constant(count), end = begin + divideUnsigned(rowEnd - begin, step) * step;
      frame.loop(begin, end, step, [&](Emitted row) { emitRows(row, count, columnBegin, columnEnd); });
      begin = end;
    }
  });
}

} // namespace

void emitReductionLoop(KernelFrame &frame) { ReductionLoopEmitter(frame).emit(); }

} // namespace halftone::compiler
