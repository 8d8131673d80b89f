// Questions about the ops of a kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/KernelBody.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

bool isGlue(Operation *op) {
  auto compute = dyn_cast<ComputeOpInterface>(op);
  return compute && compute.isGlue();
}
bool isPointwise(Operation *op) {
  auto compute = dyn_cast<ComputeOpInterface>(op);
  return compute && compute.isPointwise();
}
bool isTranscendental(Operation *op) {
  auto compute = dyn_cast<ComputeOpInterface>(op);
  return compute && compute.isTranscendental();
}

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

OperandRange lookedUpOperands(Operation *op) {
  return isLookup(op) ? op->getOperands().take_front(isa<GatherOp>(op) ? 1 : op->getNumOperands())
                      : op->getOperands().take_front(0);
}

bool isPrologueOp(Operation *op) { return !isa<IotaOp>(op) && isPointwise(op) && !isTranscendental(op); }

DenseSet<Operation *> ancestors(const KernelBody &body, ValueRange roots) {
  DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end()), found;
  SmallVector<Value> open(roots.begin(), roots.end());
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && inBody.contains(op) && found.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return found;
}

} // namespace halftone::compiler
