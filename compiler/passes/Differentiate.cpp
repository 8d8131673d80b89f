// differentiate: expands gradients into plain ops, by reverse accumulation over the ops from the values to the scalar.
// SPDX-License-Identifier: Apache-2.0
//
//   %y = mul %x, %x; %s = reduce sum %y; %d = gradient %s at (%x)
// becomes
//   %y = mul %x, %x; %s = reduce sum %y; %1 = constant 1; %b = broadcast %1; %d = add (mul %b, %x), (mul %b, %x)
// Forward ops with the same number in halftone.rematerialize are recomputed from their held inputs, before the first
// derivative that reads one of their values. CheckpointLoops.cpp first splits long scans among them.
#include "compiler/passes/CheckpointLoops.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Reverse.h"
#include "dialect/AttentionParts.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "compiler/passes/Passes.h.inc"

namespace {

class Differentiate : public impl::DifferentiatePassBase<Differentiate> {
  void runOnModule() override;
};

/// Replaces a gradient of attention that a derivative reaches by plain ops, which have derivatives.
bool expandAttention(func::FuncOp function, const GradientPath &path) {
  SmallVector<AttentionGradOp> reached;
  function.walk([&](AttentionGradOp grad) {
    if (path.passesThrough(grad))
      reached.push_back(grad);
  });
  for (AttentionGradOp grad : reached) {
    OpBuilder ordinary(grad);
    grad.replaceAllUsesWith(expanded(grad, ordinary));
    grad.erase();
  }
  return !reached.empty();
}

LogicalResult resolve(GradientOp gradient, func::FuncOp function, const SymbolTable &symbols) {
  if (!gradient.getOf().empty())
    return gradient.emitOpError() << "names variables; expected lift-variables to run first";
  Differentiation shared(gradient, function, symbols);
  shared.path.findDependent();
  if (expandAttention(function, shared.path))
    shared.path.findDependent();
  if (failed(shared.path.findReached()))
    return failure();
  Reverse backward(shared);
  if (shared.path.isDependent(gradient.getY()))
    backward.add(gradient.getY(), shared.splat(gradient.getY().getType(), 1));
  if (failed(backward.run(shared.path.opsBefore())))
    return failure();
  shared.listener.forward = gradient.getLoc();
  for (auto [x, result] : llvm::zip_equal(gradient.getXs(), gradient.getGradients())) {
    const Value cotangent = backward.cotangentOf(x);
    result.replaceAllUsesWith(cotangent ? cotangent : shared.splat(result.getType(), 0));
  }
  gradient.erase();
  return success();
}

void Differentiate::runOnModule() {
  const SymbolTable symbols(getOperation());
  if (getOperation().walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted())
    checkpointLoops(getOperation());
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    // In program order: a gradient of a gradient then finds the inner one expanded.
    SmallVector<GradientOp> gradients;
    function.walk<WalkOrder::PreOrder>([&](GradientOp gradient) { gradients.push_back(gradient); });
    for (GradientOp gradient : gradients)
      if (failed(resolve(gradient, function, symbols)))
        return signalPassFailure();
  }
  getOperation().walk([](Operation *op) { // inner ops first, since erasing an op erases its regions
    op->removeAttr(rematerializeAttr);
    if (!isa<StopGradientOp, CustomGradientOp>(op))
      return;
    op->replaceAllUsesWith(op->getOperands().take_front());
    op->erase();
  });
}

} // namespace
} // namespace halftone::compiler
