// Roles of the values of a row kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/RowRoles.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

bool RowRoles::assign(const KernelBody &body) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : body.ops)
      if (!visit(op, changed))
        return false;
  }
  return true;
}

RowRole RowRoles::of(Value value) {
  auto [entry, isNew] = roles.try_emplace(value, RowRole::unknown);
  if (!isNew)
    return entry->second;
  ArrayRef<int64_t> own = shapeOf(value);
  if (own == shape)
    entry->second = RowRole::full;
  else if (own == outer && own != inner)
    entry->second = RowRole::outer;
  else if (own == inner && own != outer)
    entry->second = RowRole::inner;
  else if (own.empty())
    entry->second = RowRole::scalar;
  return entry->second;
}

ArrayRef<int64_t> RowRoles::shapeIn(RowRole role) const {
  return role == RowRole::full    ? shape
         : role == RowRole::outer ? outer
         : role == RowRole::inner ? inner
                                  : ArrayRef<int64_t>();
}

bool RowRoles::set(Value value, RowRole role, bool &changed) {
  RowRole now = of(value);
  if (now == role)
    return true;
  if (now != RowRole::unknown)
    return false;
  if (shapeOf(value) != shapeIn(role))
    return false;
  roles[value] = role;
  return changed = true;
}

bool RowRoles::visit(Operation *op, bool &changed) {
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return visitBroadcast(broadcast, changed);
  if (isa<ReduceOp, ArgReduceOp>(op))
    return set(op->getOperand(0), RowRole::full, changed) && set(op->getResult(0), RowRole::outer, changed);
  if (isa<PartialReduceOp>(op))
    return set(op->getOperand(0), RowRole::full, changed);
  if (isa<RandomBitsOp>(op))
    return set(op->getResult(0), RowRole::full, changed);
  if (!isa<ElementwiseOpInterface>(op))
    return true;
  RowRole known = of(op->getResult(0));
  for (Value operand : op->getOperands())
    if (RowRole role = of(operand); role != RowRole::unknown)
      known = role;
  if (known == RowRole::unknown)
    return true;
  for (Value operand : op->getOperands())
    if (!set(operand, known, changed))
      return false;
  return set(op->getResult(0), known, changed);
}

bool RowRoles::visitBroadcast(BroadcastOp op, bool &changed) {
  if (shapeOf(op.getX()).empty())
    return true;
  if (of(op.getY()) != RowRole::full)
    return false;
  int64_t first = op.getAxes().front(), last = op.getAxes().back(), count = op.getAxes().size();
  bool dense = last - first + 1 == count;
  if (dense && first == 0 && count == static_cast<int64_t>(outer.size()))
    return set(op.getX(), RowRole::outer, changed);
  if (dense && last == static_cast<int64_t>(shape.size()) - 1 && count == static_cast<int64_t>(inner.size()))
    return set(op.getX(), RowRole::inner, changed);
  return count == static_cast<int64_t>(shape.size());
}

} // namespace halftone::compiler
