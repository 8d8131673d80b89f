// Tiles of an attention kernel's operands in scratch, and steps along rows of scores.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/AttentionTiles.h"
#include "compiler/kernels/MatmulSource.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace halftone::compiler {
using namespace mlir;

ScratchMatrix AttentionTiles::take(Emitted rows, Emitted columns) {
  const ScratchMatrix matrix{next, paddedPitch(columns, step)};
  next = frame.address(next, frame.getF32Type(), rows * matrix.pitch);
  return matrix;
}

Emitted AttentionTiles::address(const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  return frame.address(matrix.at, frame.getF32Type(), row * matrix.pitch + column);
}

Emitted AttentionTiles::load(const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  return frame.load(vector, address(matrix, row, column), frame.lanes * 4);
}

Emitted AttentionTiles::loadScalar(const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  return frame.load(frame.getF32Type(), address(matrix, row, column));
}

void AttentionTiles::store(Emitted lanes, const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  frame.store(lanes, address(matrix, row, column), frame.lanes * 4);
}

void AttentionTiles::fill(const ScratchMatrix &matrix, Emitted rows, Emitted columns, Emitted value) const {
  const Emitted lanes = splat(value);
  frame.loop(frame.constant(0), rows, frame.constant(1),
             [&](Emitted row) { forVectors(columns, [&](Emitted column) { store(lanes, matrix, row, column); }); });
}

/// A vector of the factor along its innermost dim at the frame's index, in f32.
Emitted AttentionTiles::factor(linalg::GenericOp contraction, int side, const Lanes &lanes) const {
  OpOperand *operand = contraction.getDpsInputOperand(side);
  const TensorAccess access = frame.source.accessOf(contraction, *operand);
  const Emitted stored = loadLanes(frame, frame.storage.lookup(operand->get()), access, lanes);
  return MatmulSource::factor(frame, contraction, side, stored, frame.lanes);
}

void AttentionTiles::copyRows(linalg::GenericOp contraction, int side, int rowDim, Emitted first, Emitted count,
                              const ScratchMatrix &to) {
  const int dim = frame.source.accessOf(contraction, *contraction.getDpsInputOperand(side)).dims.back();
  const Emitted extent = frame.extents[size_t(dim)], whole = extent / step * step;
  frame.loop(frame.constant(0), count, frame.constant(1), [&](Emitted row) {
    frame.index[size_t(rowDim)] = first + row;
    const auto copy = [&](Emitted column, bool isTail) {
      frame.index[size_t(dim)] = column;
      const Lanes lanes = isTail ? maskedLanes(frame, frame.lanes, dim, extent) : Lanes{frame.lanes, dim};
      const Emitted elements = factor(contraction, side, lanes);
      store(isTail ? selectInside(lanes, elements, elements.like(0)) : elements, to, row, column);
    };
    frame.loop(frame.constant(0), whole, step, [&](Emitted column) { copy(column, false); });
    frame.loop(whole, extent, step, [&](Emitted column) { copy(column, true); });
  });
}

void AttentionTiles::copyColumns(linalg::GenericOp contraction, int side, int rowDim, Emitted first, Emitted count,
                                 const ScratchMatrix &to) {
  const int dim = frame.source.accessOf(contraction, *contraction.getDpsInputOperand(side)).dims.back();
  const Emitted extent = frame.extents[size_t(dim)], whole = extent / step * step;
  const Emitted last = first + count - 1;
  forVectors(count, [&](Emitted row) {
    const auto turn = [&](Emitted column, bool isTail) {
      frame.index[size_t(dim)] = column;
      const Lanes lanes = isTail ? maskedLanes(frame, frame.lanes, dim, extent) : Lanes{frame.lanes, dim};
      Values square;
      for (int64_t line = 0; line < frame.lanes; ++line) {
        frame.index[size_t(rowDim)] = minimum(first + row + line, last);
        square.push_back(factor(contraction, side, lanes));
      }
      square = frame.transpose(square);
      for (int64_t line = 0; line < frame.lanes; ++line)
        store(square[size_t(line)], to, column + line, row);
    };
    frame.loop(frame.constant(0), whole, step, [&](Emitted column) { turn(column, false); });
    frame.loop(whole, extent, step, [&](Emitted column) { turn(column, true); });
  });
}

Emitted AttentionTiles::alongQueries(linalg::GenericOp generic, ArrayRef<std::pair<Value, Emitted>> given) const {
  Lanes lanes{frame.lanes, queryDim};
  for (OpOperand *operand : generic.getDpsInputOperands())
    if (isa<BlockArgument>(operand->get()) &&
        llvm::is_contained(frame.source.accessOf(generic, *operand).dims, int(queryDim)))
      lanes = maskedLanes(frame, frame.lanes, queryDim, frame.extents[queryDim]);
  const auto inputs = generic.getDpsInputs();
  const Values values = loadInputs(frame, generic, lanes, [&](unsigned position) {
    const auto *found = llvm::find_if(given, [&](const auto &each) { return each.first == inputs[position]; });
    return found == given.end() ? Emitted() : found->second;
  });
  return emitBody(frame, generic, values, lanes)[0];
}

void AttentionTiles::storeAlong(int dim, linalg::GenericOp generic,
                                llvm::function_ref<Emitted(Value, Emitted)> given) const {
  const Emitted extent = frame.extents[size_t(dim)], whole = extent / step * step;
  const TensorAccess access = frame.source.accessOf(generic, *generic.getDpsInitOperand(0));
  const auto storeAt = [&](Emitted column, bool isTail) {
    frame.index[size_t(dim)] = column;
    const Lanes lanes = isTail ? maskedLanes(frame, frame.lanes, dim, extent) : Lanes{frame.lanes, dim};
    const auto inputs = generic.getDpsInputs();
    const Values values =
        loadInputs(frame, generic, lanes, [&](unsigned position) { return given(inputs[position], column); });
    storeLanes(frame, emitBody(frame, generic, values, lanes)[0], frame.storage.lookup(generic.getResult(0)), access,
               lanes);
  };
  frame.loop(frame.constant(0), whole, step, [&](Emitted column) { storeAt(column, false); });
  frame.loop(whole, extent, step, [&](Emitted column) { storeAt(column, true); });
}

void AttentionTiles::storeScalar(linalg::GenericOp generic, llvm::function_ref<Emitted(Value)> given) const {
  const auto inputs = generic.getDpsInputs();
  const Values values = loadInputs(frame, generic, {}, [&](unsigned position) { return given(inputs[position]); });
  storeLanes(frame, emitBody(frame, generic, values, {})[0], frame.storage.lookup(generic.getResult(0)),
             frame.source.accessOf(generic, *generic.getDpsInitOperand(0)), {});
}

Emitted AttentionTiles::exp(Emitted x) const { return frame.wrap(math::ExpOp::create(frame, x.value())); }

} // namespace halftone::compiler
