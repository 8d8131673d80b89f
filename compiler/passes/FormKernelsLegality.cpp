// Which sets of ops one kernel may hold, kind by kind.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/FormKernels.h"
#include "compiler/templates/Blocking.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

bool isGlue(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && elements.isSplat();
  }
  return isa<IotaOp, BroadcastOp>(op);
}

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

int64_t transcendentalCost(Operation *op) {
  return isa<ExpOp, Expm1Op, LogOp, Log1pOp, TanhOp, LogisticOp, ErfOp, SinOp, CosOp, PowOp, RandomBitsOp>(op);
}

OperandRange lookedUpOperands(Operation *op) {
  return isLookup(op) ? op->getOperands().take_front(isa<GatherOp>(op) ? 1 : op->getNumOperands())
                      : op->getOperands().take_front(0);
}

bool isPrologueOp(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isGlue(op);
  return isa<BroadcastOp>(op) || (isa<ElementwiseOpInterface>(op) && !transcendentalCost(op));
}

std::optional<SmallVector<int64_t>> sideReductionTile(const KernelShape &kernel, Operation *contract, int64_t reduced) {
  int64_t rank = kernel.shape.size();
  if (kernel.kind == KernelKind::matmul) {
    auto op = cast<ContractOp>(contract);
    auto tile = op->getAttrOfType<DenseI64ArrayAttr>(tileAttr);
    int64_t batch = op.getLhsBatch().size();
    if (!tile || op.getLhsFree().size() != 1 || op.getRhsFree().size() != 1 || reduced < batch + 1)
      return std::nullopt;
    SmallVector<int64_t> sizes(batch, 1);
    sizes.append(tile.asArrayRef().begin(), tile.asArrayRef().end());
    sizes.resize(reduced);
    return sizes;
  }
  if (kernel.kind == KernelKind::scatter)
    return std::nullopt;
  // The axis that is cut must be a reduced one, and in a row kernel an outer one.
  int64_t blocked = blockedAxis(kernel.shape);
  if (kernel.reductionLoop || reduced == 0 || blocked >= reduced ||
      (kernel.kind == KernelKind::row && blocked >= kernel.outerRank) || reduced > rank)
    return std::nullopt;
  return sideReductionTile(kernel.shape, reduced);
}

namespace {

/// A partial reduction is in place when its tile is the one that the kernel's blocks give.
bool isSideReduction(PartialReduceOp op, const KernelShape &kernel, Operation *contract) {
  int64_t reduced = op.getAxes().size();
  for (auto [index, axis] : llvm::enumerate(op.getAxes()))
    if (axis != static_cast<int64_t>(index))
      return false;
  int64_t rank = kernel.shape.size();
  if (shapeOf(op.getX()) != ArrayRef(kernel.shape) || (kernel.kind == KernelKind::matmul && reduced + 1 < rank))
    return false;
  auto tile = sideReductionTile(kernel, contract, reduced);
  return tile && ArrayRef(*tile) == op.getTile();
}

/// The ops of `body` that `roots` depend on.
DenseSet<Operation *> ancestors(const KernelBody &body, ValueRange roots) {
  DenseSet<Operation *> inBody(body.ops.begin(), body.ops.end()), found;
  SmallVector<Value> open(roots.begin(), roots.end());
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && inBody.contains(op) && found.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return found;
}

bool isPointwise(Operation *op) { return isa<ElementwiseOpInterface>(op) || isGlue(op); }

std::optional<KernelShape> classifyMatmul(const KernelBody &body, ContractOp contract) {
  KernelShape kernel{KernelKind::matmul, SmallVector<int64_t>(shapeOf(contract)), 0, false};
  DenseSet<Operation *> prologue = ancestors(body, contract->getOperands());
  for (Operation *op : prologue)
    if (body.home.contains(op) || !isPrologueOp(op))
      return std::nullopt;
  for (Operation *op : body.ops) {
    if (op == contract || prologue.contains(op))
      continue;
    if (auto partial = dyn_cast<PartialReduceOp>(op)) {
      if (!isSideReduction(partial, kernel, contract))
        return std::nullopt;
      continue;
    }
    bool full = shapeOf(op->getResult(0)) == ArrayRef(kernel.shape);
    if (!isPointwise(op) && !(isa<RandomBitsOp>(op) && full))
      return std::nullopt;
    if (!full && body.home.contains(op))
      return std::nullopt;
  }
  for (Value result : body.results)
    if (!result.getDefiningOp<PartialReduceOp>() && shapeOf(result) != ArrayRef(kernel.shape))
      return std::nullopt;
  return kernel;
}

std::optional<KernelShape> classifyLoop(const KernelBody &body) {
  KernelShape kernel;
  bool transposes = false, lookups = false, randomBits = false, partials = false, packs = false, shaped = false;
  auto setShape = [&](Value value) {
    if (shaped)
      return ArrayRef(kernel.shape) == shapeOf(value);
    kernel.shape.assign(shapeOf(value).begin(), shapeOf(value).end());
    return shaped = true;
  };
  for (Value result : body.results) {
    auto partial = result.getDefiningOp<PartialReduceOp>();
    if (!setShape(partial ? Value(partial.getX()) : result))
      return std::nullopt;
  }
  if (!shaped)
    return std::nullopt;
  int64_t elements = ShapedType::getNumElements(kernel.shape);
  for (Operation *op : body.ops) {
    if (auto partial = dyn_cast<PartialReduceOp>(op)) {
      partials = true;
      if (!isSideReduction(partial, kernel, nullptr))
        return std::nullopt;
      continue;
    }
    transposes |= isa<TransposeOp>(op);
    packs |= isa<PackOp>(op);
    if (isa<RandomBitsOp>(op)) {
      randomBits = true;
      if (shapeOf(op->getResult(0)) != ArrayRef(kernel.shape))
        return std::nullopt;
    } else if (!isPointwise(op) && !isa<TransposeOp, PackOp>(op) && !isLookup(op)) {
      return std::nullopt;
    }
    lookups |= isLookup(op);
    for (Value operand : lookedUpOperands(op))
      if (Operation *producer = operand.getDefiningOp();
          llvm::is_contained(body.ops, producer) && !(isa<ConcatOp>(op) && isa<ConstantOp>(producer)))
        return std::nullopt;
    if (body.home.contains(op) && elementsOf(op->getResult(0)) != elements)
      return std::nullopt;
  }
  if ((transposes && (randomBits || partials || lookups || packs)) || (packs && partials))
    return std::nullopt;
  return kernel;
}

/// A scatter_add is a kernel by itself, of what copies make of its operands.
std::optional<KernelShape> classifyScatter(const KernelBody &body, ScatterAddOp scatter) {
  for (Operation *op : body.ops)
    if (op != scatter && (body.home.contains(op) || !isPointwise(op)))
      return std::nullopt;
  return KernelShape{KernelKind::scatter, SmallVector<int64_t>(shapeOf(scatter.getY())), 0, false};
}

enum class Role : uint8_t { unknown, full, outer, inner, scalar };

/// Row kernels: every value is full, outer, inner or scalar. Shapes settle most roles, neighbours the rest.
class RowRoles {
public:
  RowRoles(ArrayRef<int64_t> shape, int64_t outerRank)
      : shape(shape), outer(shape.take_front(outerRank)), inner(shape.drop_front(outerRank)) {}

  bool assign(const KernelBody &body) {
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation *op : body.ops)
        if (!visit(op, changed))
          return false;
    }
    return true;
  }
  Role of(Value value) {
    auto [place, isNew] = roles.try_emplace(value, Role::unknown);
    if (!isNew)
      return place->second;
    ArrayRef<int64_t> own = shapeOf(value);
    if (own == shape)
      place->second = Role::full;
    else if (own == outer && own != inner)
      place->second = Role::outer;
    else if (own == inner && own != outer)
      place->second = Role::inner;
    else if (own.empty())
      place->second = Role::scalar;
    return place->second;
  }

private:
  ArrayRef<int64_t> shapeIn(Role role) const {
    return role == Role::full ? shape : role == Role::outer ? outer : role == Role::inner ? inner : ArrayRef<int64_t>();
  }
  bool set(Value value, Role role, bool &changed) {
    Role now = of(value);
    if (now == role)
      return true;
    if (now != Role::unknown)
      return false;
    if (shapeOf(value) != shapeIn(role))
      return false;
    roles[value] = role;
    return changed = true;
  }
  bool visit(Operation *op, bool &changed) {
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      return visitBroadcast(broadcast, changed);
    if (isa<ReduceOp, ArgReduceOp>(op))
      return set(op->getOperand(0), Role::full, changed) && set(op->getResult(0), Role::outer, changed);
    if (isa<PartialReduceOp>(op))
      return set(op->getOperand(0), Role::full, changed);
    if (isa<RandomBitsOp>(op))
      return set(op->getResult(0), Role::full, changed);
    if (!isa<ElementwiseOpInterface>(op))
      return true;
    Role known = of(op->getResult(0));
    for (Value operand : op->getOperands())
      if (Role role = of(operand); role != Role::unknown)
        known = role;
    if (known == Role::unknown)
      return true;
    for (Value operand : op->getOperands())
      if (!set(operand, known, changed))
        return false;
    return set(op->getResult(0), known, changed);
  }
  bool visitBroadcast(BroadcastOp op, bool &changed) {
    if (shapeOf(op.getX()).empty())
      return true;
    if (of(op.getY()) != Role::full)
      return false;
    int64_t first = op.getAxes().front(), last = op.getAxes().back(), count = op.getAxes().size();
    bool dense = last - first + 1 == count;
    if (dense && first == 0 && count == static_cast<int64_t>(outer.size()))
      return set(op.getX(), Role::outer, changed);
    if (dense && last == static_cast<int64_t>(shape.size()) - 1 && count == static_cast<int64_t>(inner.size()))
      return set(op.getX(), Role::inner, changed);
    return count == static_cast<int64_t>(shape.size());
  }

  ArrayRef<int64_t> shape, outer, inner;
  DenseMap<Value, Role> roles;
};

std::optional<KernelShape> classifyRow(const KernelBody &body, ArrayRef<Operation *> reductions) {
  KernelShape kernel{KernelKind::row, SmallVector<int64_t>(shapeOf(reductions.front()->getOperand(0))), 0, false};
  int64_t rank = kernel.shape.size();
  std::optional<int64_t> outerRank;
  for (Operation *op : reductions) {
    SmallVector<int64_t> axes;
    if (auto reduce = dyn_cast<ReduceOp>(op))
      axes.assign(reduce.getAxes().begin(), reduce.getAxes().end());
    else
      axes.push_back(cast<ArgReduceOp>(op).getAxis());
    if (axes.empty() || shapeOf(op->getOperand(0)) != ArrayRef(kernel.shape) || axes.back() != rank - 1 ||
        axes.front() != rank - static_cast<int64_t>(axes.size()) || (outerRank && *outerRank != axes.front()))
      return std::nullopt;
    outerRank = axes.front();
  }
  kernel.outerRank = *outerRank;
  RowRoles roles(kernel.shape, *outerRank);
  if (!roles.assign(body))
    return std::nullopt;
  for (Operation *op : body.ops) {
    if (auto partial = dyn_cast<PartialReduceOp>(op)) {
      if (!isSideReduction(partial, kernel, nullptr))
        return std::nullopt;
      continue;
    }
    Role role = roles.of(op->getResult(0));
    if (!isPointwise(op) && !isa<ReduceOp, ArgReduceOp, RandomBitsOp>(op))
      return std::nullopt;
    if (role == Role::unknown || (body.home.contains(op) && role != Role::full && role != Role::outer))
      return std::nullopt;
    for (Value operand : op->getOperands())
      if (!isa<BroadcastOp, RandomBitsOp>(op) && roles.of(operand) == Role::unknown)
        return std::nullopt;
  }
  return kernel;
}

/// One row of several shapes: each reduced to one number, and work on numbers.
std::optional<KernelShape> classifyFinish(const KernelBody &body, ArrayRef<Operation *> reductions) {
  constexpr size_t mostReductions = 32;
  constexpr int64_t mostElements = 4 * mostElementsOfOneRow;
  int64_t elements = 0;
  for (Operation *op : reductions) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || !shapeOf(reduce.getY()).empty() || elementsOf(reduce.getX()) == 0 ||
        elementsOf(reduce.getX()) > mostElementsOfOneRow)
      return std::nullopt;
    elements += elementsOf(reduce.getX());
  }
  if (reductions.size() > mostReductions || elements > mostElements)
    return std::nullopt;
  for (Operation *op : body.ops) {
    auto broadcast = dyn_cast<BroadcastOp>(op);
    if ((!isPointwise(op) && !isa<ReduceOp>(op)) || (broadcast && !shapeOf(broadcast.getX()).empty()))
      return std::nullopt;
  }
  for (Value result : body.results)
    if (!shapeOf(result).empty())
      return std::nullopt;
  return KernelShape{KernelKind::row, {}, 0, false};
}

std::optional<KernelShape> classifyReductionLoop(const KernelBody &body, ArrayRef<Operation *> reductions) {
  auto first = dyn_cast<ReduceOp>(reductions.front());
  if (!first)
    return std::nullopt;
  ArrayRef<int64_t> whole = shapeOf(first.getX());
  KernelShape kernel{KernelKind::loop, SmallVector<int64_t>(shapeOf(first.getY())), 0, true};
  SmallVector<Value> operands;
  for (Operation *op : reductions) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || reduce.getAxes() != first.getAxes() || reduce.getAxes().empty() || shapeOf(reduce.getX()) != whole ||
        reduce.getAxes().back() == static_cast<int64_t>(whole.size()) - 1)
      return std::nullopt;
    operands.push_back(reduce.getX());
  }
  DenseSet<Operation *> before = ancestors(body, operands);
  for (Operation *op : body.ops) {
    if (isa<ReduceOp>(op)) {
      if (before.contains(op))
        return std::nullopt;
      continue;
    }
    ArrayRef<int64_t> wanted = before.contains(op) ? whole : ArrayRef(kernel.shape);
    bool full = shapeOf(op->getResult(0)) == wanted;
    if ((!isPointwise(op) && !(isa<RandomBitsOp>(op) && full)) || (body.home.contains(op) && !full))
      return std::nullopt;
  }
  for (Value result : body.results)
    if (shapeOf(result) != ArrayRef(kernel.shape) || before.contains(result.getDefiningOp()))
      return std::nullopt;
  return kernel;
}

} // namespace

std::optional<KernelShape> classify(const KernelBody &body) {
  SmallVector<Operation *> contractions, reductions;
  for (Operation *op : body.ops) {
    if (auto scatter = dyn_cast<ScatterAddOp>(op))
      return classifyScatter(body, scatter);
    if (isa<ContractOp>(op))
      contractions.push_back(op);
    else if (isa<ReduceOp, ArgReduceOp>(op))
      reductions.push_back(op);
    else if (auto partial = dyn_cast<PartialReduceOp>(op))
      for (Operation *user : partial->getUsers())
        if (body.home.contains(user))
          return std::nullopt;
    if (auto bits = dyn_cast<RandomBitsOp>(op); bits && llvm::is_contained(body.ops, bits.getKey().getDefiningOp()))
      return std::nullopt;
  }
  if (contractions.size() > 1 || (!contractions.empty() && !reductions.empty()))
    return std::nullopt;
  if (!contractions.empty())
    return classifyMatmul(body, cast<ContractOp>(contractions.front()));
  if (reductions.empty())
    return classifyLoop(body);
  if (auto kernel = classifyRow(body, reductions))
    return kernel;
  if (auto kernel = classifyFinish(body, reductions))
    return kernel;
  return classifyReductionLoop(body, reductions);
}

} // namespace halftone::compiler
