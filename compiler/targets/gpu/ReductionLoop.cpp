// Reduction loops.
// SPDX-License-Identifier: Apache-2.0
//
//   for kept row in block: thread: for its steps of columns: accumulators; for its reduced indices, in order: body;
//     the threads of a column are combined; then the epilogue's body on the totals
#include "compiler/targets/gpu/Emitters.h"
#include "compiler/targets/gpu/Reduce.h"
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

namespace {

class ReductionLoopEmitter {
public:
  explicit ReductionLoopEmitter(GridFrame &frame)
      : frame(frame), columnDim(int(frame.dims) - 1), accumulation(frame.source.generics[0]),
        epilogue(frame.source.generics[1]) {
    for (int dim = 0; dim < columnDim; ++dim) {
      const bool isReduced =
          dim >= frame.source.form.outer && dim < frame.source.form.outer + frame.source.form.reduced;
      (isReduced ? reduced : rows).push_back(dim);
    }
  }
  std::string emit();

private:
  void emitRow(Span columns, const Lanes &lanes);
  Values accumulate(const Lanes &lanes, ArrayRef<Emitted> accumulators);
  void finish(const Lanes &lanes, ArrayRef<Emitted> totals);

  GridFrame &frame;
  int columnDim;
  linalg::GenericOp accumulation, epilogue;
  SmallVector<int> reduced, rows;
};

Values ReductionLoopEmitter::accumulate(const Lanes &lanes, ArrayRef<Emitted> accumulators) {
  Values arguments = loadInputs(frame, accumulation, lanes);
  arguments.append(accumulators.begin(), accumulators.end());
  return emitBody(frame, accumulation, arguments, lanes);
}

void ReductionLoopEmitter::finish(const Lanes &lanes, ArrayRef<Emitted> totals) {
  for (auto [result, total] : llvm::zip(accumulation.getResults(), totals))
    frame.storage[result] = {{}, total.type(), total};
  storeOutputs(frame, epilogue, lanes);
}

/// Emits the columns of the current row.
void ReductionLoopEmitter::emitRow(Span columns, const Lanes &lanes) {
  const ThreadTile tile(frame, columns.end - columns.begin, std::max<int64_t>(lanes.count, 1));
  const SmallVector<std::string> combiners = combinersOf(accumulation);
  Values neutral;
  for (unsigned output = 0; output < combiners.size(); ++output)
    neutral.push_back(frame.splat(frame.initialOf(accumulation, output), lanes.count));
  const Emitted none = frame.constant(0), count = frame.size(reduced);
  tile.eachRound(columns, [&](Emitted column, Emitted isInside) {
    frame.index[columnDim] = column;
    const Values sums =
        tile.sumRows({none, select(isInside, count, none)}, combiners, neutral, [&](Emitted at, const Values &sum) {
          frame.delinearize(at, reduced);
          return accumulate(lanes, sum);
        });
    const Values totals = foldRows(frame, tile, combiners, sums);
    frame.branch(isInside & equal(tile.rowThread, tile.rowThread.like(0)), [&] { finish(lanes, totals); });
  });
}

std::string ReductionLoopEmitter::emit() {
  const int64_t vector = std::min(vectorOf(frame, accumulation, columnDim), vectorOf(frame, epilogue, columnDim));
  const Emitted one = frame.constant(1), extent = frame.extents[columnDim], rowCount = frame.size(rows);
  const Emitted blockRows = frame.extents[size_t(frame.dims)], blockColumns = frame.extents[size_t(frame.dims) + 1];
  const Emitted columnBlocks = ceilDivideUnsigned(extent, blockColumns);
  const Emitted rowBegin = divideUnsigned(frame.block, columnBlocks) * blockRows;
  const Emitted columnBegin = remainderUnsigned(frame.block, columnBlocks) * blockColumns;
  const Span columns{columnBegin, minimum(extent, columnBegin + blockColumns)};
  inVectors(frame, extent, {vector, columnDim}, [&](const Lanes &lanes) {
    frame.loop(rowBegin, minimum(rowCount, rowBegin + blockRows), one, [&](Emitted row) {
      frame.delinearize(row, rows);
      emitRow(columns, lanes);
    });
    return Values();
  });
  return fmt::format("{} threads, vectors of {}", frame.threads, vector);
}

} // namespace

FailureOr<std::string> emitReductionLoop(GridFrame &frame) { return ReductionLoopEmitter(frame).emit(); }

} // namespace halftone::compiler
