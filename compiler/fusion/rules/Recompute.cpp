// Rules that let readers recompute large values instead of loading them.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/rules/Rules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

int64_t bitsOf(Value value) { return getElementTypeOrSelf(value).getIntOrFloatBitWidth(); }
int64_t sizeOf(Value value) { return elementsOf(value) * std::max<int64_t>(8, bitsOf(value)); }

/// Returns true for the argument of a variable. The variable's new value is written in place once the old one is dead;
/// additional readers could prevent that.
bool isVariable(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), variableAttr);
}

/// For each contraction, the value from which the rest of the kernel is computed: for example, the product plus its
/// bias.
DenseSet<Value> productsOf(const KernelBody &body) {
  DenseSet<Value> products;
  for (Operation *op : body.own) {
    if (!isa<ContractOp>(op))
      continue;
    Operation *last = op;
    while (last->hasOneUse() && body.own.contains(*last->user_begin()) &&
           isa<ElementwiseOpInterface>(*last->user_begin()))
      last = *last->user_begin();
    products.insert(last->getResult(0));
  }
  return products;
}

/// Returns true if the op is a decision, or rounds a value for one (docs/kernels.md).
bool isOfDecision(Operation *op) {
  if (auto rounding = dyn_cast<CastOp>(op); rounding && rounding.getOrigin() == "decision")
    return true;
  return cast<ComputeOpInterface>(op).isDecision();
}

/// How a reader can recompute a value: by `ops`, from `source`, a tensor in memory, and from vectors.
struct Recomputation {
  Value value, source;
  SmallVector<Operation *> ops;
};

/// Searches for a recomputation of one result of a kernel.
class RecomputationSearch {
public:
  /// `sources`: the results of the kernel `body` that are stored in any case.
  RecomputationSearch(const FusionState &state, const KernelBody &body, const DenseSet<Value> &sources, Value value)
      : state(state), body(body), sources(sources), found{value, {}, {}}, open{value.getDefiningOp()} {}
  /// Returns nullopt if none is profitable. Then reason() completes "stored: ".
  std::optional<Recomputation> run();
  StringRef reason() const { return why; }

private:
  bool isVector(Value operand) const {
    return elementsOf(operand) * state.costs.elementsPerVectorElement <= elementsOf(found.value);
  }
  bool isRecomputed(Value operand) const;
  bool reads(Value operand);
  std::nullopt_t because(llvm::StringLiteral reason) {
    why = reason;
    return std::nullopt;
  }

  const FusionState &state;
  const KernelBody &body;
  const DenseSet<Value> &sources;
  Recomputation found;
  SmallVector<Operation *> open;
  DenseSet<Operation *> seen;
  DenseSet<Value> vectors;
  StringRef why;
};

bool RecomputationSearch::isRecomputed(Value operand) const {
  Operation *producer = operand.getDefiningOp();
  return producer && body.own.contains(producer) && !sources.contains(operand) && !isVector(operand) &&
         !(isAlwaysCloned(producer) &&
           llvm::all_of(producer->getOperands(), [&](Value each) { return isVector(each); }));
}

/// Adds an operand. Returns false if it would be a second tensor.
bool RecomputationSearch::reads(Value operand) {
  Operation *producer = operand.getDefiningOp();
  const bool isOfVector = isVector(operand);
  if (producer &&
      (state.cloned.isCloned(producer) || (body.own.contains(producer) && !isOfVector && !sources.contains(operand)))) {
    if (seen.insert(producer).second)
      open.push_back(producer);
    return true;
  }
  if (isOfVector) {
    if (elementsOf(operand) > 1)
      vectors.insert(operand);
    return true;
  }
  if (found.source && found.source != operand)
    return false;
  found.source = operand;
  return true;
}

std::optional<Recomputation> RecomputationSearch::run() {
  int64_t transcendentals = 0;
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!isAlwaysCloned(op) && !isa<ElementwiseOpInterface>(op))
      return because("an op that is not elementwise would be recomputed");
    // A clone of a decision could decide differently if it read a recomputed value, which may be rounded differently.
    if (isOfDecision(op) && llvm::any_of(op->getOperands(), [&](Value each) { return isRecomputed(each); }))
      return because("a decision would read a recomputed value");
    transcendentals += isTranscendental(op);
    if (body.own.contains(op))
      found.ops.push_back(op);
    if (static_cast<int64_t>(seen.size()) > state.costs.recomputeOps)
      return because("too many ops would be recomputed");
    if (!llvm::all_of(op->getOperands(), [&](Value each) { return reads(each); }))
      return because("more than one tensor would be read");
  }
  const bool isProfitable =
      transcendentals == 0 || (transcendentals <= state.costs.recomputeTranscendentals &&
                               elementsOf(found.value) >= state.costs.recomputeTranscendentalElements);
  if (!isProfitable)
    return because("transcendental functions cost more than the load");
  if (!found.source || shapeOf(found.source) != shapeOf(found.value))
    return because("no tensor of this shape would be read");
  if (isVariable(found.source))
    return because("a variable would be read, and could then not be updated in place");
  if (static_cast<int64_t>(vectors.size()) > state.costs.recomputeVectors)
    return because("too many vectors would be read");
  return std::move(found);
}

/// Lets readers recompute the results of kernels, one kernel after another.
class ResultRecompute {
public:
  explicit ResultRecompute(FusionState &state) : state(state) {}
  void run(FusionGroupId id);

private:
  bool isReadElementwise(Value value, FusionGroupId id) const;
  std::optional<Recomputation> recomputationOf(Value value, FusionGroupId id, const KernelBody &body,
                                               const DenseSet<Value> &sources);
  void keepStored(Value value, StringRef reason) { state.keepStored(value.getDefiningOp(), reason); }
  std::optional<FusionGroupId> lastReader(Value value) const;
  bool isSourceLive(const Recomputation &recomputation);
  void apply(const Recomputation &recomputation, FusionGroupId id, IRMapping &clones);

  FusionState &state;
  DenseMap<Value, std::optional<FusionGroupId>>
      lastReaders; // of sources, including those that recomputations have added
};

/// Returns true if only kernels read `value`, a result of group `id`, and those other than the group read it
/// elementwise.
bool ResultRecompute::isReadElementwise(Value value, FusionGroupId id) const {
  const auto isLoopElsewhere = [&](Operation *reader) {
    const auto group = state.graph.groupOf(reader);
    return state.cloned.isCloned(reader) || (group && *group != id && !isa<ContractOp>(reader));
  };
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (state.cloned.isCloned(user))
      return llvm::all_of(state.graph.consumersOf(user->getResult(0)), isLoopElsewhere);
    return isa<ElementwiseOpInterface, ReduceOp, PartialReduceOp>(user);
  });
}

/// How the other kernels that read `value`, a result of group `id`, can recompute it. `sources` are results that are
/// stored in any case.
std::optional<Recomputation> ResultRecompute::recomputationOf(Value value, FusionGroupId id, const KernelBody &body,
                                                              const DenseSet<Value> &sources) {
  Operation *op = value.getDefiningOp();
  if (!isa<ElementwiseOpInterface>(op) || state.cloned.escapes(op))
    return std::nullopt;
  const auto because = [&](StringRef reason) {
    keepStored(value, reason);
    return std::nullopt;
  };
  if (elementsOf(value) < state.costs.largeInput)
    return because("it is small");
  if (!isReadElementwise(value, id))
    return because("a kernel does not read it elementwise");
  RecomputationSearch search(state, body, sources, value);
  auto found = search.run();
  return found ? std::move(found) : because(search.reason());
}

/// The last kernel that reads `value`; nullopt if no kernel of the block does.
std::optional<FusionGroupId> ResultRecompute::lastReader(Value value) const {
  std::optional<FusionGroupId> last;
  for (Operation *reader : state.graph.consumersOf(value))
    if (const auto id = state.graph.groupOf(reader))
      if (!last || state.graph.isBefore(*last, *id))
        last = id;
  return last;
}

/// Returns true if the source stays live until the last kernel that reads the value, whether or not it is recomputed.
bool ResultRecompute::isSourceLive(const Recomputation &recomputation) {
  Operation *producer = recomputation.source.getDefiningOp();
  if (!producer || producer->getBlock() != &state.block || state.cloned.escapes(producer))
    return true;
  auto [last, isNew] = lastReaders.try_emplace(recomputation.source);
  if (isNew)
    last->second = lastReader(recomputation.source);
  const std::optional<FusionGroupId> wanted = lastReader(recomputation.value);
  return last->second && wanted && !state.graph.isBefore(*last->second, *wanted);
}

/// Lets the other kernels that read the value recompute it. If no form supports one of these kernels then, all of them
/// still load the value. `clones` maps the values of group `id` to their clones so far.
void ResultRecompute::apply(const Recomputation &recomputation, FusionGroupId id, IRMapping &clones) {
  SmallVector<Operation *> ops(recomputation.ops);
  state.cloned.sort(ops);
  for (Operation *op : ops)
    if (!clones.contains(op->getResult(0))) {
      Operation *copy = OpBuilder(op->getBlock(), std::next(op->getIterator())).clone(*op, clones);
      state.cloned.markChain(copy);
      state.note(copy);
    }
  const Value clone = clones.lookup(recomputation.value);
  const std::optional<FusionGroupId> wanted = lastReader(recomputation.value);
  SmallVector<OpOperand *> uses;
  llvm::SetVector<FusionGroupId> affected;
  affected.insert(id);
  for (OpOperand &use : recomputation.value.getUses())
    if (state.cloned.isCloned(use.getOwner()) || state.graph.groupOf(use.getOwner()) != id)
      uses.push_back(&use);
  for (Operation *reader : state.graph.consumersOf(recomputation.value))
    if (const auto group = state.graph.groupOf(reader))
      affected.insert(*group);
  for (OpOperand *use : uses)
    use->set(clone);
  SmallVector<KernelShape> shapes;
  for (FusionGroupId each : affected) {
    FusionDecision decision = state.canFuse(each, nullptr);
    if (!decision || decision->kind != state.graph.group(each).shape.kind)
      break;
    shapes.push_back(decision.take());
  }
  if (shapes.size() < affected.size()) {
    for (OpOperand *use : uses)
      use->set(recomputation.value);
    return keepStored(recomputation.value, "a kernel that reads it cannot contain the ops");
  }
  for (auto [each, shape] : llvm::zip_equal(affected, shapes))
    state.graph.setShape(each, std::move(shape));
  if (auto last = lastReaders.find(recomputation.source); last != lastReaders.end() && wanted)
    if (!last->second || state.graph.isBefore(*last->second, *wanted))
      last->second = wanted;
}

void ResultRecompute::run(FusionGroupId id) {
  const KernelBody body = state.cloned.bodyOf(state.graph.group(id).ops);
  DenseSet<Value> sources = productsOf(body);
  SmallVector<Recomputation> accepted;
  llvm::MapVector<Value, SmallVector<Recomputation>> bySource; // those whose source would have to stay live longer
  for (Value value : body.results) {
    auto recomputation = recomputationOf(value, id, body, sources);
    if (!recomputation)
      sources.insert(value);
    else if (isSourceLive(*recomputation))
      accepted.push_back(std::move(*recomputation));
    else
      bySource[recomputation->source].push_back(std::move(*recomputation));
  }
  for (auto &[source, recomputations] : bySource) {
    int64_t saved = -sizeOf(source);
    for (const Recomputation &each : recomputations)
      saved += sizeOf(each.value);
    if (saved > 0)
      llvm::append_range(accepted, std::move(recomputations));
    else
      for (const Recomputation &each : recomputations)
        keepStored(each.value, "the tensor to read would have to stay live longer, and has at least as many bytes");
  }
  IRMapping clones;
  for (const Recomputation &each : accepted)
    apply(each, id, clones);
}

} // namespace

/// Clones `op`, which cannot join the kernels of its producers, into the readers of its large value. They compute it
/// from one tensor of its shape, which they load instead, and from vectors. A normalized value is therefore not stored
/// in addition to the value from which it was computed.
RuleResult recomputeInReaders(FusionState &state, Operation *op) {
  if (state.cloned.isStored(op) || !isa<ElementwiseOpInterface>(op) ||
      elementsOf(op->getResult(0)) < state.costs.largeInput)
    return RuleResult::declined;
  if (state.cloned.escapes(op))
    return RuleResult::because("an op outside of kernels reads the result from memory");
  const KernelBody body = state.cloned.bodyOf(op);
  const DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end());
  DenseSet<Value> tensors, vectors;
  for (Operation *each : body.ops) {
    if (isTranscendental(each) || isLookup(each) || isa<RandomBitsOp, TransposeOp>(each))
      return RuleResult::because("it contains a transcendental function, random bits, a lookup or a transpose");
    for (Value operand : each->getOperands())
      if (!inBody.contains(operand.getDefiningOp()) && elementsOf(operand) > 1)
        (shapeOf(operand) == shapeOf(op->getResult(0)) ? tensors : vectors).insert(operand);
  }
  const bool isFlag = bitsOf(op->getResult(0)) == 1;
  if (tensors.size() != 1 || static_cast<int64_t>(vectors.size()) > state.costs.recomputeVectors ||
      static_cast<int64_t>(body.ops.size()) > state.costs.recomputeOps ||
      llvm::any_of(vectors, [&](Value value) { return elementsOf(value) >= state.costs.largeInput; }) ||
      (!isFlag && bitsOf(*tensors.begin()) > bitsOf(op->getResult(0))))
    return RuleResult::because(
        "it reads more than one tensor no wider than the result and a few small vectors, or has too many ops");
  state.cloned.markChain(op);
  return RuleResult::applied;
}

/// Lets the readers of each large value that a kernel stores recompute it if that takes less memory: from one tensor
/// that is live as long as they need it, or that has fewer bytes than the values computed from it.
void recomputeResults(FusionState &state) {
  ResultRecompute recompute(state);
  for (FusionGroupId id = 0, end = state.graph.size(); id < end; ++id)
    if (state.graph.group(id).isKernel())
      recompute.run(id);
  state.graph.operandsChanged();
}

} // namespace halftone::compiler
