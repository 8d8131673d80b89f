// Few rows times a transposed right operand: lanes run along K, and nothing is packed.
// SPDX-License-Identifier: Apache-2.0
//
//   for lanes of columns, for row:
//     for k in steps of lanes: A's lanes of the row times B's of each column, a sum a column
//     turned, so that a lane is a column, and added
#include "compiler/targets/cpu/Matmul.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

bool MatmulEmitter::takesDots() {
  return fewRows && !ordered && groupSize == 1 && !panels && cpu.hasMaskedMemory && group[rowRole].size() == 1 &&
         group[columnRole].size() == 1 && group[depthRole].size() == 1 && lanesAlongDepth(0) && lanesAlongDepth(1);
}

void MatmulEmitter::emitDots(Emitted firstDepth, Emitted depth) {
  const auto factorAt = [&](int side, Emitted index, Emitted k) -> FailureOr<Value> {
    MatmulPlace place;
    moveTo(place, batchRole, batch);
    moveTo(place, side == 0 ? rowRole : columnRole, index);
    setLanes(place, depthRole, firstDepth, k, depth);
    const FailureOr<Value> lanes = factor(side, place);
    if (failed(lanes) || !prologue[side])
      return lanes;
    return select(laneMask(place), wrap(*lanes), wrap(*lanes).like(int64_t(0))).value();
  };
  const Value zero = splat(arith::ConstantOp::create(b, b.getZeroAttr(accumulator)));
  loop(number(0), columns, number(sizes->lanes), [&](Emitted column) {
    loop(number(0), rows, number(1), [&](Emitted row) {
      Lanes sums =
          loop(number(0), depth, number(sizes->lanes), Lanes(size_t(sizes->lanes), zero), [&](Emitted k, Lanes acc) {
            const FailureOr<Value> x = factorAt(0, firstRow + row, k);
            for (int64_t lane = 0; lane < sizes->lanes && succeeded(sticky(x)); ++lane)
              if (const FailureOr<Value> y = factorAt(1, firstColumn + minimum(column + lane, columns - 1), k);
                  succeeded(sticky(y)))
                acc[size_t(lane)] = multiplyAdd(*x, *y, acc[size_t(lane)]);
            return acc;
          });
      if (broken)
        return;
      sums = transpose(sums);
      for (int64_t apart = sizes->lanes / 2; apart > 0; apart /= 2)
        for (int64_t i = 0; i < apart; ++i)
          sums[size_t(i)] = (wrap(sums[size_t(i)]) + wrap(sums[size_t(i + apart)])).value();
      const Emitted at = address(sumsAt, accumulator, row * sumsPitch + column);
      const Emitted before = wrap(loadValue(lanesOf(accumulator), at, true));
      storeValue(select(firstDepth > number(0), before + wrap(sums[0]), wrap(sums[0])).value(), at, true);
    });
  });
}
