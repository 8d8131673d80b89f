// Sort kernels: the first elements of rows, in order.
// SPDX-License-Identifier: Apache-2.0
//
//   for each row of the block: keys and positions of the row, in shared memory or in scratch, padded with the largest
//   keys to a power of two; a bitonic network of them: the threads exchange pairs; store the elements at the first
//   positions
#include "compiler/kernels/SortParts.h"
#include "compiler/targets/gpu/Emitters.h"
#include <bit>
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

namespace {

/// The bytes for the keys and positions of a row that is sorted in shared memory.
constexpr int64_t sharedRowBytes = 32768;

/// The length of the longest such row, a power of two.
int64_t longestShared(int64_t keyBytes) { return int64_t(std::bit_floor(uint64_t(sharedRowBytes / (keyBytes + 4)))); }

class SortEmitter : SortParts {
public:
  explicit SortEmitter(GridFrame &frame) : SortParts(frame), frame(frame) {}
  std::string emit();

private:
  void sortRow();
  void storeKeys();
  void exchange(Emitted size, Emitted distance);
  void setMemory(Emitted memory);
  void forOwnElements(Emitted end, llvm::function_ref<void(Emitted at)> body) {
    frame.loop(frame.thread, end, frame.constant(frame.threads), body);
  }

  Emitted keyAt(Emitted at) { return frame.address(keys, keyType, at); }
  Emitted positionAt(Emitted at) { return frame.address(positions, frame.getI32Type(), at); }

  GridFrame &frame;
  Emitted length, padded, steps; // of a row; rounded up to a power of two, and its logarithm
  Emitted keys, positions;
};

void SortEmitter::setMemory(Emitted memory) {
  keys = memory;
  positions = frame.address(memory, frame.getI8Type(), padded * elementBytes(keyType));
}

void SortEmitter::storeKeys() {
  const Emitted largest = frame.constant(frame.getIntegerAttr(keyType, -1));
  forOwnElements(padded, [&](Emitted at) {
    const Emitted own = frame.choose(at < length, [&] { return Values{key(at)}; }, [&] { return Values{largest}; })[0];
    frame.store(own, keyAt(at));
    frame.store(at.width() == 32 ? at : at.narrow(frame.getI32Type()), positionAt(at));
  });
  frame.barrier();
}

/// Orders pairs at this distance, ascending in every other run of `size`.
void SortEmitter::exchange(Emitted size, Emitted distance) {
  const auto i32 = frame.getI32Type();
  forOwnElements(divideUnsigned(padded, frame.constant(2)), [&](Emitted pair) {
    const Emitted within = pair & (distance - 1), low = (pair - within) * 2 + within, high = low + distance;
    const Emitted lowKey = frame.load(keyType, keyAt(low)), highKey = frame.load(keyType, keyAt(high));
    const Emitted lowPosition = frame.load(i32, positionAt(low)), highPosition = frame.load(i32, positionAt(high));
    const Emitted isAscending = equal(low & size, frame.constant(0));
    const Emitted isHighFirst =
        isLessUnsigned(highKey, lowKey) | (equal(highKey, lowKey) & isLessUnsigned(highPosition, lowPosition));
    frame.branch(equal(isAscending, isHighFirst), [&] {
      frame.store(highKey, keyAt(low));
      frame.store(lowKey, keyAt(high));
      frame.store(highPosition, positionAt(low));
      frame.store(lowPosition, positionAt(high));
    });
  });
  frame.barrier();
}

void SortEmitter::sortRow() {
  const Emitted zero = frame.constant(0), one = frame.constant(1);
  storeKeys();
  frame.loop(one, steps + 1, one, [&](Emitted step) {
    frame.loop(zero, step, one, [&](Emitted part) { exchange(one << step, one << (step - 1 - part)); });
  });
  forOwnElements(frame.extents[size_t(resultDim)], [&](Emitted number) {
    storeSorted(number, frame.asIndex(frame.load(frame.getI32Type(), positionAt(number))));
  });
  frame.barrier();
}

std::string SortEmitter::emit() {
  const Emitted blockRows = frame.extents[size_t(frame.dims)], first = frame.block * blockRows;
  const Emitted end = minimum(frame.size(rows), first + blockRows);
  length = frame.size(sorted);
  const Emitted last = maximum(length - 1, frame.constant(0));
  steps = frame.constant(int64_t(last.width())) - countLeadingZeros(last);
  padded = frame.constant(1) << steps;
  const Emitted shared = frame.shared(sharedRowBytes);
  const auto emitRows = [&](Emitted memory) {
    setMemory(memory);
    frame.loop(first, end, frame.constant(1), [&](Emitted row) {
      moveToRow(row);
      sortRow();
    });
  };
  const int64_t longest = longestShared(elementBytes(keyType));
  frame.branch(padded <= longest, [&] { emitRows(shared); }, [&] { emitRows(frame.scratch); });
  return fmt::format("{} threads, rows of up to {} in shared memory", frame.threads, longest);
}

} // namespace

FailureOr<std::string> emitSort(GridFrame &frame) { return SortEmitter(frame).emit(); }

int64_t sortScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents) {
  const SortExtents row(source, extents);
  const auto padded = int64_t(std::bit_ceil(uint64_t(std::max<int64_t>(row.length, 1))));
  return padded <= longestShared(row.keyBytes) ? 0 : padded * (row.keyBytes + 4);
}

} // namespace halftone::compiler
