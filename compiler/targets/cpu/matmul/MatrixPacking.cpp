// Packs an operand that is a matrix, by calls of cores.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatrixPacking.h"
#include "mlir/IR/TypeUtilities.h"
#include <tuple>

namespace halftone::compiler {
using namespace mlir;

Emitted MatrixPacking::firstOf(int side, Emitted column, const MatmulDepth &depth) const {
  OpOperand *input = plan.contraction.getDpsInputOperand(unsigned(side));
  MatmulIndex index = access.indexAt(depthRole, depth.first * plan.groupSize);
  access.moveTo(index, side == 0 ? rowRole : columnRole, (side == 0 ? block.firstRow : block.firstColumn) + column);
  const Emitted offset = access.reach(frame.source.accessOf(plan.contraction, *input), index).offset;
  return frame.address(block.pointerOf(input->get()), getElementTypeOrSelf(input->get()), offset);
}

PackingCore MatrixPacking::coreOf(int side) const {
  PackingCore core{{}, {}, lanes, plan.groupSize, plan.lanesAlongDepth(side)};
  llvm::raw_string_ostream(core.accumulator) << plan.accumulator;
  if (plan.groupSize == 1)
    core.operand.narrow = plan.narrowElement(side);
  core.masks = plan.cpu.hasMaskedMemory;
  core.biases = side == 1 && plan.bias == 128;
  core.watches = watch.isOn();
  return core;
}

void MatrixPacking::pack(const PackingCore &core, int side, Emitted column, Emitted columns, const MatmulDepth &depth,
                         PackingCore::Call call) {
  const Emitted ofDepth = block.size[depthRole];
  call.from = firstOf(side, column, depth);
  call.pitch = core.alongDepth ? ofDepth : block.size[side == 0 ? rowRole : columnRole];
  call.columns = columns;
  call.depth = minimum(depth.count * plan.groupSize, ofDepth - depth.first * plan.groupSize);
  SmallVector<Type> results;
  if (core.watches) {
    call.minima = watch.magnitudes()[0];
    results.push_back(call.minima.type());
  }
  const Values seen = frame.call(core.core(), call.arguments(), results);
  if (core.watches)
    watch.setMagnitudes(seen);
}

void MatrixPacking::packAcross(int side, const MatmulDepth &depth) {
  const bool isRows = side == 0, inPanels = isRows && plan.a == ReadA::packedPanels;
  const Emitted count = isRows ? block.rows : block.columns;
  const auto packPanels = [&](Emitted begin, Emitted end, int64_t vectors) {
    PackingCore core = coreOf(side);
    core.vectors = vectors;
    PackingCore::Call call;
    call.to = isRows ? block.at(block.packedA, block.rowsAcross(constant(0), begin))
                     : block.at(block.packedB, begin * block.sizes.depth);
    call.toColumn = constant(!isRows ? block.sizes.depth : inPanels ? block.sizes.rowPitch() : 1);
    call.toDepth = isRows && !inPanels ? block.packedPitch : constant(vectors * lanes);
    pack(core, side, begin, end - begin, depth, call);
  };
  const Emitted panels = inPanels ? constant(0) : block.wholeOf(count, block.sizes.columns());
  if (!inPanels)
    packPanels(constant(0), panels, block.sizes.vectors);
  packPanels(panels, count, 1);
}

void MatrixPacking::packPanelTransposed(Emitted column, Emitted columns, Emitted first, const MatmulDepth &depth) {
  PackingCore::Call call;
  std::tie(call.to, call.toDepth) = block.packedColumns(column, first);
  call.toColumn = constant(1);
  pack(coreOf(1), 1, column, columns, depth, call);
}

void MatrixPacking::packColumnsTransposed(Emitted begin, Emitted end, const MatmulDepth &depth) {
  if (plan.b == ReadB::packedStrip)
    return packPanelTransposed(begin, end - begin, begin, depth);
  const Emitted width = constant(block.sizes.columns()), panels = block.wholeOf(end, block.sizes.columns());
  watch.loop(begin, panels, width, [&](Emitted column) { packPanelTransposed(column, width, constant(0), depth); });
  watch.loop(panels, end, constant(lanes), [&](Emitted column) {
    packPanelTransposed(column, minimum(constant(lanes), end - column), constant(0), depth);
  });
}

} // namespace halftone::compiler
