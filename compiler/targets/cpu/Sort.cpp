// Sort kernels: the first elements of rows, in order.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: for row in block:
//     few elements of many: a sorted list of the best so far; a vector of keys is examined if one precedes the last in
//     the list
//     a short row: the rank of each element is the number of elements that precede it
//     a long row: for each byte of the keys, from the lowest on: positions move to the buckets of the byte's value
//     for each resulting position: store the element
#include "compiler/kernels/SortParts.h"
#include "compiler/targets/cpu/Emitters.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

/// The maximum length of the list, and of a row whose elements are ranked by counting.
constexpr int64_t maxListed = 64, maxCounted = 128;
/// The list's first entry in an array of scratch. Its vectors are loaded from one entry before it on.
constexpr int64_t listBegin = 64, listCapacity = listBegin + maxListed;
constexpr int64_t buckets = 256;

bool isListed(const SortExtents &extents) {
  return extents.count > 0 && extents.count <= maxListed && 4 * extents.count < extents.length;
}

/// The number of keys of a row, or of the list, rounded up to whole vectors of any size.
int64_t capacityOf(const SortExtents &extents) {
  return isListed(extents) ? listCapacity : std::max<int64_t>((extents.length + 63) / 64, 1) * 64;
}

/// Whether any lane of the vector of keys precedes `key`.
Emitted isAnyBefore(KernelFrame &frame, Emitted vector, Emitted key) {
  const auto lanes = cast<VectorType>(vector.type()).getNumElements();
  const Emitted before = isLessUnsigned(vector, frame.splat(key, lanes));
  return frame.wrap(vector::ReductionOp::create(frame, vector::CombiningKind::OR, before.value()));
}

/// Scratch holds two arrays of keys and two of positions, and the bucket counts.
class SortEmitter : SortParts {
public:
  explicit SortEmitter(KernelFrame &frame) : SortParts(frame), frame(frame) {}
  void emit();

private:
  void prepare();
  void sortRow();

  void list();
  void listVector(Emitted position);
  void insert(Emitted size, Emitted newKey, Emitted newPosition);

  void storeKeys();
  void count();
  Emitted countPreceding(Emitted first);
  void distribute();
  void countBytes();
  Emitted moveByByte(Emitted byte, Emitted from);
  void moveToBuckets(Emitted byte, Emitted from, Emitted to);

  Emitted keyAt(Emitted at) { return frame.address(keys, keyType, at); }
  Emitted positionAt(Emitted at) { return frame.address(positions, frame.getI32Type(), at); }
  Emitted loadKey(Emitted at) { return frame.load(keyType, keyAt(at)); }
  Emitted loadPosition(Emitted at) { return frame.load(frame.getI32Type(), positionAt(at)); }
  Emitted bucketAt(Emitted byte, Emitted key);
  Emitted asPosition(Emitted index) { return index.narrow(frame.getI32Type()); }
  /// Stores the elements whose positions are in the array from `from` on.
  void storeSortedFrom(Emitted from);

  KernelFrame &frame;
  Emitted length, resultCount, capacity; // of a row; of the kernel's results; of an array in scratch
  Emitted isList;
  Emitted keys, positions, counts;
};

void SortEmitter::prepare() {
  length = frame.size(sorted);
  resultCount = frame.extents[size_t(resultDim)];
  isList = isLessUnsigned(resultCount - 1, frame.constant(maxListed)) & (resultCount * 4 < length);
  const Emitted whole = maximum(ceilDivideUnsigned(length, frame.constant(64)), frame.constant(1)) * 64;
  capacity = select(isList, frame.constant(listCapacity), whole);
  keys = frame.scratch;
  positions = frame.address(keys, frame.getI8Type(), capacity * (2 * elementBytes(keyType)));
  counts = frame.address(positions, frame.getI8Type(), capacity * 8);
}

Emitted SortEmitter::bucketAt(Emitted byte, Emitted key) {
  const Emitted shift = key.width() == 64 ? byte * 8 : (byte * 8).narrow(key.type());
  return frame.address(counts, frame.getI32Type(), byte * buckets + frame.asIndex((key >> shift) & 255));
}

void SortEmitter::storeSortedFrom(Emitted from) {
  frame.loop(frame.constant(0), resultCount, frame.constant(1),
             [&](Emitted number) { storeSorted(number, frame.asIndex(loadPosition(from + number))); });
}

/// Inserts a key after the keys in the list's first `size` entries that are not larger. If the list is full, its last
/// entry drops out. Whole vectors move by one entry, from the last on, so entries beyond the list are overwritten too.
void SortEmitter::insert(Emitted size, Emitted newKey, Emitted newPosition) {
  const int64_t lanes = frame.lanes;
  const Emitted one = frame.constant(1), laneCount = frame.constant(lanes);
  const auto keyVector = VectorType::get(lanes, keyType), positionVector = VectorType::get(lanes, frame.getI32Type());
  const Emitted added = frame.splat(newKey, lanes), addedPosition = frame.splat(newPosition, lanes);
  const Emitted vectors = ceilDivideUnsigned(minimum(size + 1, resultCount), laneCount);
  frame.loop(frame.constant(0), vectors, one, [&](Emitted number) {
    const Emitted entry = (vectors - number - 1) * lanes, at = entry + listBegin;
    const Emitted key = frame.load(keyVector, keyAt(at)), before = frame.load(keyVector, keyAt(at - 1));
    const Emitted position = frame.load(positionVector, positionAt(at));
    const Emitted positionBefore = frame.load(positionVector, positionAt(at - 1));
    const Emitted entries = frame.splat(asPosition(entry), lanes) + frame.steps(frame.getI32Type(), lanes);
    const Emitted moves = isLessUnsigned(added, key) | (frame.splat(asPosition(size - 1), lanes) < entries);
    const Emitted precedes = isLessUnsigned(added, before); // then the preceding entry moves here
    frame.store(select(moves, select(precedes, before, added), key), keyAt(at));
    frame.store(select(moves, select(precedes, positionBefore, addedPosition), position), positionAt(at));
  });
}

/// Inserts the keys at a vector of positions into the list.
void SortEmitter::listVector(Emitted position) {
  const Emitted last = resultCount + (listBegin - 1), vector = key(position, frame.lanes);
  frame.branch(isAnyBefore(frame, vector, loadKey(last)), [&] {
    frame.store(vector, keyAt(capacity)); // the second array
    frame.loop(frame.constant(0), frame.constant(frame.lanes), frame.constant(1), [&](Emitted lane) {
      const Emitted key = loadKey(capacity + lane);
      frame.branch(isLessUnsigned(key, loadKey(last)), [&] { insert(resultCount, key, asPosition(position + lane)); });
    });
  });
}

void SortEmitter::list() {
  const Emitted one = frame.constant(1);
  frame.store(frame.zero(keyType), keyAt(frame.constant(listBegin - 1))); // no key precedes it
  frame.loop(frame.constant(0), resultCount, one,
             [&](Emitted position) { insert(position, key(position), asPosition(position)); });
  Emitted next = resultCount;
  if (hasLanes) {
    const Emitted lanes = frame.constant(frame.lanes);
    const Emitted end = resultCount + divideUnsigned(length - resultCount, lanes) * lanes;
    frame.loop(next, end, lanes, [&](Emitted position) { listVector(position); });
    next = end;
  }
  frame.loop(next, length, one, [&](Emitted position) {
    const Emitted own = key(position);
    frame.branch(isLessUnsigned(own, loadKey(resultCount + (listBegin - 1))),
                 [&] { insert(resultCount, own, asPosition(position)); });
  });
}

void SortEmitter::storeKeys() {
  Emitted next = frame.constant(0);
  if (hasLanes) {
    const Emitted lanes = frame.constant(frame.lanes), end = divideUnsigned(length, lanes) * lanes;
    frame.loop(next, end, lanes, [&](Emitted position) { frame.store(key(position, frame.lanes), keyAt(position)); });
    next = end;
  }
  frame.loop(next, length, frame.constant(1), [&](Emitted position) { frame.store(key(position), keyAt(position)); });
}

/// For each position of a vector from `first` on, the number of elements that precede it.
Emitted SortEmitter::countPreceding(Emitted first) {
  const int64_t lanes = frame.lanes;
  const Emitted zero = frame.constant(0), one = frame.constant(1);
  const auto i32 = frame.getI32Type();
  const Emitted own = frame.load(VectorType::get(lanes, keyType), keyAt(first));
  const Emitted ownPositions = frame.splat(asPosition(first), lanes) + frame.steps(i32, lanes);
  const Emitted end = minimum(first + lanes, length);
  const auto each = [&](Emitted from, Emitted to, Emitted sums,
                        llvm::function_ref<Emitted(Emitted, Emitted)> isBefore) {
    return frame.loop(from, to, one, {sums}, [&](Emitted at, const Values &carried) {
      return Values{carried[0] + isBefore(at, frame.splat(loadKey(at), lanes)).widen(i32)};
    })[0];
  };
  // Among equal keys, the one at the lower position precedes.
  Emitted sums = each(zero, first, frame.zero(VectorType::get(lanes, i32)),
                      [&](Emitted, Emitted key) { return equal(key, own) | isLessUnsigned(key, own); });
  sums = each(first, end, sums, [&](Emitted at, Emitted key) {
    const Emitted isLower = frame.splat(asPosition(at), lanes) < ownPositions;
    return isLessUnsigned(key, own) | (equal(key, own) & isLower);
  });
  return each(end, length, sums, [&](Emitted, Emitted key) { return isLessUnsigned(key, own); });
}

void SortEmitter::count() {
  const Emitted one = frame.constant(1), lanes = frame.constant(frame.lanes);
  storeKeys();
  frame.loop(frame.constant(0), length, lanes,
             [&](Emitted first) { frame.store(countPreceding(first), positionAt(capacity + first)); });
  frame.loop(frame.constant(0), length, one, [&](Emitted position) {
    const Emitted number = frame.asIndex(loadPosition(capacity + position));
    frame.branch(number < resultCount, [&] { frame.store(asPosition(position), positionAt(number)); });
  });
}

/// Counts the values of each byte of the keys.
void SortEmitter::countBytes() {
  const Emitted one = frame.constant(1), zero = frame.constant(0);
  const int64_t bytes = elementBytes(keyType), lanes = frame.lanes;
  const auto i32 = frame.getI32Type();
  frame.loop(zero, frame.constant(bytes * buckets), frame.constant(lanes),
             [&](Emitted at) { frame.store(frame.zero(VectorType::get(lanes, i32)), frame.address(counts, i32, at)); });
  frame.loop(zero, length, one, [&](Emitted at) {
    const Emitted key = loadKey(at);
    for (int64_t byte = 0; byte < bytes; ++byte) {
      const Emitted bucket = bucketAt(frame.constant(byte), key);
      frame.store(frame.load(i32, bucket) + 1, bucket);
    }
  });
}

/// Moves the keys and positions from `from` on to their buckets, from `to` on, in order.
void SortEmitter::moveToBuckets(Emitted byte, Emitted from, Emitted to) {
  const Emitted one = frame.constant(1), zero = frame.constant(0);
  const auto i32 = frame.getI32Type();
  frame.loop(zero, frame.constant(buckets), one, {frame.zero(i32)}, [&](Emitted bucket, const Values &carried) {
    const Emitted begin = frame.address(counts, i32, byte * buckets + bucket);
    const Emitted size = frame.load(i32, begin);
    frame.store(carried[0], begin);
    return Values{carried[0] + size};
  });
  frame.loop(zero, length, one, [&](Emitted at) {
    const Emitted key = loadKey(from + at), bucket = bucketAt(byte, key), next = frame.load(i32, bucket);
    frame.store(next + 1, bucket);
    frame.store(key, keyAt(to + frame.asIndex(next)));
    frame.store(loadPosition(from + at), positionAt(to + frame.asIndex(next)));
  });
}

/// Sorts the keys and positions from `from` on by a byte; returns the start of the sorted ones.
Emitted SortEmitter::moveByByte(Emitted byte, Emitted from) {
  const Emitted all = frame.load(frame.getI32Type(), bucketAt(byte, loadKey(from)));
  return frame.choose(
      equal(all, asPosition(length)), [&] { return Values{from}; },
      [&] {
        const Emitted to = capacity - from;
        moveToBuckets(byte, from, to);
        return Values{to};
      })[0];
}

void SortEmitter::distribute() {
  const Emitted zero = frame.constant(0);
  const auto i32 = frame.getI32Type();
  storeKeys();
  frame.loop(zero, length, frame.constant(frame.lanes), [&](Emitted at) {
    frame.store(frame.splat(asPosition(at), frame.lanes) + frame.steps(i32, frame.lanes), positionAt(at));
  });
  countBytes();
  storeSortedFrom(
      frame.loop(zero, frame.constant(elementBytes(keyType)), frame.constant(1), {zero},
                 [&](Emitted byte, const Values &carried) { return Values{moveByByte(byte, carried[0])}; })[0]);
}

void SortEmitter::sortRow() {
  frame.branch(
      isList | (length <= maxCounted),
      [&] {
        frame.branch(isList, [&] { list(); }, [&] { count(); });
        storeSortedFrom(select(isList, frame.constant(listBegin), frame.constant(0)));
      },
      [&] { distribute(); });
}

void SortEmitter::emit() {
  const Emitted blockRows = frame.extents[size_t(frame.dims)];
  const Emitted first = frame.blockBegin * blockRows, end = minimum(frame.size(rows), frame.blockEnd * blockRows);
  prepare();
  frame.loop(first, end, frame.constant(1), [&](Emitted row) {
    moveToRow(row);
    sortRow();
  });
}

} // namespace

void emitSort(KernelFrame &frame) { SortEmitter(frame).emit(); }

int64_t sortScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &) {
  const SortExtents row(source, extents);
  return capacityOf(row) * 2 * (row.keyBytes + 4) + row.keyBytes * buckets * 4;
}

} // namespace halftone::compiler
