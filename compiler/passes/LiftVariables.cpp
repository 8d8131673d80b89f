// lift-variables: state becomes values.
// SPDX-License-Identifier: Apache-2.0
//
//   func @main(%x) -> %y { %w = read @w; ... when %p { assign @w, %w1 } else {} ... }
// becomes
//   func @main(%x, %w {halftone.variable = @w}) -> (%y, %w2 {halftone.variable = @w}) {
//     ... %w2 = when %p { yield %w1 } else { yield %w } ... }
#include "compiler/passes/Passes.h"
#include "compiler/passes/WhenResults.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_LIFTVARIABLESPASS
#include "compiler/passes/Passes.h.inc"

namespace {

class LiftVariables : public impl::LiftVariablesPassBase<LiftVariables> {
  void cross() override;
};

/// New values of variables in the order of their first assignment.
using Assigned = llvm::MapVector<SymbolRefAttr, Value>;

class Lifting {
public:
  explicit Lifting(func::FuncOp main) : main(main), symbols(main->getParentOfType<ModuleOp>()) {}
  LogicalResult run();

private:
  LogicalResult liftBlock(Block &block, Assigned &assigned);
  LogicalResult liftWhen(WhenOp when, Assigned &assigned);
  void liftGradient(GradientOp gradient);
  /// The value on entry: an argument, made on first use.
  Value entryValue(SymbolRefAttr symbol);
  Value currentValue(SymbolRefAttr symbol, const Assigned &assigned) {
    auto found = assigned.find(symbol);
    return found != assigned.end() ? found->second : entryValue(symbol);
  }
  DictionaryAttr tie(SymbolRefAttr symbol) {
    Builder builder(main.getContext());
    return builder.getDictionaryAttr(builder.getNamedAttr(variableAttr, symbol));
  }
  void tieSignature(const Assigned &assigned);

  func::FuncOp main;
  SymbolTable symbols;
  llvm::MapVector<SymbolRefAttr, Value> entry;
};

Value Lifting::entryValue(SymbolRefAttr symbol) {
  Value &value = entry[symbol];
  if (value)
    return value;
  auto variable = symbols.lookup<VariableOp>(symbol.getRootReference());
  return value = main.getBody().front().addArgument(variable.getType(), variable.getLoc());
}

void Lifting::liftGradient(GradientOp gradient) {
  SmallVector<Value> xs;
  for (auto symbol : gradient.getOf().getAsRange<FlatSymbolRefAttr>())
    xs.push_back(entryValue(symbol));
  xs.append(gradient.getXs().begin(), gradient.getXs().end());
  gradient.getXsMutable().assign(xs);
  gradient.setOfAttr(ArrayAttr::get(gradient.getContext(), {}));
}

LogicalResult Lifting::liftWhen(WhenOp when, Assigned &assigned) {
  Block &thenBlock = when.getThenRegion().front(), &elseBlock = when.getElseRegion().front();
  Assigned onThen = assigned, onElse = assigned;
  if (failed(liftBlock(thenBlock, onThen)) || failed(liftBlock(elseBlock, onElse)))
    return failure();
  SmallVector<SymbolRefAttr> changed;
  for (const Assigned *branch : {&onThen, &onElse})
    for (auto [symbol, value] : *branch) {
      auto before = assigned.find(symbol);
      if ((before == assigned.end() || before->second != value) && !llvm::is_contained(changed, symbol))
        changed.push_back(symbol);
    }
  if (changed.empty())
    return success();

  SmallVector<Value> thenValues, elseValues;
  for (SymbolRefAttr symbol : changed) {
    thenValues.push_back(currentValue(symbol, onThen));
    elseValues.push_back(currentValue(symbol, onElse));
  }
  const unsigned before = when.getNumResults();
  IRRewriter rewriter(when.getContext());
  WhenOp lifted = addResults(rewriter, when, thenValues, elseValues);
  for (auto [symbol, value] : llvm::zip_equal(changed, lifted.getResults().drop_front(before)))
    assigned[symbol] = value;
  return success();
}

LogicalResult Lifting::liftBlock(Block &block, Assigned &assigned) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      Value value = currentValue(read.getVariableAttr(), assigned);
      if (value.getType() != read.getValue().getType())
        return read.emitOpError() << "gives " << read.getValue().getType() << " for a variable of type "
                                  << value.getType() << "; expected insert-casts first";
      read.replaceAllUsesWith(value);
      read.erase();
    } else if (auto assign = dyn_cast<AssignOp>(op)) {
      assigned[assign.getVariableAttr()] = assign.getValue();
      assign.erase();
    } else if (auto gradient = dyn_cast<GradientOp>(op)) {
      liftGradient(gradient);
    } else if (auto when = dyn_cast<WhenOp>(op)) {
      if (failed(liftWhen(when, assigned)))
        return failure();
    } else if (auto custom = dyn_cast<CustomGradientOp>(op)) {
      if (failed(liftBlock(custom.getBody().front(), assigned))) // assigns nothing: its verifier
        return failure();
    } else if (isa<LayerOp>(op)) {
      return op.emitOpError() << "is left; expected inline-layers first";
    }
  }
  return success();
}

LogicalResult Lifting::run() {
  Assigned assigned;
  Block &body = main.getBody().front();
  if (failed(liftBlock(body, assigned)))
    return failure();
  for (auto [symbol, value] : assigned)
    body.getTerminator()->insertOperands(body.getTerminator()->getNumOperands(), value);
  tieSignature(assigned);
  return success();
}

/// The signature as the body now has it. Once for all: each change of a function's type costs as much as the type is
/// long.
void Lifting::tieSignature(const Assigned &assigned) {
  SmallVector<DictionaryAttr> arguments, results;
  main.getAllArgAttrs(arguments);
  main.getAllResultAttrs(results);
  for (auto [symbol, value] : entry)
    arguments.push_back(tie(symbol));
  for (auto [symbol, value] : assigned)
    results.push_back(tie(symbol));
  Block &body = main.getBody().front();
  main.setFunctionType(
      FunctionType::get(main.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  main.setAllArgAttrs(arguments);
  main.setAllResultAttrs(results);
}

void LiftVariables::cross() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && failed(Lifting(function).run()))
      return signalPassFailure();
}

} // namespace
} // namespace halftone::compiler
