// lift-variables: turns state into values.
// SPDX-License-Identifier: Apache-2.0
//
//   func @main(%x) -> %y { %w = read @w; ... when %p { assign @w, %w1 } else {} ... }
// becomes
//   func @main(%x, %w {halftone.variable = @w}) -> (%y, %w2 {halftone.variable = @w}) {
//     ... %w2 = when %p { yield %w1 } else { yield %w } ... }
// A variable that a loop assigns becomes a carry of the loop. In a function that differentiates, a read after an
// assignment yields the assigned value through a stop_gradient: a variable is a leaf of differentiation wherever it is
// read, so one function with several updates is equivalent to several functions with one update each.
#include "compiler/passes/LoopParts.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/WhenResults.h"
#include "dialect/Gradient.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_LIFTVARIABLESPASS
#include "compiler/passes/Passes.h.inc"

namespace {

class LiftVariables : public impl::LiftVariablesPassBase<LiftVariables> {
  void runOnModule() override;
};

/// New values of variables, in the order of their first assignment.
using Assigned = llvm::MapVector<SymbolRefAttr, Value>;

class Lifting {
public:
  explicit Lifting(func::FuncOp main) : main(main), symbols(main->getParentOfType<ModuleOp>()) {
    main.walk([&](GradientOp) { differentiates = true; });
  }
  LogicalResult run();

private:
  LogicalResult liftBlock(Block &block, Assigned &assigned);
  LogicalResult liftWhen(WhenOp when, Assigned &assigned);
  LogicalResult liftLoop(Operation *loop, Assigned &assigned);
  LogicalResult liftGradient(GradientOp gradient);
  FailureOr<SmallVector<Value>> leavesOf(FlatSymbolRefAttr symbol, GradientOp gradient,
                                         const llvm::SetVector<Value> &reached);
  /// The value on entry: an argument, added on first use.
  Value entryValue(SymbolRefAttr symbol);
  Value readValue(SymbolRefAttr symbol, const Assigned &assigned);
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
  bool differentiates = false; // otherwise no read needs a leaf of its own
  llvm::MapVector<SymbolRefAttr, Value> entry;
  DenseMap<std::pair<Attribute, Value>, Value> leafOf;     // by variable and assigned value
  DenseMap<Attribute, SmallVector<StopGradientOp>> leaves; // by variable, in the order of the first reads
};

Value Lifting::entryValue(SymbolRefAttr symbol) {
  Value &value = entry[symbol];
  if (value)
    return value;
  auto variable = symbols.lookup<VariableOp>(symbol.getRootReference());
  return value = main.getBody().front().addArgument(variable.getType(), variable.getLoc());
}

/// Returns the value of a read: the value on entry, or the leaf of the latest assigned value.
Value Lifting::readValue(SymbolRefAttr symbol, const Assigned &assigned) {
  const auto found = assigned.find(symbol);
  if (found == assigned.end())
    return entryValue(symbol);
  const Value value = found->second;
  if (!differentiates || !isDifferentiable(value.getType()))
    return value;
  Value &leaf = leafOf[{symbol, value}];
  if (!leaf) {
    OpBuilder builder(main.getContext());
    builder.setInsertionPointAfterValue(value);
    auto stop = StopGradientOp::create(builder, value.getLoc(), value, cast<FlatSymbolRefAttr>(symbol));
    leaves[symbol].push_back(stop);
    leaf = stop;
  }
  return leaf;
}

/// The values on which the scalar of `gradient` depends, as far as a derivative may flow: not past leaves, and not out
/// of the body of a loop that contains the gradient.
llvm::SetVector<Value> reachedFrom(GradientOp gradient) {
  llvm::SetVector<Value> reached;
  reached.insert(gradient.getY());
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i].getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(reached[i])) {
      Operation *loop = argument.getOwner()->getParentOp();
      if (isLoop(loop) && !loop->isAncestor(gradient))
        reached.insert_range(sourcesOf(argument));
    } else if (isBranchOrLoop(op)) {
      reached.insert_range(sourcesOf(cast<OpResult>(reached[i])));
    }
    if (!op || isConstantToGradient(op))
      continue;
    auto flow = dyn_cast<GradientOpInterface>(op);
    for (OpOperand &operand : op->getOpOperands())
      if (!flow || flow.reaches(operand))
        reached.insert(operand.get());
  }
  return reached;
}

/// Returns the values of a variable with respect to which its derivative is taken: those in `reached`, or, if there are
/// none, the value on entry.
FailureOr<SmallVector<Value>> Lifting::leavesOf(FlatSymbolRefAttr symbol, GradientOp gradient,
                                                const llvm::SetVector<Value> &reached) {
  SmallVector<Value> found;
  if (auto known = entry.find(symbol); known != entry.end() && reached.contains(known->second))
    found.push_back(known->second);
  for (StopGradientOp leaf : leaves.lookup(symbol)) {
    if (!reached.contains(leaf.getY()))
      continue;
    if (!leaf->getParentRegion()->isAncestor(gradient->getParentRegion())) {
      Operation *around = leaf->getParentOp();
      InFlightDiagnostic error = around->emitOpError()
                                 << "assigns " << symbol << " and reads the new value; expected no "
                                 << "gradient with respect to " << symbol << " of a value that depends on it";
      error.attachNote(gradient.getLoc()) << "differentiated here";
      return error;
    }
    found.push_back(leaf);
  }
  if (found.empty())
    found.push_back(entryValue(symbol));
  return found;
}

/// Replaces the names of variables by leaves. The derivatives with respect to several leaves of one variable are
/// combined.
LogicalResult Lifting::liftGradient(GradientOp gradient) {
  llvm::SetVector<Value> reached;
  if (llvm::any_of(gradient.getOf(), [&](Attribute symbol) { return leaves.contains(symbol); }))
    reached = reachedFrom(gradient);
  SmallVector<Value> xs;
  SmallVector<size_t> ends; // of the leaves of each variable in xs
  for (auto symbol : gradient.getOf().getAsRange<FlatSymbolRefAttr>()) {
    auto found = leavesOf(symbol, gradient, reached);
    if (failed(found))
      return failure();
    xs.append(*found);
    ends.push_back(xs.size());
  }
  xs.append(gradient.getXs().begin(), gradient.getXs().end());

  OpBuilder builder(gradient);
  auto lifted = GradientOp::create(builder, gradient.getLoc(), TypeRange(ValueRange(xs)), gradient.getY(), xs,
                                   builder.getArrayAttr({}));
  lifted->setDiscardableAttrs(gradient->getDiscardableAttrDictionary());
  SmallVector<Value> results;
  for (auto [symbol, end] : llvm::zip_equal(gradient.getOf().getAsRange<FlatSymbolRefAttr>(), ends)) {
    const size_t begin = results.empty() ? 0 : ends[results.size() - 1];
    const VariableOp variable = symbols.lookup<VariableOp>(symbol.getValue());
    Value sum = lifted.getGradients()[begin];
    for (Value each : lifted.getGradients().slice(begin + 1, end - begin - 1))
      sum = combinedCotangents(builder, gradient.getLoc(), sum, each, variable);
    results.push_back(sum);
  }
  llvm::append_range(results, lifted.getGradients().take_back(gradient.getXs().size()));
  gradient.replaceAllUsesWith(results);
  gradient.erase();
  return success();
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

/// Turns the variables that a loop assigns into carries: each step reads the values that the previous step left.
LogicalResult Lifting::liftLoop(Operation *loop, Assigned &assigned) {
  llvm::SetVector<SymbolRefAttr> changed;
  loop->walk([&](AssignOp assign) { changed.insert(assign.getVariableAttr()); });
  LoopParts parts(loop);
  Assigned inside = assigned, deciding = assigned;
  const size_t before = parts.carries.size();
  for (SymbolRefAttr symbol : changed) {
    const LoopParts::Carry &carry = parts.addCarry(currentValue(symbol, assigned));
    inside[symbol] = carry.argument;
    if (carry.decided)
      deciding[symbol] = carry.decided;
  }
  if (auto other = dyn_cast<WhileOp>(loop); other && failed(liftBlock(other.getCondition().front(), deciding)))
    return failure();
  if (failed(liftBlock(*parts.bodyBlock(), inside)))
    return failure();
  if (changed.empty())
    return success();
  for (auto [number, symbol] : llvm::enumerate(changed))
    parts.setNext(parts.carries[before + number], inside[symbol]);
  IRRewriter rewriter(loop->getContext());
  parts.rebuild(rewriter);
  for (auto [number, symbol] : llvm::enumerate(changed))
    assigned[symbol] = parts.carries[before + number].last;
  return success();
}

LogicalResult Lifting::liftBlock(Block &block, Assigned &assigned) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      Value value = readValue(read.getVariableAttr(), assigned);
      if (value.getType() != read.getValue().getType())
        return read.emitOpError() << "has type " << read.getValue().getType() << " for a variable of type "
                                  << value.getType() << "; expected insert-casts to run first";
      read.replaceAllUsesWith(value);
      read.erase();
    } else if (auto assign = dyn_cast<AssignOp>(op)) {
      assigned[assign.getVariableAttr()] = assign.getValue();
      assign.erase();
    } else if (auto gradient = dyn_cast<GradientOp>(op)) {
      if (failed(liftGradient(gradient)))
        return failure();
    } else if (auto when = dyn_cast<WhenOp>(op)) {
      if (failed(liftWhen(when, assigned)))
        return failure();
    } else if (isLoop(&op)) {
      if (failed(liftLoop(&op, assigned)))
        return failure();
    } else if (auto custom = dyn_cast<CustomGradientOp>(op)) {
      if (failed(liftBlock(custom.getBody().front(), assigned))) // the verifier ensures that it assigns nothing
        return failure();
    } else if (isa<LayerOp>(op)) {
      return op.emitOpError() << "remains; expected inline-layers to run first";
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

/// Updates the signature to that of the body, for all variables at once: each change of a function's type takes time
/// linear in the length of the type.
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

void LiftVariables::runOnModule() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && failed(Lifting(function).run()))
      return signalPassFailure();
}

} // namespace
} // namespace halftone::compiler
