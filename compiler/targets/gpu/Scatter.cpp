// Scatter kernels: a block owns a range of rows, and each thread combines its own elements in index order.
// SPDX-License-Identifier: Apache-2.0
//
//   rows of the block = 0, or x unless they are in x's memory
//   for 32 indices at a time: each lane computes the row that one of them selects; for each that selects a row of the
//   warp, in order: for the thread's columns: row = row combined with the update
#include "compiler/kernels/ScatterParts.h"
#include "compiler/targets/gpu/Emitters.h"
#include "compiler/targets/gpu/ThreadTile.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

namespace {

class ScatterEmitter : ScatterParts {
public:
  explicit ScatterEmitter(GridFrame &frame) : ScatterParts(frame), frame(frame) {}
  std::string emit();

private:
  void emitRows(Span rows, const Lanes &lanes);
  void addNamed(const ThreadTile &tile, Span rows, Emitted first, const Lanes &lanes);
  void eachColumn(const ThreadTile &tile, llvm::function_ref<void()> body);

  GridFrame &frame;
};

/// Calls `body` for the thread's columns of the current row.
void ScatterEmitter::eachColumn(const ThreadTile &tile, llvm::function_ref<void()> body) {
  tile.eachStep({frame.constant(0), frame.size(inner)}, [&](Emitted column) {
    frame.delinearize(column, inner);
    body();
  });
}

/// Combines the slices of the updates at the indices from `first` on, one per lane, that select rows of this warp.
void ScatterEmitter::addNamed(const ThreadTile &tile, Span rows, Emitted first, const Lanes &lanes) {
  const Emitted at = first + frame.lane;
  frame.delinearize(at, index);
  const Emitted none = frame.constant(-1);
  const auto readRow = [&] {
    const Emitted row = namedRow();
    return Values{select(isLessUnsigned(row, frame.asLong(rows.end)), frame.asIndex(row), none)};
  };
  const Emitted named = frame.choose(at < frame.size(index), readRow, [&] { return Values{none}; })[0];
  const Emitted isMine =
      (named >= rows.begin) & (named < rows.end) & equal((named - rows.begin) & (tile.down - 1), tile.rowThread);
  const Emitted found = frame.ballot(isMine);
  const Emitted count = frame.asIndex(frame.wrap(math::CtPopOp::create(frame, found.value())));
  frame.loop(frame.constant(0), count, frame.constant(1), {found}, [&](Emitted, const Values &left) {
    const Emitted bit = frame.asIndex(frame.wrap(math::CountTrailingZerosOp::create(frame, left[0].value())));
    frame.delinearize(first + bit, index);
    moveToRow(frame.shuffleFrom(named, bit));
    eachColumn(tile, [&] { add(lanes); });
    return Values{left[0] & (left[0] - 1)};
  });
}

void ScatterEmitter::emitRows(Span rows, const Lanes &lanes) {
  // Whole warps along a row: the lanes of a warp search for the same rows.
  const ThreadTile tile(frame, frame.size(inner), std::max<int64_t>(lanes.count, 1), warpLanes);
  clearWhereNeeded([&] {
    tile.eachRow(rows, [&](Emitted row) {
      frame.index[size_t(rowDim)] = row;
      eachColumn(tile, [&] { clear(lanes); });
    });
  });
  frame.loop(frame.constant(0), frame.size(index), frame.constant(warpLanes),
             [&](Emitted first) { addNamed(tile, rows, first, lanes); });
}

std::string ScatterEmitter::emit() {
  const Emitted rows = frame.extents[size_t(rowDim)], blockRows = frame.extents[size_t(frame.dims)];
  const Emitted rowBlocks = ceilDivideUnsigned(rows, blockRows);
  frame.delinearize(divideUnsigned(frame.block, rowBlocks), outer);
  const Emitted begin = remainderUnsigned(frame.block, rowBlocks) * blockRows;
  const Span own{begin, minimum(rows, begin + blockRows)};
  int64_t vector = vectorOf(frame, sum, vectorDim);
  if (start)
    vector = std::min(vector, vectorOf(frame, start, vectorDim));
  inVectors(frame, frame.extents[size_t(vectorDim)], {vector, vectorDim}, [&](const Lanes &lanes) {
    emitRows(own, lanes);
    return Values();
  });
  return fmt::format("{} threads, vectors of {}", frame.threads, vector);
}

} // namespace

FailureOr<std::string> emitScatter(GridFrame &frame) { return ScatterEmitter(frame).emit(); }

} // namespace halftone::compiler
