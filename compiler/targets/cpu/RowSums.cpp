// Sums too long for one accumulator: chunks of columns, lines and rows, and the memory of totals.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/RowSums.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/targets/cpu/Emitters.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

constexpr int64_t line = 64; // parts of scratch are aligned to cache lines
constexpr int64_t levelBytes = 8;

/// The number of levels of totals for `rows` rows in chunks.
int64_t levelsOf(int64_t rows) { return llvm::bit_width(uint64_t(std::max<int64_t>(rows, 1) - 1) / maxAdditions); }
Emitted levelsOf(KernelFrame &frame, Emitted rows) {
  const Emitted before = divideUnsigned(rows - 1, rows.like(maxAdditions));
  return frame.constant(before.width()) - countLeadingZeros(before);
}

/// The maximum number of accumulators that a generic carries, including a flag for each.
int64_t accumulatorsOf(const KernelSource &source) {
  int64_t maxCount = 0;
  for (linalg::GenericOp generic : source.generics)
    maxCount = std::max<int64_t>(
        maxCount, 2 * llvm::count_if(combinersOf(generic), [](StringRef name) { return !name.empty(); }));
  return maxCount;
}

/// The bytes for the totals of one row's chunks.
int64_t chunkTotalsBytes(const KernelSource &source) {
  return PairwiseTotals::levels * levelBytes * accumulatorsOf(source);
}

} // namespace

/// Returns true if `result` is a partial reduction whose totals are rounded.
static bool isRoundedPartial(const KernelSource &source, Value result) {
  return roundsTotals(source.formOf(result).partial, getElementTypeOrSelf(result));
}

int64_t rowTotalsBytes(const KernelSource &source, ArrayRef<int64_t> extents) {
  int64_t bytes = 2 * chunkTotalsBytes(source);
  const int64_t rows = extents[size_t(source.dims)];
  for (linalg::GenericOp generic : source.generics)
    for (auto [position, result] : llvm::enumerate(generic.getResults())) {
      if (!isRoundedPartial(source, result))
        continue;
      int64_t size = elementBytes(getElementTypeOrSelf(result));
      for (int dim : source.accessOf(generic, *generic.getDpsInitOperand(int64_t(position))).dims)
        size *= dim < 0 ? 1 : extents[size_t(dim)];
      bytes += int64_t(llvm::alignTo(uint64_t(size * (1 + levelsOf(rows))), uint64_t(line)));
    }
  return bytes;
}

void RowSums::placeTotals(Emitted offset) {
  const Type byte = frame.getI8Type();
  const Emitted bytes = frame.constant(chunkTotalsBytes(frame.source));
  totals = frame.address(frame.scratch, byte, offset);
  lineTotals = frame.address(frame.scratch, byte, offset + bytes);
  Emitted next = offset + bytes * 2;
  for (Phase &phase : plan.phases)
    for (Output &output : phase.outputs) {
      if (!output.isPartial || !isRoundedPartial(frame.source, phase.generic.getResult(output.position)))
        continue;
      output.chunk = frame.address(frame.scratch, byte, next);
      const Emitted size = frame.size(output.access.dims) * elementBytes(output.storage.element);
      const Emitted all = size * (levelsOf(frame, frame.extents[size_t(frame.dims)]) + 1);
      next = next + ceilDivideUnsigned(all, frame.constant(line)) * line;
    }
}

/// Iterates over the partial result of `output`. `each` gets an offset and the types of some vectors from there on, or
/// of one element.
void RowSums::alongPartial(const Output &output, llvm::function_ref<void(Emitted, ArrayRef<Type>)> each) {
  constexpr int64_t sideBySide = 4;
  const Type element = output.storage.element;
  const Emitted zero = frame.constant(0), size = frame.size(output.access.dims);
  Emitted whole = zero;
  if (isa<FloatType>(element)) {
    const SmallVector<Type> vectors(size_t(sideBySide), VectorType::get(frame.lanes, element));
    const Emitted step = frame.constant(sideBySide * frame.lanes);
    whole = divideUnsigned(size, step) * step;
    frame.loop(zero, whole, step, [&](Emitted at) { each(at, vectors); });
  }
  frame.loop(whole, size, frame.constant(1), [&](Emitted at) { each(at, element); });
}

/// Fills a partial result with the neutral element.
void RowSums::clearPartial(const Phase &phase, const Output &output, Emitted pointer) {
  const Emitted neutral = frame.initialOf(phase.generic, output.position);
  alongPartial(output, [&](Emitted at, ArrayRef<Type> types) {
    for (auto [index, type] : llvm::enumerate(types)) {
      auto vector = dyn_cast<VectorType>(type);
      const Emitted here = at + int64_t(index) * frame.lanes;
      frame.store(frame.splat(neutral, vector ? frame.lanes : 0), frame.address(pointer, output.storage.element, here));
    }
  });
}

/// Calls `each` with the totals of the current chunk of rows, some vectors at a time, and the totals of earlier chunks.
void RowSums::alongChunk(const Output &output,
                         llvm::function_ref<void(Emitted, const PairwiseTotals &, const Values &)> each) {
  const Type element = output.storage.element;
  const Emitted pitch = frame.size(output.access.dims) * elementBytes(element);
  alongPartial(output, [&](Emitted at, ArrayRef<Type> types) {
    const Emitted pointer = frame.address(output.chunk, element, at);
    Values values;
    for (auto [index, type] : llvm::enumerate(types))
      values.push_back(frame.load(type, frame.address(pointer, element, frame.constant(int64_t(index) * frame.lanes))));
    const SmallVector<std::string> combiners(types.size(), output.combiner);
    each(at, PairwiseTotals(frame, combiners, frame.address(pointer, frame.getI8Type(), pitch), pitch), values);
  });
}

void RowSums::clearPartials(Emitted block) {
  for (Phase &phase : plan.phases)
    for (Output &output : phase.outputs) {
      if (!output.isPartial)
        continue;
      const Emitted size = frame.size(output.access.dims);
      const TensorStorage whole = frame.storage.lookup(phase.generic.getResult(output.position));
      output.storage = {frame.address(whole.pointer, whole.element, block * size), whole.element, {}};
      if (!output.chunk)
        clearPartial(phase, output, output.storage.pointer);
    }
}

void RowSums::emitRowChunks(Emitted rowBegin, Emitted rowEnd, llvm::function_ref<void(Emitted, Emitted)> rows) {
  SmallVector<std::pair<Phase *, Output *>> partials;
  for (Phase &phase : plan.phases)
    for (Output &output : phase.outputs)
      if (output.chunk)
        partials.emplace_back(&phase, &output);
  if (partials.empty())
    return rows(rowBegin, rowEnd);
  const Emitted chunk = frame.constant(maxAdditions), one = frame.constant(1);
  const Emitted isOne = rowEnd - rowBegin <= chunk; // accumulates directly in the block's partial result
  Values results;
  for (auto [phase, output] : partials) {
    results.push_back(output->storage.pointer);
    output->storage.pointer = select(isOne, output->storage.pointer, output->chunk);
    clearPartial(*phase, *output, output->storage.pointer);
  }
  frame.loop(rowBegin, rowEnd, chunk, [&](Emitted begin) {
    const Emitted number = divideUnsigned(begin - rowBegin, chunk);
    frame.branch(begin > rowBegin, [&] {
      for (auto [phase, output] : partials) {
        alongChunk(*output, [&](Emitted, const PairwiseTotals &pairs, const Values &values) {
          pairs.push(number - one, values);
        });
        clearPartial(*phase, *output, output->chunk);
      }
    });
    rows(begin, minimum(rowEnd, begin + chunk));
  });
  frame.branch(negated(isOne), [&] {
    const Emitted pushed = divideUnsigned(rowEnd - rowBegin - one, chunk);
    for (auto [partial, result] : llvm::zip(partials, results)) {
      const Output &output = *partial.second;
      alongChunk(output, [&](Emitted at, const PairwiseTotals &pairs, const Values &values) {
        for (auto [index, total] : llvm::enumerate(pairs.totalWith(pushed, values)))
          frame.store(total, frame.address(result, output.storage.element, at + int64_t(index) * frame.lanes));
      });
    }
  });
}

/// The totals of `loops`, which carries vector accumulators.
Values RowSums::foldedTotals(Phase &phase, llvm::function_ref<Values(const Values &)> loops) {
  const bool masked = frame.target.hasMaskedMemory;
  Values carried;
  for (const Emitted &neutral : phase.neutral)
    carried.push_back(frame.splat(neutral, frame.lanes));
  if (!masked) // the scalar tail has separate accumulators
    carried.append(phase.neutral);
  const Values lanes = loops(carried);
  const ArrayRef<Emitted> all(lanes);
  const Values folded = combineLanes(frame, phase.combiners, all.take_front(phase.neutral.size()));
  return masked ? folded : combineAll(frame, phase.combiners, folded, all.drop_front(phase.neutral.size()));
}

Values RowSums::emitTotals(Phase &phase, const RowPlan::Columns &columns) {
  const ArrayRef<int> lineDims = ArrayRef<int>(phase.inner).drop_back();
  if (!phase.isRounded)
    return foldedTotals(phase, [&](const Values &carried) {
      return frame.loops(lineDims, carried,
                         [&](const Values &values) { return vectors.emit(phase, columns.begin, columns.end, values); });
    });
  const int64_t chunk = std::min(maxPerChunk, maxAdditions * vectors.groupsOf(phase) * frame.lanes);
  const auto inChunks = [&](llvm::function_ref<Values(Emitted, Emitted)> sum) {
    return sumInChunks(frame, phase.combiners, totals, columns.begin, columns.end, frame.constant(chunk), phase.neutral,
                       sum);
  };
  if (lineDims.empty())
    return inChunks([&](Emitted begin, Emitted end) {
      return foldedTotals(phase, [&](const Values &carried) { return vectors.emit(phase, begin, end, carried); });
    });
  // Each line adds one step to an accumulator per vector, plus one for its tail.
  const Emitted one = frame.constant(1);
  const Emitted steps =
      divideUnsigned(minimum(columns.end - columns.begin, frame.constant(chunk)), frame.constant(frame.lanes)) + one;
  const Emitted lines = maximum(divideUnsigned(frame.constant(maxAdditions), steps), one);
  return sumInChunks(frame, phase.combiners, lineTotals, frame.constant(0), frame.size(lineDims), lines, phase.neutral,
                     [&](Emitted lineBegin, Emitted lineEnd) {
                       return inChunks([&](Emitted begin, Emitted end) {
                         return foldedTotals(phase, [&](const Values &carried) {
                           return frame.loop(lineBegin, lineEnd, one, carried, [&](Emitted line, const Values &values) {
                             frame.delinearize(line, lineDims);
                             return vectors.emit(phase, begin, end, values);
                           });
                         });
                       });
                     });
}

void RowSums::combineIntoMemory(const Output &output, Emitted value) {
  const Emitted before = loadLanes(frame, output.storage, output.access, {});
  storeLanes(frame, combineAll(frame, {output.combiner}, {before}, {value})[0], output.storage, output.access, {});
}

void RowSums::finish(Phase &phase, ArrayRef<Emitted> totals) {
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

} // namespace halftone::compiler
