// From @main's launches to steps over buffers, with `when` as predicates.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlotsDraft.h"
#include "dialect/TypeInference.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

std::string bytesOf(DenseElementsAttr elements) {
  std::string bytes;
  auto append = [&](const llvm::APInt &value, unsigned width) {
    uint64_t bits = value.getZExtValue();
    for (unsigned byte = 0; byte < width; ++byte)
      bytes.push_back(static_cast<char>(bits >> (8 * byte)));
  };
  unsigned width = (elements.getElementType().getIntOrFloatBitWidth() + 7) / 8;
  if (isa<FloatType>(elements.getElementType()))
    for (const llvm::APFloat &value : elements.getValues<llvm::APFloat>())
      append(value.bitcastToAPInt(), width);
  else
    for (const llvm::APInt &value : elements.getValues<llvm::APInt>())
      append(value, width);
  return bytes;
}

namespace {

Status cannotFlatten(const llvm::Twine &message) {
  return Status(ErrorKind::internal_error, ("assign-slots: " + message).str());
}

class Flattener {
public:
  explicit Flattener(ModuleOp module) : module(module), symbols(module) {}

  StatusOr<PlanDraft> run() {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return cannotFlatten("expected a function @main");
    HALFTONE_RETURN_IF_ERROR(addArguments(main));
    Block &body = main.getBody().front();
    HALFTONE_RETURN_IF_ERROR(flatten(body, std::nullopt));
    while (!travelling.empty())
      waitForOldest();
    HALFTONE_RETURN_IF_ERROR(addResults(main, body.getTerminator()));
    return std::move(draft);
  }

private:
  static StatusOr<TensorType> typeOf(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto dtype = tensor ? dtypeOf(tensor.getElementType()) : std::nullopt;
    if (!dtype)
      return cannotFlatten("a value is no tensor of a known dtype");
    std::vector<int64_t> dims(tensor.getShape().begin(), tensor.getShape().end());
    if (auto panels = PanelsAttr::of(type); panels && panels.getBits() != 0)
      dims[size_t(panels.getDepth())] /= 2; // the bytes that it takes
    return TensorType{*dtype, std::move(dims)};
  }

  Status addArguments(func::FuncOp main) {
    for (BlockArgument argument : main.getArguments()) {
      auto type = typeOf(argument.getType());
      if (!type)
        return type.status();
      unsigned number = argument.getArgNumber();
      if (auto variable = main.getArgAttrOfType<FlatSymbolRefAttr>(number, variableAttr)) {
        auto buffer = variableBuffer(variable);
        if (!buffer)
          return buffer.status();
        buffers[argument] = *buffer;
      } else if (auto shadow = main.getArgAttrOfType<FlatSymbolRefAttr>(number, shadowAttr)) {
        auto buffer = shadowBuffer(shadow);
        if (!buffer)
          return buffer.status();
        buffers[argument] = *buffer;
      } else if (auto name = main.getArgAttrOfType<StringAttr>(number, nameAttr)) {
        buffers[argument] = draft.add(SlotKind::feed, *type, draft.feeds.size());
        draft.feeds.push_back({name.str(), *type});
      } else {
        return cannotFlatten("an argument of @main is neither a feed nor a variable nor a shadow");
      }
    }
    return Status::ok();
  }

  StatusOr<BufferId> variableBuffer(FlatSymbolRefAttr symbol) {
    auto [place, isNew] = variables.try_emplace(symbol, -1);
    if (!isNew)
      return place->second;
    auto variable = symbols.lookup<VariableOp>(symbol.getValue());
    if (!variable)
      return cannotFlatten("no variable @" + symbol.getValue());
    auto type = typeOf(variable.getType());
    if (!type)
      return type.status();
    place->second = draft.add(SlotKind::variable, *type, draft.variables.size());
    draft.variables.push_back({symbol.getValue().str(), variable.getPath().str(), *type, false, false});
    return place->second;
  }

  StatusOr<BufferId> shadowBuffer(FlatSymbolRefAttr symbol) {
    if (auto known = shadows.find(symbol); known != shadows.end())
      return known->second;
    auto shadow = symbols.lookup<ShadowOp>(symbol.getValue());
    if (!shadow)
      return cannotFlatten("no shadow @" + symbol.getValue());
    auto type = typeOf(shadow.getType());
    if (!type)
      return type.status();
    auto source = symbols.lookup<ShadowOp>(shadow.getSource()) ? shadowBuffer(shadow.getSourceAttr())
                                                               : variableBuffer(shadow.getSourceAttr());
    if (!source)
      return source.status();
    const BufferId buffer = draft.add(SlotKind::shadow, *type, draft.shadows.size());
    draft.shadows.push_back(shadow);
    draft.shadowed.push_back(*source);
    return shadows[symbol] = buffer;
  }

  Status addResults(func::FuncOp main, Operation *terminator) {
    for (OpOperand &result : terminator->getOpOperands()) {
      unsigned number = result.getOperandNumber();
      BufferId buffer = buffers.lookup(result.get());
      if (auto variable = main.getResultAttrOfType<FlatSymbolRefAttr>(number, variableAttr)) {
        auto old = variableBuffer(variable);
        if (!old)
          return old.status();
        draft.updates.push_back({*old, buffer});
      } else if (auto shadow = main.getResultAttrOfType<FlatSymbolRefAttr>(number, shadowAttr)) {
        auto old = shadowBuffer(shadow);
        if (!old)
          return old.status();
        draft.updates.push_back({*old, buffer});
      } else if (auto name = main.getResultAttrOfType<StringAttr>(number, nameAttr)) {
        auto type = typeOf(result.get().getType());
        if (!type)
          return type.status();
        draft.fetches.push_back({name.str(), *type});
        draft.fetched.push_back(buffer);
      } else {
        return cannotFlatten("a result of @main is neither a fetch nor a variable nor a shadow");
      }
    }
    return Status::ok();
  }

  void copy(BufferId from, BufferId to, std::optional<BufferPredicate> predicate) {
    DraftStep step;
    step.from = from;
    step.to = to;
    if (from >= 0)
      step.reads.push_back(from);
    step.writes.push_back(to);
    step.predicate = predicate;
    draft.steps.push_back(std::move(step));
  }

  BufferId constant(std::string bytes, TensorType type) {
    auto [place, isNew] = constants.try_emplace(type.str() + ":" + bytes, -1);
    if (isNew) {
      draft.constants.push_back(std::move(bytes));
      place->second = draft.add(SlotKind::constant, std::move(type), draft.constants.size() - 1);
    }
    return place->second;
  }

  Status flatten(Block &block, std::optional<BufferPredicate> predicate) {
    for (Operation &op : block.without_terminator()) {
      if (auto reshape = dyn_cast<ReshapeOp>(op)) {
        buffers[reshape.getY()] = buffers.lookup(reshape.getX());
      } else if (auto value = dyn_cast<ConstantOp>(op)) {
        auto type = typeOf(value.getType());
        auto elements = dyn_cast<DenseElementsAttr>(value.getValue());
        if (!type || !elements)
          return type ? cannotFlatten("a constant is not dense") : type.status();
        buffers[value.getResult()] = constant(bytesOf(elements), *type);
      } else if (auto launch = dyn_cast<LaunchOp>(op)) {
        waitForOperands(launch);
        HALFTONE_RETURN_IF_ERROR(addLaunch(launch, predicate));
      } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
        waitForOperands(collective);
        HALFTONE_RETURN_IF_ERROR(addCollective(collective));
      } else if (auto when = dyn_cast<WhenOp>(op)) {
        waitForOperands(when);
        HALFTONE_RETURN_IF_ERROR(addWhen(when, predicate));
      } else {
        return cannotFlatten("expected launch, when, reshape, constant and collectives, but got " +
                             op.getName().getStringRef());
      }
    }
    return Status::ok();
  }

  Status addLaunch(LaunchOp launch, std::optional<BufferPredicate> predicate) {
    DraftStep step;
    step.launch = launch;
    step.predicate = predicate;
    for (Value operand : launch.getOperands())
      step.reads.push_back(buffers.lookup(operand));
    for (Value output : launch.getOutputs()) {
      auto type = typeOf(output.getType());
      if (!type)
        return type.status();
      auto place = buffers.find(output); // the result of a `when` around, chosen by addBranch
      if (place == buffers.end())
        place = buffers.try_emplace(output, draft.add(SlotKind::arena, *type)).first;
      step.writes.push_back(place->second);
    }
    draft.steps.push_back(std::move(step));
    return Status::ok();
  }

  Status addCollective(CollectiveOpInterface collective) {
    DraftStep step;
    step.collective = collective;
    for (Value operand : collective.getXs())
      step.reads.push_back(buffers.lookup(operand));
    for (Value output : collective.getOutputs()) {
      auto type = typeOf(output.getType());
      if (!type)
        return type.status();
      step.writes.push_back(buffers[output] = draft.add(SlotKind::arena, *type));
    }
    DraftStep wait;
    wait.waits = true;
    wait.reads = step.reads;
    wait.writes = step.writes;
    travelling.push_back(std::move(wait));
    draft.steps.push_back(std::move(step));
    return Status::ok();
  }

  void waitForOldest() {
    draft.steps.push_back(std::move(travelling.front()));
    travelling.pop_front();
  }
  /// Collectives end in their order: waits for all up to the last whose result `op`, or an op in it, reads.
  void waitForOperands(Operation *op) {
    DenseSet<BufferId> read;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto found = buffers.find(operand); found != buffers.end())
          read.insert(found->second);
    });
    auto last = llvm::find_if(llvm::reverse(travelling), [&](const DraftStep &wait) {
      return llvm::any_of(wait.writes, [&](BufferId id) { return read.contains(id); });
    });
    for (auto count = std::distance(last, travelling.rend()); count > 0; --count)
      waitForOldest();
  }

  Status addWhen(WhenOp when, std::optional<BufferPredicate> outer) {
    BufferPredicate then{buffers.lookup(when.getCondition()), false}, otherwise{then.value, true};
    if (outer) {
      // Both conditions: inner byte where the outer one holds, else 0. The other branch: 1 where the outer holds, then
      // 0 where the first branch runs.
      TensorType boolean{DType::bool_, {}};
      BufferId both = draft.add(SlotKind::arena, boolean), rest = draft.add(SlotKind::arena, boolean);
      copy(-1, both, std::nullopt);
      copy(then.value, both, outer);
      copy(-1, rest, std::nullopt);
      copy(constant(std::string(1, '\1'), boolean), rest, outer);
      copy(-1, rest, BufferPredicate{both, false});
      then = {both, false};
      otherwise = {rest, false};
    }
    std::vector<BufferId> results;
    for (Value output : when.getOutputs()) {
      auto type = typeOf(output.getType());
      if (!type)
        return type.status();
      auto place = buffers.find(output);
      if (place == buffers.end())
        place = buffers.try_emplace(output, draft.add(SlotKind::arena, *type)).first;
      results.push_back(place->second);
    }
    HALFTONE_RETURN_IF_ERROR(addBranch(when.getThenRegion().front(), results, then));
    return addBranch(when.getElseRegion().front(), results, otherwise);
  }

  /// A branch makes a new value of a result in the result's buffer; a value that it passes on is copied.
  Status addBranch(Block &block, const std::vector<BufferId> &results, BufferPredicate predicate) {
    std::vector<bool> made(results.size());
    Operation *yield = block.getTerminator();
    for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
      Value root = value;
      while (auto reshape = root.getDefiningOp<ReshapeOp>())
        root = reshape.getX();
      Operation *producer = root.getDefiningOp();
      if (producer && producer->getBlock() == &block && isa<LaunchOp, WhenOp>(producer))
        made[index] = buffers.try_emplace(root, results[index]).second;
    }
    HALFTONE_RETURN_IF_ERROR(flatten(block, predicate));
    for (auto [index, value] : llvm::enumerate(yield->getOperands()))
      if (!made[index])
        copy(buffers.lookup(value), results[index], predicate);
    return Status::ok();
  }

  ModuleOp module;
  SymbolTable symbols;
  PlanDraft draft;
  DenseMap<Value, BufferId> buffers;
  DenseMap<Attribute, BufferId> variables, shadows;
  llvm::StringMap<BufferId> constants; // by type and bytes
  std::deque<DraftStep> travelling;    // the waits for the collectives that travel, oldest first
};

} // namespace

StatusOr<PlanDraft> flatten(ModuleOp module) { return Flattener(module).run(); }

} // namespace halftone::compiler
