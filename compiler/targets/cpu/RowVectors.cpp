// The steps of a phase: groups of vectors, single vectors, the tail, and their loads and stores.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/RowVectors.h"
#include "compiler/kernels/CodeSize.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/Steps.h"
#include "compiler/targets/cpu/x86/Streaming.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

/// The low or high 16 bits of each 32-bit integer.
Emitted halfOf(Emitted pair, bool upper) { return (upper ? pair >> 16 : pair).narrow(pair.builder().getI16Type()); }

/// `flag`, or whether any of the values is NaN. One comparison tests two values.
Emitted orNan(Emitted flag, ArrayRef<Emitted> values) {
  for (; !values.empty(); values = values.drop_front(std::min<size_t>(2, values.size())))
    flag = flag | isEitherNan(values[0], values[values.size() > 1]);
  return flag;
}

} // namespace

int64_t RowVectors::groupsOf(Phase &phase) {
  Block *body = phase.generic.getBody();
  const int vectorDim = phase.vectorDim();
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

/// Returns true if two steps may divide the elements of two vectors between them in any way, because they only combine
/// them, and if all that they read along the row is bf16. One step then takes the even elements and the other the odd
/// ones: a shift widens a bf16 in the low half of 32 bits, a mask one in the high half.
bool RowVectors::takesPairs(Phase &phase) {
  Block *body = phase.generic.getBody();
  if (frame.source.form.numerics.fixesOrder() || !body->getOps<linalg::IndexOp>().empty())
    return false;
  for (const Output &output : phase.outputs)
    if (!output.isCarried || isArgCombiner(output.combiner))
      return false;
  const int vectorDim = phase.vectorDim();
  bool found = false;
  for (auto [position, access] : llvm::enumerate(phase.inputAccesses)) {
    BlockArgument argument = body->getArgument(position);
    if (loadedInputs.contains(position) || argument.use_empty())
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

/// Loads two vectors of each operand at once: the elements of this step and the next.
void RowVectors::loadPairs(Phase &phase) {
  const auto type = VectorType::get(frame.lanes, frame.getI32Type());
  for (auto [input, access] : llvm::enumerate(phase.inputAccesses)) {
    if (loadedInputs.contains(input) || phase.generic.getBody()->getArgument(input).use_empty())
      continue;
    const TensorStorage storage = frame.storage.lookup(phase.generic.getDpsInputs()[input]);
    const Emitted pointer = frame.address(storage.pointer, storage.element, frame.offset(access));
    pairs[input] = frame.load(type, pointer, elementBytes(storage.element));
  }
}

/// Emits whole groups of vectors, each vector with its own accumulators, which are then combined into `carried`.
/// Returns the end of the last group.
Emitted RowVectors::emitGroups(Phase &phase, Emitted begin, Emitted columnsEnd, Values &carried) {
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

/// Emits the interleaved steps of one group.
Values RowVectors::emitGroup(Phase &phase, Emitted column, int64_t groups, const Values &carried) {
  const bool inPairs = groups % 2 == 0 && takesPairs(phase);
  const size_t count = phase.neutral.size();
  const int vectorDim = phase.vectorDim();
  Values next;
  unflagged.resize(phase.outputs.size());
  for (int64_t group = 0; group < groups; ++group) {
    frame.index[vectorDim] = column + group * frame.lanes;
    if (inPairs && group % 2 == 0)
      loadPairs(phase);
    for (auto [input, pair] : pairs)
      loadedInputs[input] = halfOf(pair, group % 2 == 1);
    next.append(
        emitStep(phase, ArrayRef<Emitted>(carried).slice(size_t(group) * count, count), {frame.lanes, vectorDim}));
    for (auto [input, pair] : pairs)
      loadedInputs.erase(input);
    if (group % 2 == 1)
      pairs.clear();
  }
  for (const Output &output : phase.outputs)
    if (output.nanFlag >= 0)
      next[size_t(output.nanFlag)] = orNan(next[size_t(output.nanFlag)], unflagged[output.position]);
  unflagged.clear();
  return next;
}

Values RowVectors::emit(Phase &phase, Emitted begin, Emitted end, const Values &start) {
  const size_t count = phase.neutral.size();
  const int vectorDim = phase.vectorDim();
  Values all = start;
  const Emitted groupsEnd = emitGroups(phase, begin, end, all);
  const ArrayRef<Emitted> carried = all;
  const Emitted lanes = frame.constant(frame.lanes);
  const Emitted wholeEnd = begin + divideUnsigned(end - begin, lanes) * lanes;
  const auto along = [&](int64_t width) {
    return [this, width, vectorDim, &phase](Emitted column, const Values &values) {
      frame.index[vectorDim] = column;
      return emitStep(phase, values, {width, vectorDim});
    };
  };
  if (frame.target.hasMaskedMemory && phase.codeSize > maxInterleavedCode)
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

/// Emits the tail of the vector dim, shorter than a vector.
Values RowVectors::emitMaskedStep(Phase &phase, Emitted begin, Emitted end, const Values &carried) {
  const int vectorDim = phase.vectorDim();
  frame.index[vectorDim] = begin;
  const Lanes lanes = maskedLanes(frame, frame.lanes, vectorDim, end);
  return frame.choose(begin < end, [&] { return emitStep(phase, carried, lanes); }, [&] { return carried; });
}

/// Prefetches the cache lines of the next row at the current step's inputs.
void RowVectors::emitPrefetches(Phase &phase) {
  for (unsigned input : phase.prefetched) {
    const TensorStorage storage = frame.storage.lookup(phase.generic.getDpsInputs()[input]);
    const Emitted ahead = frame.offset(phase.inputAccesses[input]) + nextRow;
    frame.prefetch(frame.address(storage.pointer, storage.element, ahead), /*toWrite=*/false);
  }
}

/// A row in scratch with one dim has room for whole vectors, so no mask is needed: only lanes outside read past its
/// end.
static Lanes lanesIn(const TensorStorage &storage, bool isOneDim, const Lanes &lanes) {
  return storage.isRow && isOneDim ? Lanes{lanes.count, lanes.dim} : lanes;
}

/// The block arguments of the phase's body at the current index.
Values RowVectors::argumentsOf(Phase &phase, ArrayRef<Emitted> carried, const Lanes &lanes) {
  Values arguments;
  for (auto [input, operand] : llvm::enumerate(phase.generic.getDpsInputOperands())) {
    if (const Emitted value = loadedInputs.lookup(input)) {
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
    else // a partial reduction in memory
      arguments.push_back(loadLanes(frame, output.storage, output.access, lanes));
  }
  return arguments;
}

Values RowVectors::emitStep(Phase &phase, ArrayRef<Emitted> carried, const Lanes &lanes) {
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
