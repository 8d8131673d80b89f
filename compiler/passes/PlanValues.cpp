// Runs a module and its plan on hashes in the place of tensors, and compares the results.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/PlanValues.h"
#include "compiler/passes/AssignSlotsDraft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StableHashing.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"
#include <map>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

using Symbol = uint64_t;

constexpr Symbol zeros = 0; // all bytes are 0, or there are none

Symbol partOf(StringRef text) { return llvm::xxh3_64bits(text); }
Symbol partOf(ArrayRef<uint64_t> numbers) { return llvm::stable_hash_combine(numbers); }
Symbol partOf(uint64_t number) { return number; }
/// A hash that is the same in every process, unlike llvm::hash_combine's: what a check finds does not depend on the run.
template <class... Parts> Symbol symbolOf(StringRef kind, const Parts &...parts) {
  return llvm::stable_hash_combine(ArrayRef<uint64_t>({partOf(kind), partOf(parts)...})) | 1;
}
Symbol constantSymbol(StringRef bytes) {
  return llvm::all_of(bytes, [](char byte) { return byte == 0; }) ? zeros : symbolOf("constant", bytes);
}
Symbol launchSymbol(StringRef key, ArrayRef<int64_t> extents, ArrayRef<Symbol> operands, size_t result) {
  const SmallVector<uint64_t> sizes(extents);
  return symbolOf("launch", key, ArrayRef(sizes), operands, result);
}
Symbol shadowSymbol(const Executable &exe, const ShadowSlot &shadow) {
  return symbolOf("shadow", StringRef(exe.variables[shadow.variable].symbol), StringRef(shadow.function));
}

/// One draw: which of the conditions that are no constants hold.
struct Draw {
  uint64_t seed;
  bool holds(Symbol condition) const {
    return condition != zeros &&
           (condition == constantSymbol(StringRef("\1", 1)) || (symbolOf("draw", condition, seed) >> 7) % 2);
  }
};

/// The values that @main returns, in the order of its results.
class ModuleRun {
public:
  ModuleRun(ModuleOp module, const KernelArguments &arguments, const Executable &exe, Draw draw)
      : main(module.lookupSymbol<func::FuncOp>("main")), arguments(arguments), draw(draw) {
    llvm::StringMap<Symbol> shadows;
    for (const ShadowSlot &shadow : exe.shadows)
      shadows[shadow.symbol] = shadowSymbol(exe, shadow);
    size_t feeds = 0;
    for (BlockArgument argument : main.getArguments()) {
      const unsigned number = argument.getArgNumber();
      if (auto variable = main.getArgAttrOfType<FlatSymbolRefAttr>(number, variableAttr))
        values[argument] = symbolOf("variable", variable.getValue());
      else if (auto shadow = main.getArgAttrOfType<FlatSymbolRefAttr>(number, shadowAttr))
        values[argument] = shadows.lookup(shadow.getValue());
      else
        values[argument] = symbolOf("feed", feeds++);
    }
    run(main.getBody().front());
  }
  Symbol of(Value value) const {
    return cast<RankedTensorType>(value.getType()).getNumElements() == 0 ? zeros : values.lookup(value);
  }

private:
  void run(Block &block) {
    for (Operation &op : block.without_terminator()) {
      SmallVector<Symbol> operands;
      for (Value operand : op.getOperands())
        operands.push_back(of(operand));
      if (auto reshape = dyn_cast<ReshapeOp>(op)) {
        values[reshape.getY()] = operands[0];
      } else if (auto constant = dyn_cast<ConstantOp>(op)) {
        values[constant.getResult()] = constantSymbol(bytesOf(cast<DenseElementsAttr>(constant.getValue())));
      } else if (auto launch = dyn_cast<LaunchOp>(op)) {
        const LaunchArguments &own = arguments.find(launch.getKernel())->second;
        for (auto [result, output] : llvm::enumerate(launch.getOutputs()))
          values[output] = launchSymbol(own.key, own.extents, operands, result);
      } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
        for (auto [operand, output] : llvm::zip_equal(operands, collective.getOutputs()))
          values[output] = symbolOf("collective", operand);
      } else if (auto when = dyn_cast<WhenOp>(op)) {
        Block &taken = (draw.holds(operands[0]) ? when.getThenRegion() : when.getElseRegion()).front();
        run(taken);
        for (auto [yielded, output] : llvm::zip_equal(taken.getTerminator()->getOperands(), when.getOutputs()))
          values[output] = of(yielded);
      }
    }
  }

  func::FuncOp main;
  const KernelArguments &arguments;
  Draw draw;
  DenseMap<Value, Symbol> values;
};

/// The memory that a plan works on.
class PlanRun {
public:
  PlanRun(const Executable &exe, Draw draw) : exe(exe), draw(draw) {
    for (const VariableSlot &variable : exe.variables)
      named[variable.symbol] = symbolOf("variable", StringRef(variable.symbol));
    for (const ShadowSlot &shadow : exe.shadows)
      named[nameOf(shadow)] = shadowSymbol(exe, shadow);
    fetches.resize(exe.signature.fetches.size());
    for (const Step &step : exe.plan.steps)
      std::visit([this](const auto &each) { run(each); }, step);
  }
  Symbol fetch(size_t index) const { return fetches[index]; }
  Symbol variable(StringRef symbol) const { return named.lookup(symbol); }
  Symbol shadow(const ShadowSlot &slot) const { return named.lookup(nameOf(slot)); }

private:
  /// Shadows of one function of one variable have one memory.
  std::string nameOf(const ShadowSlot &shadow) const {
    return "shadow " + exe.variables[shadow.variable].symbol + " " + shadow.function;
  }

  Symbol read(SlotId id) const {
    const Slot &slot = exe.plan.slots[id];
    if (slot.type.bytes() == 0)
      return zeros;
    switch (slot.kind) {
    case SlotKind::arena: {
      const auto found = arena.find(slot.index);
      return found == arena.end() ? zeros : found->second.second;
    }
    case SlotKind::variable:
      return named.lookup(exe.variables[slot.index].symbol);
    case SlotKind::shadow:
      return named.lookup(nameOf(exe.shadows[slot.index]));
    case SlotKind::feed:
      return symbolOf("feed", static_cast<size_t>(slot.index));
    case SlotKind::fetch:
      return fetches[slot.index];
    case SlotKind::constant:
      return constantSymbol(exe.constants[slot.index]);
    }
    return zeros;
  }

  void write(SlotId id, Symbol value) {
    const Slot &slot = exe.plan.slots[id];
    if (slot.kind == SlotKind::variable)
      named[exe.variables[slot.index].symbol] = value;
    else if (slot.kind == SlotKind::shadow)
      named[nameOf(exe.shadows[slot.index])] = value;
    else if (slot.kind == SlotKind::fetch)
      fetches[slot.index] = value;
    else
      writeArena(slot.index, slot.index + slot.type.bytes(), value);
  }
  /// What lies across [begin, end) is gone.
  void writeArena(int64_t begin, int64_t end, Symbol value) {
    auto next = arena.lower_bound(begin);
    if (next != arena.begin() && std::prev(next)->second.first > begin)
      --next;
    while (next != arena.end() && next->first < end)
      next = arena.erase(next);
    if (begin < end)
      arena[begin] = {end, value};
  }

  bool runs(const std::optional<Predicate> &predicate) const {
    return !predicate || draw.holds(read(predicate->slot)) != predicate->negated;
  }
  void run(const LaunchStep &launch) {
    if (!runs(launch.predicate))
      return;
    SmallVector<Symbol> operands;
    for (SlotId id : ArrayRef(launch.buffers).take_front(launch.operandCount))
      operands.push_back(read(id));
    for (auto [result, id] : llvm::enumerate(ArrayRef(launch.buffers).drop_front(launch.operandCount)))
      write(id, launchSymbol(launch.kernel, launch.extents, operands, result));
  }
  void run(const CopyStep &copy) {
    if (runs(copy.predicate))
      write(copy.to, copy.from < 0 ? zeros : read(copy.from));
  }
  void run(const CollectiveStep &collective) {
    SmallVector<Symbol> results;
    for (SlotId id : collective.from)
      results.push_back(symbolOf("collective", read(id)));
    for (auto [id, result] : llvm::zip_equal(collective.to, results))
      write(id, result);
  }
  void run(const WaitStep &) {}
  void run(const RepeatStep &) { llvm_unreachable("assign-slots makes no repeat"); }

  const Executable &exe;
  Draw draw;
  llvm::StringMap<Symbol> named;                       // variables and shadows
  std::map<int64_t, std::pair<int64_t, Symbol>> arena; // from begin to end
  std::vector<Symbol> fetches;
};

} // namespace

Status checkPlanValues(ModuleOp module, const KernelArguments &arguments, const Executable &exe) {
  constexpr uint64_t draws = 16; // a fault that two conditions hide is missed in one of 100 plans
  auto main = module.lookupSymbol<func::FuncOp>("main");
  llvm::StringMap<const ShadowSlot *> shadows;
  for (const ShadowSlot &shadow : exe.shadows)
    shadows[shadow.symbol] = &shadow;
  for (uint64_t seed = 0; seed < draws; ++seed) {
    const ModuleRun wanted(module, arguments, exe, {seed});
    const PlanRun made(exe, {seed});
    size_t fetches = 0;
    for (OpOperand &result : main.getBody().front().getTerminator()->getOpOperands()) {
      const unsigned number = result.getOperandNumber();
      Symbol value = zeros;
      std::string what;
      if (auto variable = main.getResultAttrOfType<FlatSymbolRefAttr>(number, variableAttr)) {
        what = ("variable @" + variable.getValue()).str();
        value = made.variable(variable.getValue());
      } else if (auto shadow = main.getResultAttrOfType<FlatSymbolRefAttr>(number, shadowAttr)) {
        what = ("shadow @" + shadow.getValue()).str();
        value = made.shadow(*shadows.lookup(shadow.getValue()));
      } else {
        what = "fetch '" + exe.signature.fetches[fetches].name + "'";
        value = made.fetch(fetches++);
      }
      if (value != wanted.of(result.get()))
        return Status(ErrorKind::internal_error,
                      "assign-slots: " + what + " gets another value from the plan than from the module");
    }
  }
  return Status::ok();
}

} // namespace halftone::compiler
