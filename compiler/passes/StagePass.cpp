// Determines the stages that a module can be in, and rejects modules that a pass cannot process.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <tuple>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

/// The first and the last PassInput that a module can be, each with the op that determines it.
struct StageRange {
  PassInput first = PassInput::graph, last = PassInput::kernel;
  Operation *firstOp = nullptr, *lastOp = nullptr;

  void atLeast(PassInput input, Operation *op) {
    if (input > first)
      std::tie(first, firstOp) = {input, op};
  }
  void atMost(PassInput input, Operation *op) {
    if (input < last)
      std::tie(last, lastOp) = {input, op};
  }
};

/// Restricts `range` by an op in a function's body or in a nested region.
void restrictBy(Operation *op, StageRange &range) {
  if (isa<LayerOp>(op))
    range.atMost(PassInput::graph, op);
  else if (isa<ReadOp, AssignOp>(op))
    range.atMost(PassInput::cast, op);
  else if (isa<GradientOp, CustomGradientOp>(op))
    range.atMost(PassInput::lifted, op);
  else if (isa<LaunchOp>(op))
    range.atLeast(PassInput::kernel, op);
  else if (isa<ComputeOpInterface>(op) && !isa<ReshapeOp, ConstantOp>(op))
    range.atMost(PassInput::pure, op);
}

StageRange rangeOf(ModuleOp module) {
  StageRange range;
  for (Operation &op : module.getBody()->getOperations()) {
    if (isa<KernelOp>(op))
      range.atLeast(PassInput::kernel, &op);
    else if (isa<ShadowOp>(op))
      range.atLeast(PassInput::pure, &op);
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      continue;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, variableAttr))
        range.atLeast(PassInput::lifted, &op);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (function.getResultAttr(i, variableAttr))
        range.atLeast(PassInput::lifted, &op);
    function.getBody().walk([&](Operation *inner) { restrictBy(inner, range); });
  }
  return range;
}

StringRef stageText(PassInput input) {
  constexpr StringLiteral texts[] = {"in stage graph", "in stage cast", "after lift-variables", "in stage pure",
                                     "in stage kernel"};
  return texts[static_cast<size_t>(input)];
}

} // namespace

void StagePass::runOnOperation() {
  const StageRange range = input == PassInput::any ? StageRange() : rangeOf(getOperation());
  const bool tooEarly = input != PassInput::any && range.last < input;
  if (tooEarly || (input != PassInput::any && range.first > input)) {
    Operation *op = tooEarly ? range.lastOp : range.firstOp;
    op->emitError() << getArgument() << " expects a module " << stageText(input) << "; '" << op->getName() << "' "
                    << (isa<func::FuncOp>(op) ? "with state as arguments or results " : "") << "occurs in modules "
                    << stageText(tooEarly ? range.last : range.first);
    return signalPassFailure();
  }
  if (leaves)
    getOperation()->removeAttr(stageAttr);
  runOnModule();
}

} // namespace halftone::compiler
