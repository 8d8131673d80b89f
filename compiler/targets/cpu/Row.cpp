// Elementwise loops and row kernels: blocks of rows, each row phase by phase along its inner dims.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for row in block: for each generic: for inner index, a vector at a time: body
#include "compiler/targets/cpu/Row.h"
#include "compiler/targets/cpu/Emitters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "runtime/plan/Abi.h"

namespace halftone::compiler {
using namespace mlir;

RowEmitter::Phase RowEmitter::phaseOf(linalg::GenericOp generic) {
  Phase phase{generic, {}, {}, {}, {}, {}, {}};
  for (OpOperand *operand : generic.getDpsInputOperands())
    phase.inputAccesses.push_back(frame.source.accessOf(generic, *operand));
  for (int dim : dimsOf(generic))
    if (dim >= frame.source.form.outer)
      phase.inner.push_back(dim);
  SmallVector<std::string> combiners = combinersOf(generic);
  for (unsigned number = 0; number < combiners.size(); ++number) {
    Value result = generic.getResult(number);
    Output output{number, combiners[number], frame.source.accessOf(generic, *generic.getDpsInitOperand(number)),
                  frame.homes.lookup(result)};
    output.isPartial = !frame.source.formOf(result).partial.empty();
    // Along the lanes a side reduction that keeps the vector dim adds to memory; every other one is carried.
    output.isCarried =
        !phase.inner.empty() && !output.combiner.empty() && !llvm::is_contained(output.access.dims, phase.inner.back());
    if (output.isCarried) {
      output.accumulator = int(phase.combiners.size());
      phase.combiners.push_back(output.combiner);
      phase.neutral.push_back(frame.initialOf(generic, number));
    }
    phase.outputs.push_back(std::move(output));
  }
  if (frame.target.hasMaskedMemory)
    for (Output &output : phase.outputs)
      flagNan(phase, output);
  return phase;
}

/// Largest and smallest of floats: an instruction that leaves NaN out, and a flag beside it, instead of a choice that
/// waits for two comparisons. The body then yields the value that is to be combined.
void RowEmitter::flagNan(Phase &phase, Output &output) {
  if (!output.isCarried || (output.combiner != "max" && output.combiner != "min"))
    return;
  Operation *yield = phase.generic.getBody()->getTerminator();
  auto choice = yield->getOperand(output.number).getDefiningOp<arith::SelectOp>();
  if (!choice || !isa<FloatType>(choice.getType()))
    return;
  yield->setOperand(output.number, choice.getTrueValue());
  phase.combiners[size_t(output.accumulator)] = output.combiner == "max" ? "most" : "least";
  output.nanFlag = int(phase.combiners.size());
  phase.combiners.push_back("or");
  phase.neutral.push_back(frame.scalar(frame.builder.getBoolAttr(false)));
}

/// A row that a phase reads a second time is at hand, so the memory is idle: time to ask for the next row.
void RowEmitter::choosePrefetches() {
  llvm::SmallDenseSet<Value> read, asked;
  for (Phase &phase : phases) {
    auto inputs = phase.generic.getDpsInputs();
    for (auto [number, access] : llvm::enumerate(phase.inputAccesses)) {
      Value input = inputs[number];
      const bool isWhole = llvm::equal(access.dims, llvm::seq(0, int(frame.dims)));
      if (isa<BlockArgument>(input) && isWhole && !outer.empty() && read.contains(input) && asked.insert(input).second)
        phase.prefetched.push_back(number);
    }
    read.insert(inputs.begin(), inputs.end());
  }
}

/// The operands and results of a large launch do not stay in the caches. Then results go past them: a line is not read
/// before it is written, and takes no operand's place. Those that a later phase reads again do not.
void RowEmitter::chooseStreams() {
  constexpr int64_t muchBytes = int64_t(16) << 20; // half of a last cache: the rest is for other data in use
  if (!frame.target.hasStreaming || outer.empty())
    return;
  auto isWhole = [&](const TensorAccess &access) { return llvm::equal(access.dims, llvm::seq(0, int(frame.dims))); };
  auto bytesOf = [](Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); };
  int64_t bytes = 0, smallest = 0; // of all that is touched at one index, of a result's element
  llvm::SmallDenseSet<Value> seen;
  for (Phase &phase : phases) {
    for (auto [input, access] : llvm::zip(phase.generic.getDpsInputs(), phase.inputAccesses))
      if (isa<BlockArgument>(input) && isWhole(access) && seen.insert(input).second)
        bytes += bytesOf(frame.homes.lookup(input).element);
    for (Output &output : phase.outputs) {
      if (!output.combiner.empty() || output.home.isRow || !isWhole(output.access))
        continue;
      int64_t own = bytesOf(output.home.element);
      bytes += own;
      constexpr int64_t leastVector = 16;
      auto reads = [](Operation *user) { return isa<linalg::GenericOp>(user); };
      if (phase.inner.empty() || hasLongFunction(phase.generic) || frame.lanes * own < leastVector ||
          llvm::any_of(phase.generic.getResult(output.number).getUsers(), reads))
        continue;
      output.mayStream = true;
      smallest = smallest == 0 ? own : std::min(smallest, own);
    }
  }
  if (smallest == 0)
    return;
  auto is = [&](arith::CmpIPredicate how, Value a, int64_t b) -> Value {
    return arith::CmpIOp::create(frame.builder, frame.loc, how, a, frame.constant(b));
  };
  Value touched = frame.mul(frame.size(llvm::to_vector(llvm::seq(0, int(frame.dims)))), frame.constant(bytes));
  Value past = frame.rem(frame.mul(frame.extents[frame.dims - 1], frame.constant(smallest)),
                         frame.constant(bufferAlignment)); // of the last whole line of a row
  streams = arith::AndIOp::create(frame.builder, frame.loc, is(arith::CmpIPredicate::sgt, touched, muchBytes),
                                  is(arith::CmpIPredicate::eq, past, 0));
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

/// Gives each packed result its place to be staged.
LogicalResult RowEmitter::findPacked() {
  for (Phase &phase : phases)
    for (Output &output : phase.outputs) {
      auto store = PackedStore::of(frame, phase.generic.getResult(output.number), unsigned(packed.size()));
      if (failed(store))
        return failure();
      if (!*store)
        continue;
      output.access = {{vectorDim}, {0}};
      packed.emplace_back(&output, **store);
    }
  return success();
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
  for (linalg::GenericOp generic : frame.source.generics)
    phases.push_back(phaseOf(generic));
  placeScratch();
  if (failed(findPacked()))
    return failure();
  if (!isLoop) {
    choosePrefetches();
    chooseStreams();
  }
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
    if (failed(!transposed.empty() ? emitSquares(rowBegin, rowEnd, transposed)
               : !packed.empty()   ? emitStagedRows(rowBegin, rowEnd)
                                   : emitRows(rowBegin, rowEnd)))
      return failure();
    return Values();
  });
  if (streams && succeeded(done)) {
    auto choice = scf::IfOp::create(frame.builder, frame.loc, streams, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(frame.builder);
    frame.builder.setInsertionPointToStart(choice.thenBlock());
    storeFence(frame);
  }
  return done;
}

/// Some rows at a time, whose packed results are then moved to their places.
LogicalResult RowEmitter::emitStagedRows(Value rowBegin, Value rowEnd) {
  Value step = frame.constant(stagedRows);
  return frame.loop(rowBegin, rowEnd, step, {}, [&](Value begin, ValueRange) -> FailureOr<Values> {
    Value end = frame.min(rowEnd, frame.add(begin, step));
    stagedBegin = begin;
    if (failed(emitRows(begin, end)))
      return failure();
    for (auto &[output, store] : packed)
      store.move(begin, end, columnBegin, columnEnd);
    return Values();
  });
}

LogicalResult RowEmitter::emitRows(Value rowBegin, Value rowEnd) {
  Value one = frame.constant(1), rows = frame.size(outer);
  return frame.loop(rowBegin, rowEnd, one, {}, [&](Value row, ValueRange) -> FailureOr<Values> {
    frame.delinearize(row, outer);
    for (auto &[output, store] : packed)
      output->home.pointer = frame.address(store.staged(frame.sub(row, stagedBegin)), output->home.element,
                                           frame.sub(frame.constant(0), columnBegin));
    Value hasNext =
        arith::CmpIOp::create(frame.builder, frame.loc, arith::CmpIPredicate::slt, frame.add(row, one), rows);
    nextRow = arith::SelectOp::create(frame.builder, frame.loc, hasNext, frame.size(inner), frame.constant(0));
    if (failed(emitRow()))
      return failure();
    return Values();
  });
}

LogicalResult RowEmitter::emitRow() {
  for (Phase &phase : phases)
    if (failed(phase.inner.empty() ? emitScalar(phase) : emitInner(phase)))
      return failure();
  return success();
}

namespace {

LogicalResult emitRows(const KernelSource &source, const CpuTarget &target, OpBuilder &builder, bool isLoop) {
  KernelFrame frame(source, target, builder);
  if (failed(RowEmitter(frame).emit(isLoop)))
    return failure();
  frame.finish();
  return success();
}

} // namespace

LogicalResult emitLoop(const KernelSource &source, const CpuTarget &target, OpBuilder &builder) {
  return emitRows(source, target, builder, true);
}

LogicalResult emitRow(const KernelSource &source, const CpuTarget &target, OpBuilder &builder) {
  return emitRows(source, target, builder, false);
}

} // namespace halftone::compiler
