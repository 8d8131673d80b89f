// Interleaving of the independent steps of a loop.
// SPDX-License-Identifier: Apache-2.0
//
//   a0 = load 0; b0 = f a0; store b0; a1 = load 1; b1 = f a1; store b1
// becomes
//   a0 = load 0; a1 = load 1; b0 = f a0; b1 = f a1; store b0; store b1
//
// The out-of-order window of a CPU holds some hundred instructions. Long dependence chains, such as that of a
// polynomial, fill it one after the other; interleaved chains execute in parallel.
#include "compiler/kernels/Steps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

using namespace mlir;
using namespace halftone;
using namespace halftone::compiler;

namespace {

/// Sorts the block's ops by their depth in the dependence graph. Stores wait for all loads.
void sortByDepth(Block &block) {
  llvm::DenseMap<Operation *, unsigned> depth;
  SmallVector<Operation *> ops;
  unsigned afterLoads = 0;
  for (Operation &op : block.without_terminator()) {
    unsigned own = 0;
    op.walk([&](Operation *inside) { // the op itself, and the ops in its regions
      for (Value operand : inside->getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && producer->getBlock() == &block)
          own = std::max(own, depth.lookup(producer) + 1);
    });
    depth[&op] = own;
    if (isa<LLVM::LoadOp, LLVM::MaskedLoadOp>(op))
      afterLoads = std::max(afterLoads, own + 1);
    ops.push_back(&op);
  }
  for (Operation *op : ops)
    if (isa<LLVM::StoreOp, LLVM::MaskedStoreOp>(op))
      depth[op] = std::max(depth[op], afterLoads);
  std::map<unsigned, SmallVector<Operation *>> byDepth;
  for (Operation *op : ops)
    byDepth[depth[op]].push_back(op);
  for (const auto &[_, together] : byDepth)
    for (Operation *op : together)
      op->moveBefore(block.getTerminator());
}

/// Returns true if a region of the op loads or stores. sortByDepth() then cannot know which ops must wait for it.
bool touchesMemoryWithin(Operation &op) {
  const WalkResult walk = op.walk([&](Operation *inside) {
    const bool touches = isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::MaskedLoadOp, LLVM::MaskedStoreOp>(inside);
    return inside != &op && touches ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

} // namespace

void compiler::interleaveSteps(FunctionOpInterface function) {
  function.walk([](scf::ForOp loop) {
    if (!loop->removeAttr(interleavedAttr))
      return;
    Block &body = *loop.getBody();
    if (llvm::none_of(body.without_terminator(), touchesMemoryWithin))
      sortByDepth(body);
  });
}
