// From staged rows to panels.
// SPDX-License-Identifier: Apache-2.0
//
// Element (k, n) of a packed K x N matrix lies at ((n / 16) * (K / 2) + k / 2) * 32 + (n % 16) * 2 + k % 2. So a line
// of 64 bytes holds two rows of 16 columns when k is the row, and two columns of 16 rows when k is the column.
#include "compiler/targets/cpu/PackedStore.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

static constexpr int64_t panelColumns = 16, lineElements = 32, lineBytes = 64;

PackedStore::PackedStore(KernelFrame &frame, Value result, const Panels &panels, unsigned place)
    : frame(frame), pointer(frame.storage.lookup(result).pointer), depth(panels.depth) {
  const Emitted line = frame.constant(lineElements);
  pitch = ceilDivideUnsigned(frame.extents[size_t(frame.dims + 1)], line) * line;
  scratch = frame.address(frame.scratch, frame.getI16Type(), pitch * (place * stagedRows));
}

FailureOr<std::optional<PackedStore>> PackedStore::of(KernelFrame &frame, Value result, unsigned place) {
  std::optional<Panels> panels = frame.source.formOf(result).panels;
  if (!panels)
    return std::optional<PackedStore>();
  auto type = cast<RankedTensorType>(result.getType());
  if (!type.getElementType().isInteger(16) || panels->group != 2 || panels->columns != panelColumns || frame.dims != 2)
    return emitError(frame.getLoc()) << "no code that stores " << type << " in panels of " << panels->columns
                                     << " columns, groups of " << panels->group << ", in a kernel of " << frame.dims
                                     << " dims";
  return std::optional(PackedStore(frame, result, *panels, place));
}

Emitted PackedStore::staged(Emitted row) const { return frame.address(scratch, frame.getI16Type(), row * pitch); }

void PackedStore::move(Emitted rowBegin, Emitted rowEnd, Emitted columnBegin, Emitted columnEnd) const {
  if (depth == 0)
    moveRowPairs(rowBegin, rowEnd, columnBegin, columnEnd);
  else
    moveColumnPairs(rowBegin, columnBegin, columnEnd);
}

void PackedStore::moveRowPairs(Emitted rowBegin, Emitted rowEnd, Emitted columnBegin, Emitted columnEnd) const {
  const Type element = frame.getI16Type();
  const auto half = VectorType::get(panelColumns, element);
  const Emitted zero = frame.constant(0), two = frame.constant(2);
  const Emitted groups = divideUnsigned(frame.extents[0], two), first = divideUnsigned(rowBegin, two);
  const Emitted rows = rowEnd - rowBegin;
  frame.loop(zero, columnEnd - columnBegin, frame.constant(panelColumns), [&](Emitted column) {
    const Emitted panel = divideUnsigned(columnBegin + column, frame.constant(panelColumns));
    const Emitted lines = panel * groups + first;
    frame.loop(zero, rows, two, [&](Emitted row) {
      const auto halfAt = [&](Emitted at) { return frame.load(half, frame.address(staged(at), element, column)); };
      const Emitted even = halfAt(row), odd = halfAt(row + 1);
      const Emitted line = frame.wrap(vector::InterleaveOp::create(frame, even.value(), odd.value()));
      const Emitted at = (lines + divideUnsigned(row, two)) * lineElements;
      frame.store(line, frame.address(pointer, element, at), lineBytes);
    });
  });
}

void PackedStore::moveColumnPairs(Emitted rowBegin, Emitted columnBegin, Emitted columnEnd) const {
  const Type element = frame.getI16Type(), pair = frame.getI32Type();
  const auto pairs = VectorType::get(stagedRows, pair);
  const Emitted two = frame.constant(2), groups = divideUnsigned(frame.extents[1], two);
  const Emitted panel = divideUnsigned(rowBegin, frame.constant(panelColumns)) * groups;
  const Emitted count = divideUnsigned(columnEnd - columnBegin, two);
  // Squares of 16 rows and 16 pairs; of the last one only the lines that there are.
  frame.loop(frame.constant(0), count, frame.constant(stagedRows), [&](Emitted start) {
    Values rows;
    for (int64_t row = 0; row < stagedRows; ++row)
      rows.push_back(frame.load(pairs, frame.address(staged(frame.constant(row)), pair, start), elementBytes(element)));
    const Emitted first = panel + divideUnsigned(columnBegin, two) + start;
    for (auto [position, line] : llvm::enumerate(frame.transpose(rows))) {
      const Emitted index = frame.constant(int64_t(position)), isThere = start + index < count;
      const Emitted at = (first + index) * lineElements;
      frame.storeMasked(line, frame.address(pointer, element, at), frame.splat(isThere, stagedRows), lineBytes);
    }
  });
}

} // namespace halftone::compiler
