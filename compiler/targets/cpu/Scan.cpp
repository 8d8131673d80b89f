// Scans.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for strip in block: a row of the scanned dims, or a run of columns that have rows of their own
//     columns: for a few vectors at a time: accumulators; for each scanned index: accumulators += body; store
//     a row: for each vector of it: the sums within the vector, plus the sum of the vectors before it; store
#include "compiler/kernels/Combiner.h"
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

using Values = KernelFrame::Values;

class ScanEmitter {
public:
  explicit ScanEmitter(KernelFrame &frame)
      : frame(frame), reverse(frame.source.form.reverse), vectorDim(frame.dims - 1), adding(frame.source.generics[0]),
        storing(frame.source.generics[1]), combiner(combinersOf(adding)[0]) {
    const int64_t outer = frame.source.form.outer;
    for (int dim = 0; dim < frame.dims; ++dim)
      if (dim >= outer && dim < outer + frame.source.form.reduced)
        scanned.push_back(dim);
      else if (dim != vectorDim)
        rows.push_back(dim);
    alongLanes = scanned.back() == vectorDim;
  }
  LogicalResult emit();

private:
  FailureOr<Values> walk(ArrayRef<int> dims, ValueRange carried,
                         const std::function<FailureOr<Values>(ValueRange)> &body);
  FailureOr<Value> added(Value accumulator, const Lanes &lanes);
  LogicalResult store(Value sums, const Lanes &lanes);
  Value combine(Value a, Value b) { return buildCombine(frame.builder, frame.loc, combiner, a, b); }

  LogicalResult scanColumns(Value begin, Value end);
  LogicalResult scanVectors(Value column, const Lanes &lanes, int64_t vectors);

  FailureOr<Values> scanRow(Value before);
  FailureOr<Values> scanWholeVectors(Value before);
  FailureOr<Values> scanTail(Value before);
  FailureOr<Values> scanVector(Value before, const Lanes &lanes);
  Value sumsWithin(Value vector);

  KernelFrame &frame;
  bool reverse, alongLanes = false;
  int vectorDim;
  linalg::GenericOp adding, storing;
  std::string combiner;
  SmallVector<int> scanned, rows;
};

/// Goes through all indices of `dims` in the order of the sums.
FailureOr<Values> ScanEmitter::walk(ArrayRef<int> dims, ValueRange carried,
                                    const std::function<FailureOr<Values>(ValueRange)> &body) {
  if (dims.empty())
    return body(carried);
  Value extent = frame.extents[dims.front()], one = frame.constant(1);
  return frame.loop(frame.constant(0), extent, one, carried, [&](Value step, ValueRange inner) {
    frame.index[dims.front()] = reverse ? frame.sub(frame.sub(extent, one), step) : step;
    return walk(dims.drop_front(), inner, body);
  });
}

/// `accumulator` and the element at the present index.
FailureOr<Value> ScanEmitter::added(Value accumulator, const Lanes &lanes) {
  Values arguments;
  for (OpOperand *operand : adding.getDpsInputOperands()) {
    const bool isUsed = !adding.getMatchingBlockArgument(operand).use_empty();
    const TensorHome home = frame.homes.lookup(operand->get());
    arguments.push_back(isUsed ? loadLanes(frame, home, frame.source.accessOf(adding, *operand), lanes) : Value());
  }
  arguments.push_back(accumulator);
  FailureOr<Values> sum = emitBody(frame, adding, arguments, lanes);
  if (failed(sum))
    return failure();
  return (*sum)[0];
}

LogicalResult ScanEmitter::store(Value sums, const Lanes &lanes) {
  Values arguments(storing.getNumDpsInputs(), sums);
  arguments.push_back({});
  FailureOr<Values> stored = emitBody(frame, storing, arguments, lanes);
  if (succeeded(stored))
    storeLanes(frame, (*stored)[0], frame.homes.lookup(storing.getResult(0)),
               frame.source.accessOf(storing, *storing.getDpsInitOperand(0)), lanes);
  return stored;
}

/// `vectors` vectors of columns, or a scalar one, from `column` on.
LogicalResult ScanEmitter::scanVectors(Value column, const Lanes &lanes, int64_t vectors) {
  SmallVector<Value> columns;
  for (int64_t vector = 0; vector < vectors; ++vector)
    columns.push_back(vector == 0 ? column : frame.add(column, frame.constant(vector * lanes.count)));
  const Values initial(vectors, frame.splat(frame.initialOf(adding, 0), lanes.count));
  return walk(scanned, initial, [&](ValueRange accumulators) -> FailureOr<Values> {
    Values next;
    for (auto [here, accumulator] : llvm::zip(columns, accumulators)) {
      frame.index[vectorDim] = here;
      FailureOr<Value> sums = added(accumulator, lanes);
      if (failed(sums) || failed(store(*sums, lanes)))
        return failure();
      next.push_back(*sums);
    }
    return next;
  });
}

/// The columns of a strip: several vectors at a time, then single ones, then the tail.
LogicalResult ScanEmitter::scanColumns(Value begin, Value end) {
  const bool masked = frame.target.hasMaskedMemory;
  for (const int64_t vectors : {4, 1, 0}) {
    const int64_t width = vectors ? vectors * frame.lanes : masked ? frame.lanes : 1;
    Value step = frame.constant(width);
    Value stop = vectors ? frame.add(begin, frame.mul(frame.divide(frame.sub(end, begin), step), step)) : end;
    FailureOr<Values> loop = frame.loop(begin, stop, step, {}, [&](Value column, ValueRange) -> FailureOr<Values> {
      frame.index[vectorDim] = column;
      Lanes lanes{vectors ? frame.lanes : 0, vectorDim, {}, {}};
      if (!vectors && masked)
        lanes = maskedLanes(frame, frame.lanes, vectorDim, end);
      if (failed(scanVectors(column, lanes, std::max<int64_t>(vectors, 1))))
        return failure();
      return Values();
    });
    if (failed(loop))
      return failure();
    begin = stop;
  }
  return success();
}

/// The sums of a vector's lanes, each with those before it: log2 n times, each lane adds the one 1, 2, 4, ... before.
Value ScanEmitter::sumsWithin(Value vector) {
  const int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  Value none = frame.splat(frame.initialOf(adding, 0), lanes);
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    SmallVector<int64_t> from;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t other = reverse ? lane + distance : lane - distance;
      from.push_back(other >= 0 && other < lanes ? other : lanes);
    }
    vector = combine(vector::ShuffleOp::create(frame.builder, frame.loc, vector, none, from), vector);
  }
  return vector;
}

/// One step of a row at the present index; `before` and the result are the sums of all steps before it and behind it.
FailureOr<Values> ScanEmitter::scanVector(Value before, const Lanes &lanes) {
  if (lanes.count == 0) {
    FailureOr<Value> sum = added(before, lanes);
    if (failed(sum) || failed(store(*sum, lanes)))
      return failure();
    return Values{*sum};
  }
  Value none = frame.splat(frame.initialOf(adding, 0), lanes.count);
  FailureOr<Value> terms = added(none, lanes);
  if (failed(terms))
    return failure();
  Value sums = sumsWithin(selectInside(frame, lanes, *terms, none));
  Value last = vector::ExtractOp::create(frame.builder, frame.loc, sums, reverse ? 0 : lanes.count - 1);
  if (failed(store(combine(frame.splat(before, lanes.count), sums), lanes)))
    return failure();
  return Values{combine(before, last)};
}

FailureOr<Values> ScanEmitter::scanWholeVectors(Value before) {
  Value lanes = frame.constant(frame.lanes), one = frame.constant(1);
  Value vectors = frame.divide(frame.extents[vectorDim], lanes);
  return frame.loop(frame.constant(0), vectors, one, before, [&](Value step, ValueRange carried) {
    Value vector = reverse ? frame.sub(frame.sub(vectors, one), step) : step;
    frame.index[vectorDim] = frame.mul(vector, lanes);
    return scanVector(carried[0], {frame.lanes, vectorDim, {}, {}});
  });
}

/// The elements behind the last whole vector: one masked step, or scalar ones.
FailureOr<Values> ScanEmitter::scanTail(Value before) {
  Value lanes = frame.constant(frame.lanes), one = frame.constant(1), extent = frame.extents[vectorDim];
  Value begin = frame.mul(frame.divide(extent, lanes), lanes);
  const bool masked = frame.target.hasMaskedMemory;
  return frame.loop(begin, extent, masked ? lanes : one, before, [&](Value at, ValueRange carried) {
    const bool backwards = reverse && !masked;
    frame.index[vectorDim] = backwards ? frame.sub(frame.add(begin, frame.sub(extent, one)), at) : at;
    const Lanes scalar{0, vectorDim, {}, {}};
    return scanVector(carried[0], masked ? maskedLanes(frame, frame.lanes, vectorDim, extent) : scalar);
  });
}

FailureOr<Values> ScanEmitter::scanRow(Value before) {
  FailureOr<Values> first = reverse ? scanTail(before) : scanWholeVectors(before);
  if (failed(first))
    return failure();
  return reverse ? scanWholeVectors((*first)[0]) : scanTail((*first)[0]);
}

LogicalResult ScanEmitter::emit() {
  Value one = frame.constant(1), columns = alongLanes ? one : frame.extents[vectorDim];
  Value blockStrips = frame.extents[frame.dims], stripColumns = frame.extents[frame.dims + 1];
  Value rowStrips = frame.ceilDivide(columns, stripColumns), strips = frame.mul(frame.size(rows), rowStrips);
  return frame.loop(frame.mul(frame.blockBegin, blockStrips), frame.min(strips, frame.mul(frame.blockEnd, blockStrips)),
                    one, {}, [&](Value strip, ValueRange) -> FailureOr<Values> {
                      frame.delinearize(frame.divide(strip, rowStrips), rows);
                      Value begin = frame.mul(frame.rem(strip, rowStrips), stripColumns);
                      if (!alongLanes && failed(scanColumns(begin, frame.min(columns, frame.add(begin, stripColumns)))))
                        return failure();
                      const auto row = [&](ValueRange carried) { return scanRow(carried[0]); };
                      if (alongLanes &&
                          failed(walk(ArrayRef<int>(scanned).drop_back(), frame.initialOf(adding, 0), row)))
                        return failure();
                      return Values();
                    });
}

} // namespace

LogicalResult emitScan(const KernelSource &source, const CpuTarget &target, OpBuilder &builder) {
  if (source.generics.size() != 2)
    return source.function.emitError("a scan adds, and stores the sums");
  KernelFrame frame(source, target, builder);
  if (failed(ScanEmitter(frame).emit()))
    return failure();
  frame.finish();
  return success();
}

} // namespace halftone::compiler
