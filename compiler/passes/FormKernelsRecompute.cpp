// Values made again: which stored values the kernels that read them make from other stored values instead.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/FormKernelsBlock.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// Vectors that are loaded to make a large value again.
static constexpr size_t mostVectors = 6;
/// Ops, and transcendental ones among them, with which a value is made again.
static constexpr size_t mostOps = 32;
static constexpr int64_t mostTranscendentals = 2;
/// A smaller value stays in a cache, and reading it costs less than a transcendental function.
static constexpr int64_t leastWithTranscendentals = int64_t(1) << 20;
/// A value with at most one element for so many of another's is a vector beside it.
static constexpr int64_t elementsForOneOfVector = 16;

static int64_t bitsOf(Value value) { return getElementTypeOrSelf(value).getIntOrFloatBitWidth(); }
static int64_t sizeOf(Value value) { return elementsOf(value) * std::max<int64_t>(8, bitsOf(value)); }

/// Whether the readers of `op`, which no kernel of its producers holds, make its large value themselves from one tensor of
/// its shape, which they read in its place, and from vectors. So a normalized value is not stored beside the value that it
/// was made of.
bool BlockFormer::isRecomputed(Operation *op) {
  if (state.numerics.formsAlone() || !isa<ElementwiseOpInterface>(op) || state.cloned.escapes(op) ||
      elementsOf(op->getResult(0)) < bigInput)
    return false;
  const KernelBody body = state.cloned.bodyOf(op);
  const DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  DenseSet<Value> wholes, vectors;
  for (Operation *each : body.ops) {
    if (isTranscendental(each) || isLookup(each) || isa<RandomBitsOp, TransposeOp>(each))
      return false;
    for (Value operand : each->getOperands())
      if (!inBody.contains(operand.getDefiningOp()) && elementsOf(operand) > 1)
        (shapeOf(operand) == shapeOf(op->getResult(0)) ? wholes : vectors).insert(operand);
  }
  const bool isFlag = bitsOf(op->getResult(0)) == 1;
  return wholes.size() == 1 && vectors.size() <= mostVectors && body.ops.size() <= mostOps &&
         llvm::all_of(vectors, [](Value value) { return elementsOf(value) < bigInput; }) &&
         (isFlag || bitsOf(*wholes.begin()) <= bitsOf(op->getResult(0)));
}

/// A variable's new value takes its place once nobody reads it any more: further readers could be in the way.
static bool isVariable(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), variableAttr);
}

/// The value of each contraction that all else in the kernel is made of: with its bias, for instance.
static DenseSet<Value> productsOf(const KernelBody &body) {
  DenseSet<Value> products;
  for (Operation *op : body.home) {
    if (!isa<ContractOp>(op))
      continue;
    Operation *last = op;
    while (last->hasOneUse() && body.home.contains(*last->user_begin()) &&
           isa<ElementwiseOpInterface>(*last->user_begin()))
      last = *last->user_begin();
    products.insert(last->getResult(0));
  }
  return products;
}

/// Whether the op decides, or rounds a value for a decision (docs/kernels.md).
static bool isOfDecision(Operation *op) {
  if (auto rounding = dyn_cast<CastOp>(op); rounding && rounding.getOrigin() == "decision")
    return true;
  return cast<ComputeOpInterface>(op).isDecision();
}

/// How kernels that read `value`, a result of the kernel `body`, would make it: from one tensor that is stored, or is one
/// of `sources`, and from vectors. Nothing if they would need more.
std::optional<Recompute> BlockFormer::recomputeOf(Value value, const KernelBody &body, const DenseSet<Value> &sources) {
  Recompute recompute{value, {}, {}};
  DenseSet<Operation *> seen;
  DenseSet<Value> vectors;
  SmallVector<Operation *> open{value.getDefiningOp()};
  int64_t transcendentals = 0;
  const auto isVectorBeside = [&](Value operand) {
    return elementsOf(operand) * elementsForOneOfVector <= elementsOf(value);
  };
  const auto isMadeAgain = [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && body.home.contains(producer) && !sources.contains(operand) && !isVectorBeside(operand) &&
           !(isGlue(producer) && llvm::all_of(producer->getOperands(), isVectorBeside));
  };
  const auto reads = [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    const bool isVector = isVectorBeside(operand);
    if (producer && (state.cloned.isCloned(producer) ||
                     (body.home.contains(producer) && !isVector && !sources.contains(operand)))) {
      if (seen.insert(producer).second)
        open.push_back(producer);
      return true;
    }
    if (isVector) {
      if (elementsOf(operand) > 1)
        vectors.insert(operand);
      return true;
    }
    if (recompute.source && recompute.source != operand)
      return false;
    recompute.source = operand;
    return true;
  };
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!isGlue(op) && !isa<ElementwiseOpInterface>(op))
      return std::nullopt;
    // Made of a value that is made again, in another rounding, a copy of a decision could decide otherwise.
    if (isOfDecision(op) && llvm::any_of(op->getOperands(), isMadeAgain))
      return std::nullopt;
    transcendentals += isTranscendental(op);
    if (body.home.contains(op))
      recompute.ops.push_back(op);
    if (seen.size() > mostOps || !llvm::all_of(op->getOperands(), reads))
      return std::nullopt;
  }
  const bool isWorth =
      transcendentals == 0 || (transcendentals <= mostTranscendentals && elementsOf(value) >= leastWithTranscendentals);
  if (!isWorth || !recompute.source || isVariable(recompute.source) || shapeOf(recompute.source) != shapeOf(value) ||
      vectors.size() > mostVectors)
    return std::nullopt;
  return recompute;
}

/// Whether other kernels read `value`, a result of group `index`, and all of them element by element.
bool BlockFormer::isReadElsewhere(Value value, FusionGroupId index) const {
  Operation *op = value.getDefiningOp();
  const auto isLoopElsewhere = [&](Operation *reader) {
    auto group = state.graph.groupOf(reader);
    return state.cloned.isCloned(reader) || (group && *group != index && !isa<ContractOp>(reader));
  };
  return isa<ElementwiseOpInterface>(op) && elementsOf(value) >= bigInput && !state.cloned.escapes(op) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           if (state.cloned.isCloned(user))
             return llvm::all_of(state.graph.consumersOf(user->getResult(0)), isLoopElsewhere);
           return isa<ElementwiseOpInterface, ReduceOp, PartialReduceOp>(user);
         });
}

/// The last kernel that reads `value`; nothing if no kernel of the block does.
std::optional<FusionGroupId> BlockFormer::lastReader(Value value) const {
  std::optional<FusionGroupId> last;
  for (Operation *reader : state.graph.consumersOf(value))
    if (auto found = state.graph.groupOf(reader))
      if (!last || state.graph.isBefore(*last, *found))
        last = *found;
  return last;
}

/// Whether the source stays in memory until the last kernel that reads the value, however that is made.
bool BlockFormer::isSourceThere(const Recompute &recompute) {
  Operation *producer = recompute.source.getDefiningOp();
  if (!producer || producer->getBlock() != &state.block || state.cloned.escapes(producer))
    return true;
  auto [last, isNew] = lastReaders.try_emplace(recompute.source);
  if (isNew)
    last->second = lastReader(recompute.source);
  const std::optional<FusionGroupId> wanted = lastReader(recompute.value);
  return last->second && wanted && !state.graph.isBefore(*last->second, *wanted);
}

/// Lets the other kernels that read `recompute.value` make it. If a form does not hold the ops of one of these kernels then,
/// all of them still read the value. `twins` are the copies of ops of group `index` that were made so far.
void BlockFormer::apply(const Recompute &recompute, FusionGroupId index, IRMapping &twins) {
  SmallVector<Operation *> ops(recompute.ops);
  state.cloned.sort(ops);
  for (Operation *op : ops)
    if (!twins.contains(op->getResult(0)))
      state.cloned.markChain(OpBuilder(op->getBlock(), std::next(op->getIterator())).clone(*op, twins));
  const Value twin = twins.lookup(recompute.value);
  const std::optional<FusionGroupId> wanted = lastReader(recompute.value);
  SmallVector<OpOperand *> uses;
  llvm::SetVector<FusionGroupId> affected;
  affected.insert(index);
  for (OpOperand &use : recompute.value.getUses())
    if (state.cloned.isCloned(use.getOwner()) || state.graph.groupOf(use.getOwner()) != index)
      uses.push_back(&use);
  for (Operation *reader : state.graph.consumersOf(recompute.value))
    if (auto found = state.graph.groupOf(reader))
      affected.insert(*found);
  for (OpOperand *use : uses)
    use->set(twin);
  SmallVector<KernelShape> shapes;
  for (FusionGroupId each : affected) {
    auto shape = state.canFuse(each, nullptr);
    if (!shape || shape->kind != state.graph.group(each).shape.kind)
      break;
    shapes.push_back(std::move(*shape));
  }
  if (shapes.size() < affected.size()) {
    for (OpOperand *use : uses)
      use->set(recompute.value);
    return;
  }
  for (auto [each, shape] : llvm::zip_equal(affected, shapes))
    state.graph.setShape(each, std::move(shape));
  if (auto last = lastReaders.find(recompute.source); last != lastReaders.end() && wanted)
    if (!last->second || state.graph.isBefore(*last->second, *wanted))
      last->second = wanted;
}

/// Lets readers make the results of group `index` that they can make from one stored tensor, if that needs less memory.
void BlockFormer::recomputeResultsOf(FusionGroupId index) {
  const KernelBody body = state.cloned.bodyOf(state.graph.group(index).ops);
  DenseSet<Value> sources = productsOf(body);
  SmallVector<Recompute> accepted;
  llvm::MapVector<Value, SmallVector<Recompute>> bySource; // if the source had to stay longer
  for (Value value : body.results) {
    auto recompute = isReadElsewhere(value, index) ? recomputeOf(value, body, sources) : std::nullopt;
    if (!recompute)
      sources.insert(value);
    else if (isSourceThere(*recompute))
      accepted.push_back(std::move(*recompute));
    else
      bySource[recompute->source].push_back(std::move(*recompute));
  }
  for (auto &[source, recomputed] : bySource) {
    int64_t saved = -sizeOf(source);
    for (const Recompute &each : recomputed)
      saved += sizeOf(each.value);
    if (saved > 0)
      llvm::append_range(accepted, std::move(recomputed));
  }
  IRMapping twins;
  for (const Recompute &each : accepted)
    apply(each, index, twins);
}

/// Looks at all values that kernels store, once the kernels are settled.
void BlockFormer::recomputeStored() {
  for (FusionGroupId index = 0, end = state.graph.size(); index < end; ++index)
    if (state.graph.group(index).isKernel())
      recomputeResultsOf(index);
  state.graph.operandsChanged();
}

} // namespace halftone::compiler
