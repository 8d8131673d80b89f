// One phase of a row: its inner dims, a vector at a time.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/CodeSize.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/Steps.h"
#include "compiler/targets/cpu/Row.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

/// The lower or the upper half of each of 32-bit integers.
Emitted halfOf(Emitted pair, bool upper) { return (upper ? pair >> 16 : pair).narrow(pair.builder().getI16Type()); }

/// `flag`, or whether any of the values is NaN: one comparison tells it of two.
Emitted orNan(Emitted flag, ArrayRef<Emitted> values) {
  for (; !values.empty(); values = values.drop_front(std::min<size_t>(2, values.size())))
    flag = flag | isEitherNan(values[0], values[values.size() > 1]);
  return flag;
}

} // namespace

void RowEmitter::combineIntoMemory(const Output &output, Emitted value) {
  const Emitted before = loadLanes(frame, output.storage, output.access, {});
  storeLanes(frame, combineAll(frame, {output.combiner}, {before}, {value})[0], output.storage, output.access, {});
}

void RowEmitter::emitInner(Phase &phase) {
  if (phase.inner.back() != vectorDim) { // rows alone: their columns are whole
    vectorDim = phase.inner.back();
    columnEnd = frame.extents[vectorDim];
  }
  for (auto [input, access] : llvm::enumerate(phase.inputAccesses)) {
    const bool isOfRow = llvm::none_of(access.dims, [&](int dim) { return llvm::is_contained(phase.inner, dim); });
    if (isOfRow && !atHand.contains(input) && !phase.generic.getBody()->getArgument(input).use_empty())
      atHand[input] = loadLanes(frame, frame.storage.lookup(phase.generic.getDpsInputs()[input]), access, {});
  }
  finishCarried(phase, emitEitherWay(phase));
  atHand.clear();
}

/// The totals of `loops`, which carries accumulators of lanes.
Values RowEmitter::foldedTotals(Phase &phase, llvm::function_ref<Values(const Values &)> loops) {
  const bool masked = frame.target.hasMaskedMemory;
  Values carried;
  for (const Emitted &neutral : phase.neutral)
    carried.push_back(frame.splat(neutral, frame.lanes));
  if (!masked) // the scalar tail has accumulators of its own
    carried.append(phase.neutral);
  const Values lanes = loops(carried);
  const ArrayRef<Emitted> all(lanes);
  const Values folded = combineLanes(frame, phase.combiners, all.take_front(phase.neutral.size()));
  return masked ? folded : combineAll(frame, phase.combiners, folded, all.drop_front(phase.neutral.size()));
}

/// The phase's loops. A sum that rounds goes over chunks of the vector dim and of the lines before it.
Values RowEmitter::emitTotals(Phase &phase) {
  const ArrayRef<int> lineDims = ArrayRef<int>(phase.inner).drop_back();
  if (!phase.isRounded)
    return foldedTotals(phase, [&](const Values &carried) {
      return frame.loops(lineDims, carried,
                         [&](const Values &values) { return emitVectors(phase, columnBegin, columnEnd, values); });
    });
  const int64_t chunk = std::min(mostOfChunk, mostAdditions * groupsOf(phase) * frame.lanes);
  const auto columns = [&](llvm::function_ref<Values(Emitted, Emitted)> sum) {
    return sumInChunks(frame, phase.combiners, totals, columnBegin, columnEnd, frame.constant(chunk), phase.neutral,
                       sum);
  };
  if (lineDims.empty())
    return columns([&](Emitted begin, Emitted end) {
      return foldedTotals(phase, [&](const Values &carried) { return emitVectors(phase, begin, end, carried); });
    });
  // A line adds to an accumulator a step for each of its vectors, one more for its tail.
  const Emitted one = frame.constant(1);
  const Emitted steps =
      divideUnsigned(minimum(columnEnd - columnBegin, frame.constant(chunk)), frame.constant(frame.lanes)) + one;
  const Emitted lines = maximum(divideUnsigned(frame.constant(mostAdditions), steps), one);
  return sumInChunks(frame, phase.combiners, lineTotals, frame.constant(0), frame.size(lineDims), lines, phase.neutral,
                     [&](Emitted lineBegin, Emitted lineEnd) {
                       return columns([&](Emitted begin, Emitted end) {
                         return foldedTotals(phase, [&](const Values &carried) {
                           return frame.loop(lineBegin, lineEnd, one, carried, [&](Emitted line, const Values &values) {
                             frame.delinearize(line, lineDims);
                             return emitVectors(phase, begin, end, values);
                           });
                         });
                       });
                     });
}

/// The phase's loops; where results may go past the caches, a second time for that.
Values RowEmitter::emitEitherWay(Phase &phase) {
  const auto loops = [&] { return emitTotals(phase); };
  if (!streams || llvm::none_of(phase.outputs, [](const Output &output) { return output.mayStream; }))
    return loops();
  const auto past = [&] {
    streaming = true;
    Values values = loops();
    streaming = false;
    return values;
  };
  return frame.choose(streams, past, loops);
}

void RowEmitter::finishCarried(Phase &phase, ArrayRef<Emitted> totals) {
  for (Output &output : phase.outputs) {
    if (!output.isCarried)
      continue;
    Emitted total = totals[size_t(output.accumulator)];
    if (output.nanFlag >= 0)
      total = select(totals[size_t(output.nanFlag)], total.like(std::numeric_limits<double>::quiet_NaN()), total);
    if (output.isPartial)
      combineIntoMemory(output, total);
    else
      frame.storage[phase.generic.getResult(output.position)] = {{}, total.type(), total};
  }
}

/// How many vectors a phase does at a time: several where it would wait for its accumulators or for the steps of a long
/// function, as many as the registers hold and the bound on interleaved code allows.
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
  if (phase.neutral.empty() && !hasLongFunction(phase.generic))
    return 1;
  return boundedCopies(frame.target.vectorRegisters / 8, phase.codeSize);
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
  for (auto [position, access] : llvm::enumerate(phase.inputAccesses)) {
    BlockArgument argument = body->getArgument(position);
    if (atHand.contains(position) || argument.use_empty())
      continue;
    auto widens = [](Operation *user) {
      return isa<arith::ExtUIOp>(user) && user->getResult(0).getType().isInteger(32);
    };
    const TensorStorage storage = frame.storage.lookup(phase.generic.getDpsInputs()[position]);
    if (!storage.pointer || storage.isRow || access.dims.empty() || access.dims.back() != vectorDim ||
        !storage.element.isInteger(16) || !llvm::all_of(argument.getUsers(), widens))
      return false;
    found = true;
  }
  return found;
}

/// Loads two vectors of each operand at once: the elements of this step and of the next.
void RowEmitter::loadPairs(Phase &phase) {
  const auto type = VectorType::get(frame.lanes, frame.getI32Type());
  for (auto [input, access] : llvm::enumerate(phase.inputAccesses)) {
    if (atHand.contains(input) || phase.generic.getBody()->getArgument(input).use_empty())
      continue;
    const TensorStorage storage = frame.storage.lookup(phase.generic.getDpsInputs()[input]);
    const Emitted pointer = frame.address(storage.pointer, storage.element, frame.offset(access));
    pairs[input] = frame.load(type, pointer, elementBytes(storage.element));
  }
}

/// Whole groups of vectors, each vector with accumulators of its own, which are then combined into `carried`. Returns
/// where they end.
Emitted RowEmitter::emitGroups(Phase &phase, Emitted begin, Emitted columnsEnd, Values &carried) {
  const int64_t groups = groupsOf(phase);
  if (groups < 2)
    return begin;
  const size_t count = phase.neutral.size();
  const Emitted step = frame.constant(groups * frame.lanes);
  const Emitted end = begin + divideUnsigned(columnsEnd - begin, step) * step;
  Values initial(ArrayRef<Emitted>(carried).take_front(count));
  for (int64_t group = 1; group < groups; ++group)
    for (const Emitted &neutral : phase.neutral)
      initial.push_back(frame.splat(neutral, frame.lanes));
  Values combined = frame.loop(begin, end, step, initial, [&](Emitted column, const Values &values) {
    frame.getInsertionBlock()->getParentOp()->setAttr(interleavedAttr, frame.getUnitAttr());
    return emitGroup(phase, column, groups, values);
  });
  for (auto left = size_t(groups) / 2; left > 0; left /= 2) {
    Values halves;
    for (size_t group = 0; group < left; ++group) {
      const ArrayRef<Emitted> pair = ArrayRef<Emitted>(combined).slice(2 * group * count, 2 * count);
      halves.append(combineAll(frame, phase.combiners, pair.take_front(count), pair.drop_front(count)));
    }
    combined = halves;
  }
  llvm::copy(combined, carried.begin());
  return end;
}

/// The steps of one group, side by side.
Values RowEmitter::emitGroup(Phase &phase, Emitted column, int64_t groups, const Values &carried) {
  const bool inPairs = groups % 2 == 0 && takesPairs(phase);
  const size_t count = phase.neutral.size();
  Values next;
  unflagged.resize(phase.outputs.size());
  for (int64_t group = 0; group < groups; ++group) {
    frame.index[vectorDim] = column + group * frame.lanes;
    if (inPairs && group % 2 == 0)
      loadPairs(phase);
    for (auto [input, pair] : pairs)
      atHand[input] = halfOf(pair, group % 2 == 1);
    next.append(
        emitStep(phase, ArrayRef<Emitted>(carried).slice(size_t(group) * count, count), {frame.lanes, vectorDim}));
    for (auto [input, pair] : pairs)
      atHand.erase(input);
    if (group % 2 == 1)
      pairs.clear();
  }
  for (const Output &output : phase.outputs)
    if (output.nanFlag >= 0)
      next[size_t(output.nanFlag)] = orNan(next[size_t(output.nanFlag)], unflagged[output.position]);
  unflagged.clear();
  return next;
}

/// The vector dim from `begin` to `end`: whole vectors, then a masked step or scalar ones. Where a body is large, one
/// masked loop does all, so that the kernel has one copy of it.
Values RowEmitter::emitVectors(Phase &phase, Emitted begin, Emitted end, const Values &start) {
  const size_t count = phase.neutral.size();
  Values all = start;
  const Emitted groupsEnd = emitGroups(phase, begin, end, all);
  const ArrayRef<Emitted> carried = all;
  const Emitted lanes = frame.constant(frame.lanes);
  const Emitted wholeEnd = begin + divideUnsigned(end - begin, lanes) * lanes;
  const auto along = [&](int64_t width) {
    return [this, width, &phase](Emitted column, const Values &values) {
      frame.index[vectorDim] = column;
      return emitStep(phase, values, {width, vectorDim});
    };
  };
  if (frame.target.hasMaskedMemory && phase.codeSize > mostInterleavedCode)
    return frame.loop(groupsEnd, end, lanes, carried.take_front(count), [&](Emitted column, const Values &values) {
      frame.index[vectorDim] = column;
      return emitStep(phase, values, maskedLanes(frame, frame.lanes, vectorDim, end));
    });
  Values vectors = frame.loop(groupsEnd, wholeEnd, lanes, carried.take_front(count), along(frame.lanes));
  if (frame.target.hasMaskedMemory)
    return emitMaskedStep(phase, wholeEnd, end, vectors);
  vectors.append(frame.loop(wholeEnd, end, frame.constant(1), carried.drop_front(count), along(0)));
  return vectors;
}

/// The tail of the vector dim, less than a vector.
Values RowEmitter::emitMaskedStep(Phase &phase, Emitted begin, Emitted end, const Values &carried) {
  frame.index[vectorDim] = begin;
  const Lanes lanes = maskedLanes(frame, frame.lanes, vectorDim, end);
  return frame.choose(begin < end, [&] { return emitStep(phase, carried, lanes); }, [&] { return carried; });
}

/// Asks for the cache lines of the next row that the present step's inputs have.
void RowEmitter::emitPrefetches(Phase &phase) {
  for (unsigned input : phase.prefetched) {
    const TensorStorage storage = frame.storage.lookup(phase.generic.getDpsInputs()[input]);
    const Emitted ahead = frame.offset(phase.inputAccesses[input]) + nextRow;
    frame.prefetch(frame.address(storage.pointer, storage.element, ahead), /*toWrite=*/false);
  }
}

/// Whole vectors fit the scratch of a row that has one dim: only lanes outside read past its end.
static Lanes lanesIn(const TensorStorage &storage, bool isOneDim, const Lanes &lanes) {
  return storage.isRow && isOneDim ? Lanes{lanes.count, lanes.dim} : lanes;
}

/// The block arguments of the phase's body at the present index.
Values RowEmitter::argumentsOf(Phase &phase, ArrayRef<Emitted> carried, const Lanes &lanes) {
  Values arguments;
  for (auto [input, operand] : llvm::enumerate(phase.generic.getDpsInputOperands())) {
    if (const Emitted value = atHand.lookup(input)) {
      arguments.push_back(value);
      continue;
    }
    const TensorStorage storage = frame.storage.lookup(operand->get());
    const bool isUsed = !phase.generic.getBody()->getArgument(input).use_empty();
    arguments.push_back(
        isUsed ? loadLanes(frame, storage, phase.inputAccesses[input], lanesIn(storage, phase.inner.size() == 1, lanes))
               : Emitted());
  }
  for (const Output &output : phase.outputs) {
    if (output.combiner.empty())
      arguments.push_back({});
    else if (output.isCarried)
      arguments.push_back(carried[size_t(output.accumulator)]);
    else // a side reduction in memory
      arguments.push_back(loadLanes(frame, output.storage, output.access, lanes));
  }
  return arguments;
}

/// Loads, body, stores; returns the accumulators that are carried on.
Values RowEmitter::emitStep(Phase &phase, ArrayRef<Emitted> carried, const Lanes &lanes) {
  const Values yields = emitBody(frame, phase.generic, argumentsOf(phase, carried, lanes), lanes);
  const bool isWhole = lanes.count > 0 && !lanes.mask;
  if (isWhole)
    emitPrefetches(phase);
  Values result(carried);
  for (const Output &output : phase.outputs) {
    Emitted value = yields[output.position];
    if (!output.isCarried) {
      if (streaming && output.mayStream && isWhole)
        streamLanes(frame, value, output.storage, output.access);
      else
        storeLanes(frame, value, output.storage, output.access,
                   lanesIn(output.storage, phase.inner.size() == 1, lanes));
      continue;
    }
    const Emitted before = carried[size_t(output.accumulator)];
    if (output.nanFlag >= 0) {
      Emitted &flag = result[size_t(output.nanFlag)];
      value = frame.splat(value, lanes.count);
      if (unflagged.empty())
        flag = selectInside(lanes, orNan(flag, {value}), flag);
      else
        unflagged[output.position].push_back(value);
      value = combineAll(frame, {phase.combiners[size_t(output.accumulator)]}, {before}, {value})[0];
    }
    result[size_t(output.accumulator)] = selectInside(lanes, value, before);
  }
  return result;
}

} // namespace halftone::compiler
