// form-kernels: fuses ops into kernels and replaces them by launches.
// SPDX-License-Identifier: Apache-2.0
//
//   %0 = contract %x, %w {tile = [96, 128]}
//   %1 = broadcast %b
//   %2 = add %0, %1
//   return %2
// becomes
//   kernel matmul @matmul_0 (...) spec = #halftone.blocks<tile = [96, 128]> { contract, broadcast, add }
//   %2 = launch @matmul_0(%x, %w, %b) {site = "net/dense (train.cpp:12): contract, broadcast, add"}
//   return %2
#include "compiler/forms/RecurrenceBody.h"
#include "compiler/fusion/BuildKernel.h"
#include "compiler/fusion/rules/Rules.h"
#include "compiler/passes/LoopIndices.h"
#include "compiler/passes/ModuleAttributes.h"
#include "compiler/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "compiler/passes/Passes.h.inc"

namespace {

/// Clones casts that widen values from outside into a branch or loop body, so that the narrow values are stored.
/// Results do not change.
void widenInside(Block &branch) {
  DenseMap<Operation *, Value> inside;
  for (Operation &op : branch.without_terminator())
    for (OpOperand &operand : op.getOpOperands()) {
      auto cast = operand.get().getDefiningOp<CastOp>();
      if (!cast || cast->getBlock() == &branch || cast.getKind() != CastKind::rounding)
        continue;
      Type from = getElementTypeOrSelf(cast.getOperand()), to = getElementTypeOrSelf(cast.getResult());
      if (!isa<FloatType>(from) || !isa<FloatType>(to) || from.getIntOrFloatBitWidth() >= to.getIntOrFloatBitWidth())
        continue;
      Value &clone = inside[cast];
      if (!clone)
        clone = OpBuilder::atBlockBegin(&branch).clone(*cast)->getResult(0);
      operand.set(clone);
    }
}

/// Forms the kernels of one block. If `explains`, the reasons are recorded in the locations of launches.
LogicalResult formBlock(Block &block, SymbolTable &symbols, const Target &target, Numerics numerics, bool explains) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  FusionLog log;
  FusionState state(block, symbols, target, numerics, explains ? &log : nullptr);
  if (failed(applyRules(state)))
    return failure();
  buildKernels(state);
  for (auto hold : llvm::make_early_inc_range(block.getOps<HoldOp>())) {
    hold.replaceAllUsesWith(hold.getX());
    hold.erase();
  }
  return success();
}

class FormKernels : public impl::FormKernelsPassBase<FormKernels> {
public:
  using FormKernelsPassBase::FormKernelsPassBase;

private:
  void runOnModule() override {
    const FailureOr<CompiledFor> compiled = compiledFor(getOperation(), target, strict);
    if (failed(compiled))
      return signalPassFailure();
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal()) {
      getOperation().emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    const Numerics numerics = compiled->numerics;
    SymbolTable symbols(getOperation());
    carryIndices(main);
    // Inner regions first: the values that they still use from outside are then known to be read from memory.
    SmallVector<Block *> blocks;
    const Blocking &blocking = compiled->target->blocking(numerics);
    main.walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (isRecurrence(op, blocking, numerics))
        prepareRecurrence(cast<ScanOp>(op));
      if (isBranchOrLoop(op) && !isRecurrence(op, blocking, numerics))
        for (Region &region : op->getRegions())
          blocks.push_back(&region.front());
    });
    if (!numerics.formsAlone())
      llvm::for_each(blocks, [](Block *branch) { widenInside(*branch); });
    blocks.push_back(&main.getBody().front());
    for (Block *block : blocks)
      if (failed(formBlock(*block, symbols, *compiled->target, numerics, explain)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace halftone::compiler
