// Scatter kernels: a block owns a range of rows and goes through the indices in order.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: rows = 0
//     for each index, in order: if it names a row of the block: for column, a vector at a time: row += update
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

using Values = KernelFrame::Values;

class ScatterEmitter {
public:
  explicit ScatterEmitter(KernelFrame &frame)
      : frame(frame), rowDim(static_cast<int>(frame.source.form.outer)), vectorDim(frame.dims - 1),
        indexing(frame.source.generics[0]), sum(frame.source.generics[1]), home(frame.homes.lookup(sum.getResult(0))),
        access(frame.source.accessOf(sum, *sum.getDpsInitOperand(0))) {
    int64_t indices = frame.source.form.indices;
    for (int dim = 0; dim < frame.dims; ++dim)
      if (dim != rowDim)
        (dim < rowDim ? outer : dim <= rowDim + indices ? index : inner).push_back(dim);
  }
  LogicalResult emit();

private:
  LogicalResult forColumns(const std::function<LogicalResult(const Lanes &)> &step);
  LogicalResult clear(Value rowBegin, Value rowEnd);
  LogicalResult addPart(Value rowBegin, Value rowEnd);
  LogicalResult addColumns(const Lanes &lanes);
  FailureOr<Values> bodyOf(linalg::GenericOp generic, Value accumulator, const Lanes &lanes);

  KernelFrame &frame;
  int rowDim, vectorDim;
  linalg::GenericOp indexing, sum;
  TensorHome home;
  TensorAccess access;
  SmallVector<int> outer, index, inner;
};

FailureOr<Values> ScatterEmitter::bodyOf(linalg::GenericOp generic, Value accumulator, const Lanes &lanes) {
  Values arguments;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    bool isUsed = !generic.getMatchingBlockArgument(operand).use_empty();
    arguments.push_back(
        isUsed ? loadLanes(frame, frame.homes.lookup(operand->get()), frame.source.accessOf(generic, *operand), lanes)
               : Value());
  }
  arguments.push_back(accumulator);
  return emitBody(frame, generic, arguments, lanes);
}

/// All columns at the present row: whole vectors, then a masked step or scalar ones.
LogicalResult ScatterEmitter::forColumns(const std::function<LogicalResult(const Lanes &)> &step) {
  return frame.loops(ArrayRef<int>(inner).drop_back(), {}, [&](ValueRange) -> FailureOr<Values> {
    Value columns = frame.extents[vectorDim], lanes = frame.constant(frame.lanes), zero = frame.constant(0);
    Value wholeEnd = frame.mul(frame.divide(columns, lanes), lanes);
    const bool masked = frame.target.hasMaskedMemory;
    auto segment = [&](Value begin, Value end, Value by, bool isTail) {
      return frame.loop(begin, end, by, {}, [&](Value column, ValueRange) -> FailureOr<Values> {
        frame.index[vectorDim] = column;
        Lanes here{isTail && !masked ? 0 : frame.lanes, vectorDim, {}, {}};
        if (isTail && masked)
          here = maskedLanes(frame, frame.lanes, vectorDim, columns);
        if (failed(step(here)))
          return failure();
        return Values();
      });
    };
    if (failed(segment(zero, wholeEnd, lanes, false)))
      return failure();
    return segment(wholeEnd, columns, masked ? lanes : frame.constant(1), true);
  });
}

LogicalResult ScatterEmitter::clear(Value rowBegin, Value rowEnd) {
  return frame.loop(rowBegin, rowEnd, frame.constant(1), {}, [&](Value row, ValueRange) -> FailureOr<Values> {
    frame.index[rowDim] = row;
    if (failed(forColumns([&](const Lanes &lanes) {
          storeLanes(frame, frame.splat(frame.initialOf(sum, 0), lanes.count), home, access, lanes);
          return success();
        })))
      return failure();
    return Values();
  });
}

LogicalResult ScatterEmitter::addColumns(const Lanes &lanes) {
  FailureOr<Values> next = bodyOf(sum, loadLanes(frame, home, access, lanes), lanes);
  if (failed(next))
    return failure();
  storeLanes(frame, (*next)[0], home, access, lanes);
  return success();
}

/// The slice of the updates at the present index, when it names a row of the block.
LogicalResult ScatterEmitter::addPart(Value rowBegin, Value rowEnd) {
  OpBuilder &builder = frame.builder;
  FailureOr<Values> named = bodyOf(indexing, {}, {});
  if (failed(named))
    return failure();
  Value row = (*named)[0];
  auto compare = [&](arith::CmpIPredicate predicate, Value limit) -> Value {
    return arith::CmpIOp::create(builder, frame.loc, predicate, row, limit);
  };
  Value isOwned = arith::AndIOp::create(builder, frame.loc, compare(arith::CmpIPredicate::sge, rowBegin),
                                        compare(arith::CmpIPredicate::slt, rowEnd));
  auto choice = scf::IfOp::create(builder, frame.loc, isOwned, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  frame.index[rowDim] = row;
  frame.homes[indexing.getResult(0)] = {{}, row.getType(), row};
  return forColumns([&](const Lanes &lanes) { return addColumns(lanes); });
}

LogicalResult ScatterEmitter::emit() {
  Value one = frame.constant(1), rows = frame.extents[rowDim], blockRows = frame.extents[frame.dims];
  Value rowBlocks = frame.ceilDivide(rows, blockRows), indices = frame.size(index);
  return frame.loop(frame.blockBegin, frame.blockEnd, one, {}, [&](Value block, ValueRange) -> FailureOr<Values> {
    frame.delinearize(frame.divide(block, rowBlocks), outer);
    Value rowBegin = frame.mul(frame.rem(block, rowBlocks), blockRows);
    Value rowEnd = frame.min(rows, frame.add(rowBegin, blockRows));
    if (failed(clear(rowBegin, rowEnd)))
      return failure();
    return frame.loop(frame.constant(0), indices, one, {}, [&](Value at, ValueRange) -> FailureOr<Values> {
      frame.delinearize(at, index);
      if (failed(addPart(rowBegin, rowEnd)))
        return failure();
      return Values();
    });
  });
}

} // namespace

LogicalResult emitScatter(const KernelSource &source, const CpuTarget &target, OpBuilder &builder) {
  KernelFrame frame(source, target, builder);
  if (frame.source.generics.size() != 2)
    return source.function.emitError("a scatter kernel is its indices and a sum");
  if (failed(ScatterEmitter(frame).emit()))
    return failure();
  frame.finish();
  return success();
}

} // namespace halftone::compiler
