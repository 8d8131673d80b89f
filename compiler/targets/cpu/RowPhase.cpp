// One phase of a row: its inner dims, a vector at a time.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/Steps.h"
#include "compiler/targets/cpu/Row.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/ScopeExit.h"

namespace halftone::compiler {
using namespace mlir;

void RowEmitter::combineIntoMemory(const Output &output, Value value) {
  Value before = loadLanes(frame, output.home, output.access, {});
  storeLanes(frame, combineAll(frame, {output.combiner}, {before}, {value})[0], output.home, output.access, {});
}

/// A phase over the outer dims alone: one scalar step.
LogicalResult RowEmitter::emitScalar(Phase &phase) {
  FailureOr<Values> done = emitStep(phase, {}, {});
  return done;
}

LogicalResult RowEmitter::emitInner(Phase &phase) {
  if (phase.inner.back() != vectorDim) { // rows alone: their columns are whole
    vectorDim = phase.inner.back();
    columnEnd = frame.extents[vectorDim];
  }
  for (auto [number, access] : llvm::enumerate(phase.inputAccesses)) {
    const bool isOfRow = llvm::none_of(access.dims, [&](int dim) { return llvm::is_contained(phase.inner, dim); });
    if (isOfRow && !atHand.contains(number) && !phase.generic.getBody()->getArgument(number).use_empty())
      atHand[number] = loadLanes(frame, frame.homes.lookup(phase.generic.getDpsInputs()[number]), access, {});
  }
  llvm::scope_exit forget([&] { atHand.clear(); });
  bool masked = frame.target.hasMaskedMemory;
  Values carried;
  for (Value neutral : phase.neutral)
    carried.push_back(frame.splat(neutral, frame.lanes));
  if (!masked) // the scalar tail has accumulators of its own
    carried.append(phase.neutral);
  FailureOr<Values> totals = emitEitherWay(phase, carried);
  if (failed(totals))
    return failure();
  size_t count = phase.neutral.size();
  ArrayRef<Value> vectors(*totals);
  Values folded = combineLanes(frame, phase.combiners, vectors.take_front(count));
  if (!masked)
    folded = combineAll(frame, phase.combiners, folded, vectors.drop_front(count));
  finishCarried(phase, folded);
  return success();
}

/// The phase's loops; where results may go past the caches, a second time for that.
FailureOr<RowEmitter::Values> RowEmitter::emitEitherWay(Phase &phase, const Values &carried) {
  auto loops = [&] {
    return frame.loops(ArrayRef<int>(phase.inner).drop_back(), carried,
                       [&](ValueRange values) { return emitVectors(phase, values); });
  };
  if (!streams || llvm::none_of(phase.outputs, [](const Output &output) { return output.mayStream; }))
    return loops();
  auto choice =
      scf::IfOp::create(frame.builder, frame.loc, ValueRange(carried).getTypes(), streams, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(frame.builder);
  for (Block *block : {choice.thenBlock(), choice.elseBlock()}) {
    frame.builder.setInsertionPointToStart(block);
    streaming = block == choice.thenBlock();
    FailureOr<Values> totals = loops();
    streaming = false;
    if (failed(totals))
      return failure();
    if (!carried.empty())
      scf::YieldOp::create(frame.builder, frame.loc, *totals);
  }
  return Values(choice.getResults());
}

void RowEmitter::finishCarried(Phase &phase, ArrayRef<Value> totals) {
  for (Output &output : phase.outputs) {
    if (!output.isCarried)
      continue;
    Value total = totals[output.accumulator];
    if (output.nanFlag >= 0) {
      auto type = cast<FloatType>(total.getType());
      Value nan = frame.scalar(FloatAttr::get(type, APFloat::getQNaN(type.getFloatSemantics())));
      total = arith::SelectOp::create(frame.builder, frame.loc, totals[output.nanFlag], nan, total);
    }
    Value result = phase.generic.getResult(output.number);
    if (output.isPartial)
      combineIntoMemory(output, total);
    else
      frame.homes[result] = {{}, total.getType(), total};
  }
}

/// How many vectors a phase does at a time: several where it would wait for its accumulators or for the steps of a long
/// function, as many as the registers hold.
int64_t RowEmitter::groupsOf(Phase &phase) {
  Block *body = phase.generic.getBody();
  const bool looksUp = !body->getOps<tensor::ExtractOp>().empty();
  const bool isStrided = llvm::any_of(phase.inputAccesses, [&](const TensorAccess &access) {
    return llvm::is_contained(access.dims, vectorDim) && access.dims.back() != vectorDim;
  });
  if (looksUp || isStrided)
    return 1;
  if (isShort(phase.generic))
    return phase.neutral.empty() ? 1 : 4;
  return phase.neutral.empty() && !hasLongFunction(phase.generic) ? 1 : frame.target.vectorRegisters / 8;
}

/// Whether two steps may share the elements of two vectors as they like, since they only combine them, and all that
/// they read along the row are bf16. Then one takes the even elements and the other the odd ones: a bf16 is widened by
/// a shift where it is the lower half of 32 bits, by a mask where it is the upper one.
bool RowEmitter::takesPairs(Phase &phase) {
  Block *body = phase.generic.getBody();
  if (frame.source.form.strict || !body->getOps<linalg::IndexOp>().empty())
    return false;
  for (const Output &output : phase.outputs)
    if (!output.isCarried || isArgCombiner(output.combiner))
      return false;
  bool found = false;
  for (auto [number, access] : llvm::enumerate(phase.inputAccesses)) {
    BlockArgument argument = body->getArgument(number);
    if (atHand.contains(number) || argument.use_empty())
      continue;
    auto widens = [](Operation *user) {
      return isa<arith::ExtUIOp>(user) && user->getResult(0).getType().isInteger(32);
    };
    const TensorHome home = frame.homes.lookup(phase.generic.getDpsInputs()[number]);
    if (!home.pointer || home.isRow || access.dims.empty() || access.dims.back() != vectorDim ||
        !home.element.isInteger(16) || !llvm::all_of(argument.getUsers(), widens))
      return false;
    found = true;
  }
  return found;
}

/// Loads two vectors of each operand at once: the elements of this step and of the next.
void RowEmitter::loadPairs(Phase &phase) {
  auto type = VectorType::get(frame.lanes, frame.builder.getI32Type());
  for (auto [number, access] : llvm::enumerate(phase.inputAccesses)) {
    if (atHand.contains(number) || phase.generic.getBody()->getArgument(number).use_empty())
      continue;
    const TensorHome home = frame.homes.lookup(phase.generic.getDpsInputs()[number]);
    Value pointer = frame.address(home.pointer, home.element, frame.offset(access));
    pairs[number] = LLVM::LoadOp::create(frame.builder, frame.loc, type, pointer, /*alignment=*/2);
  }
}

Value RowEmitter::halfOf(Value pair, bool upper) {
  auto type = cast<VectorType>(pair.getType());
  Value bits = frame.scalar(DenseElementsAttr::get(type, frame.builder.getI32IntegerAttr(16)));
  if (upper)
    pair = arith::ShRUIOp::create(frame.builder, frame.loc, pair, bits);
  return arith::TruncIOp::create(frame.builder, frame.loc, type.clone(frame.builder.getI16Type()), pair);
}

/// `flag`, or whether any of the values is NaN: one comparison tells it of two.
Value RowEmitter::orNan(Value flag, ArrayRef<Value> values) {
  for (; !values.empty(); values = values.drop_front(std::min<size_t>(2, values.size()))) {
    Value second = values[values.size() > 1];
    Value isNan = arith::CmpFOp::create(frame.builder, frame.loc, arith::CmpFPredicate::UNO, values[0], second);
    flag = arith::OrIOp::create(frame.builder, frame.loc, flag, isNan);
  }
  return flag;
}

/// Whole groups of vectors, each vector with accumulators of its own, which are then combined into `carried`. Returns
/// where they end.
FailureOr<Value> RowEmitter::emitGroups(Phase &phase, Values &carried) {
  const int64_t groups = groupsOf(phase);
  if (groups < 2)
    return columnBegin;
  const bool inPairs = groups % 2 == 0 && takesPairs(phase);
  size_t count = phase.neutral.size();
  Value step = frame.constant(groups * frame.lanes);
  Value end = frame.add(columnBegin, frame.mul(frame.divide(frame.sub(columnEnd, columnBegin), step), step));
  Values initial(ArrayRef<Value>(carried).take_front(count));
  for (int64_t group = 1; group < groups; ++group)
    for (Value neutral : phase.neutral)
      initial.push_back(frame.splat(neutral, frame.lanes));
  FailureOr<Values> totals =
      frame.loop(columnBegin, end, step, initial, [&](Value column, ValueRange values) -> FailureOr<Values> {
        frame.builder.getInsertionBlock()->getParentOp()->setAttr(interleavedAttr, frame.builder.getUnitAttr());
        Values next;
        llvm::scope_exit forget([&] { unflagged.clear(); });
        unflagged.resize(phase.outputs.size());
        for (int64_t group = 0; group < groups; ++group) {
          frame.index[vectorDim] = frame.add(column, frame.constant(group * frame.lanes));
          if (inPairs && group % 2 == 0)
            loadPairs(phase);
          for (auto [number, pair] : pairs)
            atHand[number] = halfOf(pair, group % 2 == 1);
          FailureOr<Values> own =
              emitStep(phase, Values(values.slice(group * count, count)), {frame.lanes, vectorDim, {}, {}});
          for (auto [number, pair] : pairs)
            atHand.erase(number);
          if (group % 2 == 1)
            pairs.clear();
          if (failed(own))
            return failure();
          next.append(*own);
        }
        for (const Output &output : phase.outputs)
          if (output.nanFlag >= 0)
            next[output.nanFlag] = orNan(next[output.nanFlag], unflagged[output.number]);
        return next;
      });
  if (failed(totals))
    return failure();
  Values combined(*totals);
  for (int64_t left = groups / 2; left > 0; left /= 2) {
    Values halves;
    for (int64_t group = 0; group < left; ++group) {
      ArrayRef<Value> pair = ArrayRef<Value>(combined).slice(2 * group * count, 2 * count);
      halves.append(combineAll(frame, phase.combiners, pair.take_front(count), pair.drop_front(count)));
    }
    combined = halves;
  }
  llvm::copy(combined, carried.begin());
  return end;
}

/// The vector dim from columnBegin to columnEnd: whole vectors, then a masked step or scalar ones.
FailureOr<RowEmitter::Values> RowEmitter::emitVectors(Phase &phase, ValueRange start) {
  size_t count = phase.neutral.size();
  Values all(start);
  FailureOr<Value> begin = emitGroups(phase, all);
  if (failed(begin))
    return failure();
  ArrayRef<Value> carried = all;
  Value lanes = frame.constant(frame.lanes);
  Value whole = frame.mul(frame.divide(frame.sub(columnEnd, columnBegin), lanes), lanes);
  Value wholeEnd = frame.add(columnBegin, whole);
  auto at = [&](Value column, ValueRange values, const Lanes &step) {
    frame.index[vectorDim] = column;
    return emitStep(phase, Values(values), step);
  };
  FailureOr<Values> vectors =
      frame.loop(*begin, wholeEnd, lanes, carried.take_front(count),
                 [&](Value column, ValueRange values) { return at(column, values, {frame.lanes, vectorDim, {}, {}}); });
  if (failed(vectors))
    return failure();
  if (frame.target.hasMaskedMemory)
    return emitMaskedStep(phase, wholeEnd, *vectors);
  FailureOr<Values> tail =
      frame.loop(wholeEnd, columnEnd, frame.constant(1), carried.drop_front(count),
                 [&](Value column, ValueRange values) { return at(column, values, {0, vectorDim, {}, {}}); });
  if (failed(tail))
    return failure();
  vectors->append(*tail);
  return vectors;
}

/// The tail of the vector dim, less than a vector.
FailureOr<RowEmitter::Values> RowEmitter::emitMaskedStep(Phase &phase, Value begin, const Values &carried) {
  frame.index[vectorDim] = begin;
  Lanes lanes = maskedLanes(frame, frame.lanes, vectorDim, columnEnd);
  Value isLeft = arith::CmpIOp::create(frame.builder, frame.loc, arith::CmpIPredicate::slt, begin, columnEnd);
  auto choice =
      scf::IfOp::create(frame.builder, frame.loc, ValueRange(carried).getTypes(), isLeft, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(frame.builder);
  frame.builder.setInsertionPointToStart(choice.thenBlock());
  FailureOr<Values> next = emitStep(phase, carried, lanes);
  if (failed(next))
    return failure();
  if (!carried.empty())
    scf::YieldOp::create(frame.builder, frame.loc, *next);
  frame.builder.setInsertionPointToStart(choice.elseBlock());
  if (!carried.empty())
    scf::YieldOp::create(frame.builder, frame.loc, carried);
  return Values(choice.getResults());
}

/// Asks for the cache lines of the next row that the present step's inputs have.
void RowEmitter::emitPrefetches(Phase &phase) {
  for (unsigned number : phase.prefetched) {
    TensorHome home = frame.homes.lookup(phase.generic.getDpsInputs()[number]);
    Value ahead = frame.add(frame.offset(phase.inputAccesses[number]), nextRow);
    LLVM::Prefetch::create(frame.builder, frame.loc, frame.address(home.pointer, home.element, ahead), /*rw=*/0,
                           /*hint=*/3, /*cache=*/1);
  }
}

/// Loads, body, stores; returns the accumulators that are carried on.
FailureOr<RowEmitter::Values> RowEmitter::emitStep(Phase &phase, ArrayRef<Value> carried, const Lanes &lanes) {
  // Whole vectors fit the scratch of a row that has one dim: only lanes outside read past its end.
  const Lanes unmasked{lanes.count, lanes.dim, {}, {}};
  auto lanesOf = [&](const TensorHome &home) { return home.isRow && phase.inner.size() == 1 ? unmasked : lanes; };
  Values arguments;
  Block *body = phase.generic.getBody();
  for (auto [number, operand] : llvm::enumerate(phase.generic.getDpsInputOperands())) {
    if (Value value = atHand.lookup(number)) {
      arguments.push_back(value);
      continue;
    }
    const TensorHome home = frame.homes.lookup(operand->get());
    bool isUsed = !body->getArgument(number).use_empty();
    arguments.push_back(isUsed ? loadLanes(frame, home, phase.inputAccesses[number], lanesOf(home)) : Value());
  }
  for (const Output &output : phase.outputs) {
    if (output.combiner.empty())
      arguments.push_back({});
    else if (output.isCarried)
      arguments.push_back(carried[output.accumulator]);
    else // a side reduction in memory
      arguments.push_back(loadLanes(frame, output.home, output.access, lanes));
  }
  FailureOr<Values> yields = emitBody(frame, phase.generic, arguments, lanes);
  if (failed(yields))
    return failure();
  if (lanes.count > 0 && !lanes.mask)
    emitPrefetches(phase);
  Values result(carried);
  for (const Output &output : phase.outputs) {
    Value value = (*yields)[output.number];
    if (!output.isCarried && streaming && output.mayStream && lanes.count > 0 && !lanes.mask) {
      streamLanes(frame, value, output.home, output.access);
      continue;
    }
    if (!output.isCarried) {
      storeLanes(frame, value, output.home, output.access, lanesOf(output.home));
      continue;
    }
    if (output.nanFlag >= 0) {
      Value &flag = result[output.nanFlag];
      value = frame.splat(value, lanes.count);
      if (unflagged.empty())
        flag = selectInside(frame, lanes, orNan(flag, {value}), flag);
      else
        unflagged[output.number].push_back(value);
      value = combineAll(frame, {phase.combiners[output.accumulator]}, {carried[output.accumulator]}, {value})[0];
    }
    result[output.accumulator] = selectInside(frame, lanes, value, carried[output.accumulator]);
  }
  return result;
}

} // namespace halftone::compiler
