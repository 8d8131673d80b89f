// Matrices of an attention kernel in scratch, accessed by vectors.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/attention/ScratchMatrices.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

/// `value` rounded up to whole vectors, plus one vector, so rows of any length begin in different cache sets.
template <class Number> static Number paddedPitch(Number value, Number lanes) {
  return ceilDivide(value, lanes) * lanes + lanes;
}

ScratchMatrices::ScratchMatrices(KernelFrame &frame)
    : frame(frame), product(productOf(frame.source, frame.target)),
      vector(VectorType::get(frame.lanes, frame.getF32Type())), step(frame.constant(frame.lanes)),
      pairs(product.group == 2), next(frame.scratch) {}

Emitted ScratchMatrices::groups(Emitted depth) const {
  if (!pairs)
    return depth;
  const Emitted groups = ceilDivide(depth, depth.like(2));
  return usesTiles() ? padded(groups) : groups;
}

ScratchMatrix ScratchMatrices::take(Emitted rows, Emitted columns) {
  const ScratchMatrix matrix{next, paddedPitch(columns, step)};
  next = frame.address(next, frame.getF32Type(), wholeRows(rows) * matrix.pitch);
  return matrix;
}

ScratchMatrix ScratchMatrices::takePanels(Emitted rows, Emitted columns, int64_t panelColumns) {
  const Emitted width = frame.constant(panelColumns);
  const ScratchMatrix matrix{next, width, panelColumns, rows * width};
  next = frame.address(next, frame.getF32Type(), ceilDivide(columns, width) * matrix.panelPitch);
  return matrix;
}

Emitted ScratchMatrices::address(const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  const Emitted rowOffset = row * matrix.pitch;
  if (matrix.panelColumns == 0)
    return frame.address(matrix.at, frame.getF32Type(), rowOffset + column);
  return frame.address(matrix.at, frame.getF32Type(),
                       rowOffset + divideUnsigned(column, matrix.pitch) * matrix.panelPitch +
                           remainderUnsigned(column, matrix.pitch));
}

Emitted ScratchMatrices::load(const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  return frame.load(vector, address(matrix, row, column), frame.lanes * 4);
}

Emitted ScratchMatrices::loadScalar(const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  return frame.load(frame.getF32Type(), address(matrix, row, column));
}

void ScratchMatrices::store(Emitted lanes, const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  frame.store(lanes, address(matrix, row, column), frame.lanes * 4);
}

void ScratchMatrices::fill(const ScratchMatrix &matrix, Emitted rows, Emitted columns, Emitted value) const {
  const Emitted lanes = frame.splat(value, frame.lanes);
  frame.loop(frame.constant(0), rows, frame.constant(1),
             [&](Emitted row) { forVectors(columns, [&](Emitted column) { store(lanes, matrix, row, column); }); });
}

Emitted ScratchMatrices::hasSubnormal(const ScratchMatrix &factor, Emitted rows, Emitted columns) const {
  if (!pairs)
    return {};
  constexpr int64_t smallestNormal = 2 * 0x80 - 1;
  const VectorType halves = VectorType::get(2 * frame.lanes, frame.getI16Type());
  const Emitted none = frame.constant(cast<TypedAttr>(DenseElementsAttr::get(halves, frame.getI16IntegerAttr(-1))));
  const Emitted minima =
      frame.loop(frame.constant(0), rows, frame.constant(1), none, [&](Emitted row, const Values &in) {
        return frame.loop(frame.constant(0), columns, step, in, [&](Emitted column, const Values &now) {
          // Without the sign bit, and minus 1, zeros are the largest numbers and subnormal numbers the smallest.
          const Value bits = vector::BitCastOp::create(frame, halves, load(factor, row, column).value());
          return Values{minimumUnsigned(now[0], (frame.wrap(bits) + frame.wrap(bits)) - 1)};
        });
      })[0];
  const Value one = vector::ReductionOp::create(frame, vector::CombiningKind::MINUI, minima.value());
  return isLessUnsigned(frame.wrap(one), frame.wrap(one).like(smallestNormal));
}

Emitted ScratchMatrices::isFinite(const ScratchMatrix &factor, Emitted rows, Emitted columns) const {
  const auto difference = [](Emitted elements) { return elements - elements; }; // 0; NaN for infinity and NaN
  const Emitted none = frame.zero(vector);
  const Emitted sum = frame.loop(frame.constant(0), rows, frame.constant(1), none, [&](Emitted row, const Values &in) {
    return frame.loop(frame.constant(0), columns, step, in, [&](Emitted column, const Values &now) {
      const Emitted elements = load(factor, row, column);
      if (!pairs)
        return Values{now[0] + difference(elements)};
      return Values{now[0] + difference(firstOfPairs(elements)) + difference(secondOfPairs(elements))};
    });
  })[0];
  const Emitted total = frame.wrap(vector::ReductionOp::create(frame, vector::CombiningKind::ADD, sum.value()));
  return equal(total, total.like(0));
}

AttentionScratch::AttentionScratch(const KernelSource &source, const CpuTarget &target)
    : pairs(productOf(source, target).group == 2), usesTiles(productOf(source, target).usesTiles()),
      lanes(lanesOf(source, target)) {}

void AttentionScratch::add(int64_t rows, int64_t columns) {
  bytes += 4 * wholeRows(rows) * paddedPitch(columns, lanes);
}

} // namespace halftone::compiler
