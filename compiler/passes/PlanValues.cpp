// Runs a module and its plan on hashes instead of tensors, and compares the results.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/PlanValues.h"
#include "compiler/passes/AssignSlotsDraft.h"
#include "compiler/passes/PlanContents.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringMap.h"
#include <set>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

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

/// One draw: decides which of the conditions that are not constant hold.
struct Draw {
  uint64_t seed;
  bool holds(Symbol condition) const {
    return condition != zeros &&
           (condition == constantSymbol(StringRef("\1", 1)) || (symbolOf("draw", condition, seed) >> 7) % 2);
  }
};

/// The iterations of a loop that both sides run: of a long loop the first three and the last three. The carries of the
/// third go to the first of the last three.
SmallVector<int64_t> iterationsOf(int64_t count) {
  SmallVector<int64_t> all;
  for (int64_t i = 0; i < count; i += i == 2 && count > 6 ? count - 5 : 1)
    all.push_back(i);
  return all;
}
/// The most iterations to run of a loop that ends by a condition.
constexpr int64_t maxDrawn = 64;

/// Runs the module, and computes the values that @main returns, in the order of its results.
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
        set(argument, symbolOf("variable", variable.getValue()));
      else if (auto shadow = main.getArgAttrOfType<FlatSymbolRefAttr>(number, shadowAttr))
        set(argument, shadows.lookup(shadow.getValue()));
      else
        set(argument, symbolOf("feed", feeds++));
    }
    run(main.getBody().front());
  }
  Symbol of(Value value) const { return values.lookup(value).read(0, bytesOfType(value)); }

private:
  /// Bytes as the plan counts them; packed values count as their elements.
  static int64_t bytesOfType(Value value) {
    const auto type = cast<RankedTensorType>(value.getType());
    return type.getNumElements() * std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  }
  void set(Value value, Symbol symbol) { values[value] = Contents(bytesOfType(value), symbol); }
  void set(Value value, Value from) {
    Contents same = values.lookup(from);
    values[value] = std::move(same);
  }

  void run(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (auto reshape = dyn_cast<ReshapeOp>(op))
        set(reshape.getY(), reshape.getX());
      else if (auto constant = dyn_cast<ConstantOp>(op))
        set(constant.getResult(), constantSymbol(bytesOf(cast<DenseElementsAttr>(constant.getValue()))));
      else if (auto when = dyn_cast<WhenOp>(op))
        run(when);
      else if (auto scan = dyn_cast<ScanOp>(op))
        run(scan);
      else if (auto loop = dyn_cast<WhileOp>(op))
        run(loop);
      else
        runOnSymbols(op);
    }
  }
  void runOnSymbols(Operation &op) {
    SmallVector<Symbol> operands;
    for (Value operand : op.getOperands())
      operands.push_back(of(operand));
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      const LaunchArguments &own = arguments.find(launch.getKernel())->second;
      for (auto [result, output] : llvm::enumerate(launch.getOutputs()))
        set(output, launchSymbol(own.key, own.extents, operands, result));
    } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      for (auto [operand, output] : llvm::zip_equal(operands, collective.getOutputs()))
        set(output, symbolOf("collective", operand));
    }
  }
  void run(WhenOp when) {
    Block &taken = (draw.holds(of(when.getCondition())) ? when.getThenRegion() : when.getElseRegion()).front();
    run(taken);
    for (auto [yielded, output] : llvm::zip_equal(taken.getTerminator()->getOperands(), when.getOutputs()))
      set(output, yielded);
  }
  void run(ScanOp scan) {
    const auto length = static_cast<int64_t>(scan.getLength());
    setAll(scan.getLasts(), scan.getInits());
    std::vector<Contents> stacks(scan.getYs().size());
    int64_t before = -1;
    const SmallVector<int64_t> all = iterationsOf(length);
    for (int64_t step : all) {
      const bool isAfterGap = step > std::exchange(before, step) + 1;
      const auto isInFrontOfGap = [&](int64_t each) { return each + 1 < length && !llvm::is_contained(all, each + 1); };
      const int64_t index = scan.getReverse() ? length - 1 - step : step;
      setAll(scan.getCarries(), scan.getLasts());
      for (auto [slice, xs] : llvm::zip_equal(scan.getSlices(), scan.getXs())) {
        const int64_t bytes = bytesOfType(slice);
        Contents own;
        own.write(0, bytes, values.lookup(xs), index * bytes);
        values[slice] = std::move(own);
      }
      run(scan.getBody().front());
      setAll(scan.getLasts(), scan.getNexts());
      for (auto [stack, slice] : llvm::zip_equal(stacks, scan.getYSlices())) {
        const int64_t bytes = bytesOfType(slice);
        const auto write = [&, &stack = stack](Value value, int64_t at) {
          stack.write(at * bytes, (at + 1) * bytes, values.lookup(value), 0);
        };
        // The values that steps read may share memory with those that they write. The step before a gap leaves a value
        // there for the next step, and no step has left one for the step after the gap.
        const auto carry = llvm::find(scan.getCarries(), reshapedFrom(slice));
        const bool isFound = carry != scan.getCarries().end();
        if (!isFound || !isAfterGap)
          write(slice, index);
        if (isFound && isInFrontOfGap(step))
          write(scan.getLasts()[carry - scan.getCarries().begin()], index + (scan.getReverse() ? -1 : 1));
      }
    }
    for (auto [ys, stack] : llvm::zip_equal(scan.getYs(), stacks))
      values[ys] = std::move(stack);
  }
  void run(WhileOp loop) {
    setAll(loop.getOutputs(), loop.getInits());
    const int64_t limit = std::min<int64_t>(loop.getMaximum().value_or(maxDrawn), maxDrawn);
    for (int64_t step = 0; step < limit; ++step) {
      setAll(loop.getCondition().getArguments(), loop.getOutputs());
      run(loop.getCondition().front());
      if (!draw.holds(of(loop.getConditionValue())))
        return;
      setAll(loop.getCarries(), loop.getOutputs());
      run(loop.getBody().front());
      setAll(loop.getOutputs(), loop.getNexts());
    }
  }
  /// Assigns all values simultaneously.
  void setAll(ValueRange to, ValueRange from) {
    std::vector<Contents> all;
    for (Value value : from)
      all.push_back(values.lookup(value));
    for (auto [value, contents] : llvm::zip_equal(to, all))
      values[value] = std::move(contents);
  }

  func::FuncOp main;
  const KernelArguments &arguments;
  Draw draw;
  DenseMap<Value, Contents> values;
};

/// The memory of a plan, and the parts of it that slots address.
class PlanMemory {
public:
  explicit PlanMemory(const Executable &exe) : exe(exe) {
    for (const VariableSlot &variable : exe.variables)
      memory[nameOf(variable.symbol)] = {variable.type.bytes(), symbolOf("variable", StringRef(variable.symbol))};
    for (const ShadowSlot &shadow : exe.shadows)
      memory[nameOf(shadow)] = {shadow.type.bytes(), shadowSymbol(exe, shadow)};
    for (size_t feed = 0; feed < exe.signature.feeds.size(); ++feed)
      memory[nameOf({SlotKind::feed, {}, static_cast<int64_t>(feed)})] = {exe.signature.feeds[feed].type.bytes(),
                                                                          symbolOf("feed", feed)};
    for (size_t constant = 0; constant < exe.constants.size(); ++constant)
      memory[nameOf({SlotKind::constant, {}, static_cast<int64_t>(constant)})] = {
          std::ssize(exe.constants[constant]), constantSymbol(exe.constants[constant])};
  }
  Symbol fetch(size_t index) const {
    return whole(nameOf({SlotKind::fetch, {}, static_cast<int64_t>(index)}), exe.signature.fetches[index].type);
  }
  Symbol variable(const VariableSlot &slot) const { return whole(nameOf(slot.symbol), slot.type); }
  Symbol shadow(const ShadowSlot &slot) const { return whole(nameOf(slot), slot.type); }

  /// The bytes of a slot.
  struct Span {
    Contents *contents;
    int64_t begin, end;
    void clear() const { contents->clear(begin, end); }
  };
  /// Those in an iteration of each repeat around the step, the outermost first.
  Span spanOf(SlotId id, ArrayRef<int64_t> iterations) {
    const Slot &slot = exe.plan.slots[id];
    int64_t begin = slot.offset + (slot.kind == SlotKind::arena ? slot.index : 0);
    for (auto [stride, iteration] : llvm::zip(slot.strides, iterations))
      begin += stride.at(iteration);
    return {&memory[nameOf(slot)], begin, begin + slot.type.bytes()};
  }

private:
  static std::string nameOf(const std::string &variable) { return "variable " + variable; }
  /// Shadows of one function of one variable share memory.
  std::string nameOf(const ShadowSlot &shadow) const {
    return "shadow " + exe.variables[shadow.variable].symbol + " " + shadow.function;
  }
  std::string nameOf(const Slot &slot) const {
    switch (slot.kind) {
    case SlotKind::arena:
      return "arena";
    case SlotKind::variable:
      return nameOf(exe.variables[slot.index].symbol);
    case SlotKind::shadow:
      return nameOf(exe.shadows[slot.index]);
    case SlotKind::feed:
      return "feed " + std::to_string(slot.index);
    case SlotKind::fetch:
      return "fetch " + std::to_string(slot.index);
    case SlotKind::constant:
      break;
    }
    return "constant " + std::to_string(slot.index);
  }
  Symbol whole(const std::string &name, const TensorType &type) const {
    return memory.lookup(name).read(0, type.bytes());
  }

  const Executable &exe;
  llvm::StringMap<Contents> memory;
};

bool contains(ArrayRef<PlanMemory::Span> spans, const PlanMemory::Span &span) {
  return llvm::any_of(
      spans, [&](const PlanMemory::Span &each) { return each.contents == span.contents && each.begin == span.begin; });
}

/// Runs the steps of a plan on its memory.
class PlanRun {
public:
  PlanRun(const Executable &exe, Draw draw) : plan(exe.plan), memory(exe), draw(draw) {
    runSteps(0, plan.steps.size());
  }
  const PlanMemory &result() const { return memory; }

private:
  using Span = PlanMemory::Span;
  Span spanOf(SlotId id) { return memory.spanOf(id, iterations); }
  Symbol read(SlotId id) {
    const Span span = spanOf(id);
    return span.contents->read(span.begin, span.end);
  }
  void write(SlotId id, Symbol value) {
    const Span span = spanOf(id);
    span.contents->write(span.begin, span.end, value);
  }

  void runSteps(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      if (auto *repeat = std::get_if<RepeatStep>(&plan.steps[i])) {
        runRepeat(*repeat, i);
        i = plan.bodyEnd(i) - 1;
      } else {
        std::visit([this](const auto &each) { run(each); }, plan.steps[i]);
      }
  }
  /// The memory of slots in an iteration of the innermost repeat.
  std::vector<Span> spansIn(int64_t iteration, ArrayRef<SlotId> slots) {
    std::vector<Span> spans;
    std::swap(iterations.back(), iteration);
    llvm::transform(slots, std::back_inserter(spans), [&](SlotId id) { return spanOf(id); });
    std::swap(iterations.back(), iteration);
    return spans;
  }

  /// The first iteration after a gap: the memory in which it finds the carries, which no iteration has written, and
  /// those at which the next iteration looks for them.
  struct Jump {
    std::vector<Span> moved, next;
    size_t depth = 0;
  };
  void runRepeat(const RepeatStep &repeat, size_t at) {
    iterations.push_back(0);
    const SmallVector<int64_t> all = repeat.running
                                         ? llvm::to_vector(llvm::seq<int64_t>(0, std::min(repeat.count, maxDrawn)))
                                         : iterationsOf(repeat.count);
    for (int64_t iteration : all) {
      Jump own;
      if (iteration > iterations.back() + 1) {
        forget(at, iteration);
        own = jump(at, iteration);
      }
      iterations.back() = iteration;
      if (!runs(repeat.running))
        break;
      const Jump outer = std::exchange(afterGap, own);
      runSteps(at + 1, plan.bodyEnd(at));
      afterGap = outer;
      for (const Span &span : own.moved) // of an iteration that did not run
        span.clear();
    }
    iterations.pop_back();
  }
  /// Clears the parts of stacks that the iterations before `to` would write, including those in inner repeats, since
  /// the skipped iterations would have overwritten what memory held there.
  void forget(size_t at, int64_t to) {
    const size_t level = iterations.size() - 1;
    const int64_t last = std::exchange(iterations.back(), iterations.back() + 1), skipped = to - iterations.back();
    SmallVector<std::pair<size_t, int64_t>>
        inside; // enclosing repeats of the step: the end of each one's body, and its count
    for (size_t i = at + 1; i < plan.bodyEnd(at); ++i) {
      while (!inside.empty() && inside.back().first <= i)
        inside.pop_back();
      if (auto *repeat = std::get_if<RepeatStep>(&plan.steps[i]))
        inside.push_back({plan.bodyEnd(i), repeat->count});
      for (const TouchedSlot &touched : slotsOf(plan.steps[i]))
        if (touched.isWritten)
          forgetSlices(touched.slot, level, skipped, inside);
    }
    iterations.back() = last;
  }
  /// Clears the slices of one slot, which are contiguous.
  void forgetSlices(SlotId id, size_t level, int64_t skipped, ArrayRef<std::pair<size_t, int64_t>> inside) {
    const ArrayRef<Stride> strides = plan.slots[id].strides;
    if (strides.size() <= level || strides[level].bytes == 0 || strides[level].period)
      return;
    Span span = spanOf(id);
    const auto extend = [&](int64_t bytes) { (bytes < 0 ? span.begin : span.end) += bytes; };
    extend((skipped - 1) * strides[level].bytes);
    for (auto [stride, repeat] : llvm::zip(strides.drop_front(level + 1), inside))
      if (stride.bytes != 0)
        extend((stride.period ? 1 : repeat.second - 1) * stride.bytes);
    span.clear();
  }
  /// Moves the carries of the next iteration to the memory in which iteration `to` looks for them.
  Jump jump(size_t at, int64_t to) {
    std::set<SlotId> read, written;
    for (size_t i = at + 1; i < plan.bodyEnd(at); ++i)
      for (const TouchedSlot &touched : slotsOf(plan.steps[i]))
        if (plan.slots[touched.slot].strides.size() == iterations.size())
          (touched.isWritten ? written : read).insert(touched.slot);
    const int64_t from = iterations.back() + 1;
    const std::vector<Span> left = spansIn(from - 1, llvm::to_vector(written));
    SmallVector<SlotId> carries;
    llvm::copy_if(read, std::back_inserter(carries),
                  [&](SlotId id) { return contains(left, spansIn(from, id).front()); });
    const Jump created{spansIn(to, carries), spansIn(to + 1, carries), iterations.size()};
    const std::vector<Span> found = spansIn(from, carries), next = spansIn(from + 1, carries);
    iterations.back() = from;
    for (size_t i = at + 1; i < plan.bodyEnd(at); ++i) // for stacks of read values, as if this one ran
      if (auto *copy = std::get_if<CopyStep>(&plan.steps[i]); copy && isOfStack(*copy, found, next))
        run(*copy);
    std::vector<Contents> values(carries.size());
    for (auto [value, span] : llvm::zip_equal(values, found))
      value.write(0, span.end - span.begin, *span.contents, span.begin);
    for (auto [value, span] : llvm::zip_equal(values, created.moved))
      span.contents->write(span.begin, span.end, value, 0);
    return created;
  }
  /// Returns true if the step copies a carry that the iteration reads to something other than a carry.
  bool isOfStack(const CopyStep &copy, const std::vector<Span> &found, const std::vector<Span> &next) {
    return copy.from >= 0 && plan.slots[copy.to].strides.size() == iterations.size() &&
           contains(found, spanOf(copy.from)) && !contains(next, spanOf(copy.to));
  }

  bool runs(const std::optional<Predicate> &predicate) {
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
    if (!runs(copy.predicate))
      return;
    if (copy.from < 0)
      return write(copy.to, zeros);
    const Span from = spanOf(copy.from), to = spanOf(copy.to);
    if (iterations.size() == afterGap.depth && isOfStack(copy, afterGap.moved, afterGap.next))
      return to.clear();
    Contents copied;
    copied.write(0, to.end - to.begin, *from.contents, from.begin);
    to.contents->write(to.begin, to.end, copied, 0);
  }
  void run(const CollectiveStep &collective) {
    SmallVector<Symbol> results;
    for (SlotId id : collective.from)
      results.push_back(symbolOf("collective", read(id)));
    for (auto [id, result] : llvm::zip_equal(collective.to, results))
      write(id, result);
  }
  void run(const WaitStep &) {}
  void run(const RepeatStep &) {} // see runRepeat

  const Plan &plan;
  PlanMemory memory;
  Draw draw;
  SmallVector<int64_t> iterations; // of the enclosing repeats
  Jump afterGap{};                 // of the innermost repeat
};

} // namespace

Status checkPlanValues(ModuleOp module, const KernelArguments &arguments, const Executable &exe) {
  constexpr uint64_t draws = 16; // a bug that two conditions hide is missed in one of 100 plans
  auto main = module.lookupSymbol<func::FuncOp>("main");
  llvm::StringMap<const ShadowSlot *> shadows;
  for (const ShadowSlot &shadow : exe.shadows)
    shadows[shadow.symbol] = &shadow;
  for (uint64_t seed = 0; seed < draws; ++seed) {
    const ModuleRun wanted(module, arguments, exe, {seed});
    const PlanRun planRun(exe, {seed});
    size_t fetches = 0;
    for (OpOperand &result : main.getBody().front().getTerminator()->getOpOperands()) {
      const unsigned number = result.getOperandNumber();
      Symbol value = zeros;
      std::string what;
      if (auto variable = main.getResultAttrOfType<FlatSymbolRefAttr>(number, variableAttr)) {
        what = ("variable @" + variable.getValue()).str();
        value = planRun.result().variable(*llvm::find_if(
            exe.variables, [&](const VariableSlot &slot) { return slot.symbol == variable.getValue(); }));
      } else if (auto shadow = main.getResultAttrOfType<FlatSymbolRefAttr>(number, shadowAttr)) {
        what = ("shadow @" + shadow.getValue()).str();
        value = planRun.result().shadow(*shadows.lookup(shadow.getValue()));
      } else {
        what = "fetch '" + exe.signature.fetches[fetches].name + "'";
        value = planRun.result().fetch(fetches++);
      }
      if (value != wanted.of(result.get()))
        return Status(ErrorKind::internal_error,
                      "assign-slots: " + what + " has a different value in the plan than in the module");
    }
  }
  return Status::ok();
}

} // namespace halftone::compiler
