// From staged rows to panels.
// SPDX-License-Identifier: Apache-2.0
//
// Element (k, n) of a packed K x N matrix lies at ((n / 16) * (K / 2) + k / 2) * 32 + (n % 16) * 2 + k % 2. So a line
// of 64 bytes holds two rows of 16 columns when k is the row, and two columns of 16 rows when k is the column.
#include "compiler/targets/cpu/PackedStore.h"
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

static constexpr int64_t panelColumns = 16, lineElements = 32;

PackedStore::PackedStore(KernelFrame &frame, Value result, const Panels &panels, unsigned place)
    : frame(frame), pointer(frame.homes.lookup(result).pointer), depth(panels.depth) {
  Value line = frame.constant(lineElements);
  pitch = frame.mul(frame.ceilDivide(frame.extents[frame.dims + 1], line), line);
  Value before = frame.mul(pitch, frame.constant(place * stagedRows));
  scratch = frame.address(frame.scratch, frame.builder.getI16Type(), before);
}

FailureOr<std::optional<PackedStore>> PackedStore::of(KernelFrame &frame, Value result, unsigned place) {
  std::optional<Panels> panels = frame.source.formOf(result).panels;
  if (!panels)
    return std::optional<PackedStore>();
  auto type = cast<RankedTensorType>(result.getType());
  if (!type.getElementType().isInteger(16) || panels->group != 2 || panels->columns != panelColumns || frame.dims != 2)
    return emitError(frame.loc) << "no code that stores " << type << " in panels of " << panels->columns
                                << " columns, groups of " << panels->group << ", in a kernel of " << frame.dims
                                << " dims";
  return std::optional(PackedStore(frame, result, *panels, place));
}

Value PackedStore::staged(Value row) const {
  return frame.address(scratch, frame.builder.getI16Type(), frame.mul(row, pitch));
}

void PackedStore::loop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> body) const {
  // A body without carried values does not fail.
  (void)frame.loop(begin, end, frame.constant(step), {}, [&](Value at, ValueRange) -> FailureOr<KernelFrame::Values> {
    body(at);
    return KernelFrame::Values();
  });
}

void PackedStore::move(Value rowBegin, Value rowEnd, Value columnBegin, Value columnEnd) const {
  if (depth == 0)
    moveRowPairs(rowBegin, rowEnd, columnBegin, columnEnd);
  else
    moveColumnPairs(rowBegin, columnBegin, columnEnd);
}

void PackedStore::moveRowPairs(Value rowBegin, Value rowEnd, Value columnBegin, Value columnEnd) const {
  OpBuilder &builder = frame.builder;
  Type element = builder.getI16Type();
  auto half = VectorType::get(panelColumns, element);
  Value two = frame.constant(2), groups = frame.divide(frame.extents[0], two), first = frame.divide(rowBegin, two);
  Value rows = frame.sub(rowEnd, rowBegin);
  loop(frame.constant(0), frame.sub(columnEnd, columnBegin), panelColumns, [&](Value column) {
    Value panel = frame.divide(frame.add(columnBegin, column), frame.constant(panelColumns));
    Value lines = frame.add(frame.mul(panel, groups), first);
    loop(frame.constant(0), rows, 2, [&](Value row) {
      auto staged = [&](Value at) -> Value {
        return LLVM::LoadOp::create(builder, frame.loc, half, frame.address(this->staged(at), element, column), 2);
      };
      Value line =
          vector::InterleaveOp::create(builder, frame.loc, staged(row), staged(frame.add(row, frame.constant(1))));
      Value at = frame.mul(frame.add(lines, frame.divide(row, two)), frame.constant(lineElements));
      LLVM::StoreOp::create(builder, frame.loc, line, frame.address(pointer, element, at), 64);
    });
  });
}

void PackedStore::moveColumnPairs(Value rowBegin, Value columnBegin, Value columnEnd) const {
  OpBuilder &builder = frame.builder;
  Type element = builder.getI16Type(), pair = builder.getI32Type();
  auto pairs = VectorType::get(stagedRows, pair);
  Value groups = frame.divide(frame.extents[1], frame.constant(2));
  Value panel = frame.mul(frame.divide(rowBegin, frame.constant(panelColumns)), groups);
  Value count = frame.divide(frame.sub(columnEnd, columnBegin), frame.constant(2));
  // Squares of 16 rows and 16 pairs; of the last one only the lines that there are.
  loop(frame.constant(0), count, stagedRows, [&](Value start) {
    KernelFrame::Values rows;
    for (int64_t row = 0; row < stagedRows; ++row)
      rows.push_back(
          LLVM::LoadOp::create(builder, frame.loc, pairs, frame.address(staged(frame.constant(row)), pair, start), 2));
    Value first = frame.add(frame.add(panel, frame.divide(columnBegin, frame.constant(2))), start);
    for (auto [number, line] : llvm::enumerate(transposeLanes(frame, rows))) {
      Value index = frame.constant(int64_t(number));
      Value isThere =
          arith::CmpIOp::create(builder, frame.loc, arith::CmpIPredicate::slt, frame.add(start, index), count);
      Value at = frame.mul(frame.add(first, index), frame.constant(lineElements));
      LLVM::MaskedStoreOp::create(builder, frame.loc, line, frame.address(pointer, element, at),
                                  frame.splat(isThere, stagedRows), builder.getI32IntegerAttr(64));
    }
  });
}

} // namespace halftone::compiler
