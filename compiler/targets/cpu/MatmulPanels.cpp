// A right operand that is kept packed, as #halftone.panels says: read where it is, for any number of rows.
// SPDX-License-Identifier: Apache-2.0
//
// Panels are of one vector of columns, and so a micro-kernel reads `vectors` of them side by side. By vdpbf16ps their
// pairs are multiplied as they are, for columns:
//   multiply the first rows, watching B;  anything subnormal, in B or in A: all rows widened;  else: store, other rows
// Where the kernel multiplies single numbers (axes that are split), one of each pair is widened.
#include "compiler/targets/cpu/Matmul.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

LogicalResult MatmulEmitter::readPanels() {
  const Value operand = contraction.getInputs()[1];
  panels = prologue[1] ? std::nullopt : source.formOf(operand).panels;
  if (!panels)
    return success();
  SmallVector<int> expected(group[panels->depth == 0 ? depthRole : columnRole]), found;
  llvm::append_range(expected, group[panels->depth == 0 ? columnRole : depthRole]);
  const SmallVector<int> dims = dimsOf(contraction);
  for (AffineExpr result : contraction.getIndexingMapsArray()[1].getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      found.push_back(dims[dim.getPosition()]);
  const bool takesPairs = instruction == MatmulInstruction::vdpbf16ps || instruction == MatmulInstruction::multiplyAdd;
  if (!takesPairs || !accumulator.isF32() || !getElementTypeOrSelf(operand).isInteger(16) || panels->group != 2 ||
      panels->columns != sizes->lanes || found != expected)
    return contraction.emitError() << "no code that reads panels of " << panels->columns << " columns, groups of "
                                   << panels->group << ", along axis " << panels->depth;
  return success();
}

std::function<FailureOr<MatmulEmitter::Lanes>(Emitted)> MatmulEmitter::panelFactors(Emitted column, int64_t vectors,
                                                                                    Emitted firstDepth) {
  const Emitted pairs = size[depthRole] / number(panels->group);
  const Emitted panel = (firstColumn + column) / number(sizes->lanes) * pairs * sizes->lanes;
  const Emitted first = address(pointers.lookup(contraction.getInputs()[1]), accumulator, panel);
  // Of pairs along K, the first or the second.
  const auto widened = [this](Value pairs, Emitted member) {
    const Emitted bits = wrap(pairs).bits(), shift = ((number(1) - member) * 16).narrow(b.getI32Type());
    return ((bits << wrap(splat(shift))) & int64_t(0xffff0000)).bitsAs(accumulator).value();
  };
  return [=, this](Emitted k) -> FailureOr<Lanes> {
    const Emitted depth = firstDepth + k, pair = groupSize == 2 ? depth : depth / number(panels->group);
    Lanes lanes;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      const Emitted at = address(first, accumulator, (pairs * vector + pair) * sizes->lanes);
      lanes.push_back(loadValue(lanesOf(accumulator), at, true));
      if (groupSize == 2)
        watch(lanes.back());
      else
        lanes.back() = widened(lanes.back(), depth % number(panels->group));
    }
    return lanes;
  };
}

void MatmulEmitter::emitWatchingRows(ArrayRef<int64_t> counts, int64_t vectors, const MatmulFactors &factors,
                                     Emitted column, Emitted firstDepth, Emitted depth) {
  // A few rows, which leaves registers for watching. Their sums, or earlier ones that they go on from, stay in memory
  // until all numbers are known.
  const int64_t few = counts[1];
  auto first = scf::IfOp::create(b, TypeRange(b.getI1Type()), (number(few) <= rows).value(), true);
  OpBuilder::InsertionGuard guard(b);
  for (int64_t count : {few, int64_t(1)}) {
    b.setInsertionPointToEnd(count == few ? first.thenBlock() : first.elseBlock());
    watched = nothingWatched();
    const Lanes sums = multiplyRows(count, vectors, factors, number(0), column, firstDepth, depth);
    const Emitted saw = sawSubnormal();
    watched.clear();
    auto store = scf::IfOp::create(b, saw.value(), true);
    scf::YieldOp::create(b, saw.value());
    b.setInsertionPoint(store.elseBlock()->getTerminator());
    storeSums(sums, vectors, number(0), column);
  }
  b.setInsertionPointAfter(first);
  auto branch = scf::IfOp::create(b, first.getResult(0), true);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  widens = true;
  emitRows(counts, number(0), vectors, factors, column, firstDepth, depth);
  widens = false;
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  const Emitted done = select(number(few) <= rows, number(few), number(1));
  emitRows(counts, done, vectors, factors, column, firstDepth, depth);
}
