// Packs a tile's operands, through their prologues, into scratch.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulPack.h"
#include "compiler/targets/cpu/matmul/WindowPacking.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <bit>

namespace halftone::compiler {
using namespace mlir;

void MatmulPacking::store(Emitted vector, Emitted at) {
  watch.check(vector);
  block.store(vector, at);
}

void MatmulPacking::packRows(const MatmulDepth &depth) {
  if (plan.window)
    WindowPacking(block, groups, watch).pack(depth);
  else if (plan.lanesAlongDepth(0))
    packRowsAlongDepth(depth);
  else if (plan.a == ReadA::packedRows)
    packRowsTransposed(depth);
  else
    packAcross(0, depth);
  if (plan.bias != 0)
    packBias(depth);
}

void MatmulPacking::packColumns(const MatmulDepth &depth) {
  if (plan.lanesAlongDepth(1))
    packColumnsTransposed(constant(0), block.columns, depth);
  else
    packAcross(1, depth);
}

void MatmulPacking::packRowsAlongDepth(const MatmulDepth &depth) {
  const Emitted full = minimum(depth.count, block.size[depthRole] / constant(plan.groupSize) - depth.first);
  const Emitted wholeEnd = block.wholeOf(full, lanes);
  watch.loop(constant(0), block.rows, constant(1), [&](Emitted row) {
    MatmulIndex index = access.indexAt(rowRole, block.firstRow + row);
    for (bool whole : {true, false})
      watch.loop(whole ? constant(0) : wholeEnd, whole ? wholeEnd : depth.count, constant(lanes), [&](Emitted k) {
        access.setLanes(index, depthRole, depth.first, k, depth.count);
        index.inside = whole ? LanesInside::all : LanesInside::notAll;
        const Emitted vector =
            plan.groupSize > 1 ? groups.alongDepth(0, index, depth.first + k) : operands.factor(0, index);
        store(vector, block.at(block.packedA, row * block.sizes.rowPitch() + k));
      });
  });
}

/// Stores after each row its correction for this slice of K: minus the bias times the sum of its elements.
void MatmulPacking::packBias(const MatmulDepth &depth) {
  const Emitted biases =
      block.splat(frame.constant(frame.getI32IntegerAttr(std::bit_cast<int32_t>(uint32_t(plan.bias) * 0x01010101U))));
  frame.loop(constant(0), block.rows, constant(1), [&](Emitted row) {
    const Emitted start = block.at(block.packedA, row * block.sizes.rowPitch());
    const Values sums =
        frame.loop(constant(0), depth.count, constant(lanes), block.zeros(), [&](Emitted k, const Values &now) {
          return Values{plan.product->multiply(frame, now[0], block.load(block.at(start, k)), biases)};
        });
    const Emitted sum = frame.wrap(vector::ReductionOp::create(frame, vector::CombiningKind::ADD, sums[0].value()));
    frame.store(sum.like(int64_t(0)) - sum, block.at(start, constant(block.sizes.depth)));
  });
}

void MatmulPacking::packRowsTransposed(const MatmulDepth &depth) {
  watch.loop(constant(0), block.rows, constant(lanes), [&](Emitted row) {
    watch.loop(constant(0), depth.count, constant(lanes), [&](Emitted k) {
      frame.loop(constant(0), constant(lanes), constant(1), [&](Emitted member) {
        MatmulIndex index;
        access.moveTo(index, batchRole, block.batch);
        access.setLanes(index, rowRole, block.firstRow, row, block.rows);
        const Emitted vector = groups.across(0, index, depth.first + k + member);
        const Emitted isWithin = k + member < depth.count;
        block.store(select(isWithin, vector, vector.like(int64_t(0))), squareRow(member));
      });
      Values transposed;
      for (int64_t member = 0; member < lanes; ++member)
        transposed.push_back(block.load(squareRow(constant(member))));
      transposed = frame.transpose(transposed);
      for (int64_t lane = 0; lane < lanes; ++lane)
        store(transposed[size_t(lane)], block.at(block.packedA, (row + lane) * block.sizes.rowPitch() + k));
    });
  });
}

void MatmulPacking::packAcross(int side, const MatmulDepth &depth) {
  if (plan.isMatrix(side))
    matrix.packAcross(side, depth);
  else
    packLanesAcross(side, depth);
  if (plan.multiply == Multiply::amxTiles)
    packZerosPastDepth(depth);
}

void MatmulPacking::packLanesAcross(int side, const MatmulDepth &depth) {
  const bool isRows = side == 0;
  const MatmulRole role = isRows ? rowRole : columnRole;
  const Emitted count = isRows ? block.rows : block.columns, first = isRows ? block.firstRow : block.firstColumn;
  const auto copy = [&](Emitted k, Emitted begin, Emitted end, int64_t vectors, LanesInside inside) {
    MatmulIndex index = access.indexAt(depthRole, depth.first + k);
    index.inside = inside;
    watch.loop(begin, end, constant(vectors * lanes), [&](Emitted start) {
      for (int64_t vector = 0; vector < vectors; ++vector) {
        const Emitted at = start + vector * lanes;
        access.setLanes(index, role, first, at, count);
        const Emitted packed =
            plan.groupSize > 1 ? groups.across(side, index, depth.first + k) : operands.factor(side, index);
        const Emitted offset =
            isRows ? block.rowsAcross(k, at) : start * block.sizes.depth + (k * vectors + vector) * lanes;
        store(packed, block.at(isRows ? block.packedA : block.packedB, offset));
      }
    });
  };
  const Emitted panels = block.wholeOf(count, block.sizes.columns()), vectors = block.wholeOf(count, lanes);
  watch.loop(constant(0), depth.count, constant(1), [&](Emitted k) {
    copy(k, constant(0), panels, block.sizes.vectors, LanesInside::all);
    copy(k, panels, vectors, 1, LanesInside::all);
    copy(k, vectors, count, 1, LanesInside::notAll);
  });
}

void MatmulPacking::packZerosPastDepth(const MatmulDepth &depth) {
  const Emitted zeros = block.zeros(), end = ceilDivide(depth.count, constant(lanes)) * lanes;
  frame.loop(constant(0), block.columns, constant(lanes), [&](Emitted column) {
    const auto [start, pitch] = block.packedColumns(column, constant(0));
    const auto storeAt = [&, start = start, pitch = pitch](Emitted k) {
      block.store(zeros, block.at(start, k * pitch));
    };
    frame.loop(depth.count, end, constant(1), storeAt);
  });
}

Emitted MatmulPacking::columnAlongDepth(Emitted column, Emitted k, const MatmulDepth &depth) const {
  MatmulIndex index = access.indexAt(columnRole, block.firstColumn + minimum(column, block.columns - 1));
  if (plan.groupSize > 1)
    return groups.alongDepth(1, index, depth.first + k);
  access.setLanes(index, depthRole, depth.first, k, depth.count);
  return operands.factor(1, index);
}

/// A vector along K of each of the `lanes` columns from `start` on. With a prologue they pass through scratch, which
/// keeps the code short.
Values MatmulPacking::squareOfColumns(Emitted start, Emitted k, const MatmulDepth &depth) {
  const bool throughScratch = bool(plan.prologue[1]);
  if (throughScratch)
    frame.loop(constant(0), constant(lanes), constant(1),
               [&](Emitted lane) { block.store(columnAlongDepth(start + lane, k, depth), squareRow(lane)); });
  Values columns;
  for (int64_t lane = 0; lane < lanes; ++lane)
    columns.push_back(throughScratch ? block.load(squareRow(constant(lane)))
                                     : columnAlongDepth(start + lane, k, depth));
  return columns;
}

void MatmulPacking::packColumnsTransposed(Emitted begin, Emitted end, const MatmulDepth &depth) {
  if (plan.isMatrix(1))
    return matrix.packColumnsTransposed(begin, end, depth);
  watch.loop(begin, end, constant(lanes), [&](Emitted start) {
    const auto packed = block.packedColumns(start, begin);
    watch.loop(constant(0), depth.count, constant(lanes), [&](Emitted k) {
      const Values transposed = frame.transpose(squareOfColumns(start, k, depth));
      for (int64_t lane = 0; lane < lanes; ++lane)
        store(transposed[size_t(lane)], block.at(packed.first, (k + lane) * packed.second));
    });
  });
}

void MatmulPacking::watchRows(Emitted rows, Emitted rowPitch, const MatmulDepth &depth) {
  const Emitted wholeEnd = block.wholeOf(depth.count, lanes);
  const Type vector = block.lanesOf(plan.accumulator);
  watch.loop(constant(0), block.rows, constant(1), [&](Emitted row) {
    const MatmulIndex index = access.indexAt(rowRole, block.firstRow + row);
    const Emitted start = block.at(rows, row * rowPitch);
    watch.loop(constant(0), wholeEnd, constant(lanes),
               [&](Emitted k) { watch.check(frame.load(vector, block.at(start, k))); });
    watch.loop(wholeEnd, depth.count, constant(lanes),
               [&](Emitted k) { watch.check(groups.alongDepth(0, index, depth.first + k)); });
  });
}

} // namespace halftone::compiler
