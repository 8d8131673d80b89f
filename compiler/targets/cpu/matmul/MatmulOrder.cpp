// The order of a matmul's work: operands are packed, multiplied with accumulators in registers, and finished.
// SPDX-License-Identifier: Apache-2.0
//
//   for block:
//     for k in steps of `depth`: pack operands that cannot be read in place; for panels, for rows: micro-kernel
//     for row, for lanes of columns: epilogue
#include "compiler/targets/cpu/matmul/MatmulOrder.h"

namespace halftone::compiler {
using namespace mlir;

void MatmulOrder::emit() {
  if (problem.usesTiles())
    tiles.configure();
  if (problem.watchesPanelsAhead()) {
    const Emitted packed = frame.load(frame.getI64Type(), block.packedRowsAt);
    frame.branch(equal(packed, constant(0)), [&] { // the thread's first blocks of the launch
      frame.store(constant(0), block.watchedPanelsAt);
      frame.store(constant(0), block.subnormalPanelsAt);
    });
  }
  frame.loop(frame.blockBegin, frame.blockEnd, constant(1), [&](Emitted number) { emitBlock(number); });
  if (problem.usesTiles())
    tiles.release();
}

void MatmulOrder::emitBlock(Emitted number) {
  block.begin(number);
  if (problem.watchesPanelsAhead())
    watchPanels();
  // Once at least: a sum of nothing is 0. Parts of equal size, rather than a small one at the end.
  const Emitted steps = block.groups(), atLeastOne = maximum(steps, constant(1));
  const Emitted parts = ceilDivide(atLeastOne, constant(block.sizes.depth));
  const Emitted part = problem.readsImage()
                           ? MatmulWindow(block).partOfDepth(block.sizes.depth)
                           : ceilDivide(ceilDivide(atLeastOne, parts), constant(block.sizes.lanes)) * block.sizes.lanes;
  frame.loop(constant(0), atLeastOne, part, [&](Emitted first) {
    const MatmulDepth depth{first, minimum(part, steps - first)};
    if (!problem.readsRowsInPlace() || problem.groupSize == 2)
      packRows(depth);
    watch.start();
    if (!problem.readsColumnsInPlace() && !problem.packsPanels())
      packing.packColumns(depth);
    multiply(depth);
  });
  watch.stop();
  epilogue.emit();
}

void MatmulOrder::watchPanels() {
  const Emitted zero = constant(0), bit = select(block.columnTile < 64, constant(1) << block.columnTile, zero);
  const auto bits = [&](Emitted at) { return frame.load(frame.getI64Type(), at); };
  const auto isSet = [&](Emitted at) { return negated(equal(bits(at) & bit, zero)); };
  const auto look = [&] {
    watch.start();
    factors.watchPanels();
    const Emitted saw = watch.sawOwn();
    watch.stop();
    frame.store(bits(block.watchedPanelsAt) | bit, block.watchedPanelsAt);
    frame.store(bits(block.subnormalPanelsAt) | select(saw, bit, zero), block.subnormalPanelsAt);
    return Values{saw};
  };
  panelsAreSubnormal =
      frame.choose(isSet(block.watchedPanelsAt), [&] { return Values{isSet(block.subnormalPanelsAt)}; }, look)[0];
}

/// Neighbouring blocks have the same rows, which are packed, or watched, still when one part of K is all.
void MatmulOrder::packRows(const MatmulDepth &depth) {
  const Emitted tile = block.rowsOfTile + 1;
  const Emitted packed = frame.load(frame.getI64Type(), block.packedRowsAt);
  const Emitted isOther = negated(equal(packed, tile));
  const Emitted isMissing = problem.readsImage() ? isOther : isOther | (block.groups() > constant(block.sizes.depth));
  frame.branch(isMissing, [&] {
    watch.start();
    if (problem.readsImage())
      packing.watchImage();
    else if (problem.readsRowPairsInPlace()) {
      const MatmulRows rows = factors.rows(depth);
      packing.watchRows(rows.a, rows.rowPitch, depth);
    } else {
      packing.packRows(depth);
    }
    watch.save();
    frame.store(tile, block.packedRowsAt);
  });
}

void MatmulOrder::multiply(const MatmulDepth &depth) {
  if (!watch.isOn() || (problem.panels && !problem.usesTiles()))
    return multiplyTile(depth);
  const Emitted sawPacked = watch.saw();
  const Emitted saw = problem.watchesPanelsAhead() ? sawPacked | panelsAreSubnormal : sawPacked;
  watch.stop();
  const auto inPairs = [&](bool widens) {
    microKernel.widens = widens;
    multiplyTile(depth);
    microKernel.widens = false;
  };
  frame.branch(saw, [&] { inPairs(true); }, [&] { inPairs(false); });
}

void MatmulOrder::multiplyTile(const MatmulDepth &depth) {
  if (problem.takesDots())
    return dots.multiply(depth);
  if (problem.usesTiles() && !microKernel.widens)
    return tiles.multiply(depth);
  const Emitted whole = block.wholeOf(block.columns, block.sizes.columns());
  multiplyColumns(constant(0), whole, block.sizes.vectors, depth);
  multiplyColumns(whole, block.columns, 1, depth);
}

void MatmulOrder::multiplyColumns(Emitted begin, Emitted end, int64_t vectors, const MatmulDepth &depth) {
  MatmulStrip strip{vectors, {}, depth, problem.readsImage() ? MatmulRows() : factors.rows(depth), {}};
  const ArrayRef<int64_t> counts(vectors == 1 ? block.sizes.vectorRows : block.sizes.panelRows);
  frame.loop(begin, end, constant(vectors * block.sizes.lanes), [&](Emitted column) {
    strip.column = column;
    Emitted row = constant(0);
    if (problem.packsPanels())
      row = packWithFirstRows(counts.front(), strip);
    strip.b = factors.columns(strip);
    if (problem.readsImage())
      MatmulLines(block, microKernel).multiply(counts.drop_front(microKernel.widens ? counts.size() - 2 : 0), strip);
    else if (watchesPanels())
      multiplyWatching(counts, strip);
    else
      multiplyRows(counts, row, strip);
  });
}

void MatmulOrder::multiplyRows(ArrayRef<int64_t> counts, Emitted row, const MatmulStrip &strip) {
  // Widened products are rare: less code for them.
  for (int64_t count : counts.drop_front(microKernel.widens ? counts.size() - 2 : 0)) {
    Emitted times = (block.rows - row) / constant(count);
    if (count == 6 && block.sizes.panelRows[1] == 4) {
      // Two or three rows alone would wait for the columns: better one six less, and fours.
      const Emitted rest = (block.rows - row) % constant(6);
      times = select((times > 0) & (rest > 1) & (rest < 4), times - 1, times);
    }
    const Emitted next = count == 1 ? block.rows : row + times * count;
    frame.loop(row, next, constant(count),
               [&](Emitted at) { microKernel.store(microKernel.multiply(count, at, strip), at, strip); });
    row = next;
  }
}

Emitted MatmulOrder::packWithFirstRows(int64_t count, const MatmulStrip &strip) {
  const Emitted zero = constant(0);
  if (problem.lanesAlongDepth(1)) {
    const Emitted end = minimum(strip.column + strip.vectors * block.sizes.lanes, block.columns);
    packing.packColumnsTransposed(strip.column, end, strip.depth);
    return zero;
  }
  MatmulStrip inPlace = strip;
  inPlace.b = factors.columnsInPlace(strip);
  const auto packAlone = [&] {
    frame.loop(zero, strip.depth.count, constant(1), [&](Emitted k) {
      factors.prefetchColumns(strip, k);
      inPlace.b({k});
    });
  };
  if (problem.readsImage()) {
    packAlone();
    return zero;
  }
  const Emitted areThere = constant(count) <= block.rows;
  frame.branch(
      areThere, [&] { microKernel.store(microKernel.multiply(count, zero, inPlace), zero, inPlace); }, packAlone);
  return select(areThere, constant(count), zero);
}

/// Multiplies pairs. The packing has watched A for subnormal numbers; this code watches B while it multiplies the first
/// rows. If A or B has one, all rows are multiplied widened; else the first sums are stored and the other rows follow.
void MatmulOrder::multiplyWatching(ArrayRef<int64_t> counts, const MatmulStrip &strip) {
  // A few rows, which leaves registers for watching. Their sums, or earlier ones that they go on from, stay in memory
  // until all numbers are known.
  const int64_t few = counts[1];
  const Emitted zero = constant(0), areThere = constant(few) <= block.rows;
  const auto first = [&](int64_t count) {
    watch.start();
    const Values sums = microKernel.multiply(count, zero, strip);
    const Emitted saw = watch.saw();
    watch.stop();
    frame.branch(saw, [] {}, [&] { microKernel.store(sums, zero, strip); });
    return Values{saw};
  };
  const Emitted saw = frame.choose(areThere, [&] { return first(few); }, [&] { return first(1); })[0];
  const auto widened = [&] {
    microKernel.widens = true;
    multiplyRows(counts, zero, strip);
    microKernel.widens = false;
  };
  frame.branch(saw, widened, [&] { multiplyRows(counts, select(areThere, constant(few), constant(1)), strip); });
}

} // namespace halftone::compiler
