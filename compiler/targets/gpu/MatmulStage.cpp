// Copies of operands from global to shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/MatmulStage.h"

namespace halftone::compiler {
using namespace mlir;

Lanes MatmulStage::lanesOf(const MatmulCta &cta, int side, int64_t chunk) {
  const MatmulSource &source = cta.source;
  const int dim = source.innermostDim(side);
  const bool alongDepth = source.lanesAlongDepth(side);
  const ArrayRef<int> group = source.group[alongDepth ? depthRole : side == 0 ? rowRole : columnRole];
  const int64_t begins = alongDepth ? chunk : side == 0 ? cta.tile.m : cta.tile.n;
  if (chunk == 1 || dim != group.back() || begins % chunk != 0 || !cta.isMultiple(dim, chunk))
    return {};
  return {chunk, dim, {}, {}, /*isAligned=*/true};
}

MatmulStage::MatmulStage(const MatmulCta &cta, int side, int64_t chunk)
    : cta(cta), frame(cta.frame), source(cta.source), side(side), alongDepth(source.lanesAlongDepth(side)),
      rows(side == 0 ? cta.tiling.rows : cta.tiling.columns), depth(cta.tiling.depth), chunk(chunk),
      lanes(lanesOf(cta, side, chunk)) {
  linalg::GenericOp prologue = source.prologue[size_t(side)];
  reader = prologue ? prologue : source.contraction;
  if (!prologue)
    inputs = {reader.getDpsInputOperand(side)};
  else
    for (OpOperand *input : reader.getDpsInputOperands())
      if (!reader.getMatchingBlockArgument(input).use_empty())
        inputs.push_back(input);
}

int64_t MatmulStage::chunks() const { return rows * depth / (chunk * cta.tiling.threads()); }

/// Adjacent threads take adjacent elements in the operand's memory.
MatmulStage::Position MatmulStage::positionOf(Emitted index) const {
  const int64_t inLine = (alongDepth ? depth : rows) / chunk;
  const Emitted line = divideUnsigned(frame.thread, frame.constant(inLine)) + index * (cta.tiling.threads() / inLine);
  const Emitted along = remainderUnsigned(frame.thread, frame.constant(inLine)) * chunk;
  return alongDepth ? Position{line, along} : Position{along, line};
}

MatmulStage::Position MatmulStage::neighbour(const Position &position, int64_t distance) const {
  return alongDepth ? Position{position.row, position.depth + distance}
                    : Position{position.row + distance, position.depth};
}

/// Sets the frame's index to `position`, or to the last position inside.
void MatmulStage::moveTo(const Position &position, Emitted firstDepth) const {
  const MatmulRole role = side == 0 ? rowRole : columnRole;
  const Emitted first = side == 0 ? cta.firstRow : cta.firstColumn;
  const int64_t step = std::max<int64_t>(lanes.count, 1);
  cta.moveTo(role, minimum(first + position.row, cta.size[role] - (alongDepth ? 1 : step)));
  cta.moveTo(depthRole, minimum(firstDepth + position.depth, cta.size[depthRole] - (alongDepth ? step : 1)));
}

Emitted MatmulStage::isInside(const Position &position, Emitted firstDepth) const {
  return firstDepth + position.depth < cta.size[depthRole];
}

/// The operand's element or vector at the frame's index, computed from the loaded inputs.
Emitted MatmulStage::elementOf(ArrayRef<Emitted> loaded) const {
  linalg::GenericOp prologue = source.prologue[size_t(side)];
  if (!prologue)
    return loaded[0];
  Values arguments(prologue.getBody()->getNumArguments());
  for (auto [input, value] : llvm::zip(inputs, loaded))
    arguments[input->getOperandNumber()] = value;
  const auto result = cast<OpResult>(source.contraction.getInputs()[unsigned(side)]).getResultNumber();
  return emitBody(frame, prologue, arguments, lanes)[result];
}

Values MatmulStage::load(Emitted index, Emitted firstDepth) const {
  const Position first = positionOf(index);
  Values loaded;
  for (int64_t part = 0; part < partsPerChunk(); ++part) {
    moveTo(neighbour(first, part), firstDepth);
    for (OpOperand *input : inputs)
      loaded.push_back(
          loadLanes(frame, frame.storage.lookup(input->get()), source.source.accessOf(reader, *input), lanes));
  }
  return loaded;
}

void MatmulStage::store(Emitted index, ArrayRef<Emitted> loaded, Emitted firstDepth) const {
  const Position first = positionOf(index);
  Values factors;
  for (int64_t part = 0; part < partsPerChunk(); ++part) {
    const Position position = neighbour(first, part);
    moveTo(position, firstDepth);
    const Emitted element = elementOf(loaded.slice(size_t(part) * inputs.size(), inputs.size()));
    const Emitted factor = factorOf(element, lanes.count);
    factors.push_back(select(isInside(position, firstDepth), factor, frame.zero(factor.type())));
  }
  put(first, factors.size() == 1 ? factors[0] : joined(frame, factors));
}

} // namespace halftone::compiler
