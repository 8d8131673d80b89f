// Accumulators of threads combined in a fixed order: through shuffles within a warp, else through shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/Reduce.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/LongSums.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

int64_t bytesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return elementBytes(type) * (vector ? vector.getNumElements() : 1);
}

/// Slots of shared memory for values of several types: slot `i` of each value.
class Slots {
public:
  Slots(GridFrame &frame, ArrayRef<Emitted> values, int64_t count) : frame(frame) {
    constexpr int64_t alignment = 16;
    int64_t bytes = 0;
    SmallVector<int64_t> begins;
    for (const Emitted &value : values) {
      types.push_back(value.type());
      begins.push_back(bytes);
      bytes += (bytesOf(value.type()) * count + alignment - 1) / alignment * alignment;
    }
    const Emitted memory = frame.exchange(bytes);
    for (int64_t begin : begins)
      arrays.push_back(frame.address(memory, frame.getI8Type(), frame.constant(begin)));
  }
  void write(ArrayRef<Emitted> values, Emitted slot) const {
    for (auto [position, value] : llvm::enumerate(values))
      frame.store(value, at(position, slot), alignmentOf(position));
  }
  Values read(Emitted slot) const {
    Values values;
    for (size_t position = 0; position < types.size(); ++position)
      values.push_back(frame.load(types[position], at(position, slot), alignmentOf(position)));
    return values;
  }

private:
  Emitted at(size_t position, Emitted slot) const {
    return frame.address(arrays[position], frame.getI8Type(), slot * bytesOf(types[position]));
  }
  int64_t alignmentOf(size_t position) const { return std::min<int64_t>(16, bytesOf(types[position])); }

  GridFrame &frame;
  SmallVector<Type> types;
  Values arrays;
};

/// Combines the values that threads wrote into slots: one combiner at a time, so that little memory serves many.
Values foldSlots(GridFrame &frame, ArrayRef<std::string> combiners, ArrayRef<Emitted> values,
                 llvm::function_ref<Values(ArrayRef<std::string>, ArrayRef<Emitted>)> fold) {
  Values totals;
  while (!combiners.empty()) {
    const size_t count = isArgCombiner(combiners.front()) ? 2 : 1;
    totals.append(fold(combiners.take_front(count), values.take_front(count)));
    frame.barrier();
    combiners = combiners.drop_front(count);
    values = values.drop_front(count);
  }
  return totals;
}

} // namespace

/// Totals of each run of `lanes` lanes, a power of two.
static Values foldLanes(GridFrame &frame, ArrayRef<std::string> combiners, ArrayRef<Emitted> values, int64_t lanes) {
  Values totals(values);
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    Values above;
    for (const Emitted &value : totals)
      above.push_back(frame.shuffleDown(value, distance));
    totals = combineAll(frame, combiners, totals, above);
  }
  // The first lane of a run has combined values of the run alone; others have not.
  for (Emitted &total : totals)
    total = frame.shuffleFrom(total, frame.lane & -lanes);
  return totals;
}

Values foldWarp(GridFrame &frame, ArrayRef<std::string> combiners, ArrayRef<Emitted> values) {
  return foldLanes(frame, combiners, values, warpLanes);
}

Values foldTeam(GridFrame &frame, int64_t across, ArrayRef<std::string> combiners, ArrayRef<Emitted> values) {
  const Values ofWarps = foldWarp(frame, combiners, values);
  const int64_t warps = across / warpLanes;
  if (warps == 1)
    return ofWarps;
  const Slots slots(frame, ofWarps, frame.threads / warpLanes);
  frame.branch(equal(frame.lane, frame.lane.like(0)), [&] { slots.write(ofWarps, frame.warp); });
  frame.barrier();
  const Values totals = slots.read((frame.warp & -warps) | (frame.lane & (warps - 1)));
  frame.barrier();
  return foldLanes(frame, combiners, totals, warps);
}

Values foldBlock(GridFrame &frame, ArrayRef<std::string> combiners, ArrayRef<Emitted> values) {
  return foldTeam(frame, frame.threads, combiners, values);
}

Values foldRows(GridFrame &frame, const ThreadTile &tile, ArrayRef<std::string> combiners, ArrayRef<Emitted> values) {
  return foldSlots(frame, combiners, values, [&](ArrayRef<std::string> names, ArrayRef<Emitted> own) {
    const Slots slots(frame, own, frame.threads);
    slots.write(own, frame.thread);
    frame.barrier();
    const Emitted isFirst = equal(tile.rowThread, tile.rowThread.like(0));
    const Emitted rows = select(isFirst, tile.down, tile.down.like(0));
    const auto read = [&](Emitted row) { return slots.read(row * tile.across + tile.thread); };
    const Emitted one = frame.constant(1), chunk = frame.constant(mostAdditions);
    return frame.loop(one, rows, chunk, own, [&](Emitted first, const Values &before) {
      const Emitted end = minimum(rows, first + chunk);
      return combineAll(frame, names, before,
                        frame.loop(first + one, end, one, read(first), [&](Emitted row, const Values &sum) {
                          return combineAll(frame, names, sum, read(row));
                        }));
    });
  });
}

} // namespace halftone::compiler
