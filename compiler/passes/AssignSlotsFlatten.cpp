// Translates the launches of @main to steps over buffers, with `when` as predicates and loops as repeats.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlotsSignature.h"
#include "runtime/plan/Abi.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <limits>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

/// Kernels require slices that begin at multiples of bufferAlignment.
bool isAligned(const TensorType &type) { return type.bytes() % bufferAlignment == 0; }

/// The collectives that have been started, and that no step has waited for. They complete in the order of their starts.
class CollectivesInFlight {
public:
  void started(const DraftStep &collective) {
    DraftStep &wait = waits.emplace_back();
    wait.waits = true;
    wait.reads = collective.reads;
    wait.writes = collective.writes;
  }
  /// Adds the waits for all collectives up to the last whose result `op`, or an op in it, reads.
  void waitForOperands(Operation *op, const BufferMap &buffers, PlanDraft &draft) {
    if (waits.empty())
      return;
    DenseSet<BufferId> read;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto found = buffers.find(operand); found != buffers.end())
          read.insert(found->second);
    });
    const auto last = llvm::find_if(llvm::reverse(waits), [&](const DraftStep &wait) {
      return llvm::any_of(wait.writes, [&](BufferId id) { return read.contains(id); });
    });
    wait(static_cast<size_t>(std::distance(last, waits.rend())), draft);
  }
  void waitForAll(PlanDraft &draft) { wait(waits.size(), draft); }

private:
  void wait(size_t count, PlanDraft &draft) {
    for (; count > 0; --count) {
      draft.steps.push_back(std::move(waits.front()));
      waits.pop_front();
    }
  }
  std::deque<DraftStep> waits; // the oldest first
};

class Flattener {
public:
  explicit Flattener(ModuleOp module) : module(module), signature(module, draft, buffers) {}

  StatusOr<PlanDraft> run() {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return cannotAssign("expected a function @main");
    HALFTONE_RETURN_IF_ERROR(signature.addArguments(main));
    Block &body = main.getBody().front();
    HALFTONE_RETURN_IF_ERROR(flatten(body, std::nullopt));
    collectives.waitForAll(draft);
    HALFTONE_RETURN_IF_ERROR(signature.addResults(main));
    return std::move(draft);
  }

private:
  void copy(BufferId from, BufferId to, std::optional<BufferPredicate> predicate) {
    draft.steps.push_back(DraftStep::copy(from, to));
    draft.steps.back().predicate = predicate;
  }

  BufferId constant(std::string bytes, TensorType type) {
    auto [entry, isNew] = constants.try_emplace(type.str() + ":" + bytes, -1);
    if (isNew) {
      draft.constants.push_back(std::move(bytes));
      entry->second = draft.add(SlotKind::constant, std::move(type), draft.constants.size() - 1);
    }
    return entry->second;
  }

  Status flatten(Block &block, std::optional<BufferPredicate> predicate) {
    for (Operation &op : block.without_terminator()) {
      if (!isa<ReshapeOp>(op))
        collectives.waitForOperands(&op, buffers, draft);
      if (auto reshape = dyn_cast<ReshapeOp>(op)) {
        buffers[reshape.getY()] = buffers.lookup(reshape.getX());
      } else if (auto value = dyn_cast<ConstantOp>(op)) {
        auto type = bufferType(value.getType());
        auto elements = dyn_cast<DenseElementsAttr>(value.getValue());
        if (!type || !elements)
          return type ? cannotAssign("a constant is not dense") : type.status();
        buffers[value.getResult()] = constant(bytesOf(elements), *type);
      } else if (auto launch = dyn_cast<LaunchOp>(op)) {
        HALFTONE_RETURN_IF_ERROR(addLaunch(launch, predicate));
      } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
        HALFTONE_RETURN_IF_ERROR(addCollective(collective));
      } else if (auto when = dyn_cast<WhenOp>(op)) {
        HALFTONE_RETURN_IF_ERROR(addWhen(when, predicate));
      } else if (auto scan = dyn_cast<ScanOp>(op)) {
        HALFTONE_RETURN_IF_ERROR(addScan(scan, predicate));
      } else if (auto loop = dyn_cast<WhileOp>(op)) {
        HALFTONE_RETURN_IF_ERROR(addWhile(loop, predicate));
      } else {
        return cannotAssign("expected launch, when, loops, reshape, constant and collectives, but got " +
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
      auto type = bufferType(output.getType());
      if (!type)
        return type.status();
      auto entry = buffers.find(output); // the buffer of an enclosing op's result, assigned by assignResults
      if (entry == buffers.end())
        entry = buffers.try_emplace(output, draft.add(SlotKind::arena, *type)).first;
      step.writes.push_back(entry->second);
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
      auto type = bufferType(output.getType());
      if (!type)
        return type.status();
      step.writes.push_back(buffers[output] = draft.add(SlotKind::arena, *type));
    }
    collectives.started(step);
    draft.steps.push_back(std::move(step));
    return Status::ok();
  }

  Status addWhen(WhenOp when, std::optional<BufferPredicate> outer) {
    BufferPredicate then{buffers.lookup(when.getCondition()), false}, otherwise{then.value, true};
    if (outer) {
      // The conjunction of both conditions: the inner byte where the outer condition holds, else 0. For the other
      // branch: 1 where the outer condition holds, then 0 where the first branch runs.
      TensorType boolean{DType::bool_, {}};
      BufferId both = draft.add(SlotKind::arena, boolean), rest = draft.add(SlotKind::arena, boolean);
      copy(-1, both, std::nullopt);
      copy(then.value, both, outer);
      copy(-1, rest, std::nullopt);
      copy(constant(std::string(1, '\1'), boolean), rest, outer);
      copy(-1, rest, BufferPredicate{both, false});
      draft.buffers[rest].restOf = both;
      then = {both, false};
      otherwise = {rest, false};
    }
    std::vector<BufferId> results;
    for (Value output : when.getOutputs()) {
      auto type = bufferType(output.getType());
      if (!type)
        return type.status();
      auto entry = buffers.find(output);
      if (entry == buffers.end())
        entry = buffers.try_emplace(output, draft.add(SlotKind::arena, *type)).first;
      results.push_back(entry->second);
    }
    HALFTONE_RETURN_IF_ERROR(addBranch(when.getThenRegion().front(), results, then));
    return addBranch(when.getElseRegion().front(), results, otherwise);
  }

  /// Assigns to the op in the block that computes each yielded value, if any, the buffer in which to compute it.
  /// Returns which values are assigned; the others, such as values from outside, are copied after the block.
  std::vector<bool> assignResults(Block &block, ArrayRef<BufferId> targets, bool mayBeStack) {
    std::vector<bool> assigned(targets.size());
    for (auto [index, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      const Value root = reshapedFrom(value);
      Operation *producer = root.getDefiningOp();
      if (!producer || producer->getBlock() != &block || targets[index] < 0)
        continue;
      const bool isStack =
          isa<ScanOp>(producer) && cast<OpResult>(root).getResultNumber() >= cast<ScanOp>(producer).getInits().size();
      if (isa<LaunchOp, WhenOp>(producer) || (mayBeStack && isStack))
        assigned[index] = buffers.try_emplace(root, targets[index]).second;
    }
    return assigned;
  }

  /// A branch computes a new value of a result directly in the result's buffer; a value that it passes on is copied.
  Status addBranch(Block &block, const std::vector<BufferId> &results, BufferPredicate predicate) {
    const std::vector<bool> assigned = assignResults(block, results, false);
    HALFTONE_RETURN_IF_ERROR(flatten(block, predicate));
    for (auto [index, value] : llvm::enumerate(block.getTerminator()->getOperands()))
      if (!assigned[index])
        copy(buffers.lookup(value), results[index], predicate);
    return Status::ok();
  }

  void beginRepeat(int64_t count, std::optional<BufferPredicate> running) {
    DraftStep step;
    step.repeats = count;
    step.predicate = running;
    draft.steps.push_back(std::move(step));
    ++depth;
  }
  void endRepeat() {
    DraftStep step;
    step.endsRepeat = true;
    draft.steps.push_back(std::move(step));
    --depth;
  }

  /// The slice of `stack` that one step of the scan reads or writes.
  BufferId sliceOf(BufferId stack, const TensorType &type, ScanOp scan) {
    const int64_t bytes = type.bytes(), last = static_cast<int64_t>(scan.getLength()) - 1;
    return draft.addSlice(stack, type, scan.getReverse() ? last * bytes : 0, depth,
                          {scan.getReverse() ? -bytes : bytes});
  }

  /// The memory of a scan's carry: offsets in one buffer of the initial value, of the value that the first step writes,
  /// and of the last value.
  struct CarryMemory {
    TensorType type;
    BufferId whole = -1;
    int64_t begin = 0, next = 0, last = 0;
    Stride find, leave; // of the value that a step reads, and of the value that it writes
  };
  /// Two alternating slots: a step reads one and writes the other.
  CarryMemory inTwoSlots(const TensorType &type, ScanOp scan) {
    const int64_t room = (type.bytes() + bufferAlignment - 1) / bufferAlignment * bufferAlignment;
    const BufferId pair = draft.add(SlotKind::arena, {type.dtype, {2, room / itemsize(type.dtype)}});
    return {type, pair, 0, 0, static_cast<int64_t>(scan.getLength()) % 2 * room, {room, 2, 0}, {room, 2, 1}};
  }
  /// A stack that starts with the initial value, followed by the values of all steps: a step reads a slice and writes
  /// the next one. All values but the first form the stack `left` of the values that the steps write, all but the last
  /// the stack `found` of the values that they read. Either may be null.
  CarryMemory inStack(const TensorType &type, ScanOp scan, Value left, Value found) {
    const int64_t bytes = type.bytes(), length = static_cast<int64_t>(scan.getLength()), all = length * bytes;
    const BufferId stack = draft.add(SlotKind::arena, {type.dtype, {length + 1, type.elements()}});
    if (left)
      buffers[left] = draft.addSlice(stack, *bufferType(left.getType()), scan.getReverse() ? 0 : bytes);
    if (found)
      buffers[found] = draft.addSlice(stack, *bufferType(found.getType()), scan.getReverse() ? bytes : 0);
    return scan.getReverse() ? CarryMemory{type, stack, all, all - bytes, 0, {-bytes}, {-bytes}}
                             : CarryMemory{type, stack, 0, bytes, all, {bytes}, {bytes}};
  }

  /// Assigns buffers to carries and ys, and copies the initial values of the carries there.
  StatusOr<std::vector<CarryMemory>> placeCarries(ScanOp scan, std::optional<BufferPredicate> predicate) {
    std::vector<CarryMemory> carries;
    for (auto [init, argument, next, last] :
         llvm::zip_equal(scan.getInits(), scan.getCarries(), scan.getNexts(), scan.getLasts())) {
      auto type = bufferType(init.getType());
      if (!type)
        return type.status();
      const auto isFound = [&](Value slice) { return llvm::is_contained(scan.getCarries(), slice); };
      Value left, found;
      if (isAligned(*type) && type->bytes() > 0)
        for (auto [slice, ys] : llvm::zip_equal(scan.getYSlices(), scan.getYs()))
          if (const Value own = reshapedFrom(slice);
              !buffers.contains(ys) && (own == argument || (own == reshapedFrom(next) && !isFound(own))))
            (own == argument ? found : left) = ys;
      const CarryMemory &memory =
          carries.emplace_back(left || found ? inStack(*type, scan, left, found) : inTwoSlots(*type, scan));
      copy(buffers.lookup(init), draft.addSlice(memory.whole, *type, memory.begin), predicate);
      buffers[last] = draft.addSlice(memory.whole, *type, scan.getLength() == 0 ? memory.begin : memory.last);
    }
    for (Value ys : scan.getYs()) {
      auto type = bufferType(ys.getType());
      if (!type)
        return type.status();
      if (!buffers.contains(ys)) // neither part of a carry's stack nor assigned by assignResults
        buffers[ys] = draft.add(SlotKind::arena, *type);
    }
    return carries;
  }

  Status addScan(ScanOp scan, std::optional<BufferPredicate> predicate) {
    if (!scan.getIndex().use_empty())
      return cannotAssign("expected no use of a scan's index");
    auto carries = placeCarries(scan, predicate);
    if (!carries || scan.getLength() == 0)
      return carries.status();
    beginRepeat(static_cast<int64_t>(scan.getLength()), std::nullopt);
    std::vector<BufferId> slices, targets; // of the values that the body yields; of those that it can compute in place
    for (auto [carry, memory] : llvm::zip_equal(scan.getCarries(), *carries)) {
      buffers[carry] = draft.addSlice(memory.whole, memory.type, memory.begin, depth, memory.find);
      slices.push_back(draft.addSlice(memory.whole, memory.type, memory.next, depth, memory.leave));
      targets.push_back(slices.back());
    }
    for (auto [slice, xs] : llvm::zip_equal(scan.getSlices(), scan.getXs())) {
      const TensorType type = *bufferType(slice.getType());
      buffers[slice] = sliceOf(buffers.lookup(xs), type, scan);
      if (isAligned(type))
        continue;
      const BufferId aligned = draft.add(SlotKind::arena, type);
      copy(buffers.lookup(slice), aligned, predicate);
      buffers[slice] = aligned;
    }
    for (auto [value, ys] : llvm::zip_equal(scan.getYSlices(), scan.getYs())) {
      const TensorType type = *bufferType(value.getType());
      const BufferId stack = buffers.lookup(ys);
      const auto carry = llvm::find_if(
          *carries, [&](const CarryMemory &memory) { return draft.buffers[stack].sliceOf == memory.whole; });
      if (carry != carries->end()) {
        const auto number = carry - carries->begin();
        const Value found = scan.getCarries()[number];
        slices.push_back(reshapedFrom(value) == found ? buffers.lookup(found) : slices[static_cast<size_t>(number)]);
        targets.push_back(-1);
        continue;
      }
      slices.push_back(sliceOf(stack, type, scan));
      targets.push_back(isAligned(type) ? slices.back() : -1);
    }
    HALFTONE_RETURN_IF_ERROR(addBody(scan.getBody().front(), slices, targets, predicate));
    endRepeat();
    return Status::ok();
  }
  Status addBody(Block &body, ArrayRef<BufferId> slices, ArrayRef<BufferId> targets,
                 std::optional<BufferPredicate> predicate) {
    const std::vector<bool> assigned = assignResults(body, targets, true);
    HALFTONE_RETURN_IF_ERROR(flatten(body, predicate));
    for (auto [index, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (!assigned[index] && buffers.lookup(value) != slices[index] &&
          !llvm::is_contained(slices.take_front(index), slices[index]))
        copy(buffers.lookup(value), slices[index], predicate);
    return Status::ok();
  }
  /// A step tests the condition, then runs the body. Its end copies the next value of each carry to the carry's buffer.
  Status addWhile(WhileOp loop, std::optional<BufferPredicate> outer) {
    if (!loop.getIndex().use_empty())
      return cannotAssign("expected no use of a while's index");
    const TensorType boolean{DType::bool_, {}};
    const BufferId byte = draft.add(SlotKind::arena, boolean), condition = draft.add(SlotKind::arena, boolean);
    const BufferPredicate running{byte, false};
    copy(-1, byte, std::nullopt);
    copy(constant(std::string(1, '\1'), boolean), byte, outer);
    std::vector<BufferId> carries;
    for (auto [index, init] : llvm::enumerate(loop.getInits())) {
      auto type = bufferType(init.getType());
      if (!type)
        return type.status();
      carries.push_back(draft.add(SlotKind::arena, *type));
      copy(buffers.lookup(init), carries.back(), outer);
      for (Value value : {Value(loop.getCondition().getArgument(index)), Value(loop.getCarries()[index]),
                          Value(loop.getResult(index))})
        buffers[value] = carries.back();
    }
    const int64_t limit = loop.getMaximum().value_or(std::numeric_limits<int64_t>::max());
    if (limit == 0)
      return Status::ok();
    beginRepeat(limit, running);
    HALFTONE_RETURN_IF_ERROR(flatten(loop.getCondition().front(), running));
    // No launch may write the byte that its blocks read, and the byte must stay 0 once it is 0.
    copy(-1, condition, std::nullopt);
    copy(buffers.lookup(loop.getConditionValue()), condition, running);
    copy(condition, byte, std::nullopt);
    HALFTONE_RETURN_IF_ERROR(flatten(loop.getBody().front(), running));
    std::vector<BufferId> nexts;
    for (auto [index, value] : llvm::enumerate(loop.getNexts())) {
      BufferId next = buffers.lookup(value);
      if (next != carries[index] && llvm::is_contained(carries, next)) { // the carry's buffer is overwritten first
        const BufferId saved = draft.add(SlotKind::arena, draft.buffers[next].type);
        copy(next, saved, running);
        next = saved;
      }
      nexts.push_back(next);
    }
    for (auto [next, carry] : llvm::zip_equal(nexts, carries))
      if (next != carry)
        copy(next, carry, running);
    endRepeat();
    return Status::ok();
  }

  ModuleOp module;
  PlanDraft draft;
  BufferMap buffers;
  SignatureBuffers signature;
  CollectivesInFlight collectives;
  llvm::StringMap<BufferId> constants; // by type and bytes
  size_t depth = 0;                    // number of repeats around the current step
};

} // namespace

StatusOr<PlanDraft> flatten(ModuleOp module) { return Flattener(module).run(); }

} // namespace halftone::compiler
