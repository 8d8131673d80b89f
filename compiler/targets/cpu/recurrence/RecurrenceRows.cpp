// Computes the addresses of a recurrence kernel's rows in memory and in scratch.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/recurrence/RecurrenceRows.h"
#include "compiler/kernels/RecurrenceDims.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

RecurrenceRows::RecurrenceRows(ScratchMatrices &matrices, const RecurrencePlan &plan)
    : frame(matrices.frame), plan(plan) {
  const Emitted blockRows = frame.extents[size_t(frame.dims)];
  for (const RecurrenceMatrix &each : plan.matrices) {
    const Emitted columns = each.columnDim < 0 ? frame.constant(1) : frame.extents[size_t(each.columnDim)];
    ScratchMatrix &matrix = scratch[{unsigned(each.role), each.tensor}];
    if (each.role == RecurrenceMatrix::weights)
      matrix = matrices.takePanels(matrices.padded(frame.extents[size_t(each.rowDim)]), columns,
                                   weightColumns(frame.source, frame.target));
    else
      matrix = matrices.take(blockRows, each.words == 1 ? columns : columns * each.words);
  }
  for (Value tensor : frame.source.operands())
    memory[tensor] = frame.storage.lookup(tensor);
  for (Value tensor : frame.source.results())
    memory[tensor] = frame.storage.lookup(tensor);
}

void RecurrenceRows::setCarry(Value tensor, Emitted at) { carries[tensor] = at; }

const ScratchMatrix *RecurrenceRows::find(RecurrenceMatrix::Role role, Value tensor) const {
  const auto known = scratch.find({unsigned(role), tensor});
  return known == scratch.end() ? nullptr : &known->second;
}

ScratchMatrix RecurrenceRows::matrix(RecurrenceMatrix::Role role, Value tensor) const { return *find(role, tensor); }

RowsAddress RecurrenceRows::inMemory(Value tensor, const TensorAccess &access) {
  const TensorStorage storage = memory.lookup(tensor);
  Emitted pitch = frame.constant(0);
  bool isAfterRows = false;
  frame.index[rowDim] = first;
  for (const int dim : access.dims) {
    if (isAfterRows && dim >= 0)
      pitch = pitch * frame.extents[size_t(dim)];
    if (dim == rowDim) {
      isAfterRows = true;
      pitch = frame.constant(1);
    }
    if (dim >= recurrenceOuterDims)
      frame.index[size_t(dim)] = frame.constant(0);
  }
  return {frame.address(storage.pointer, storage.element, frame.offset(access)), pitch, storage.element};
}

RowsAddress RecurrenceRows::of(Value tensor, const TensorAccess &access) {
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    TensorAccess whole;
    for (const int64_t dim : cast<DenseI64ArrayAttr>(slice->getAttr("halftone.dims")).asArrayRef()) {
      whole.dims.push_back(int(dim));
      whole.constants.push_back(0);
    }
    return offsetBy(of(slice.getSource(), whole), tensor, cast<Value>(slice.getMixedOffsets().back()));
  }
  if (const auto part = plan.parts.find(tensor); part != plan.parts.end())
    return offsetBy(of(part->second.whole, {}), tensor, part->second.start);
  if (const auto carry = carries.find(tensor); carry != carries.end()) {
    const ScratchMatrix *present = find(RecurrenceMatrix::present, tensor);
    return {carry->second, (present ? present : find(RecurrenceMatrix::next, tensor))->pitch, frame.getF32Type()};
  }
  if (const ScratchMatrix *local = find(RecurrenceMatrix::local, tensor))
    return {local->at, local->pitch, frame.getF32Type()};
  return inMemory(tensor, access);
}

RowsAddress RecurrenceRows::offsetBy(RowsAddress address, Value tensor, Value start) {
  address.at =
      frame.address(address.at, getElementTypeOrSelf(tensor), frame.extents[cast<BlockArgument>(start).getArgNumber()]);
  return address;
}

void RecurrenceRows::forRows(llvm::function_ref<void(Emitted)> body) {
  frame.loop(frame.constant(0), count, frame.constant(1), [&](Emitted row) {
    frame.index[rowDim] = first + row;
    body(row);
  });
}

void RecurrenceRows::forColumns(int dim, int64_t elements, llvm::function_ref<void(Emitted, const Lanes &)> body) {
  const Emitted extent = frame.extents[size_t(dim)], width = frame.constant(elements), whole = extent / width * width;
  const auto at = [&](Emitted column, bool isTail) {
    frame.index[size_t(dim)] = column;
    body(column, isTail ? maskedLanes(frame, elements, dim, extent) : Lanes{elements, dim});
  };
  frame.loop(frame.constant(0), whole, width, [&](Emitted column) { at(column, false); });
  frame.branch(whole < extent, [&] { at(whole, true); });
}

void RecurrenceRows::copy(const RowsAddress &from, const RowsAddress &to, const TensorAccess &access, Type element) {
  const int dim = access.dims.back();
  const bool hasColumns = dim >= recurrenceOuterDims;
  const TensorAccess inner = hasColumns ? TensorAccess{{dim}, {0}} : TensorAccess{};
  forRows([&](Emitted number) {
    const TensorStorage source{row(from, number), element, {}}, target{row(to, number), element, {}};
    const auto move = [&](const Lanes &lanes) {
      storeLanes(frame, loadLanes(frame, source, inner, lanes), target, inner, lanes);
    };
    if (hasColumns)
      forColumns(dim, frame.lanes, [&](Emitted, const Lanes &lanes) { move(lanes); });
    else
      move({});
  });
}

} // namespace halftone::compiler
