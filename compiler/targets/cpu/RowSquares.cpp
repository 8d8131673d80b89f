// Loops with operands that are transposed, contiguous along rows: squares of as many rows as a vector has lanes.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/Row.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace halftone::compiler {
using namespace mlir;

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

} // namespace halftone::compiler
