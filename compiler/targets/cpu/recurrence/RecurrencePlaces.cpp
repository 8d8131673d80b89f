// Rows in memory and in scratch of a recurrence kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/recurrence/RecurrencePlaces.h"
#include "compiler/kernels/RecurrenceDims.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

RecurrencePlaces::RecurrencePlaces(ScratchMatrices &matrices, const RecurrencePlan &plan)
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

void RecurrencePlaces::setCarry(Value tensor, Emitted at) { carries[tensor] = at; }

const ScratchMatrix *RecurrencePlaces::find(RecurrenceMatrix::Role role, Value tensor) const {
  const auto known = scratch.find({unsigned(role), tensor});
  return known == scratch.end() ? nullptr : &known->second;
}

ScratchMatrix RecurrencePlaces::matrix(RecurrenceMatrix::Role role, Value tensor) const { return *find(role, tensor); }

RowsPlace RecurrencePlaces::inMemory(Value tensor, const TensorAccess &access) {
  const TensorStorage storage = memory.lookup(tensor);
  Emitted pitch = frame.constant(0);
  bool isBehind = false;
  frame.index[rowDim] = first;
  for (const int dim : access.dims) {
    if (isBehind && dim >= 0)
      pitch = pitch * frame.extents[size_t(dim)];
    if (dim == rowDim) {
      isBehind = true;
      pitch = frame.constant(1);
    }
    if (dim >= recurrenceOuterDims)
      frame.index[size_t(dim)] = frame.constant(0);
  }
  return {frame.address(storage.pointer, storage.element, frame.offset(access)), pitch, storage.element};
}

RowsPlace RecurrencePlaces::of(Value tensor, const TensorAccess &access) {
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    TensorAccess whole;
    for (const int64_t dim : cast<DenseI64ArrayAttr>(slice->getAttr("halftone.dims")).asArrayRef()) {
      whole.dims.push_back(int(dim));
      whole.constants.push_back(0);
    }
    return behind(of(slice.getSource(), whole), tensor, cast<Value>(slice.getMixedOffsets().back()));
  }
  if (const auto piece = plan.pieces.find(tensor); piece != plan.pieces.end())
    return behind(of(piece->second.whole, {}), tensor, piece->second.start);
  if (const auto carry = carries.find(tensor); carry != carries.end()) {
    const ScratchMatrix *present = find(RecurrenceMatrix::present, tensor);
    return {carry->second, (present ? present : find(RecurrenceMatrix::next, tensor))->pitch, frame.getF32Type()};
  }
  if (const ScratchMatrix *local = find(RecurrenceMatrix::local, tensor))
    return {local->at, local->pitch, frame.getF32Type()};
  return inMemory(tensor, access);
}

RowsPlace RecurrencePlaces::behind(RowsPlace place, Value tensor, Value start) {
  place.at =
      frame.address(place.at, getElementTypeOrSelf(tensor), frame.extents[cast<BlockArgument>(start).getArgNumber()]);
  return place;
}

void RecurrencePlaces::forRows(llvm::function_ref<void(Emitted)> body) {
  frame.loop(frame.constant(0), count, frame.constant(1), [&](Emitted row) {
    frame.index[rowDim] = first + row;
    body(row);
  });
}

void RecurrencePlaces::forColumns(int dim, int64_t numbers, llvm::function_ref<void(Emitted, const Lanes &)> body) {
  const Emitted extent = frame.extents[size_t(dim)], width = frame.constant(numbers), whole = extent / width * width;
  const auto at = [&](Emitted column, bool isTail) {
    frame.index[size_t(dim)] = column;
    body(column, isTail ? maskedLanes(frame, numbers, dim, extent) : Lanes{numbers, dim});
  };
  frame.loop(frame.constant(0), whole, width, [&](Emitted column) { at(column, false); });
  frame.branch(whole < extent, [&] { at(whole, true); });
}

void RecurrencePlaces::copy(const RowsPlace &from, const RowsPlace &to, const TensorAccess &access, Type element) {
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
