// The interpreter's walk over a module: scopes, variables, branches, kernels.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Interpreter.h"
#include "dialect/Decisions.h"
#include "dialect/InterpreterLoops.h"
#include "dialect/InterpreterOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace halftone::dialect {

std::optional<TensorData> evaluate(Operation *op, Operands operands, const InterpreterOptions &options) {
  for (auto *family : {evaluateElementwise, evaluateReduction, evaluateConvolution, evaluateShape, evaluateIndexing})
    if (std::optional<TensorData> value = family(op, operands, options))
      return value;
  return std::nullopt;
}

namespace {

/// Evaluates an op, and returns the values of its results.
std::optional<std::vector<TensorData>> evaluateAll(Operation *op, Operands operands,
                                                   const InterpreterOptions &options) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return evaluateAttention(attention, operands, options);
  if (auto gradient = dyn_cast<AttentionGradOp>(op))
    return evaluateAttentionGrad(gradient, operands, options);
  if (auto sort = dyn_cast<SortOp>(op))
    return evaluateSort(sort, *operands[0]);
  std::optional<TensorData> value = evaluate(op, operands, options);
  if (!value)
    return std::nullopt;
  std::vector<TensorData> values;
  values.push_back(*std::move(value));
  return values;
}

/// Returns a tensor of which only the type is known.
TensorData anything(RankedTensorType type) {
  TensorWriter writer(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    if (isa<FloatType>(type.getElementType()))
      writer.real(i, Interval::any());
    else
      writer.whole(i, IntInterval{IntFormat(type.getElementType()).low, IntFormat(type.getElementType()).high});
  return writer.take();
}

/// Slice `index` of a stack along its first axis.
TensorData sliceOf(const TensorData &stack, int64_t index, Type type) {
  TensorWriter writer(type);
  const int64_t size = cast<RankedTensorType>(type).getNumElements();
  for (int64_t i = 0; i < size; ++i)
    writer.copy(i, stack, index * size + i);
  return writer.take();
}

TensorData scalarOf(Type type, int64_t value) {
  TensorWriter writer(type);
  writer.whole(0, IntFormat(cast<RankedTensorType>(type).getElementType()).wrap(value));
  return writer.take();
}

std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

Status error(ErrorKind kind, const llvm::Twine &message) { return Status(kind, message.str()); }

Status notRun(Operation *op) {
  std::string where;
  llvm::raw_string_ostream(where) << op->getLoc();
  return error(ErrorKind::not_implemented_error,
               "the interpreter does not run '" + op->getName().getStringRef() + "' at " + where);
}

/// With intervals, a `while` may have several possible exits. After this many undecided steps, its results may be
/// anything.
constexpr int64_t maxUndecidedSteps = 10000;

/// One run: the values computed so far, and the current variables.
class Run {
public:
  using Value = std::shared_ptr<const TensorData>;

  Run(Operation *scope, const InterpreterOptions &options, VariableValues &variables)
      : module(scope->getParentOfType<ModuleOp>()), options(options), variables(variables) {
    if (options.intervals && !options.strict)
      rounded = valuesToRound(scope);
  }

  void bind(mlir::Value key, Value value) { values[key] = std::move(value); }

  /// Runs the ops of a block, and returns the operands of its terminator.
  StatusOr<std::vector<Value>> runBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      HALFTONE_RETURN_IF_ERROR(runOp(&op));
    std::vector<Value> results;
    for (mlir::Value operand : block.getTerminator()->getOperands())
      results.push_back(values.at(operand));
    return results;
  }

  StatusOr<std::vector<Value>> runKernel(KernelOp kernel, std::vector<Value> operands) {
    Block &body = kernel.getBody().front();
    for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), operands))
      bind(argument, operand);
    StatusOr<std::vector<Value>> results = runBlock(body);
    if (results.isOk())
      for (Value &result : *results)
        result = stored(result);
    return results;
  }

  /// Binds the value of the shadow for the current value of its variable, rounded as a kernel's result is.
  Status bindShadow(BlockArgument argument, FlatSymbolRefAttr symbol) {
    auto shadow = module ? module.lookupSymbol<ShadowOp>(symbol) : ShadowOp();
    if (!shadow || shadow.getType() != argument.getType())
      return error(ErrorKind::key_error, "there is no shadow @" + symbol.getValue() + " of the argument's type");
    Block &body = shadow.getBody().front();
    if (module.lookupSymbol<ShadowOp>(shadow.getSourceAttr())) {
      HALFTONE_RETURN_IF_ERROR(bindShadow(body.getArgument(0), shadow.getSourceAttr()));
    } else {
      auto found = variables.find(shadow.getSource().str());
      if (found == variables.end())
        return error(ErrorKind::key_error, "variable @" + shadow.getSource() + " has no value");
      bind(body.getArgument(0), std::make_shared<TensorData>(found->second));
    }
    StatusOr<std::vector<Value>> value = runBlock(body);
    HALFTONE_RETURN_IF_ERROR(value.status());
    bind(argument, stored(value->front()));
    return Status::ok();
  }

private:
  Status runOp(Operation *op) {
    if (auto layer = dyn_cast<LayerOp>(op))
      return runLayer(layer);
    if (auto when = dyn_cast<WhenOp>(op))
      return runWhen(when);
    if (auto scan = dyn_cast<ScanOp>(op))
      return runScan(scan);
    if (auto loop = dyn_cast<WhileOp>(op))
      return runWhile(loop);
    if (auto read = dyn_cast<ReadOp>(op))
      return runRead(read);
    if (auto assign = dyn_cast<AssignOp>(op)) {
      const Value &value = values.at(assign.getValue());
      variables[assign.getVariable().str()] = storeAs(value->type, *value);
      return Status::ok();
    }
    if (auto launch = dyn_cast<LaunchOp>(op))
      return runLaunch(launch);
    if (auto reduce = dyn_cast<AllReduceOp>(op)) { // the interpreter runs a single process
      for (auto [result, operand] : llvm::zip_equal(reduce.getOutputs(), reduce.getXs()))
        bind(result, values.at(operand));
      return Status::ok();
    }
    if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
      bindDivided(scatter);
      return Status::ok();
    }
    if (auto gather = dyn_cast<AllGatherOp>(op)) {
      bindDivided(gather);
      return Status::ok();
    }
    if (auto custom = dyn_cast<CustomGradientOp>(op)) {
      bind(custom.getResult(), values.at(custom.getY()));
      return Status::ok();
    }
    if (isa<GradientOp>(op))
      return error(ErrorKind::not_implemented_error,
                   "the interpreter does not run 'halftone.gradient'; lower the module to the pure stage first");
    if (!isa<ComputeOpInterface>(op))
      return notRun(op);
    llvm::SmallVector<const TensorData *> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(values.at(operand).get());
    std::optional<std::vector<TensorData>> computed = evaluateAll(op, operands, options);
    if (!computed)
      return notRun(op);
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *computed))
      bind(result,
           std::make_shared<TensorData>(rounded.contains(result) ? storeAs(value.type, value) : std::move(value)));
    return Status::ok();
  }

  // The operand is converted to the argument by a rounding cast, and results are rounded to their dtype.
  Status runLayer(LayerOp layer) {
    Block &body = layer.getBody().front();
    for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), layer.getInputs()))
      bind(argument,
           std::make_shared<TensorData>(storeAs(cast<RankedTensorType>(argument.getType()), *values.at(operand))));
    StatusOr<std::vector<Value>> yields = runBlock(body);
    if (!yields.isOk())
      return yields.status();
    for (auto [result, value] : llvm::zip_equal(layer.getOutputs(), *yields))
      bind(result, stored(value));
    return Status::ok();
  }

  /// The value as stored in memory.
  static Value stored(const Value &value) { return std::make_shared<TensorData>(storeAs(value->type, *value)); }

  Status runWhen(WhenOp when) {
    const Value &condition = values.at(when.getCondition());
    IntInterval choice = wholeAt(*condition, 0, IntFormat(condition->type.getElementType()));
    if (choice.isPoint()) {
      StatusOr<std::vector<Value>> results =
          runBlock((choice.low ? when.getThenRegion() : when.getElseRegion()).front());
      if (!results.isOk())
        return results.status();
      for (auto [result, value] : llvm::zip_equal(when.getOutputs(), *results))
        bind(result, value);
      return Status::ok();
    }
    // Either branch is legal: both run, and their results are joined.
    VariableValues before = variables;
    StatusOr<std::vector<Value>> first = runBlock(when.getThenRegion().front());
    if (!first.isOk())
      return first.status();
    VariableValues after = std::exchange(variables, std::move(before));
    StatusOr<std::vector<Value>> second = runBlock(when.getElseRegion().front());
    if (!second.isOk())
      return second.status();
    HALFTONE_RETURN_IF_ERROR(widen(variables, after));
    for (auto [result, a, b] : llvm::zip_equal(when.getOutputs(), *first, *second))
      bind(result, std::make_shared<TensorData>(hullOf(*a, *b)));
    return Status::ok();
  }

  /// Widens each variable to include both possible values.
  static Status widen(VariableValues &variables, const VariableValues &others) {
    for (auto &[name, value] : others) {
      auto found = variables.find(name);
      if (found == variables.end())
        return error(ErrorKind::key_error, "variable @" + name + " has no value");
      found->second = hullOf(found->second, value);
    }
    return Status::ok();
  }

  std::vector<Value> storedInits(OperandRange inits) {
    std::vector<Value> carries;
    for (mlir::Value init : inits)
      carries.push_back(stored(values.at(init)));
    return carries;
  }

  /// Runs the body of a loop once, and returns the values that it yields as stored in memory.
  StatusOr<std::vector<Value>> runStep(Block &body, int64_t index, const std::vector<Value> &carries) {
    bind(body.getArgument(0), std::make_shared<TensorData>(scalarOf(body.getArgument(0).getType(), index)));
    for (auto [argument, carry] : llvm::zip(body.getArguments().drop_front(), carries))
      bind(argument, carry);
    StatusOr<std::vector<Value>> yields = runBlock(body);
    if (yields.isOk())
      llvm::transform(*yields, yields->begin(), stored);
    return yields;
  }

  Status runScan(ScanOp scan) {
    std::vector<Value> carries = storedInits(scan.getInits());
    std::vector<TensorWriter> stacks;
    for (Type type : scan.getYs().getTypes())
      stacks.emplace_back(type);
    CarriedSums sums(scan, options);
    const auto valueOf = [&](mlir::Value value) -> const TensorData & { return *values.at(value); };
    const int64_t length = scan.getLength();
    for (int64_t step = 0; step < length; ++step) {
      const int64_t index = scan.getReverse() ? length - 1 - step : step;
      for (auto [argument, x] : llvm::zip_equal(scan.getSlices(), scan.getXs()))
        bind(argument, std::make_shared<TensorData>(sliceOf(*values.at(x), index, argument.getType())));
      StatusOr<std::vector<Value>> yields = runStep(scan.getBody().front(), index, carries);
      HALFTONE_RETURN_IF_ERROR(yields.status());
      for (auto [stack, slice] : llvm::zip_equal(stacks, ArrayRef(*yields).drop_front(carries.size())))
        for (int64_t i = 0, size = slice->size(); i < size; ++i)
          stack.copy(index * size + i, *slice, i);
      yields->resize(carries.size());
      carries = *std::move(yields);
      sums.add(valueOf);
    }
    sums.finish(carries, valueOf);
    for (auto [result, carry] : llvm::zip_equal(scan.getLasts(), carries))
      bind(result, carry);
    for (auto [result, stack] : llvm::zip_equal(scan.getYs(), stacks))
      bind(result, std::make_shared<TensorData>(stack.take()));
    return Status::ok();
  }

  /// The state after a loop: the hull of the states at its possible exits.
  struct Exits {
    std::vector<Value> carries;
    VariableValues variables;
  };

  Status join(std::optional<Exits> &exits, const std::vector<Value> &carries) {
    if (!exits) {
      exits = Exits{carries, variables};
      return Status::ok();
    }
    for (auto [joined, carry] : llvm::zip_equal(exits->carries, carries))
      joined = std::make_shared<TensorData>(hullOf(*joined, *carry));
    return widen(exits->variables, variables);
  }

  /// Returns whether a `while` takes another step: yes, no, or undecided.
  StatusOr<IntInterval> evaluateCondition(WhileOp loop, const std::vector<Value> &carries) {
    for (auto [argument, carry] : llvm::zip_equal(loop.getCondition().getArguments(), carries))
      bind(argument, carry);
    StatusOr<std::vector<Value>> decision = runBlock(loop.getCondition().front());
    HALFTONE_RETURN_IF_ERROR(decision.status());
    return wholeAt(*decision->front(), 0, IntFormat(decision->front()->type.getElementType()));
  }

  Status runWhile(WhileOp loop) {
    std::vector<Value> carries = storedInits(loop.getInits());
    std::optional<Exits> exits;
    for (int64_t step = 0;; ++step) {
      StatusOr<IntInterval> another = IntInterval{0, 0};
      if (loop.getMaximum() != step)
        another = evaluateCondition(loop, carries);
      HALFTONE_RETURN_IF_ERROR(another.status());
      if (exits && step >= maxUndecidedSteps) {
        llvm::transform(carries, carries.begin(),
                        [](const Value &carry) { return std::make_shared<TensorData>(anything(carry->type)); });
        loop.walk([&](AssignOp assign) {
          variables[assign.getVariable().str()] = anything(cast<RankedTensorType>(assign.getValue().getType()));
        });
        another = IntInterval{0, 0};
      }
      if (another->low == 0)
        HALFTONE_RETURN_IF_ERROR(join(exits, carries));
      if (another->high == 0)
        break;
      StatusOr<std::vector<Value>> yields = runStep(loop.getBody().front(), step, carries);
      HALFTONE_RETURN_IF_ERROR(yields.status());
      carries = *std::move(yields);
    }
    variables = std::move(exits->variables);
    for (auto [result, carry] : llvm::zip_equal(loop.getOutputs(), exits->carries))
      bind(result, carry);
    return Status::ok();
  }

  Status runRead(ReadOp read) {
    auto found = variables.find(read.getVariable().str());
    if (found == variables.end())
      return error(ErrorKind::key_error, "variable @" + read.getVariable() + " has no value");
    bind(read.getValue(),
         std::make_shared<TensorData>(storeAs(cast<RankedTensorType>(read.getValue().getType()), found->second)));
    return Status::ok();
  }

  /// Only this process exists, so the elements of other processes are 0.
  template <class Op> void bindDivided(Op op) {
    for (auto [i, operand] : llvm::enumerate(op.getXs())) {
      const TensorData &from = *values.at(operand);
      const int64_t begin = cast<DenseI64ArrayAttr>(op.getBorders()[i])[op.getRank()];
      const bool gathers = isa<AllGatherOp>(op);
      auto to = std::make_shared<TensorData>();
      to->type = cast<RankedTensorType>(op.getOutputs()[i].getType());
      const auto copyOwn = [&](auto TensorData::*member) {
        (to.get()->*member).resize(static_cast<size_t>(to->size()));
        std::copy_n((from.*member).begin() + (gathers ? 0 : begin), std::min(from.size(), to->size()),
                    (to.get()->*member).begin() + (gathers ? begin : 0));
      };
      if (to->isFloat()) {
        copyOwn(&TensorData::low);
        copyOwn(&TensorData::high);
      } else {
        copyOwn(&TensorData::integers);
        if (!from.upper.empty())
          copyOwn(&TensorData::upper);
      }
      bind(op.getOutputs()[i], std::move(to));
    }
  }

  Status runLaunch(LaunchOp launch) {
    auto kernel = module ? module.lookupSymbol<KernelOp>(launch.getKernel()) : KernelOp();
    if (!kernel)
      return error(ErrorKind::key_error, "there is no kernel @" + launch.getKernel());
    std::vector<Value> operands;
    for (mlir::Value operand : launch.getOperands_())
      operands.push_back(values.at(operand));
    StatusOr<std::vector<Value>> results = runKernel(kernel, std::move(operands));
    if (!results.isOk())
      return results.status();
    for (auto [result, value] : llvm::zip_equal(launch.getOutputs(), *results))
      bind(result, value);
    return Status::ok();
  }

  ModuleOp module;
  const InterpreterOptions &options;
  VariableValues &variables;
  llvm::SetVector<mlir::Value> rounded; // in interval mode: narrow values that a decision depends on
  llvm::DenseMap<mlir::Value, Value> values;
};

Status checkValue(const TensorData &value, Type wanted, const llvm::Twine &what) {
  if (value.type != wanted)
    return error(ErrorKind::value_error,
                 what + " has type " + text(value.type) + ", but " + text(wanted) + " is expected");
  size_t elements = value.size();
  if (value.isFloat() ? value.low.size() != elements || value.high.size() != elements
                      : value.integers.size() != elements || (!value.upper.empty() && value.upper.size() != elements))
    return error(ErrorKind::value_error,
                 what + " does not have the " + llvm::Twine(elements) + " elements of its type");
  return Status::ok();
}

Status checkVariables(ModuleOp module, const VariableValues &variables) {
  for (VariableOp variable : module.getOps<VariableOp>()) {
    auto found = variables.find(variable.getSymName().str());
    if (found != variables.end())
      HALFTONE_RETURN_IF_ERROR(checkValue(found->second, variable.getType(), "variable @" + variable.getSymName()));
  }
  return Status::ok();
}

} // namespace

StatusOr<std::vector<TensorData>> interpret(ModuleOp module, const std::vector<TensorData> &feeds,
                                            VariableValues &variables, const InterpreterOptions &options) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.getBody().empty() || !llvm::hasSingleElement(main.getBody()))
    return error(ErrorKind::value_error, "the module has no function @main with a single block");
  HALFTONE_RETURN_IF_ERROR(checkVariables(module, variables));
  VariableValues current = variables;
  Run run(main, options, current);
  size_t nextFeed = 0;
  for (BlockArgument argument : main.getArguments()) {
    if (auto name = main.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), shadowAttr)) {
      HALFTONE_RETURN_IF_ERROR(run.bindShadow(argument, name));
      continue;
    }
    if (auto name = main.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), variableAttr)) {
      auto found = current.find(name.getValue().str());
      if (found == current.end())
        return error(ErrorKind::key_error, "variable @" + name.getValue() + " has no value");
      HALFTONE_RETURN_IF_ERROR(checkValue(found->second, argument.getType(), "variable @" + name.getValue()));
      run.bind(argument, std::make_shared<TensorData>(found->second));
      continue;
    }
    if (nextFeed == feeds.size())
      return error(ErrorKind::value_error, "@main takes more feeds than the " + llvm::Twine(feeds.size()) + " given");
    HALFTONE_RETURN_IF_ERROR(checkValue(feeds[nextFeed], argument.getType(), "feed #" + llvm::Twine(nextFeed)));
    run.bind(argument, std::make_shared<TensorData>(feeds[nextFeed++]));
  }
  if (nextFeed != feeds.size())
    return error(ErrorKind::value_error,
                 "@main takes " + llvm::Twine(nextFeed) + " feeds, but " + llvm::Twine(feeds.size()) + " were given");

  auto results = run.runBlock(main.getBody().front());
  if (!results.isOk())
    return results.status();
  std::vector<TensorData> fetches;
  for (auto [index, result] : llvm::enumerate(*results)) {
    TensorData stored = storeAs(result->type, *result);
    if (main.getResultAttr(index, shadowAttr))
      continue; // its value is derived from its variable
    if (auto name = main.getResultAttrOfType<FlatSymbolRefAttr>(index, variableAttr))
      current[name.getValue().str()] = std::move(stored);
    else
      fetches.push_back(std::move(stored));
  }
  variables = std::move(current);
  return fetches;
}

StatusOr<std::vector<TensorData>> interpretKernel(KernelOp kernel, const std::vector<TensorData> &operands,
                                                  const InterpreterOptions &options) {
  Block &body = kernel.getBody().front();
  if (body.getNumArguments() != operands.size())
    return error(ErrorKind::value_error, "kernel @" + kernel.getSymName() + " takes " +
                                             llvm::Twine(body.getNumArguments()) + " operands, but " +
                                             llvm::Twine(operands.size()) + " were given");
  std::vector<Run::Value> values;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    HALFTONE_RETURN_IF_ERROR(checkValue(operand, body.getArgument(index).getType(), "operand #" + llvm::Twine(index)));
    values.push_back(std::make_shared<TensorData>(operand));
  }
  VariableValues none;
  auto results = Run(kernel, options, none).runKernel(kernel, std::move(values));
  if (!results.isOk())
    return results.status();
  std::vector<TensorData> outputs;
  for (const Run::Value &result : *results)
    outputs.push_back(*result);
  return outputs;
}

} // namespace halftone::dialect
