// Products of rows and weights.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/recurrence/RecurrenceProducts.h"
#include "compiler/kernels/MatmulSource.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

RecurrenceProducts::RecurrenceProducts(const ScratchMatrices &matrices, const ScratchMatrix &head,
                                       RecurrenceRows &rowsOfBlock)
    : frame(matrices.frame), matrices(matrices), head(head), rowsOfBlock(rowsOfBlock), packing(matrices),
      tiles(matrices, shapesOfEights), contractions(llvm::make_filter_range(frame.source.generics, isContraction)) {}

void RecurrenceProducts::packWeights() {
  const Type i64 = frame.getI64Type();
  const Emitted packed = frame.load(i64, head.at), watched = frame.address(head.at, i64, frame.constant(1));
  frame.branch(equal(packed, packed.like(0)), [&] {
    Emitted found = frame.constant(0);
    for (auto [number, contraction] : llvm::enumerate(contractions))
      if (const Emitted isIn = packWeights(contraction))
        found = found | select(isIn, found.like(int64_t(1) << number), found.like(0));
    frame.store(found, watched);
    frame.store(frame.constant(1), head.at);
  });
  subnormal = frame.load(i64, watched);
}

/// Returns whether the weights have a subnormal bf16 element; null if they are f32.
Emitted RecurrenceProducts::packWeights(linalg::GenericOp contraction) {
  const SmallVector<int> dims = dimsOf(contraction);
  const int column = dims[1], depth = dims[2];
  const ScratchMatrix to = rowsOfBlock.matrix(RecurrenceMatrix::weights, contraction.getResult(0));
  const Emitted zero = frame.constant(0), columns = frame.extents[size_t(column)],
                depths = frame.extents[size_t(depth)];
  if (frame.source.accessOf(contraction, *contraction.getDpsInputOperand(1)).dims.back() == column)
    packing.copyDepth({contraction, 1, depth, zero, depths}, to);
  else
    packing.copyColumns({contraction, 1, column, zero, columns}, to);
  return matrices.hasSubnormal(to, matrices.groups(depths), matrices.padded(columns));
}

Emitted RecurrenceProducts::haveSubnormal(linalg::GenericOp contraction) const {
  const int64_t bit = int64_t(1) << (llvm::find(contractions, contraction) - contractions.begin());
  return differs(subnormal & bit, subnormal.like(0));
}

/// Packs rows of narrow elements as factors: in f32, or in pairs. If the depth is odd, the last pair ends in a 0.
void RecurrenceProducts::packRows(linalg::GenericOp contraction, const RowsAddress &from, const ScratchMatrix &to) {
  const int depth = dimsOf(contraction)[2];
  const Type element = getElementTypeOrSelf(contraction.getDpsInputs()[0]);
  const int64_t elements = matrices.pairs ? 2 * frame.lanes : frame.lanes;
  rowsOfBlock.forRows([&](Emitted row) {
    const TensorStorage source{rowsOfBlock.row(from, row), element, {}};
    rowsOfBlock.forColumns(depth, elements, [&](Emitted column, const Lanes &lanes) {
      Emitted stored = loadLanes(frame, source, {{depth}, {0}}, lanes);
      if (lanes.mask)
        stored = selectInside(lanes, stored, stored.like(0));
      const Emitted factors = matrices.pairs
                                  ? frame.wrap(vector::BitCastOp::create(frame, matrices.vector, stored.value()))
                                  : MatmulSource::factor(frame, contraction, 0, stored, frame.lanes);
      matrices.store(factors, to, row, column / elements * frame.lanes);
    });
  });
}

/// Copies f32 rows, scaled by 2^64, if all their elements are below 2^-80 and not all are 0, as in cotangents that
/// vanish over many steps. Returns whether it has scaled. CPUs take many times as long for subnormal numbers; scaling
/// keeps rows and products normal.
Emitted RecurrenceProducts::scaleRows(linalg::GenericOp contraction, const RowsAddress &from, const ScratchMatrix &to) {
  constexpr double scale = 0x1p64, bound = 0x1p-80;
  const int depth = dimsOf(contraction)[2];
  const Type f32 = frame.getF32Type();
  const auto isSmall = [&] {
    rowsOfBlock.forRows([&](Emitted row) {
      const TensorStorage source{rowsOfBlock.row(from, row), f32, {}};
      rowsOfBlock.forColumns(depth, frame.lanes, [&](Emitted column, const Lanes &lanes) {
        Emitted stored = loadLanes(frame, source, {{depth}, {0}}, lanes);
        if (lanes.mask)
          stored = selectInside(lanes, stored, stored.like(0));
        matrices.store(stored * scale, to, row, column);
      });
    });
    const auto largerOf = [&](Emitted row, Emitted column, Emitted maxima) {
      const Emitted magnitudes = absolute(matrices.load(to, row, column)).bits(); // NaN above infinity
      return select(isLessUnsigned(maxima, magnitudes), magnitudes, maxima);
    };
    const Emitted zero = frame.constant(0), columns = matrices.padded(frame.extents[size_t(depth)]),
                  none = frame.zero(matrices.vector).bits();
    const Emitted maxima =
        frame.loop(zero, rowsOfBlock.count, frame.constant(1), none, [&](Emitted row, const Values &in) {
          return frame.loop(zero, columns, matrices.step, in,
                            [&](Emitted column, const Values &now) { return Values{largerOf(row, column, now[0])}; });
        })[0];
    const Emitted largest =
        frame.wrap(vector::ReductionOp::create(frame, vector::CombiningKind::MAXUI, maxima.value()));
    const Emitted limit = Emitted::constant(frame, f32, scale * bound).bits();
    return Values{isLessUnsigned(largest, limit) & differs(largest, largest.like(0))};
  };
  const auto isNotSmall = [&] { return Values{frame.constant(frame.getBoolAttr(false))}; };
  return frame.choose(absolute(frame.load(f32, from.at)) < bound, isSmall, isNotSmall)[0];
}

void RecurrenceProducts::multiply(linalg::GenericOp contraction) {
  const SmallVector<int> dims = dimsOf(contraction);
  const Value sums = contraction.getResult(0);
  OpOperand *lhs = contraction.getDpsInputOperand(0);
  RowsAddress rows = rowsOfBlock.of(lhs->get(), frame.source.accessOf(contraction, *lhs));
  const Emitted depth = matrices.groups(frame.extents[size_t(dims[2])]), one = frame.constant(1);
  MatrixAddress factor{rows.at, rows.pitch, one};
  Emitted widens;
  if (const ScratchMatrix *packed = rowsOfBlock.find(RecurrenceMatrix::packedRows, sums)) {
    packRows(contraction, rows, *packed);
    rows = {packed->at, packed->pitch, frame.getF32Type()};
    factor = {rows.at, rows.pitch, one};
    if (matrices.pairs)
      widens = matrices.hasSubnormal(*packed, rowsOfBlock.count, depth) | haveSubnormal(contraction);
  }
  Emitted isScaled;
  if (const ScratchMatrix *scaled = rowsOfBlock.find(RecurrenceMatrix::scaledRows, sums)) {
    isScaled = scaleRows(contraction, rows, *scaled);
    factor = {select(isScaled, scaled->at, factor.at), select(isScaled, scaled->pitch, factor.rowPitch), one};
  }
  const ScratchMatrix weights = rowsOfBlock.matrix(RecurrenceMatrix::weights, sums),
                      to = rowsOfBlock.matrix(RecurrenceMatrix::local, sums);
  const Emitted columns = matrices.padded(frame.extents[size_t(dims[1])]);
  frame.loop(frame.constant(0), columns, weights.pitch, [&](Emitted column) {
    const Emitted zero = frame.constant(0);
    tiles.multiply({.a = factor,
                    .b = {matrices.address(weights, zero, column), weights.pitch},
                    .c = {matrices.address(to, zero, column), to.pitch},
                    .rows = rowsOfBlock.count,
                    .columns = minimum(weights.pitch, columns - column),
                    .depth = depth},
                   widens);
  });
  if (!isScaled)
    return;
  frame.branch(isScaled, [&] {
    frame.loop(frame.constant(0), rowsOfBlock.count, one, [&](Emitted row) {
      matrices.forVectors(
          columns, [&](Emitted column) { matrices.store(matrices.load(to, row, column) * 0x1p-64, to, row, column); });
    });
  });
}

} // namespace halftone::compiler
