// Matmuls of few rows by a transposed right operand.
// SPDX-License-Identifier: Apache-2.0
//
//   for lanes of columns, for row:
//     for k in steps of lanes: A's lanes of the row times B's lanes of each column, with a sum per column
//     the sums transposed, so a lane is a column, and added up
#include "compiler/targets/cpu/matmul/MatmulDots.h"

namespace halftone::compiler {
using namespace mlir;

/// Loads lanes along K of a row of A or a column of B; lanes past K are 0 if the operand has a prologue.
Emitted MatmulDots::alongDepth(int side, Emitted line, Emitted k, const MatmulDepth &depth) const {
  MatmulIndex index = access.indexAt(side == 0 ? rowRole : columnRole, line);
  access.setLanes(index, depthRole, depth.first, k, depth.count);
  const Emitted lanes = operands.factor(side, index);
  return block.plan.prologue[size_t(side)] ? access.selectInside(index, lanes, lanes.like(int64_t(0))) : lanes;
}

void MatmulDots::multiply(const MatmulDepth &depth) const {
  const int64_t lanes = block.sizes.lanes;
  const Emitted zero = frame.constant(0), zeros = block.zeros();
  const auto sumsOf = [&](Emitted row, Emitted column) {
    return frame.loop(zero, depth.count, frame.constant(lanes), Values(size_t(lanes), zeros),
                      [&](Emitted k, const Values &now) {
                        Values sums = now;
                        const Emitted x = alongDepth(0, block.firstRow + row, k, depth);
                        for (int64_t lane = 0; lane < lanes; ++lane) {
                          const Emitted at = block.firstColumn + minimum(column + lane, block.columns - 1);
                          Emitted &sum = sums[size_t(lane)];
                          sum = microKernel.multiplyAdd(x, alongDepth(1, at, k, depth), sum);
                        }
                        return sums;
                      });
  };
  frame.loop(zero, block.columns, frame.constant(lanes), [&](Emitted column) {
    frame.loop(zero, block.rows, frame.constant(1), [&](Emitted row) {
      Values sums = frame.transpose(sumsOf(row, column));
      for (int64_t distance = lanes / 2; distance > 0; distance /= 2)
        for (int64_t i = 0; i < distance; ++i)
          sums[size_t(i)] = sums[size_t(i)] + sums[size_t(i + distance)];
      const Emitted at = block.at(block.sums, row * block.sumsPitch + column), before = block.load(at);
      block.store(select(depth.first > zero, before + sums[0], sums[0]), at);
    });
  });
}

} // namespace halftone::compiler
