// Reductions across threads in a fixed order: by shuffles within a warp, otherwise through shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/Reduce.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/LongSums.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

constexpr int64_t accessBytes = 16; // the maximum size of one access of a thread

int64_t lanesOf(Type type) {
  const auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

/// The bytes of one part in all slots, rounded up so that the next ones are aligned too.
int64_t bytesOf(const Parts &parts, int64_t slots) {
  return (parts.bytes() * slots + accessBytes - 1) / accessBytes * accessBytes;
}

SmallVector<Type> typesOf(ArrayRef<Emitted> values) {
  return llvm::map_to_vector(values, [](const Emitted &value) { return value.type(); });
}

/// Combines the values that threads wrote to slots, one combiner at a time, which limits the memory.
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

Parts::Parts(Type value) : type(value), count(1) {
  const int64_t lanes = std::max<int64_t>(1, accessBytes / elementBytes(value));
  if (lanesOf(value) <= lanes)
    return;
  count = lanesOf(value) / lanes;
  type = VectorType::get(lanes, getElementTypeOrSelf(value));
}

int64_t Parts::bytes() const { return elementBytes(type) * lanesOf(type); }

Values split(CodeBuilder &builder, Emitted value) {
  const Parts parts(value.type());
  if (parts.count == 1)
    return {value};
  Values all;
  for (int64_t part = 0, lanes = lanesOf(parts.type); part < parts.count; ++part) {
    const auto own = llvm::to_vector(llvm::seq(part * lanes, (part + 1) * lanes));
    all.push_back(builder.wrap(vector::ShuffleOp::create(builder, value.value(), value.value(), own)));
  }
  return all;
}

Emitted join(CodeBuilder &builder, ArrayRef<Emitted> parts) {
  if (parts.size() == 1)
    return parts[0];
  const Emitted low = join(builder, parts.take_front(parts.size() / 2)),
                high = join(builder, parts.drop_front(parts.size() / 2));
  const auto all = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanesOf(low.type())));
  return builder.wrap(vector::ShuffleOp::create(builder, low.value(), high.value(), all));
}

int64_t Slots::bytes(ArrayRef<Type> types, int64_t count) {
  int64_t bytes = 0;
  for (const Parts parts : llvm::map_range(types, [](Type type) { return Parts(type); }))
    bytes += parts.count * bytesOf(parts, count);
  return bytes;
}

void Slots::eachPart(Emitted slot, llvm::function_ref<void(size_t, int64_t, const Parts &, Emitted)> access) const {
  int64_t begin = 0;
  for (auto [position, type] : llvm::enumerate(types)) {
    const Parts parts(type);
    for (int64_t part = 0; part < parts.count; ++part, begin += bytesOf(parts, count)) {
      const Emitted first = frame.address(memory, frame.getI8Type(), frame.constant(begin));
      access(position, part, parts, frame.address(first, frame.getI8Type(), slot * parts.bytes()));
    }
  }
}

void Slots::write(ArrayRef<Emitted> values, Emitted slot) const {
  Values parts;
  eachPart(slot, [&](size_t value, int64_t part, const Parts &all, Emitted address) {
    if (part == 0)
      parts = split(frame, values[value]);
    frame.store(parts[size_t(part)], address, all.bytes());
  });
}

Values Slots::read(Emitted slot) const {
  Values values, parts;
  eachPart(slot, [&](size_t, int64_t part, const Parts &all, Emitted address) {
    parts.push_back(frame.load(all.type, address, all.bytes()));
    if (part + 1 < all.count)
      return;
    values.push_back(join(frame, parts));
    parts.clear();
  });
  return values;
}

/// The totals of each run of `lanes` lanes, a power of two.
static Values foldLanes(GridFrame &frame, ArrayRef<std::string> combiners, ArrayRef<Emitted> values, int64_t lanes) {
  Values totals(values);
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    Values above;
    for (const Emitted &value : totals)
      above.push_back(frame.shuffleDown(value, distance));
    totals = combineAll(frame, combiners, totals, above);
  }
  // Only the first lane of a run has combined values of the run alone.
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
  const SmallVector<Type> types = typesOf(ofWarps);
  const int64_t count = frame.threads / warpLanes;
  const Slots slots(frame, types, count, frame.exchange(Slots::bytes(types, count)));
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
    const SmallVector<Type> types = typesOf(own);
    const Slots slots(frame, types, frame.threads, frame.exchange(Slots::bytes(types, frame.threads)));
    slots.write(own, frame.thread);
    frame.barrier();
    const Emitted isFirst = equal(tile.rowThread, tile.rowThread.like(0));
    const Emitted rows = select(isFirst, tile.down, tile.down.like(0));
    const auto read = [&](Emitted row) { return slots.read(row * tile.across + tile.thread); };
    const Emitted one = frame.constant(1), chunk = frame.constant(maxAdditions);
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
