// Properties of the ops of a kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/KernelBody.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

bool isAlwaysCloned(Operation *op) {
  auto compute = dyn_cast<ComputeOpInterface>(op);
  return compute && compute.isAlwaysCloned();
}
bool isPointwise(Operation *op) {
  auto compute = dyn_cast<ComputeOpInterface>(op);
  return compute && compute.isPointwise();
}
bool isTranscendental(Operation *op) {
  auto compute = dyn_cast<ComputeOpInterface>(op);
  return compute && compute.isTranscendental();
}

int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

OperandRange lookedUpOperands(Operation *op) {
  return isLookup(op) ? op->getOperands().take_front(isa<GatherOp>(op) ? 1 : op->getNumOperands())
                      : op->getOperands().take_front(0);
}

WindowOp windowOf(ContractOp contract) {
  auto reshape = contract.getLhs().getDefiningOp<ReshapeOp>();
  auto window = (reshape ? reshape.getX() : contract.getLhs()).getDefiningOp<WindowOp>();
  if (!window || window.getDiagonal() || window.getLowest())
    return {};
  const ArrayRef<int64_t> shape = shapeOf(contract.getLhs()), whole = shapeOf(window.getY());
  const size_t columns = whole.size() - 1 - window.getStride().size(); // axes of taps and channels
  if (shape.size() < columns || shape.take_back(columns) != whole.take_back(columns))
    return {};
  // Batch axes come first. The sum runs over all output positions, or over all taps and channels.
  const auto isFrom = [](ArrayRef<int64_t> axes, size_t first, size_t end) {
    return llvm::equal(axes, llvm::seq<int64_t>(int64_t(first), int64_t(end)));
  };
  const size_t batch = contract.getLhsBatch().size(), rowAxes = shape.size() - columns;
  const ArrayRef<int64_t> summed = contract.getLhsContract();
  const bool isMatrix = isFrom(contract.getLhsBatch(), 0, batch) && batch <= rowAxes &&
                        (isFrom(summed, batch, rowAxes) || isFrom(summed, rowAxes, shape.size()));
  return isMatrix ? window : WindowOp();
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
