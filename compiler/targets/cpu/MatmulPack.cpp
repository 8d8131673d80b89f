// Packing: a tile's operands in the accumulator's type, through their prologues, in the order in which the micro-kernel
// reads. SPDX-License-Identifier: Apache-2.0
//
// B lies in panels of as many columns as the micro-kernel has, [panel][k][column], what is left of the columns in
// panels of one vector. A's elements are read one by one, so that it may lie as its operand does: [row][k] or [k][row].
#include "compiler/targets/cpu/Matmul.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// `value`, an expression over a body's argument, with `lanes` in the argument's place.
FailureOr<Value> cloneExpression(OpBuilder &b, Value value, Value argument, Value lanes, int64_t count) {
  IRMapping mapping;
  mapping.map(argument, lanes);
  const std::function<FailureOr<Value>(Value)> clone = [&](Value from) -> FailureOr<Value> {
    if (Value known = mapping.lookupOrNull(from))
      return known;
    Operation *op = from.getDefiningOp();
    if (!op || op->getNumResults() != 1 || (!isa<arith::ConstantOp>(op) && !op->hasTrait<OpTrait::Elementwise>()))
      return emitError(from.getLoc(), "expected a factor computed from one element by elementwise ops"), failure();
    const Type type = atLanes(from.getType(), count);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return arith::ConstantOp::create(b, op->getLoc(),
                                       DenseElementsAttr::get(cast<ShapedType>(type), Attribute(constant.getValue())))
          .getResult();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      const FailureOr<Value> cloned = clone(operand);
      if (failed(cloned))
        return failure();
      operands.push_back(*cloned);
    }
    OperationState state(op->getLoc(), op->getName(), operands, type, op->getAttrs());
    const Value result = b.create(state)->getResult(0);
    mapping.map(from, result);
    return result;
  };
  return clone(value);
}

} // namespace

bool MatmulEmitter::lanesAlongDepth(int side) {
  // As the operand's memory goes; with a prologue, as its first input of the highest rank.
  linalg::GenericOp generic = prologue[side] ? prologue[side] : contraction;
  const SmallVector<int> dims = dimsOf(generic);
  AffineMap map = generic.getIndexingMapsArray()[prologue[side] ? 0 : size_t(side)];
  if (prologue[side])
    for (OpOperand *input : generic.getDpsInputOperands())
      if (generic.getMatchingIndexingMap(input).getNumResults() > map.getNumResults())
        map = generic.getMatchingIndexingMap(input);
  if (map.getNumResults() == 0)
    return false;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last && llvm::is_contained(group[depthRole], dims[last.getPosition()]);
}

bool MatmulEmitter::readsRowsInPlace() {
  if (takesDots() || readsRowPairsInPlace())
    return true;
  const Value stored = contraction.getInputs()[0];
  Operation *sum = contraction.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return !prologue[0] && getElementTypeOrSelf(stored) == accumulator && group[rowRole].size() == 1 &&
         group[depthRole].size() == 1 &&
         sum->getOperand(1).getDefiningOp()->getOperand(0) == contraction.getBody()->getArgument(0);
}

MatmulFactors MatmulEmitter::rowFactors(Emitted firstDepth) {
  if (!readsRowsInPlace())
    return packsRowsAlongDepth() ? MatmulFactors{packedA, number(sizes->depth), number(1), {}}
                                 : MatmulFactors{packedA, number(1), packedPitch, {}};
  OpOperand *input = contraction.getDpsInputOperand(0);
  const AffineMap map = contraction.getMatchingIndexingMap(input);
  const SmallVector<int> dims = dimsOf(contraction);
  MatmulPlace place;
  moveTo(place, batchRole, batch);
  moveTo(place, rowRole, firstRow);
  moveTo(place, depthRole, firstDepth * groupSize);
  const auto pitch = [&](MatmulRole role) {
    place.laneRole = role;
    const Emitted stride = reach(map, dims, place).stride;
    return stride ? stride : number(0);
  };
  const Emitted rowPitch = pitch(rowRole) / number(groupSize), depthPitch = pitch(depthRole);
  return {address(pointers.lookup(input->get()), getElementTypeOrSelf(input->get()), reach(map, dims, place).offset),
          rowPitch,
          depthPitch,
          {}};
}

std::function<FailureOr<MatmulEmitter::Lanes>(Emitted)> MatmulEmitter::columnFactors(Emitted column, int64_t vectors,
                                                                                     Emitted firstDepth) {
  if (panels)
    return panelFactors(column, vectors, firstDepth);
  if (readsColumnsInPlace())
    return packingFactors(column, vectors, firstDepth);
  const Emitted panel = packsPanels() ? packedB : address(packedB, accumulator, column * sizes->depth);
  return [=, this](Emitted k) {
    Lanes lanes;
    for (int64_t vector = 0; vector < vectors; ++vector)
      lanes.push_back(
          loadValue(lanesOf(accumulator), address(panel, accumulator, (k * vectors + vector) * sizes->lanes), true));
    return FailureOr<Lanes>(lanes);
  };
}

std::function<FailureOr<MatmulEmitter::Lanes>(Emitted)> MatmulEmitter::packingFactors(Emitted column, int64_t vectors,
                                                                                      Emitted firstDepth) {
  return [=, this](Emitted k) -> FailureOr<Lanes> {
    MatmulPlace place;
    moveTo(place, batchRole, batch);
    moveTo(place, depthRole, firstDepth + k);
    place.whole = vectors > 1;
    Lanes lanes;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      setLanes(place, columnRole, firstColumn, column + vector * sizes->lanes, columns);
      const FailureOr<Value> next = factor(1, place);
      if (failed(next))
        return failure();
      lanes.push_back(*next);
      if (packsPanels())
        storeValue(*next, address(packedB, accumulator, (k * vectors + vector) * sizes->lanes), true);
    }
    return lanes;
  };
}

FailureOr<Value> MatmulEmitter::storedFactor(int side, const MatmulPlace &place) {
  if (linalg::GenericOp generic = prologue[side]) {
    const SmallVector<int> dims = dimsOf(generic);
    Lanes arguments;
    for (OpOperand *input : generic.getDpsInputOperands())
      arguments.push_back(load(input->get(), generic.getMatchingIndexingMap(input), dims, place));
    arguments.resize(generic.getBody()->getNumArguments());
    const FailureOr<Lanes> results = body(generic, arguments, place);
    if (failed(results))
      return failure();
    return (*results)[cast<OpResult>(contraction.getInputs()[side]).getResultNumber()];
  }
  OpOperand *input = contraction.getDpsInputOperand(side);
  return load(input->get(), contraction.getMatchingIndexingMap(input), dimsOf(contraction), place);
}

FailureOr<Value> MatmulEmitter::factor(int side, const MatmulPlace &place) {
  const FailureOr<Value> lanes = storedFactor(side, place);
  if (failed(lanes))
    return failure();
  Operation *sum = contraction.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  const Value factor = sum->getOperand(1).getDefiningOp()->getOperand(unsigned(side));
  return cloneExpression(b, factor, contraction.getBody()->getArgument(unsigned(side)), *lanes, sizes->lanes);
}

void MatmulEmitter::packingLoop(Emitted begin, Emitted end, Emitted step, const std::function<void(Emitted)> &body) {
  watchingLoop(begin, end, step, {}, [&](Emitted index, Lanes) {
    body(index);
    return Lanes();
  });
}

MatmulEmitter::Lanes MatmulEmitter::watchingLoop(Emitted begin, Emitted end, Emitted step, Lanes carried,
                                                 const std::function<Lanes(Emitted, Lanes)> &body) {
  const size_t own = carried.size();
  const auto takeWatched = [&](Lanes &all) {
    watched.assign(all.begin() + own, all.end());
    all.truncate(own);
  };
  carried.append(watched);
  Lanes done = loop(begin, end, step, carried, [&](Emitted index, Lanes now) {
    takeWatched(now);
    Lanes next = body(index, now);
    next.append(watched);
    return next;
  });
  takeWatched(done);
  return done;
}

void MatmulEmitter::storePacked(Value lanes, Emitted pointer) {
  watch(lanes);
  storeValue(lanes, pointer, true);
}

LogicalResult MatmulEmitter::pack(int side, Emitted firstDepth, Emitted depth) {
  if (side == 0 && packsRowsAlongDepth() && !lanesAlongDepth(0))
    return packRowsTurned(firstDepth, depth);
  if (!lanesAlongDepth(side))
    return packAcross(side, firstDepth, depth);
  return side == 0 ? packRowsAlongDepth(firstDepth, depth)
                   : packColumnsTransposed(number(0), columns, firstDepth, depth);
}

LogicalResult MatmulEmitter::packRowsAlongDepth(Emitted firstDepth, Emitted depth) {
  const Emitted full = minimum(depth, size[depthRole] / number(groupSize) - firstDepth);
  const Emitted wholeVectors = full / number(sizes->lanes) * sizes->lanes;
  packingLoop(number(0), rows, number(1), [&](Emitted row) {
    MatmulPlace place;
    moveTo(place, batchRole, batch);
    moveTo(place, rowRole, firstRow + row);
    for (bool whole : {true, false})
      packingLoop(whole ? number(0) : wholeVectors, whole ? wholeVectors : depth, number(sizes->lanes), [&](Emitted k) {
        setLanes(place, depthRole, firstDepth, k, depth);
        place.whole = whole;
        const FailureOr<Value> lanes = groupSize > 1 ? groupsAlongDepth(0, place, firstDepth + k) : factor(0, place);
        if (succeeded(sticky(lanes)))
          storePacked(*lanes, address(packedA, accumulator, row * sizes->depth + k));
      });
  });
  if (hasBiasRow())
    packBias(depth);
  return failure(broken);
}

LogicalResult MatmulEmitter::packAcross(int side, Emitted firstDepth, Emitted depth) {
  const MatmulRole role = side == 0 ? rowRole : columnRole;
  const Emitted count = side == 0 ? rows : columns;
  const auto copy = [&](Emitted k, Emitted begin, Emitted end, int64_t vectors, bool whole) {
    MatmulPlace place;
    moveTo(place, batchRole, batch);
    moveTo(place, depthRole, firstDepth + k);
    place.whole = whole;
    packingLoop(begin, end, number(vectors * sizes->lanes), [&](Emitted start) {
      for (int64_t vector = 0; vector < vectors; ++vector) {
        const Emitted at = start + vector * sizes->lanes;
        setLanes(place, role, side == 0 ? firstRow : firstColumn, at, count);
        const FailureOr<Value> lanes = groupSize > 1 ? groupsAcross(side, place, firstDepth + k) : factor(side, place);
        if (failed(sticky(lanes)))
          return;
        const Emitted offset =
            side == 0 ? k * packedPitch + at : start * sizes->depth + (k * vectors + vector) * sizes->lanes;
        storePacked(*lanes, address(side == 0 ? packedA : packedB, accumulator, offset));
      }
    });
  };
  const Emitted panels = count / number(sizes->columns()) * sizes->columns();
  const Emitted vectors = count / number(sizes->lanes) * sizes->lanes;
  packingLoop(number(0), depth, number(1), [&](Emitted k) {
    copy(k, number(0), panels, sizes->vectors, true);
    copy(k, panels, vectors, 1, true);
    copy(k, vectors, count, 1, false);
  });
  if (isOfTiles(instruction))
    packZerosPastDepth(depth);
  return failure(broken);
}

std::pair<Emitted, Emitted> MatmulEmitter::packedColumns(Emitted column, Emitted first) {
  const Emitted whole = columns / number(sizes->columns()) * sizes->columns();
  const Emitted within = column % number(sizes->columns()), inPanel = column < whole;
  const Emitted panel = select(inPanel, column - within, column) - first;
  return {address(packedB, accumulator, panel * sizes->depth + select(inPanel, within, number(0))),
          select(inPanel, number(sizes->columns()), number(sizes->lanes))};
}

LogicalResult MatmulEmitter::packColumnsTransposed(Emitted begin, Emitted end, Emitted firstDepth, Emitted depth) {
  // Squares of lanes x lanes, read along K and turned. With a prologue they pass through scratch, which keeps the code
  // short.
  packingLoop(begin, end, number(sizes->lanes), [&](Emitted start) {
    const auto packed = packedColumns(start, begin);
    packingLoop(number(0), depth, number(sizes->lanes), [&](Emitted k) {
      const auto read = [&](Emitted lane) -> FailureOr<Value> {
        MatmulPlace place;
        moveTo(place, batchRole, batch);
        moveTo(place, columnRole, firstColumn + minimum(start + lane, columns - 1));
        if (groupSize > 1)
          return groupsAlongDepth(1, place, firstDepth + k);
        setLanes(place, depthRole, firstDepth, k, depth);
        return factor(1, place);
      };
      Lanes turned;
      if (prologue[1])
        loop(number(0), number(sizes->lanes), number(1), [&](Emitted lane) {
          const FailureOr<Value> lanes = read(lane);
          if (succeeded(sticky(lanes)))
            storeValue(*lanes, address(square, accumulator, lane * sizes->lanes), true);
        });
      for (int64_t lane = 0; lane < sizes->lanes && !broken; ++lane) {
        const FailureOr<Value> lanes =
            prologue[1]
                ? loadValue(lanesOf(accumulator), address(square, accumulator, number(lane * sizes->lanes)), true)
                : read(number(lane));
        if (succeeded(sticky(lanes)))
          turned.push_back(*lanes);
      }
      if (broken)
        return;
      turned = transpose(turned);
      for (int64_t lane = 0; lane < sizes->lanes; ++lane)
        storePacked(turned[size_t(lane)], address(packed.first, accumulator, (k + lane) * packed.second));
    });
  });
  return failure(broken);
}

MatmulEmitter::Lanes MatmulEmitter::transpose(Lanes rows) {
  // Interleaving rows i and i + n/2 for all i, log2 n times, exchanges the bits of row and lane.
  const int64_t n = sizes->lanes;
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < n / 2; ++i) {
    low.append({i, n + i});
    high.append({n / 2 + i, n + n / 2 + i});
  }
  for (int64_t round = 1; round < n; round *= 2) {
    Lanes next;
    for (int64_t i = 0; i < n / 2; ++i)
      for (ArrayRef<int64_t> half : {ArrayRef<int64_t>(low), ArrayRef<int64_t>(high)})
        next.push_back(vector::ShuffleOp::create(b, rows[size_t(i)], rows[size_t(i + n / 2)], half));
    rows = next;
  }
  return rows;
}
