// Bodies without bounds tests of windows, and the condition under which they are valid.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/WindowInterior.h"
#include "compiler/kernels/KernelForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace halftone::compiler {
using namespace mlir;

static bool isBound(Operation &op) { return op.hasAttr(boundAttribute); }

WindowInterior::WindowInterior(BlockFrame &frame, linalg::GenericOp generic, ArrayRef<int> reduced)
    : frame(frame), bounded(generic), reduced(reduced) {
  for (Operation &op : *generic.getBody())
    if (isBound(op) && isa<arith::CmpIOp>(op))
      tests.push_back(&op);
  if (tests.empty())
    return;
  unbounded = generic->clone();
  for (Operation &op : llvm::make_early_inc_range(*this->generic().getBody())) {
    if (!isBound(op))
      continue;
    Value inside = op.getOperand(0); // of a clamp
    if (isa<arith::CmpIOp>(op)) {
      OpBuilder builder(&op);
      inside = arith::ConstantOp::create(builder, op.getLoc(), builder.getBoolAttr(true));
    }
    op.getResult(0).replaceAllUsesWith(inside);
    op.erase();
  }
}

bool WindowInterior::isKnown(int vectorDim) {
  SmallVector<Operation *> open(tests);
  DenseSet<Operation *> seen(tests.begin(), tests.end());
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      if (dimsOf(bounded)[index.getDim()] == vectorDim)
        return false;
    for (Value operand : op->getOperands())
      if (Operation *from = operand.getDefiningOp();
          from && from->getBlock() == bounded.getBody() && seen.insert(from).second)
        open.push_back(from);
  }
  return !tests.empty();
}

Emitted valueAtIndex(BlockFrame &frame, linalg::GenericOp generic, Value value, IRMapping &known) {
  if (known.contains(value))
    return frame.wrap(known.lookup(value));
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != generic.getBody())
    return frame.wrap(frame.outside.lookupOrDefault(value));
  Values operands;
  for (Value operand : op->getOperands())
    operands.push_back(valueAtIndex(frame, generic, operand, known));
  Emitted result;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    result = frame.index[size_t(dimsOf(generic)[index.getDim()])];
  } else if (isa<arith::IndexCastOp>(op)) { // indices are i64 here
    result = operands[0];
  } else { // `known` already has the operands
    result = frame.wrap(frame.clone(*op, known)->getResult(0));
  }
  known.map(value, result.value());
  return result;
}

Emitted WindowInterior::holdsAtIndex() {
  Emitted all;
  IRMapping known = frame.outside;
  for (Operation *test : tests) {
    const Emitted inside = valueAtIndex(frame, bounded, test->getResult(0), known);
    all = all ? all & inside : inside;
  }
  return all;
}

Emitted WindowInterior::holds() {
  const auto holdsAt = [&](bool last) {
    for (int dim : reduced)
      frame.index[size_t(dim)] = last ? frame.extents[size_t(dim)] - 1 : frame.constant(0);
    return holdsAtIndex();
  };
  const Emitted first = holdsAt(false);
  return first & holdsAt(true);
}

} // namespace halftone::compiler
