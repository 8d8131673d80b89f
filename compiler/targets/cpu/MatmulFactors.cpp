// Where the multiplication reads its factors.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/MatmulFactors.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

MatmulRows MatmulFactors::rows(const MatmulDepth &depth) const {
  const Emitted one = frame.constant(1);
  if (!problem.readsRowsInPlace())
    return problem.packsRowsAlongDepth() ? MatmulRows{block.packedA, frame.constant(block.sizes.rowPitch()), one}
                                         : MatmulRows{block.packedA, one, block.packedPitch};
  OpOperand *input = problem.contraction.getDpsInputOperand(0);
  const TensorAccess accessed = frame.source.accessOf(problem.contraction, *input);
  MatmulIndex index = access.indexAt(rowRole, block.firstRow);
  access.moveTo(index, depthRole, depth.first * problem.groupSize);
  const auto pitch = [&](MatmulRole role) {
    index.laneRole = role;
    const Emitted stride = access.reach(accessed, index).stride;
    return stride ? stride : frame.constant(0);
  };
  const Emitted rowPitch = pitch(rowRole) / frame.constant(problem.groupSize), depthPitch = pitch(depthRole);
  const Emitted offset = access.reach(accessed, index).offset;
  return {frame.address(block.pointerOf(input->get()), getElementTypeOrSelf(input->get()), offset), rowPitch,
          depthPitch};
}

std::function<Values(Emitted)> MatmulFactors::columns(const MatmulStrip &strip) const {
  if (problem.panels)
    return columnsOfPanels(strip);
  if (problem.readsColumnsInPlace())
    return columnsInPlace(strip);
  const Emitted panel =
      problem.packsPanels() ? block.packedB : block.at(block.packedB, strip.column * block.sizes.depth);
  return [this, panel, vectors = strip.vectors](Emitted k) {
    Values read;
    for (int64_t vector = 0; vector < vectors; ++vector)
      read.push_back(block.load(block.at(panel, (k * vectors + vector) * block.sizes.lanes)));
    return read;
  };
}

std::function<Values(Emitted)> MatmulFactors::columnsInPlace(const MatmulStrip &strip) const {
  return [this, vectors = strip.vectors, column = strip.column, first = strip.depth.first](Emitted k) {
    MatmulIndex index = access.indexAt(depthRole, first + k);
    index.whole = vectors > 1;
    Values read;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      access.setLanes(index, columnRole, block.firstColumn, column + vector * block.sizes.lanes, block.columns);
      read.push_back(operands.factor(1, index));
      if (problem.packsPanels())
        block.store(read.back(), block.at(block.packedB, (k * vectors + vector) * block.sizes.lanes));
    }
    return read;
  };
}

Emitted MatmulFactors::panelAt(Emitted column) const {
  const Emitted groups = block.size[depthRole] / frame.constant(problem.panels->group);
  const Emitted panel = (block.firstColumn + column) / frame.constant(block.sizes.lanes);
  return block.at(block.pointerOf(problem.contraction.getInputs()[1]), panel * groups * block.sizes.lanes);
}

void MatmulFactors::watchPanels() const {
  const Emitted lanes = frame.constant(block.sizes.lanes);
  watch.loop(frame.constant(0), block.columns, lanes, [&](Emitted column) {
    const Emitted panel = panelAt(column);
    watch.loop(frame.constant(0), block.groups(), frame.constant(1),
               [&](Emitted k) { watch.look(block.load(block.at(panel, k * lanes))); });
  });
}

/// One member of each group, in the accumulator's type. The first is in the lowest bits.
Emitted MatmulFactors::memberOf(Emitted groups, Emitted member) const {
  const int64_t group = problem.panels->group, width = 32 / group;
  const Emitted up = ((frame.constant(group - 1) - member) * width).narrow(frame.getI32Type());
  const Emitted highest = groups.bits() << block.splat(up);
  if (problem.accumulator.isF32())
    return (highest & int64_t(0xffff0000)).bitsAs(problem.accumulator);
  return shiftSigned(highest, 32 - width);
}

/// A right operand that is kept packed, as #halftone.panels says, is read where it is, for any number of rows. Panels are
/// of one vector of columns, and so a strip reads `vectors` of them side by side. Where the kernel multiplies single
/// elements (K has several dims, say), one member of each group is widened.
std::function<Values(Emitted)> MatmulFactors::columnsOfPanels(const MatmulStrip &strip) const {
  const Emitted group = frame.constant(problem.panels->group), groups = block.size[depthRole] / group;
  const int64_t lanes = block.sizes.lanes;
  const Emitted first = panelAt(strip.column);
  return [=, this, vectors = strip.vectors, firstDepth = strip.depth.first](Emitted k) {
    const Emitted depth = firstDepth + k, place = problem.groupSize > 1 ? depth : depth / group;
    Values read;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      read.push_back(block.load(block.at(first, (groups * vector + place) * lanes)));
      if (problem.groupSize > 1)
        watch.look(read.back());
      else
        read.back() = memberOf(read.back(), depth % group);
    }
    return read;
  };
}

} // namespace halftone::compiler
