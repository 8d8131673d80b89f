// One order per Multiply.
// SPDX-License-Identifier: Apache-2.0
//
//   registers    for panels of columns: pack the panel of B, if it is packed per strip; for rows: micro-kernel
//   imageLines   the same, with adjacent output positions along a line of the image as rows
//   amxTiles     pairs of tiles; if a factor contains subnormal numbers, as registers, with widened products
//   dots         lanes of columns, rows
#include "compiler/targets/cpu/matmul/MatmulCores.h"
#include "compiler/targets/cpu/matmul/MatmulDots.h"
#include "compiler/targets/cpu/matmul/MatmulOrder.h"
#include "compiler/targets/cpu/matmul/MatmulTiles.h"
#include "compiler/targets/cpu/matmul/MatmulWindow.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

/// Multiplies strips of columns: panels of several vectors, then the remaining columns vector by vector.
class RegistersOrder : public MatmulOrder {
public:
  using MatmulOrder::MatmulOrder;

protected:
  void multiply(const MatmulDepth &depth) override;
  void multiplyStrips(const MatmulDepth &depth);
  /// Multiplies groups of `counts` rows. The rows before `row` were multiplied while the strip was packed.
  virtual void multiplyStrip(ArrayRef<int64_t> counts, Emitted row, const MatmulStrip &strip);
  virtual MatmulRows rowsOf(const MatmulDepth &depth) { return factors.rows(depth); }
  /// The sizes of row groups. Widened products are rare, so only the two smallest sizes are kept for them, to save
  /// code.
  ArrayRef<int64_t> kept(ArrayRef<int64_t> counts) const {
    return counts.drop_front(microKernel.widens ? counts.size() - 2 : 0);
  }

private:
  void multiplyColumns(Emitted begin, Emitted end, int64_t vectors, const MatmulDepth &depth);
  /// Packs the strip's panel and in the same loop multiplies the first of `counts` rows, if there are that many.
  /// Returns the number of rows multiplied.
  Emitted packWithFirstRows(ArrayRef<int64_t> counts, const MatmulStrip &strip);
  void multiplyRows(ArrayRef<int64_t> counts, Emitted row, const MatmulStrip &strip);
  /// Returns true if the multiplication of the first rows must check B for subnormal numbers, because B's pairs are
  /// stored in packed form and no packing has checked them.
  bool watchesPanels() const { return plan.b == ReadB::inPlace && plan.product->multiplyWidened; }
  void multiplyWatching(ArrayRef<int64_t> counts, const MatmulStrip &strip);
};

class LinesOrder : public RegistersOrder {
public:
  using RegistersOrder::RegistersOrder;

private:
  Emitted partOfDepth(Emitted, Emitted) override { return MatmulWindow(block).partOfDepth(block.sizes.depth); }
  MatmulRows rowsOf(const MatmulDepth &) override { return {}; }
  void multiplyStrip(ArrayRef<int64_t> counts, Emitted, const MatmulStrip &strip) override {
    microKernel.multiplyLines(kept(counts), factors.stripAt(strip), strip);
  }
};

class TilesOrder : public RegistersOrder {
public:
  TilesOrder(const MatmulPlan &plan, KernelFrame &frame) : RegistersOrder(plan, frame), tiles(block, factors) {}

private:
  void begin() override;
  void end() override { tiles.release(); }
  void beginBlock() override;
  void multiply(const MatmulDepth &depth) override;

  MatmulTiles tiles;
  Emitted panelsAreSubnormal; // whether the block's panels contain a subnormal number, if plan.watchesPanelsAhead()
};

class DotsOrder : public MatmulOrder {
public:
  DotsOrder(const MatmulPlan &plan, KernelFrame &frame)
      : MatmulOrder(plan, frame), dots(block, access, operands, microKernel) {}

private:
  void multiply(const MatmulDepth &depth) override { dots.multiply(depth); }

  MatmulDots dots;
};

void RegistersOrder::multiply(const MatmulDepth &depth) {
  if (!watch.isOn() || watchesPanels())
    return multiplyStrips(depth);
  multiplyEither(watch.foundSubnormal(block.watchedAt), [&] { multiplyStrips(depth); });
}

void RegistersOrder::multiplyStrips(const MatmulDepth &depth) {
  const Emitted whole = block.wholeOf(block.columns, block.sizes.columns());
  multiplyColumns(constant(0), whole, block.sizes.vectors, depth);
  multiplyColumns(whole, block.columns, 1, depth);
}

void RegistersOrder::multiplyColumns(Emitted begin, Emitted end, int64_t vectors, const MatmulDepth &depth) {
  MatmulStrip strip{vectors, {}, depth, rowsOf(depth), {}};
  const ArrayRef<int64_t> counts(vectors == 1 ? block.sizes.vectorRows : block.sizes.panelRows);
  frame.loop(begin, end, constant(vectors * block.sizes.lanes), [&](Emitted column) {
    strip.column = column;
    if (plan.scales && plan.groupSize == 1)
      factors.scale(strip);
    Emitted row = constant(0);
    if (plan.b == ReadB::packedStrip)
      row = packWithFirstRows(counts, strip);
    strip.b = factors.columns(strip);
    if (plan.scales && microKernel.widens)
      factors.scalePairs(strip);
    multiplyStrip(counts, row, strip);
  });
}

void RegistersOrder::multiplyStrip(ArrayRef<int64_t> counts, Emitted row, const MatmulStrip &strip) {
  if (watchesPanels() && !microKernel.widens)
    multiplyWatching(counts, strip);
  else
    multiplyRows(counts, row, strip);
}

void RegistersOrder::multiplyRows(ArrayRef<int64_t> counts, Emitted row, const MatmulStrip &strip) {
  if (plan.readsStrips())
    return microKernel.multiplyStrip(
        kept(counts), row, plan.readsMatrix() ? packing.firstOf(1, strip.column, strip.depth) : factors.stripAt(strip),
        strip);
  for (int64_t count : kept(counts)) {
    const Emitted next = count == 1 ? block.rows : row + groupsOfRows(block.rows - row, count, counts) * count;
    frame.loop(row, next, constant(count),
               [&](Emitted at) { microKernel.store(microKernel.multiply(count, at, strip), at, strip); });
    row = next;
  }
}

Emitted RegistersOrder::packWithFirstRows(ArrayRef<int64_t> counts, const MatmulStrip &strip) {
  const int64_t count = counts.front();
  const Emitted zero = constant(0);
  if (plan.lanesAlongDepth(1)) {
    const Emitted end = minimum(strip.column + strip.vectors * block.sizes.lanes, block.columns);
    packing.packColumnsTransposed(strip.column, end, strip.depth);
    return zero;
  }
  const Emitted areInside = constant(count) <= block.rows;
  if (plan.a != ReadA::image && plan.isMatrix(1)) {
    microKernel.packAndMultiply(counts, packing.firstOf(1, strip.column, strip.depth), factors.stripAt(strip), strip);
    return select(areInside, constant(count), zero);
  }
  MatmulStrip inPlace = strip;
  inPlace.b = factors.columnsInPlace(strip);
  const auto packAlone = [&] {
    frame.loop(zero, strip.depth.count, constant(1), [&](Emitted k) {
      factors.prefetchColumns(strip, k);
      inPlace.b({k});
    });
  };
  if (plan.a == ReadA::image) {
    packAlone();
    return zero;
  }
  frame.branch(
      areInside, [&] { microKernel.store(microKernel.multiply(count, zero, inPlace), zero, inPlace); }, packAlone);
  return select(areInside, constant(count), zero);
}

/// Multiplies pairs. Packing has checked A for subnormal numbers; this code checks B while it multiplies the first
/// rows. If A or B contains one, all rows are multiplied with widened products; otherwise the first sums are stored and
/// the remaining rows follow.
void RegistersOrder::multiplyWatching(ArrayRef<int64_t> counts, const MatmulStrip &strip) {
  // Few rows, which leaves registers for the check. The earlier sums in memory are overwritten only when all elements
  // have been checked.
  const int64_t few = counts[1];
  const Emitted zero = constant(0), areInside = constant(few) <= block.rows;
  const Emitted foundSubnormal = microKernel.multiplyWatching({few, 1}, factors.stripAt(strip), strip);
  const auto widened = [&] {
    microKernel.widens = true;
    multiplyRows(counts, zero, strip);
    microKernel.widens = false;
  };
  frame.branch(foundSubnormal, widened,
               [&] { multiplyRows(counts, select(areInside, constant(few), constant(1)), strip); });
}

void TilesOrder::begin() {
  tiles.configure();
  if (!plan.watchesPanelsAhead())
    return;
  const Emitted packed = frame.load(frame.getI64Type(), block.packedRowsAt);
  frame.branch(equal(packed, constant(0)), [&] { // the thread's first blocks of the launch
    frame.store(constant(0), block.watchedPanelsAt);
    frame.store(constant(0), block.subnormalPanelsAt);
  });
}

/// Checks the block's panels. A thread checks the panels of each of the first 64 column tiles only once per launch.
void TilesOrder::beginBlock() {
  if (!plan.watchesPanelsAhead())
    return;
  const Emitted zero = constant(0), bit = select(block.columnTile < 64, constant(1) << block.columnTile, zero);
  const auto bits = [&](Emitted at) { return frame.load(frame.getI64Type(), at); };
  const auto isSet = [&](Emitted at) { return negated(equal(bits(at) & bit, zero)); };
  const auto check = [&] {
    watch.start();
    factors.watchPanels();
    const Emitted foundSubnormal = watch.foundSinceSave();
    watch.stop();
    frame.store(bits(block.watchedPanelsAt) | bit, block.watchedPanelsAt);
    frame.store(bits(block.subnormalPanelsAt) | select(foundSubnormal, bit, zero), block.subnormalPanelsAt);
    return Values{foundSubnormal};
  };
  panelsAreSubnormal =
      frame.choose(isSet(block.watchedPanelsAt), [&] { return Values{isSet(block.subnormalPanelsAt)}; }, check)[0];
}

void TilesOrder::multiply(const MatmulDepth &depth) {
  if (!watch.isOn())
    return tiles.multiply(depth);
  const Emitted packed = watch.foundSubnormal(block.watchedAt);
  const Emitted foundSubnormal = plan.watchesPanelsAhead() ? packed | panelsAreSubnormal : packed;
  multiplyEither(foundSubnormal, [&] {
    if (microKernel.widens)
      multiplyStrips(depth);
    else
      tiles.multiply(depth);
  });
}

} // namespace

std::unique_ptr<MatmulOrder> MatmulOrder::of(const MatmulPlan &plan, KernelFrame &frame) {
  switch (plan.multiply) {
  case Multiply::registers:
    return std::make_unique<RegistersOrder>(plan, frame);
  case Multiply::dots:
    return std::make_unique<DotsOrder>(plan, frame);
  case Multiply::amxTiles:
    return std::make_unique<TilesOrder>(plan, frame);
  case Multiply::imageLines:
    return std::make_unique<LinesOrder>(plan, frame);
  }
  llvm_unreachable("unhandled Multiply");
}

} // namespace halftone::compiler
