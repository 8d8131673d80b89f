// The loop structure of a matmul: operands are packed, then multiplied, and the epilogue is applied to the sums.
// SPDX-License-Identifier: Apache-2.0
//
//   for block:
//     for k in steps of `depth`: pack operands that cannot be read in place; multiply
//     for row, for lanes of columns: epilogue
#include "compiler/targets/cpu/matmul/MatmulOrder.h"
#include "compiler/targets/cpu/matmul/WindowPacking.h"

namespace halftone::compiler {
using namespace mlir;

void MatmulOrder::emit() {
  begin();
  frame.loop(frame.blockBegin, frame.blockEnd, constant(1), [&](Emitted number) { emitBlock(number); });
  end();
}

void MatmulOrder::emitBlock(Emitted number) {
  block.begin(number);
  beginBlock();
  // At least one iteration, because an empty sum is 0.
  const Emitted steps = block.groups(), atLeastOne = maximum(steps, constant(1));
  const Emitted parts = ceilDivide(atLeastOne, constant(block.sizes.depth));
  const Emitted part = partOfDepth(atLeastOne, parts);
  frame.loop(constant(0), atLeastOne, part, [&](Emitted first) {
    const MatmulDepth depth{first, minimum(part, steps - first)};
    if (plan.a != ReadA::inPlace && (plan.a != ReadA::image || plan.product->multiplyWidened))
      packRows(depth);
    watch.start();
    if (plan.b == ReadB::packedTile)
      packing.packColumns(depth);
    multiply(depth);
  });
  watch.stop();
  epilogue.emit();
}

/// Slices of equal size, rather than a small one at the end.
Emitted MatmulOrder::partOfDepth(Emitted all, Emitted parts) {
  return ceilDivide(ceilDivide(all, parts), constant(block.sizes.lanes)) * block.sizes.lanes;
}

/// Consecutive blocks have the same rows. If K is one slice, these are still packed, or checked, from the block before.
void MatmulOrder::packRows(const MatmulDepth &depth) {
  const Emitted tile = block.rowsOfTile + 1;
  const Emitted packed = frame.load(frame.getI64Type(), block.packedRowsAt);
  const Emitted isOther = negated(equal(packed, tile));
  const Emitted isMissing = plan.a == ReadA::image ? isOther : isOther | (block.groups() > constant(block.sizes.depth));
  frame.branch(isMissing, [&] {
    watch.start();
    if (plan.a == ReadA::image) {
      WindowPacking(block, groups, watch).watchImage();
    } else if (plan.a == ReadA::pairsInPlace) {
      const MatmulRows rows = factors.rows(depth);
      packing.watchRows(rows.a, rows.rowPitch, depth);
    } else {
      packing.packRows(depth);
    }
    watch.save(block.watchedAt);
    frame.store(tile, block.packedRowsAt);
  });
}

void MatmulOrder::multiplyEither(Emitted foundSubnormal, llvm::function_ref<void()> multiply) {
  watch.stop();
  const auto by = [&](bool widens) {
    microKernel.widens = widens;
    multiply();
    microKernel.widens = false;
  };
  frame.branch(foundSubnormal, [&] { by(true); }, [&] { by(false); });
}

} // namespace halftone::compiler
