// Factors of an attention kernel's products, from operands and from matrices in scratch.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/attention/AttentionPacking.h"
#include "compiler/kernels/MatmulSource.h"
#include "compiler/kernels/NarrowFloat.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

int AttentionPacking::innermostDim(const Tile &tile) const {
  linalg::GenericOp contraction = tile.contraction;
  return frame.source.accessOf(contraction, *contraction.getDpsInputOperand(tile.side)).dims.back();
}

/// Loads a vector of the operand along its innermost dim at the frame's index; 0 past that dim's end.
Emitted AttentionPacking::stored(const Tile &tile, const Lanes &lanes) const {
  linalg::GenericOp contraction = tile.contraction;
  OpOperand *operand = contraction.getDpsInputOperand(tile.side);
  const TensorAccess access = frame.source.accessOf(contraction, *operand);
  const Emitted elements = loadLanes(frame, frame.storage.lookup(operand->get()), access, lanes);
  return lanes.mask ? selectInside(lanes, elements, elements.like(0)) : elements;
}

/// Like stored(), converted to f32 or to pairs.
Emitted AttentionPacking::factor(const Tile &tile, const Lanes &lanes) const {
  const Emitted elements = stored(tile, lanes);
  if (matrices.pairs)
    return frame.wrap(vector::BitCastOp::create(frame, matrices.vector, elements.value()));
  return MatmulSource::factor(frame, tile.contraction, tile.side, elements, frame.lanes);
}

void AttentionPacking::forInnermost(const Tile &tile, int64_t elements,
                                    llvm::function_ref<void(Emitted, const Lanes &)> body) const {
  const int dim = innermostDim(tile);
  const Emitted extent = frame.extents[size_t(dim)], width = frame.constant(elements), whole = extent / width * width;
  const auto at = [&](Emitted index, bool isTail) {
    frame.index[size_t(dim)] = index;
    body(index / width * matrices.step, isTail ? maskedLanes(frame, elements, dim, extent) : Lanes{elements, dim});
  };
  frame.loop(frame.constant(0), whole, width, [&](Emitted index) { at(index, false); });
  frame.loop(whole, extent, width, [&](Emitted index) { at(index, true); });
}

void AttentionPacking::copyRows(const Tile &tile, const ScratchMatrix &to) const {
  frame.loop(frame.constant(0), tile.count, frame.constant(1), [&](Emitted row) {
    frame.index[size_t(tile.dim)] = tile.first + row;
    forInnermost(tile, matrices.pairs ? 2 * frame.lanes : frame.lanes,
                 [&](Emitted column, const Lanes &lanes) { matrices.store(factor(tile, lanes), to, row, column); });
  });
}

/// The pair of rows 2 `row` and 2 `row` + 1; rows from `count` on are 0.
Emitted AttentionPacking::pairOf(Emitted row, Emitted count, llvm::function_ref<Emitted(Emitted)> elements) const {
  const auto member = [&](Emitted index) {
    const Emitted found = elements(minimum(index, count - 1));
    return select(index < count, found, found.like(0));
  };
  const Emitted even = matrices.usesTiles() ? member(row * 2) : elements(row * 2);
  return interleaved(even, member(row * 2 + 1));
}

void AttentionPacking::copyDepth(const Tile &tile, const ScratchMatrix &to) const {
  if (!matrices.pairs)
    return copyRows(tile, to);
  frame.loop(frame.constant(0), matrices.groups(tile.count), frame.constant(1), [&](Emitted row) {
    forInnermost(tile, frame.lanes, [&](Emitted column, const Lanes &lanes) {
      const Emitted pair = pairOf(row, tile.count, [&](Emitted index) {
        frame.index[size_t(tile.dim)] = tile.first + index;
        return stored(tile, lanes);
      });
      matrices.store(pair, to, row, column);
    });
  });
}

void AttentionPacking::copyColumns(const Tile &tile, const ScratchMatrix &to) const {
  const Emitted last = tile.first + tile.count - 1;
  matrices.forVectors(tile.count, [&](Emitted row) {
    forInnermost(tile, matrices.pairs ? 2 * frame.lanes : frame.lanes, [&](Emitted column, const Lanes &lanes) {
      Values square;
      for (int64_t line = 0; line < frame.lanes; ++line) {
        frame.index[size_t(tile.dim)] = minimum(tile.first + row + line, last);
        square.push_back(factor(tile, lanes));
      }
      square = frame.transpose(square);
      for (int64_t line = 0; line < frame.lanes; ++line)
        matrices.store(square[size_t(line)], to, column + line, row);
    });
  });
}

/// Converts f32 to the bits of bf16.
Emitted AttentionPacking::narrowed(Emitted elements) const {
  return narrowFloat(frame.target.math, elements, frame.getBF16Type());
}

/// Interleaves first and second members to pairs of bf16, a vector of 32-bit elements.
Emitted AttentionPacking::interleaved(Emitted first, Emitted second) const {
  const Value both = vector::InterleaveOp::create(frame, first.value(), second.value());
  return frame.wrap(vector::BitCastOp::create(frame, matrices.vector, both));
}

ScratchMatrix AttentionPacking::packRows(const ScratchMatrix &from, Emitted rows, Emitted columns,
                                         const ScratchMatrix &to) const {
  if (!matrices.pairs)
    return from;
  frame.loop(frame.constant(0), rows, frame.constant(1), [&](Emitted row) {
    matrices.forVectors(matrices.groups(columns), [&](Emitted group) {
      Values halves;
      for (const int64_t half : {0, 1}) {
        const Emitted column = group * 2 + half * frame.lanes;
        const Emitted index = frame.steps(frame.getI64Type(), frame.lanes) + frame.splat(column, frame.lanes);
        const Emitted elements =
            narrowed(matrices.load(from, row, minimum(column, matrices.padded(columns) - matrices.step)));
        halves.push_back(select(index < frame.splat(columns, frame.lanes), elements, elements.like(0)));
      }
      const auto all = llvm::to_vector(llvm::seq<int64_t>(0, 2 * frame.lanes));
      const Value both = vector::ShuffleOp::create(frame, halves[0].value(), halves[1].value(), all);
      matrices.store(frame.wrap(vector::BitCastOp::create(frame, matrices.vector, both)), to, row, group);
    });
  });
  return to;
}

ScratchMatrix AttentionPacking::packDepth(const ScratchMatrix &from, Emitted rows, Emitted columns,
                                          const ScratchMatrix &to) const {
  if (!matrices.pairs)
    return from;
  frame.loop(frame.constant(0), matrices.groups(rows), frame.constant(1), [&](Emitted group) {
    matrices.forVectors(columns, [&](Emitted column) {
      matrices.store(pairOf(group, rows, [&](Emitted row) { return narrowed(matrices.load(from, row, column)); }), to,
                     group, column);
    });
  });
  return to;
}

MatrixAddress AttentionPacking::transposed(const ScratchMatrix &from, Emitted rows, Emitted depth,
                                           const ScratchMatrix &to) const {
  const Emitted one = frame.constant(1);
  if (!matrices.usesTiles())
    return {from.at, one, from.pitch};
  matrices.forVectors(depth, [&](Emitted group) {
    matrices.forVectors(rows, [&](Emitted row) {
      Values square;
      for (int64_t line = 0; line < frame.lanes; ++line)
        square.push_back(matrices.load(from, group + line, row));
      square = frame.transpose(square);
      for (int64_t line = 0; line < frame.lanes; ++line)
        matrices.store(square[size_t(line)], to, row + line, group);
    });
  });
  return {to.at, to.pitch, one};
}

} // namespace halftone::compiler
