// Elementwise loops and row kernels: blocks of rows, each row phase by phase along its inner dims.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for row in block: for each generic: for inner index, a vector at a time: body
//
// A loop with operands that are transposed (contiguous along rows) goes through squares of as many rows as lanes.
#include "compiler/kernels/Emitters.h"
#include "compiler/kernels/cpu/Lanes.h"
#include "compiler/kernels/cpu/ReductionLoop.h"
#include "compiler/linalg/KernelDescription.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/ScopeExit.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

using Values = KernelFrame::Values;

class RowEmitter {
public:
  explicit RowEmitter(KernelFrame &frame) : frame(frame), vectorDim(frame.dims - 1) {
    for (int dim = 0; dim < frame.dims; ++dim)
      (dim < frame.outer ? outer : inner).push_back(dim);
  }
  LogicalResult emit(bool isLoop);

private:
  /// One output of a generic and what happens to it.
  struct Output {
    unsigned number;
    std::string combiner;
    TensorAccess access;
    TensorHome home; // where an elementwise output or a side reduction is stored
    bool isPartial = false, isCarried = false;
  };
  struct Phase {
    linalg::GenericOp generic;
    SmallVector<TensorAccess> inputAccesses;
    SmallVector<Output> outputs;
    SmallVector<std::string> combiners; // of carried outputs
    Values neutral;                     // of carried outputs
    SmallVector<int> inner;             // the inner dims that it runs along: all, those of one shape, or none
  };

  Phase phaseOf(linalg::GenericOp generic);
  void placeScratch();
  LogicalResult clearPartials(Value block);
  LogicalResult emitRow();
  LogicalResult emitScalar(Phase &phase);
  LogicalResult emitInner(Phase &phase);
  FailureOr<Values> emitVectors(Phase &phase, ValueRange carried);
  FailureOr<Value> emitGroups(Phase &phase, Values &carried);
  FailureOr<Values> emitStep(Phase &phase, ArrayRef<Value> carried, const Lanes &lanes);
  void finishCarried(Phase &phase, ArrayRef<Value> totals);
  void combineIntoMemory(const Output &output, Value value);

  /// Numbers of the inputs to transpose.
  SmallVector<unsigned> transposedInputs(const Phase &phase);
  LogicalResult emitSquares(Value rowBegin, Value rowEnd, ArrayRef<unsigned> transposed);
  LogicalResult emitSquare(ArrayRef<unsigned> transposed);
  Value squareRow(unsigned place, Type element, Value row);

  KernelFrame &frame;
  int vectorDim; // the last inner dim of the present phase
  SmallVector<int> outer, inner;
  std::vector<Phase> phases;
  Value columnBegin, columnEnd;           // of the vector dim, in the present block
  llvm::SmallDenseMap<unsigned, Value> atHand; // inputs of the next steps that need no load
};

RowEmitter::Phase RowEmitter::phaseOf(linalg::GenericOp generic) {
  Phase phase{generic, {}, {}, {}, {}, {}};
  for (OpOperand *operand : generic.getDpsInputOperands())
    phase.inputAccesses.push_back(frame.accessOf(generic, *operand));
  for (int dim : frame.dimsOf(generic))
    if (dim >= frame.outer)
      phase.inner.push_back(dim);
  SmallVector<std::string> combiners = frame.combinersOf(generic);
  for (unsigned number = 0; number < combiners.size(); ++number) {
    Value result = generic.getResult(number);
    Output output{number, combiners[number], frame.accessOf(generic, *generic.getDpsInitOperand(number)),
                  frame.homes.lookup(result)};
    output.isPartial = !frame.partialOf(result).empty();
    // Along the lanes a side reduction that keeps the vector dim adds to memory; every other one is carried.
    output.isCarried = !phase.inner.empty() && !output.combiner.empty() &&
                       !llvm::is_contained(output.access.dims, phase.inner.back());
    if (output.isCarried) {
      phase.combiners.push_back(output.combiner);
      phase.neutral.push_back(frame.initialOf(generic, number));
    }
    phase.outputs.push_back(std::move(output));
  }
  return phase;
}

/// Gives each tensor between phases its row of scratch.
void RowEmitter::placeScratch() {
  Value next = frame.constant(0);
  Type byte = frame.builder.getI8Type();
  for (Phase &phase : phases)
    for (Output &output : phase.outputs) {
      if (output.home.pointer || !output.combiner.empty())
        continue;
      Value result = phase.generic.getResult(output.number);
      Type element = cast<RankedTensorType>(result.getType()).getElementType();
      output.home = {frame.address(frame.scratch, byte, next), element, {}, true};
      frame.homes[result] = output.home;
      Value bytes = frame.mul(frame.size(inner), frame.constant(std::max(1u, element.getIntOrFloatBitWidth() / 8)));
      next = frame.add(next, frame.mul(frame.ceilDivide(bytes, frame.constant(64)), frame.constant(64)));
    }
}

/// Points each side reduction to the block's piece of its buffer and fills that with the neutral element.
LogicalResult RowEmitter::clearPartials(Value block) {
  for (Phase &phase : phases)
    for (Output &output : phase.outputs) {
      if (!output.isPartial)
        continue;
      Value size = frame.size(output.access.dims);
      TensorHome whole = frame.homes.lookup(phase.generic.getResult(output.number));
      output.home = {frame.address(whole.pointer, whole.element, frame.mul(block, size)), whole.element, {}};
      Value neutral = frame.initialOf(phase.generic, output.number);
      TensorHome flat = output.home;
      FailureOr<Values> done =
          frame.loop(frame.constant(0), size, frame.constant(1), {}, [&](Value at, ValueRange) -> FailureOr<Values> {
            TensorHome element = flat;
            element.pointer = frame.address(flat.pointer, flat.element, at);
            storeLanes(frame, neutral, element, {}, {});
            return Values();
          });
      if (failed(done))
        return failure();
    }
  return success();
}

LogicalResult RowEmitter::emit(bool isLoop) {
  for (linalg::GenericOp generic : frame.generics)
    phases.push_back(phaseOf(generic));
  placeScratch();
  Value rows = frame.size(outer), blockRows = frame.extents[frame.dims];
  SmallVector<unsigned> transposed = isLoop ? transposedInputs(phases.front()) : SmallVector<unsigned>();
  Value one = frame.constant(1), columns = frame.extents[vectorDim];
  Value blockColumns = isLoop ? frame.extents[frame.dims + 1] : columns;
  Value columnBlocks = isLoop ? frame.ceilDivide(columns, blockColumns) : one;
  auto done = frame.loop(frame.blockBegin, frame.blockEnd, one, {}, [&](Value block, ValueRange) -> FailureOr<Values> {
    Value rowBlock = isLoop ? frame.divide(block, columnBlocks) : block;
    columnBegin = isLoop ? frame.mul(frame.rem(block, columnBlocks), blockColumns) : frame.constant(0);
    columnEnd = isLoop ? frame.min(columns, frame.add(columnBegin, blockColumns)) : columns;
    Value rowBegin = frame.mul(rowBlock, blockRows);
    Value rowEnd = frame.min(rows, frame.add(rowBegin, blockRows));
    if (failed(clearPartials(block)))
      return failure();
    if (!transposed.empty()) {
      if (failed(emitSquares(rowBegin, rowEnd, transposed)))
        return failure();
      return Values();
    }
    return frame.loop(rowBegin, rowEnd, one, {}, [&](Value row, ValueRange) -> FailureOr<Values> {
      frame.delinearize(row, outer);
      if (failed(emitRow()))
        return failure();
      return Values();
    });
  });
  return done;
}

SmallVector<unsigned> RowEmitter::transposedInputs(const Phase &phase) {
  SmallVector<unsigned> inputs;
  bool isElementwise = llvm::all_of(phase.outputs, [](const Output &output) { return output.combiner.empty(); });
  if (phases.size() != 1 || !isElementwise || outer.empty() || frame.lanes < 4)
    return inputs;
  for (auto [number, access] : llvm::enumerate(phase.inputAccesses))
    if (!access.dims.empty() && access.dims.back() == outer.back() && llvm::is_contained(access.dims, vectorDim))
      inputs.push_back(number);
  return inputs;
}

/// As many rows at a time as a vector has lanes, where they are neighbours in the transposed operands.
LogicalResult RowEmitter::emitSquares(Value rowBegin, Value rowEnd, ArrayRef<unsigned> transposed) {
  Value side = frame.constant(frame.lanes), one = frame.constant(1);
  OpBuilder &builder = frame.builder;
  auto isAtMost = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, frame.loc, arith::CmpIPredicate::sle, a, b);
  };
  return frame.loop(rowBegin, rowEnd, side, {}, [&](Value row, ValueRange) -> FailureOr<Values> {
    frame.delinearize(row, outer);
    int lastOuter = outer.back();
    Value end = frame.add(row, side);
    Value fits = arith::AndIOp::create(builder, frame.loc, isAtMost(end, rowEnd),
                                       isAtMost(frame.add(frame.index[lastOuter], side), frame.extents[lastOuter]));
    auto choice = scf::IfOp::create(builder, frame.loc, fits, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    if (failed(emitSquare(transposed)))
      return failure();
    builder.setInsertionPointToStart(choice.elseBlock());
    return frame.loop(row, frame.min(end, rowEnd), one, {}, [&](Value single, ValueRange) -> FailureOr<Values> {
      frame.delinearize(single, outer);
      if (failed(emitRow()))
        return failure();
      return Values();
    });
  });
}

/// Row `row` of the square of the transposed input in this place.
Value RowEmitter::squareRow(unsigned place, Type element, Value row) {
  Value square = frame.address(frame.scratch, frame.builder.getI8Type(), frame.constant(place * transposedSquareBytes));
  return frame.address(square, element, frame.mul(row, frame.constant(frame.lanes)));
}

LogicalResult RowEmitter::emitSquare(ArrayRef<unsigned> transposed) {
  Phase &phase = phases.front();
  int lastOuter = outer.back();
  Value first = frame.index[lastOuter], zero = frame.constant(0), one = frame.constant(1);
  Value side = frame.constant(frame.lanes), begin = columnBegin;
  Value wholeEnd = frame.add(begin, frame.mul(frame.divide(frame.sub(columnEnd, begin), side), side));
  auto homeOf = [&](unsigned number) { return frame.homes.lookup(phase.generic.getDpsInputs()[number]); };
  auto squares = frame.loop(begin, wholeEnd, side, {}, [&](Value column, ValueRange) -> FailureOr<Values> {
    for (auto [place, number] : llvm::enumerate(transposed)) {
      Values vectors;
      frame.index[lastOuter] = first;
      for (int64_t lane = 0; lane < frame.lanes; ++lane) {
        frame.index[vectorDim] = frame.add(column, frame.constant(lane));
        vectors.push_back(
            loadLanes(frame, homeOf(number), phase.inputAccesses[number], {frame.lanes, lastOuter, {}, {}}));
      }
      for (auto [row, vector] : llvm::enumerate(transposeLanes(frame, vectors)))
        LLVM::StoreOp::create(frame.builder, frame.loc, vector,
                              squareRow(place, homeOf(number).element, frame.constant(row)), 1);
    }
    return frame.loop(zero, side, one, {}, [&](Value row, ValueRange) -> FailureOr<Values> {
      frame.index[lastOuter] = frame.add(first, row);
      frame.index[vectorDim] = column;
      for (auto [place, number] : llvm::enumerate(transposed)) {
        Type element = homeOf(number).element;
        atHand[number] = LLVM::LoadOp::create(frame.builder, frame.loc, VectorType::get(frame.lanes, element),
                                              squareRow(place, element, row), 1);
      }
      FailureOr<Values> done = emitStep(phase, {}, {frame.lanes, vectorDim, {}, {}});
      atHand.clear();
      return done;
    });
  });
  if (failed(squares))
    return failure();
  columnBegin = wholeEnd;
  auto rest = frame.loop(zero, side, one, {}, [&](Value row, ValueRange) -> FailureOr<Values> {
    frame.index[lastOuter] = frame.add(first, row);
    if (failed(emitRow()))
      return failure();
    return Values();
  });
  columnBegin = begin;
  return rest;
}

LogicalResult RowEmitter::emitRow() {
  for (Phase &phase : phases)
    if (failed(phase.inner.empty() ? emitScalar(phase) : emitInner(phase)))
      return failure();
  return success();
}

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
  FailureOr<Values> totals = frame.loops(ArrayRef<int>(phase.inner).drop_back(), carried,
                                         [&](ValueRange values) { return emitVectors(phase, values); });
  if (failed(totals))
    return failure();
  size_t count = phase.neutral.size();
  Values folded = combineLanes(frame, phase.combiners, ArrayRef<Value>(*totals).take_front(count));
  if (!masked)
    folded = combineAll(frame, phase.combiners, folded, ArrayRef<Value>(*totals).drop_front(count));
  finishCarried(phase, folded);
  return success();
}

void RowEmitter::finishCarried(Phase &phase, ArrayRef<Value> totals) {
  size_t next = 0;
  for (Output &output : phase.outputs) {
    if (!output.isCarried)
      continue;
    Value total = totals[next++];
    Value result = phase.generic.getResult(output.number);
    if (output.isPartial)
      combineIntoMemory(output, total);
    else
      frame.homes[result] = {{}, total.getType(), total};
  }
}

/// Where accumulators would be waited for: several vectors at a time, each with accumulators of its own, which are then
/// combined into `carried`. Returns where that ends.
FailureOr<Value> RowEmitter::emitGroups(Phase &phase, Values &carried) {
  constexpr int64_t groups = 4;
  size_t count = phase.neutral.size();
  if (count == 0 || !isShort(phase.generic))
    return columnBegin;
  Value step = frame.constant(groups * frame.lanes);
  Value end = frame.add(columnBegin, frame.mul(frame.divide(frame.sub(columnEnd, columnBegin), step), step));
  Values initial(ArrayRef<Value>(carried).take_front(count));
  for (int64_t group = 1; group < groups; ++group)
    for (Value neutral : phase.neutral)
      initial.push_back(frame.splat(neutral, frame.lanes));
  FailureOr<Values> totals =
      frame.loop(columnBegin, end, step, initial, [&](Value column, ValueRange values) -> FailureOr<Values> {
        Values next;
        for (int64_t group = 0; group < groups; ++group) {
          frame.index[vectorDim] = frame.add(column, frame.constant(group * frame.lanes));
          FailureOr<Values> own = emitStep(phase, Values(values.slice(group * count, count)),
                                           {frame.lanes, vectorDim, {}, {}});
          if (failed(own))
            return failure();
          next.append(*own);
        }
        return next;
      });
  if (failed(totals))
    return failure();
  auto group = [&](size_t number) { return ArrayRef<Value>(*totals).slice(number * count, count); };
  Values combined = combineAll(frame, phase.combiners, combineAll(frame, phase.combiners, group(0), group(1)),
                               combineAll(frame, phase.combiners, group(2), group(3)));
  llvm::copy(combined, carried.begin());
  return end;
}

/// The vector dim from columnBegin to columnEnd: whole vectors, then a masked step or scalar ones.
FailureOr<Values> RowEmitter::emitVectors(Phase &phase, ValueRange start) {
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
      frame.loop(*begin, wholeEnd, lanes, carried.take_front(count), [&](Value column, ValueRange values) {
        return at(column, values, {frame.lanes, vectorDim, {}, {}});
      });
  if (failed(vectors))
    return failure();
  if (frame.target.hasMaskedMemory)
    return frame.loop(wholeEnd, columnEnd, lanes, *vectors, [&](Value column, ValueRange values) {
      frame.index[vectorDim] = column;
      return at(column, values, maskedLanes(frame, frame.lanes, vectorDim, columnEnd));
    });
  FailureOr<Values> tail = frame.loop(wholeEnd, columnEnd, frame.constant(1), carried.drop_front(count),
                                      [&](Value column, ValueRange values) {
                                        return at(column, values, {0, vectorDim, {}, {}});
                                      });
  if (failed(tail))
    return failure();
  vectors->append(*tail);
  return vectors;
}

/// Loads, body, stores; returns the accumulators that are carried on.
FailureOr<Values> RowEmitter::emitStep(Phase &phase, ArrayRef<Value> carried, const Lanes &lanes) {
  Values arguments;
  Block *body = phase.generic.getBody();
  for (auto [number, operand] : llvm::enumerate(phase.generic.getDpsInputOperands())) {
    if (Value value = atHand.lookup(number)) {
      arguments.push_back(value);
      continue;
    }
    bool isUsed = !body->getArgument(number).use_empty();
    arguments.push_back(
        isUsed ? loadLanes(frame, frame.homes.lookup(operand->get()), phase.inputAccesses[number], lanes) : Value());
  }
  size_t next = 0;
  for (const Output &output : phase.outputs) {
    if (output.combiner.empty())
      arguments.push_back({});
    else if (output.isCarried)
      arguments.push_back(carried[next++]);
    else // a side reduction in memory
      arguments.push_back(loadLanes(frame, output.home, output.access, lanes));
  }
  FailureOr<Values> yields = emitBody(frame, phase.generic, arguments, lanes);
  if (failed(yields))
    return failure();
  Values result;
  size_t inputs = phase.inputAccesses.size();
  for (const Output &output : phase.outputs) {
    Value value = (*yields)[output.number];
    if (output.isCarried)
      result.push_back(selectInside(frame, lanes, value, arguments[inputs + output.number]));
    else
      storeLanes(frame, value, output.home, output.access, lanes);
  }
  return result;
}

LogicalResult emitRows(func::FuncOp kernel, const CpuTarget &target, OpBuilder &builder, bool isLoop) {
  KernelFrame frame(kernel, target, builder);
  if (failed(RowEmitter(frame).emit(isLoop)))
    return failure();
  frame.finish();
  return success();
}

} // namespace

LogicalResult emitLoop(func::FuncOp kernel, const CpuTarget &target, OpBuilder &builder) {
  if (kernel->hasAttr("halftone.reduced"))
    return emitReductionLoop(kernel, target, builder);
  return emitRows(kernel, target, builder, true);
}

LogicalResult emitRow(func::FuncOp kernel, const CpuTarget &target, OpBuilder &builder) {
  return emitRows(kernel, target, builder, false);
}

} // namespace halftone::compiler
