// Moves staged rows to panels.
// SPDX-License-Identifier: Apache-2.0
//
// A group has four bytes: two 16-bit or four 8-bit elements that are neighbours along k. With g elements in a group,
// element (k, n) of a packed K x N matrix is at offset ((n / 16) * (K / g) + k / g) * 16 g + (n % 16) * g + k % g. So a
// cache line of 64 bytes holds g rows of 16 columns if k is the row, and g columns of 16 rows if k is the column.
// Groups of 4-bit elements have eight rows: the low nibbles of the four bytes hold the first four, the high nibbles the
// others.
#include "compiler/targets/cpu/PackedStore.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

static constexpr int64_t panelColumns = 16, groupBytes = 4, lineBytes = panelColumns * groupBytes;

/// The distance between two staged rows in bytes, for which stagedBytes() allocates.
static Emitted stagedPitchBytes(KernelFrame &frame, Emitted columns) {
  return ceilDivideUnsigned(columns, frame.constant(stagedColumns)) * frame.constant(lineBytes);
}

PackedStore::PackedStore(KernelFrame &frame, Value result, const Panels &panels, unsigned index)
    : frame(frame), pointer(frame.storage.lookup(result).pointer), element(getElementTypeOrSelf(result)),
      depth(panels.depth), group(panels.group), halves(panels.bits != 0) {
  const Emitted pitchBytes = stagedPitchBytes(frame, frame.extents[size_t(frame.dims + 1)]);
  pitch = divideUnsigned(pitchBytes, frame.constant(elementBytes(element)));
  scratch = frame.address(frame.scratch, frame.getI8Type(), pitchBytes * (index * stagedRows));
}

FailureOr<std::optional<PackedStore>> PackedStore::of(KernelFrame &frame, Value result, unsigned index) {
  std::optional<Panels> panels = frame.source.formOf(result).panels;
  if (!panels)
    return std::optional<PackedStore>();
  auto type = cast<RankedTensorType>(result.getType());
  const int64_t bits = panels->bits ? panels->bits : type.getElementTypeBitWidth();
  const bool hasMove =
      panels->bits == 0 || (panels->bits == 4 && panels->depth == 0 && type.getElementType().isInteger(8));
  if (!hasMove || bits * panels->group != 8 * groupBytes || panels->columns != panelColumns || frame.dims != 2)
    return emitError(frame.getLoc()) << "storing " << type << " in panels of " << panels->columns
                                     << " columns, groups of " << panels->group << ", in a kernel of " << frame.dims
                                     << " dims is not supported";
  return std::optional(PackedStore(frame, result, *panels, index));
}

Emitted PackedStore::staged(Emitted row) const { return frame.address(scratch, element, row * pitch); }

void PackedStore::move(Emitted rowBegin, Emitted rowEnd, Emitted columnBegin, Emitted columnEnd) const {
  if (depth == 0)
    moveRowGroups(rowBegin, rowEnd, columnBegin, columnEnd);
  else
    moveColumnGroups(rowBegin, columnBegin, columnEnd);
}

void PackedStore::moveRowGroups(Emitted rowBegin, Emitted rowEnd, Emitted columnBegin, Emitted columnEnd) const {
  const auto part = VectorType::get(panelColumns, element);
  const Emitted zero = frame.constant(0), members = frame.constant(group);
  const Emitted groups = divideUnsigned(frame.extents[0], members), first = divideUnsigned(rowBegin, members);
  const Emitted rows = rowEnd - rowBegin;
  const auto interleaved = [&](Emitted x, Emitted y) {
    return frame.wrap(vector::InterleaveOp::create(frame, x.value(), y.value()));
  };
  frame.loop(zero, columnEnd - columnBegin, frame.constant(panelColumns), [&](Emitted column) {
    const Emitted panel = divideUnsigned(columnBegin + column, frame.constant(panelColumns));
    const Emitted lines = panel * groups + first;
    frame.loop(zero, rows, members, [&](Emitted row) {
      Values line;
      for (int64_t member = 0; member < group; ++member)
        line.push_back(frame.load(part, frame.address(staged(row + member), element, column)));
      if (halves) {
        const size_t half = line.size() / 2;
        for (size_t i = 0; i < half; ++i)
          line[i] = (line[i] & 15) | (line[i + half] << 4);
        line.truncate(half);
      }
      // For four rows: interleaves the first and the third, the second and the fourth, and then both results.
      for (size_t half = line.size() / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; ++i)
          line[i] = interleaved(line[i], line[i + half]);
      const Emitted at = (lines + divideUnsigned(row, members)) * lineBytes;
      frame.store(line[0], frame.address(pointer, frame.getI8Type(), at), lineBytes);
    });
  });
}

void PackedStore::moveColumnGroups(Emitted rowBegin, Emitted columnBegin, Emitted columnEnd) const {
  const Type whole = frame.getI32Type();
  const auto wholes = VectorType::get(stagedRows, whole);
  const Emitted members = frame.constant(group), groups = divideUnsigned(frame.extents[1], members);
  const Emitted panel = divideUnsigned(rowBegin, frame.constant(panelColumns)) * groups;
  const Emitted count = divideUnsigned(columnEnd - columnBegin, members);
  // Squares of 16 rows and 16 groups; the last square may have fewer lines.
  frame.loop(frame.constant(0), count, frame.constant(stagedRows), [&](Emitted start) {
    Values rows;
    for (int64_t row = 0; row < stagedRows; ++row)
      rows.push_back(
          frame.load(wholes, frame.address(staged(frame.constant(row)), whole, start), elementBytes(element)));
    const Emitted first = panel + divideUnsigned(columnBegin, members) + start;
    for (auto [position, line] : llvm::enumerate(frame.transpose(rows))) {
      const Emitted index = frame.constant(int64_t(position)), isInside = start + index < count;
      const Emitted at = (first + index) * (panelColumns * group);
      frame.storeMasked(line, frame.address(pointer, element, at), frame.splat(isInside, stagedRows), lineBytes);
    }
  });
}

} // namespace halftone::compiler
