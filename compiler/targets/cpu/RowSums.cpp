// Sums of loops and row kernels that would lose digits in one accumulator: chunks of rows, and the memory of totals.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/Row.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

constexpr int64_t line = 64; // pieces of scratch begin with a cache line
constexpr int64_t levelBytes = 8;

/// Levels of totals of `rows` rows in chunks.
int64_t levelsOf(int64_t rows) { return llvm::bit_width(uint64_t(std::max<int64_t>(rows, 1) - 1) / mostAdditions); }
Emitted levelsOf(KernelFrame &frame, Emitted rows) {
  const Emitted before = divideUnsigned(rows - 1, rows.like(mostAdditions));
  return frame.constant(before.width()) - countLeadingZeros(before);
}

/// The most accumulators that one of the generics carries: a flag may stand beside each.
int64_t accumulatorsOf(const KernelSource &source) {
  int64_t most = 0;
  for (linalg::GenericOp generic : source.generics)
    most =
        std::max<int64_t>(most, 2 * llvm::count_if(combinersOf(generic), [](StringRef name) { return !name.empty(); }));
  return most;
}

/// Memory for the totals of one row's chunks.
int64_t chunkTotalsBytes(const KernelSource &source) {
  return PairwiseTotals::levels * levelBytes * accumulatorsOf(source);
}

} // namespace

/// Whether `result` is a side reduction whose totals are rounded.
static bool isRoundedSide(const KernelSource &source, Value result) {
  return roundsTotals(source.formOf(result).partial, getElementTypeOrSelf(result));
}

int64_t rowTotalsBytes(const KernelSource &source, ArrayRef<int64_t> extents) {
  int64_t bytes = 2 * chunkTotalsBytes(source);
  const int64_t rows = extents[size_t(source.dims)];
  for (linalg::GenericOp generic : source.generics)
    for (auto [position, result] : llvm::enumerate(generic.getResults())) {
      if (!isRoundedSide(source, result))
        continue;
      int64_t size = elementBytes(getElementTypeOrSelf(result));
      for (int dim : source.accessOf(generic, *generic.getDpsInitOperand(int64_t(position))).dims)
        size *= dim < 0 ? 1 : extents[size_t(dim)];
      bytes += int64_t(llvm::alignTo(uint64_t(size * (1 + levelsOf(rows))), uint64_t(line)));
    }
  return bytes;
}

/// Gives the totals of chunks their memory, from `offset` of the scratch on.
void RowEmitter::placeTotals(Emitted offset) {
  const Type byte = frame.getI8Type();
  const Emitted bytes = frame.constant(chunkTotalsBytes(frame.source));
  totals = frame.address(frame.scratch, byte, offset);
  lineTotals = frame.address(frame.scratch, byte, offset + bytes);
  Emitted next = offset + bytes * 2;
  for (Phase &phase : phases)
    for (Output &output : phase.outputs) {
      if (!output.isPartial || !isRoundedSide(frame.source, phase.generic.getResult(output.position)))
        continue;
      output.chunk = frame.address(frame.scratch, byte, next);
      const Emitted size = frame.size(output.access.dims) * elementBytes(output.storage.element);
      const Emitted all = size * (levelsOf(frame, frame.extents[size_t(frame.dims)]) + 1);
      next = next + ceilDivideUnsigned(all, frame.constant(line)) * line;
    }
}

/// Goes along a piece of the side reduction `output`: `each` gets a place and the types of some vectors from there on, or of
/// one element.
void RowEmitter::alongPiece(const Output &output, llvm::function_ref<void(Emitted, ArrayRef<Type>)> each) {
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

/// Fills a piece with the neutral element.
void RowEmitter::clearPiece(const Phase &phase, const Output &output, Emitted pointer) {
  const Emitted neutral = frame.initialOf(phase.generic, output.position);
  alongPiece(output, [&](Emitted at, ArrayRef<Type> types) {
    for (auto [place, type] : llvm::enumerate(types)) {
      auto vector = dyn_cast<VectorType>(type);
      const Emitted here = at + int64_t(place) * frame.lanes;
      frame.store(frame.splat(neutral, vector ? frame.lanes : 0), frame.address(pointer, output.storage.element, here));
    }
  });
}

/// Gives `each` the totals of the present chunk of rows, some vectors at a time, and the totals of the chunks before them.
void RowEmitter::alongChunk(const Output &output,
                            llvm::function_ref<void(Emitted, const PairwiseTotals &, const Values &)> each) {
  const Type element = output.storage.element;
  const Emitted pitch = frame.size(output.access.dims) * elementBytes(element);
  alongPiece(output, [&](Emitted at, ArrayRef<Type> types) {
    const Emitted pointer = frame.address(output.chunk, element, at);
    Values values;
    for (auto [place, type] : llvm::enumerate(types))
      values.push_back(frame.load(type, frame.address(pointer, element, frame.constant(int64_t(place) * frame.lanes))));
    const SmallVector<std::string> combiners(types.size(), output.combiner);
    each(at, PairwiseTotals(frame, combiners, frame.address(pointer, frame.getI8Type(), pitch), pitch), values);
  });
}

/// Rows from `rowBegin` to `rowEnd`. Side reductions take in a chunk of rows at a time.
void RowEmitter::emitRowChunks(Emitted rowBegin, Emitted rowEnd) {
  SmallVector<std::pair<Phase *, Output *>> sides;
  for (Phase &phase : phases)
    for (Output &output : phase.outputs)
      if (output.chunk)
        sides.emplace_back(&phase, &output);
  if (sides.empty())
    return emitRows(rowBegin, rowEnd);
  const Emitted chunk = frame.constant(mostAdditions), one = frame.constant(1);
  const Emitted isOne = rowEnd - rowBegin <= chunk; // in the block's piece itself
  Values pieces;
  for (auto [phase, output] : sides) {
    pieces.push_back(output->storage.pointer);
    output->storage.pointer = select(isOne, output->storage.pointer, output->chunk);
    clearPiece(*phase, *output, output->storage.pointer);
  }
  frame.loop(rowBegin, rowEnd, chunk, [&](Emitted begin) {
    const Emitted number = divideUnsigned(begin - rowBegin, chunk);
    frame.branch(begin > rowBegin, [&] {
      for (auto [phase, output] : sides) {
        alongChunk(*output, [&](Emitted, const PairwiseTotals &pairs, const Values &values) {
          pairs.push(number - one, values);
        });
        clearPiece(*phase, *output, output->chunk);
      }
    });
    emitRows(begin, minimum(rowEnd, begin + chunk));
  });
  frame.branch(negated(isOne), [&] {
    const Emitted pushed = divideUnsigned(rowEnd - rowBegin - one, chunk);
    for (auto [side, piece] : llvm::zip(sides, pieces)) {
      const Output &output = *side.second;
      alongChunk(output, [&](Emitted at, const PairwiseTotals &pairs, const Values &values) {
        for (auto [place, total] : llvm::enumerate(pairs.totalWith(pushed, values)))
          frame.store(total, frame.address(piece, output.storage.element, at + int64_t(place) * frame.lanes));
      });
    }
  });
}

} // namespace halftone::compiler
