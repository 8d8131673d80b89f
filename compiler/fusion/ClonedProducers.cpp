// Cloned producers, and kernel bodies that include them.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/ClonedProducers.h"
#include "dialect/ControlFlow.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

bool ClonedProducers::readsMemory(Operation *user) const {
  return user->getBlock() != &block || user->hasTrait<OpTrait::IsTerminator>() || isBranchOrLoop(user) ||
         isa<ReshapeOp, HoldOp, CollectiveOpInterface>(user);
}

bool ClonedProducers::escapes(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) { return readsMemory(user); });
}

Value ClonedProducers::materialize(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  Operation *&copy = copies[op];
  if (!copy) {
    OpBuilder builder(user);
    copy = builder.clone(*op);
    stored.insert(copy);
  }
  return copy->getResult(0);
}

KernelBody ClonedProducers::bodyOf(ArrayRef<Operation *> own) {
  KernelBody body;
  body.own.insert(own.begin(), own.end());
  DenseSet<Operation *> seen(own.begin(), own.end());
  body.ops.assign(own.begin(), own.end());
  for (size_t next = 0; next < body.ops.size(); ++next)
    for (Value operand : body.ops[next]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && !seen.contains(op) && isCloned(op)) {
        seen.insert(op);
        body.ops.push_back(op);
      }
  order.sort(body.ops);
  for (Operation *op : body.ops)
    if (body.own.contains(op))
      for (OpResult result : op->getResults()) {
        auto scan = dyn_cast<ScanOp>(op); // a carry is needed even if its final value is not read
        if (isRead(result, body) || (scan && llvm::is_contained(scan.getLasts(), result)))
          body.results.push_back(result);
      }
  return body;
}

/// Returns true if an op outside of `body` reads `value`, directly or through cloned producers.
bool ClonedProducers::isRead(Value value, const KernelBody &body) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (body.own.contains(user))
      return false;
    if (user->getBlock() == &block && isCloned(user))
      return llvm::any_of(user->getResults(), [&](Value result) { return isRead(result, body); });
    return true;
  });
}

llvm::SetVector<Value> ClonedProducers::inputsOf(ArrayRef<Operation *> own, int64_t minElements) {
  const KernelBody body = bodyOf(own);
  const DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  llvm::SetVector<Value> inputs;
  for (Operation *op : body.ops)
    for (Value operand : op->getOperands())
      if (!inBody.contains(operand.getDefiningOp()) && elementsOf(operand) >= minElements)
        inputs.insert(operand);
  return inputs;
}

void ClonedProducers::erased(Operation *op) {
  order.erased(op);
  stored.erase(op);
  marked.erase(op);
  unpacking.erase(op);
  copies.erase(op);
}

} // namespace halftone::compiler
