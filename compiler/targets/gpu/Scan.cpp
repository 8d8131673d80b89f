// Scan kernels: prefix sums along dims.
// SPDX-License-Identifier: Apache-2.0
//
//   for the thread's or the warp's strips in the block: a row of the scanned dims, or a range of columns with
//   separate scans
//     columns: for the thread's vectors: accumulators; for each scanned index: accumulators += body; store
//     a row, by a warp: for some runs of 32 elements: the sums within each run, plus the sum of all before it; store
#include "compiler/kernels/ScanParts.h"
#include "compiler/targets/gpu/Emitters.h"
#include "compiler/targets/gpu/ThreadTile.h"
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

namespace {

/// The number of runs of 32 elements that a warp loads at a time.
constexpr int64_t runsAtOnce = 4;

class ScanEmitter : ScanParts {
public:
  explicit ScanEmitter(GridFrame &frame) : ScanParts(frame), frame(frame) {}
  std::string emit();

private:
  void emitColumns(Span strips, Emitted stripColumns, const Lanes &lanes);
  void emitRows(Span strips);
  Emitted scanRow(Emitted before);
  Emitted scanRuns(Emitted first, Emitted before);
  Emitted sumsWithin(Emitted value);

  GridFrame &frame;
};

void ScanEmitter::emitColumns(Span strips, Emitted stripColumns, const Lanes &lanes) {
  const Emitted columns = frame.extents[size_t(vectorDim)], rowStrips = ceilDivideUnsigned(columns, stripColumns);
  const ThreadTile tile(frame, stripColumns, std::max<int64_t>(lanes.count, 1));
  tile.eachRow(strips, [&](Emitted strip) {
    frame.delinearize(divideUnsigned(strip, rowStrips), rows);
    const Emitted begin = remainderUnsigned(strip, rowStrips) * stripColumns;
    tile.eachStep({begin, minimum(columns, begin + stripColumns)}, [&](Emitted column) {
      frame.index[size_t(vectorDim)] = column;
      walk(scanned, {none(lanes.count)}, [&](const Values &sums) {
        const Emitted sum = added(sums[0], lanes);
        store(sum, lanes);
        return Values{sum};
      });
    });
  });
}

/// The prefix sums across lanes: in each of log2 n steps, each lane adds the lane 1, 2, 4, ... below it.
Emitted ScanEmitter::sumsWithin(Emitted value) {
  for (int64_t distance = 1; distance < warpLanes; distance *= 2) {
    const Emitted below = frame.shuffleFrom(value, frame.lane - distance);
    value = select(frame.lane >= distance, combine(below, value), value);
  }
  return value;
}

/// Scans some runs from the row's position `first` on, in the order of the sums. `before` is the sum of all before
/// them; the result includes them.
Emitted ScanEmitter::scanRuns(Emitted first, Emitted before) {
  const Emitted extent = frame.extents[size_t(vectorDim)];
  Values positions, insides, sums;
  for (int64_t run = 0; run < runsAtOnce; ++run) {
    const Emitted position = first + run * warpLanes + frame.lane;
    positions.push_back(reverse ? extent - 1 - position : position);
    insides.push_back(position < extent);
    frame.index[size_t(vectorDim)] = positions.back();
    const Emitted start = none(0);
    sums.push_back(
        frame.choose(insides.back(), [&] { return Values{added(start, {})}; }, [&] { return Values{start}; })[0]);
  }
  for (Emitted &sum : sums)
    sum = sumsWithin(sum);
  for (auto [position, inside, sum] : llvm::zip(positions, insides, sums)) {
    const Emitted whole = frame.shuffleFrom(sum, frame.constant(warpLanes - 1));
    frame.index[size_t(vectorDim)] = position;
    frame.branch(inside, [&] { store(combine(before, sum), {}); });
    before = combine(before, whole);
  }
  return before;
}

/// Scans a row of the last scanned dim. `before` is the sum of all before it; the result includes it.
Emitted ScanEmitter::scanRow(Emitted before) {
  return frame.loop(frame.constant(0), frame.extents[size_t(vectorDim)], frame.constant(runsAtOnce * warpLanes),
                    {before},
                    [&](Emitted first, const Values &carried) { return Values{scanRuns(first, carried[0])}; })[0];
}

void ScanEmitter::emitRows(Span strips) {
  frame.loop(strips.begin + frame.warp, strips.end, frame.constant(frame.threads / warpLanes), [&](Emitted strip) {
    frame.delinearize(strip, rows);
    walk(ArrayRef<int>(scanned).drop_back(), {none(0)},
         [&](const Values &carried) { return Values{scanRow(carried[0])}; });
  });
}

std::string ScanEmitter::emit() {
  const Emitted columns = alongLanes ? frame.constant(1) : frame.extents[size_t(vectorDim)];
  const Emitted blockStrips = frame.extents[size_t(frame.dims)], stripColumns = frame.extents[size_t(frame.dims) + 1];
  const Emitted first = frame.block * blockStrips;
  const Span strips{first, minimum(frame.size(rows) * ceilDivideUnsigned(columns, stripColumns), first + blockStrips)};
  if (alongLanes) {
    emitRows(strips);
    return fmt::format("{} threads, one warp per row", frame.threads);
  }
  const int64_t vector = std::min(vectorOf(frame, adding, vectorDim), vectorOf(frame, storing, vectorDim));
  inVectors(frame, columns, {vector, vectorDim}, [&](const Lanes &lanes) {
    emitColumns(strips, stripColumns, lanes);
    return Values();
  });
  return fmt::format("{} threads, vectors of {} columns", frame.threads, vector);
}

} // namespace

FailureOr<std::string> emitScan(GridFrame &frame) { return ScanEmitter(frame).emit(); }

} // namespace halftone::compiler
