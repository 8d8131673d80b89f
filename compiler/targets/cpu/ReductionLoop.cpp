// Reduction loops.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for kept row in block: for column, a few vectors at a time:
//     accumulators; for each reduced index, in order: body; then the epilogue's body on the totals
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/Lanes.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

using Values = KernelFrame::Values;

class ReductionLoopEmitter {
public:
  explicit ReductionLoopEmitter(KernelFrame &frame)
      : frame(frame), vectorDim(frame.dims - 1), accumulation(frame.source.generics[0]),
        epilogue(frame.source.generics[1]) {
    for (int dim = 0; dim < frame.dims; ++dim) {
      if (dim >= frame.source.form.outer && dim < frame.source.form.outer + frame.source.form.reduced)
        reduced.push_back(dim);
      else if (dim != vectorDim)
        rows.push_back(dim);
    }
  }
  LogicalResult emit();

private:
  /// `groups` steps of the given lanes, side by side, at the present row and column.
  LogicalResult emitColumns(Value column, const Lanes &lanes, int64_t groups);
  LogicalResult emitRow(Value columnBegin, Value columnEnd);
  FailureOr<Values> accumulate(ArrayRef<Value> accumulators, const Lanes &lanes);
  LogicalResult finish(ArrayRef<Value> totals, const Lanes &lanes);

  KernelFrame &frame;
  int vectorDim;
  linalg::GenericOp accumulation, epilogue;
  SmallVector<int> reduced, rows;
};

FailureOr<Values> ReductionLoopEmitter::accumulate(ArrayRef<Value> accumulators, const Lanes &lanes) {
  Values arguments;
  for (OpOperand *operand : accumulation.getDpsInputOperands()) {
    bool isUsed = !accumulation.getMatchingBlockArgument(operand).use_empty();
    arguments.push_back(isUsed ? loadLanes(frame, frame.homes.lookup(operand->get()),
                                           frame.source.accessOf(accumulation, *operand), lanes)
                               : Value());
  }
  arguments.append(accumulators.begin(), accumulators.end());
  return emitBody(frame, accumulation, arguments, lanes);
}

LogicalResult ReductionLoopEmitter::finish(ArrayRef<Value> totals, const Lanes &lanes) {
  Values arguments;
  for (OpOperand *operand : epilogue.getDpsInputOperands()) {
    if (operand->get().getDefiningOp() == accumulation)
      arguments.push_back(totals[cast<OpResult>(operand->get()).getResultNumber()]);
    else if (epilogue.getMatchingBlockArgument(operand).use_empty())
      arguments.push_back({});
    else
      arguments.push_back(
          loadLanes(frame, frame.homes.lookup(operand->get()), frame.source.accessOf(epilogue, *operand), lanes));
  }
  arguments.resize(arguments.size() + epilogue.getNumDpsInits());
  FailureOr<Values> yields = emitBody(frame, epilogue, arguments, lanes);
  if (failed(yields))
    return failure();
  for (auto [number, value] : llvm::enumerate(*yields))
    storeLanes(frame, value, frame.homes.lookup(epilogue.getResult(number)),
               frame.source.accessOf(epilogue, *epilogue.getDpsInitOperand(number)), lanes);
  return success();
}

LogicalResult ReductionLoopEmitter::emitColumns(Value column, const Lanes &lanes, int64_t groups) {
  unsigned count = accumulation.getNumDpsInits();
  Values initial;
  SmallVector<Value> columns;
  for (int64_t group = 0; group < groups; ++group) {
    columns.push_back(group == 0 ? column : frame.add(column, frame.constant(group * lanes.count)));
    for (unsigned output = 0; output < count; ++output)
      initial.push_back(frame.splat(frame.initialOf(accumulation, output), lanes.count));
  }
  auto totals = frame.loops(reduced, initial, [&](ValueRange accumulators) -> FailureOr<Values> {
    Values next;
    for (int64_t group = 0; group < groups; ++group) {
      frame.index[vectorDim] = columns[group];
      Values own(accumulators.slice(group * count, count));
      FailureOr<Values> values = accumulate(own, lanes);
      if (failed(values))
        return failure();
      next.append(*values);
    }
    return next;
  });
  if (failed(totals))
    return failure();
  for (int64_t group = 0; group < groups; ++group) {
    frame.index[vectorDim] = columns[group];
    if (failed(finish(ArrayRef<Value>(*totals).slice(group * count, count), lanes)))
      return failure();
  }
  return success();
}

LogicalResult ReductionLoopEmitter::emitRow(Value columnBegin, Value columnEnd) {
  const int64_t groups = isShort(accumulation) && accumulation.getNumDpsInits() == 1 ? 8 : 4;
  auto segment = [&](Value begin, Value end, int64_t step, const Lanes &lanes, int64_t count) {
    return LogicalResult(
        frame.loop(begin, end, frame.constant(step), {}, [&](Value column, ValueRange) -> FailureOr<Values> {
          frame.index[vectorDim] = column;
          Lanes here = lanes;
          if (lanes.limit)
            here = maskedLanes(frame, lanes.count, vectorDim, lanes.limit);
          if (failed(emitColumns(column, here, count)))
            return failure();
          return Values();
        }));
  };
  auto upTo = [&](Value begin, int64_t step) {
    Value steps = frame.constant(step);
    return frame.add(begin, frame.mul(frame.divide(frame.sub(columnEnd, begin), steps), steps));
  };
  Value manyEnd = upTo(columnBegin, groups * frame.lanes);
  Value oneEnd = upTo(manyEnd, frame.lanes);
  Lanes whole{frame.lanes, vectorDim, {}, {}};
  if (failed(segment(columnBegin, manyEnd, groups * frame.lanes, whole, groups)) ||
      failed(segment(manyEnd, oneEnd, frame.lanes, whole, 1)))
    return failure();
  if (frame.target.hasMaskedMemory)
    return segment(oneEnd, columnEnd, frame.lanes, {frame.lanes, vectorDim, {}, columnEnd}, 1);
  return segment(oneEnd, columnEnd, 1, {0, vectorDim, {}, {}}, 1);
}

LogicalResult ReductionLoopEmitter::emit() {
  Value one = frame.constant(1), columns = frame.extents[vectorDim], rowCount = frame.size(rows);
  Value blockRows = frame.extents[frame.dims], blockColumns = frame.extents[frame.dims + 1];
  Value columnBlocks = frame.ceilDivide(columns, blockColumns);
  return frame.loop(frame.blockBegin, frame.blockEnd, one, {}, [&](Value block, ValueRange) -> FailureOr<Values> {
    Value rowBegin = frame.mul(frame.divide(block, columnBlocks), blockRows);
    Value rowEnd = frame.min(rowCount, frame.add(rowBegin, blockRows));
    Value columnBegin = frame.mul(frame.rem(block, columnBlocks), blockColumns);
    Value columnEnd = frame.min(columns, frame.add(columnBegin, blockColumns));
    return frame.loop(rowBegin, rowEnd, one, {}, [&](Value row, ValueRange) -> FailureOr<Values> {
      frame.delinearize(row, rows);
      if (failed(emitRow(columnBegin, columnEnd)))
        return failure();
      return Values();
    });
  });
}

} // namespace

LogicalResult emitReductionLoop(const KernelSource &source, const CpuTarget &target, OpBuilder &builder) {
  KernelFrame frame(source, target, builder);
  if (source.generics.size() != 2)
    return source.function.emitError("a reduction loop is a reduction and an epilogue");
  if (failed(ReductionLoopEmitter(frame).emit()))
    return failure();
  frame.finish();
  return success();
}

} // namespace halftone::compiler
