// Chunks of long sums and the totals of chunks.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/LongSums.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

bool roundsTotals(StringRef combiner, Type type) {
  return (combiner == "sum" || combiner == "prod") && isa<FloatType>(getElementTypeOrSelf(type));
}

int64_t PairwiseTotals::slotBytes(Type type) {
  constexpr int64_t minBytes = 8;
  auto vector = dyn_cast<VectorType>(type);
  return std::max(minBytes, elementBytes(type) * (vector ? vector.getNumElements() : 1));
}

Emitted PairwiseTotals::slotOf(Emitted level, int64_t offset) const {
  return frame.address(memory, frame.getI8Type(), level * pitch + offset);
}

/// Combines the total of `level` with `totals`, which come after it.
Values PairwiseTotals::combinedWith(Emitted level, ArrayRef<Emitted> totals) const {
  Values before;
  int64_t offset = 0;
  for (const Emitted &total : totals) {
    before.push_back(frame.load(total.type(), slotOf(level, offset)));
    offset += slotBytes(total.type());
  }
  return combineAll(frame, combiners, before, totals);
}

void PairwiseTotals::push(Emitted chunk, ArrayRef<Emitted> totals) const {
  const Emitted zero = frame.constant(0), one = frame.constant(1);
  const Emitted level = countTrailingZeros(chunk + one); // every lower level holds a total
  const Values merged = frame.loop(zero, level, one, totals,
                                   [&](Emitted below, const Values &values) { return combinedWith(below, values); });
  int64_t offset = 0;
  for (const Emitted &total : merged) {
    frame.store(total, slotOf(level, offset));
    offset += slotBytes(total.type());
  }
}

Values PairwiseTotals::totalWith(Emitted pushed, ArrayRef<Emitted> last) const {
  const Emitted zero = frame.constant(0), one = frame.constant(1);
  const Emitted bits = frame.constant(pushed.width()) - countLeadingZeros(pushed);
  return frame.loop(zero, bits, one, last, [&](Emitted level, const Values &values) {
    const Emitted holds = equal((pushed >> level) & one, one);
    return frame.choose(holds, [&] { return combinedWith(level, values); }, [&] { return values; });
  });
}

Values sumInChunks(BlockFrame &frame, ArrayRef<std::string> combiners, Emitted memory, Emitted begin, Emitted end,
                   Emitted chunk, ArrayRef<Emitted> neutral, llvm::function_ref<Values(Emitted, Emitted)> sum) {
  int64_t bytes = 0;
  for (const Emitted &value : neutral)
    bytes += PairwiseTotals::slotBytes(value.type());
  const PairwiseTotals pairs(frame, combiners, memory, frame.constant(bytes));
  const Emitted zero = frame.constant(0), one = frame.constant(1);
  // The totals of a chunk are stored when the next chunk begins, so a sum of one chunk accesses no memory.
  Values carried{zero};
  carried.append(neutral.begin(), neutral.end());
  const Values result = frame.loop(begin, end, chunk, carried, [&](Emitted at, const Values &before) {
    const Emitted number = before.front();
    frame.branch(number > zero, [&] { pairs.push(number - one, ArrayRef(before).drop_front()); });
    Values next{number + one};
    next.append(sum(at, minimum(end - at, chunk) + at));
    return next;
  });
  const ArrayRef<Emitted> last = ArrayRef(result).drop_front();
  return frame.choose(
      result.front() > one, [&] { return pairs.totalWith(result.front() - one, last); }, [&] { return Values(last); });
}

Values sumInRegisters(BlockFrame &frame, ArrayRef<std::string> combiners, Emitted begin, Emitted end, Emitted step,
                      ArrayRef<Emitted> neutral, llvm::function_ref<Values(Emitted, const Values &)> body, int levels) {
  const bool rounds = llvm::any_of(llvm::zip(combiners, neutral),
                                   [](auto each) { return roundsTotals(std::get<0>(each), std::get<1>(each).type()); });
  if (!rounds || levels == 1)
    return frame.loop(begin, end, step, neutral, body);
  Emitted part = step;
  for (int level = 1; level < levels; ++level)
    part = part * maxAdditions;
  return frame.loop(begin, end, part, neutral, [&](Emitted at, const Values &before) {
    const Emitted last = minimum(end - at, part) + at;
    return combineAll(frame, combiners, before,
                      sumInRegisters(frame, combiners, at, last, step, neutral, body, levels - 1));
  });
}

} // namespace halftone::compiler
