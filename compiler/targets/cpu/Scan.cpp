// Scan kernels: prefix sums along dims.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for strip in block: a row of the scanned dims, or a range of columns with separate scans
//     columns: for a few vectors at a time: accumulators; for each scanned index: accumulators += body; store
//     a row: for each vector of it: the sums within the vector, plus the sum of the vectors before it; store
#include "compiler/kernels/ScanParts.h"
#include "compiler/targets/cpu/Emitters.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

class ScanEmitter : ScanParts {
public:
  explicit ScanEmitter(KernelFrame &frame) : ScanParts(frame), frame(frame) {}
  void emit();

private:
  void scanColumns(Emitted begin, Emitted end);
  void scanVectors(Emitted column, const Lanes &lanes, int64_t vectors);

  Emitted scanRow(Emitted before);
  Emitted scanWholeVectors(Emitted before);
  Emitted scanTail(Emitted before);
  Emitted scanVector(Emitted before, const Lanes &lanes);
  Emitted sumsWithin(Emitted vector);

  KernelFrame &frame;
};

/// Scans `vectors` vectors of columns, or a scalar column, from `column` on.
void ScanEmitter::scanVectors(Emitted column, const Lanes &lanes, int64_t vectors) {
  Values columns;
  for (int64_t vector = 0; vector < vectors; ++vector)
    columns.push_back(vector == 0 ? column : column + vector * lanes.count);
  walk(scanned, Values(columns.size(), none(lanes.count)), [&](const Values &accumulators) {
    Values next;
    for (auto [here, accumulator] : llvm::zip(columns, accumulators)) {
      frame.index[vectorDim] = here;
      next.push_back(added(accumulator, lanes));
      store(next.back(), lanes);
    }
    return next;
  });
}

/// Scans the columns of a strip: several vectors at a time, then single ones, then the tail.
void ScanEmitter::scanColumns(Emitted begin, Emitted end) {
  const bool masked = frame.target.hasMaskedMemory;
  for (const int64_t vectors : {4, 1, 0}) {
    const int64_t width = vectors ? vectors * frame.lanes : masked ? frame.lanes : 1;
    const Emitted step = frame.constant(width);
    const Emitted stop = vectors ? begin + divideUnsigned(end - begin, step) * step : end;
    frame.loop(begin, stop, step, [&](Emitted column) {
      frame.index[vectorDim] = column;
      Lanes lanes{vectors ? frame.lanes : 0, vectorDim};
      if (!vectors && masked)
        lanes = maskedLanes(frame, frame.lanes, vectorDim, end);
      scanVectors(column, lanes, std::max<int64_t>(vectors, 1));
    });
    begin = stop;
  }
}

/// The prefix sums of a vector's lanes: in each of log2 n steps, each lane adds the lane 1, 2, 4, ... before it.
Emitted ScanEmitter::sumsWithin(Emitted vector) {
  const int64_t lanes = cast<VectorType>(vector.type()).getNumElements();
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    SmallVector<int64_t> from;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t other = reverse ? lane + distance : lane - distance;
      from.push_back(other >= 0 && other < lanes ? other : lanes);
    }
    const Value moved = vector::ShuffleOp::create(frame, vector.value(), none(lanes).value(), from);
    vector = combine(frame.wrap(moved), vector);
  }
  return vector;
}

/// Scans one step of a row at the current index. `before` is the sum of all steps before it; the result includes this
/// step.
Emitted ScanEmitter::scanVector(Emitted before, const Lanes &lanes) {
  if (lanes.count == 0) {
    const Emitted sum = added(before, lanes);
    store(sum, lanes);
    return sum;
  }
  const Emitted start = none(lanes.count), sums = sumsWithin(selectInside(lanes, added(start, lanes), start));
  const Value last = vector::ExtractOp::create(frame, sums.value(), reverse ? 0 : lanes.count - 1);
  store(combine(frame.splat(before, lanes.count), sums), lanes);
  return combine(before, frame.wrap(last));
}

Emitted ScanEmitter::scanWholeVectors(Emitted before) {
  const Emitted lanes = frame.constant(frame.lanes), vectors = divideUnsigned(frame.extents[vectorDim], lanes);
  return frame.loop(frame.constant(0), vectors, frame.constant(1), before, [&](Emitted step, const Values &carried) {
    frame.index[vectorDim] = (reverse ? vectors - 1 - step : step) * lanes;
    return Values{scanVector(carried[0], {frame.lanes, vectorDim})};
  })[0];
}

/// Scans the elements after the last whole vector: one masked step, or scalar ones.
Emitted ScanEmitter::scanTail(Emitted before) {
  const Emitted lanes = frame.constant(frame.lanes), extent = frame.extents[vectorDim];
  const Emitted begin = divideUnsigned(extent, lanes) * lanes;
  const bool masked = frame.target.hasMaskedMemory;
  const Emitted step = masked ? lanes : frame.constant(1);
  return frame.loop(begin, extent, step, before, [&](Emitted at, const Values &carried) {
    frame.index[vectorDim] = reverse && !masked ? begin + extent - 1 - at : at;
    const Lanes here = masked ? maskedLanes(frame, frame.lanes, vectorDim, extent) : Lanes{0, vectorDim};
    return Values{scanVector(carried[0], here)};
  })[0];
}

Emitted ScanEmitter::scanRow(Emitted before) {
  return reverse ? scanWholeVectors(scanTail(before)) : scanTail(scanWholeVectors(before));
}

void ScanEmitter::emit() {
  const Emitted columns = alongLanes ? frame.constant(1) : frame.extents[vectorDim];
  const Emitted blockStrips = frame.extents[frame.dims], stripColumns = frame.extents[frame.dims + 1];
  const Emitted rowStrips = ceilDivideUnsigned(columns, stripColumns), strips = frame.size(rows) * rowStrips;
  const Emitted first = frame.blockBegin * blockStrips, end = minimum(strips, frame.blockEnd * blockStrips);
  frame.loop(first, end, frame.constant(1), [&](Emitted strip) {
    frame.delinearize(divideUnsigned(strip, rowStrips), rows);
    if (alongLanes) {
      walk(ArrayRef<int>(scanned).drop_back(), frame.initialOf(adding, 0),
           [&](const Values &carried) { return Values{scanRow(carried[0])}; });
      return;
    }
    const Emitted begin = remainderUnsigned(strip, rowStrips) * stripColumns;
    scanColumns(begin, minimum(columns, begin + stripColumns));
  });
}

} // namespace

void emitScan(KernelFrame &frame) { ScanEmitter(frame).emit(); }

} // namespace halftone::compiler
