// Matmul kernels: prologues, one contraction, an epilogue.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/Roots.h"
#include "compiler/forms/WindowTraits.h"
#include "dialect/TypeInference.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

enum Role { batch, m, n, k };

/// The axes of one operand: the role of each, and its position among the axes of that role.
struct OperandAxes {
  SmallVector<std::pair<Role, int64_t>> axes;
  SmallVector<int64_t> extents;
};

OperandAxes axesOf(Value operand, ArrayRef<int64_t> batchAxes, ArrayRef<int64_t> free, ArrayRef<int64_t> contracted,
                   Role freeRole) {
  OperandAxes result;
  for (auto [axis, extent] : llvm::enumerate(cast<RankedTensorType>(operand.getType()).getShape())) {
    auto position = [&](ArrayRef<int64_t> list) -> int64_t {
      const auto *it = llvm::find(list, int64_t(axis));
      return it == list.end() ? -1 : it - list.begin();
    };
    if (int64_t at = position(batchAxes); at >= 0)
      result.axes.emplace_back(Role::batch, at);
    else if (int64_t at = position(contracted); at >= 0)
      result.axes.emplace_back(Role::k, at);
    else
      result.axes.emplace_back(freeRole, position(free));
    result.extents.push_back(extent);
  }
  return result;
}

/// The operand's access over the dims of the groups; nullopt if dims were split or do not nest.
std::optional<Access> accessOf(IterationSpace &space, const OperandAxes &operand, ArrayRef<int> groups, Role freeRole) {
  struct Run {
    Role role;
    int64_t first, extent;
    Access dims;
  };
  SmallVector<Run> runs;
  for (auto [axis, position] : llvm::enumerate(operand.axes)) {
    bool follows = axis > 0 && operand.axes[axis - 1].first == position.first &&
                   operand.axes[axis - 1].second + 1 == position.second;
    if (follows)
      runs.back().extent *= operand.extents[axis];
    else
      runs.push_back({position.first, position.second, operand.extents[axis], {}});
  }
  Access access;
  for (Role role : {Role::batch, freeRole, Role::k}) {
    SmallVector<Run *> own;
    for (Run &run : runs)
      if (run.role == role)
        own.push_back(&run);
    llvm::sort(own, [](Run *a, Run *b) { return a->first < b->first; });
    SmallVector<int64_t> extents;
    for (Run *run : own)
      extents.push_back(run->extent);
    Access dims = space.group(groups[role]);
    if (own.empty()) { // a role without axes has a dim of extent 1
      access.append(dims.begin(), dims.end());
      continue;
    }
    auto parts = space.cut(dims, extents);
    if (!parts)
      return std::nullopt;
    for (auto [run, part] : llvm::zip(own, *parts))
      run->dims = part;
  }
  for (const Run &run : runs)
    access.append(run.dims.begin(), run.dims.end());
  return access;
}

/// The largest power of two, up to 16, that divides `extent`.
int64_t stepOf(int64_t extent) {
  constexpr int64_t maxDivisor = 16;
  return std::gcd(extent, maxDivisor); // most, if the extent is 0
}

/// Returns true if `op` is a transpose that the kernel performs when it stores a result. The innermost axis, along
/// which vectors of sums are stored, must stay innermost. No op of the kernel may read the result, not even a partial
/// reduction, whose blocks follow the order in which the contraction is computed.
bool isStoredTransposed(Operation *op, const KernelBody &body, ArrayRef<int64_t> shape) {
  auto transpose = dyn_cast<TransposeOp>(op);
  return transpose && shapeOf(transpose.getX()) == shape &&
         transpose.getPermutation().back() == static_cast<int64_t>(shape.size()) - 1 &&
         llvm::none_of(op->getUsers(), [&](Operation *user) { return llvm::is_contained(body.ops, user); });
}

FusionDecision classifyMatmul(const FormOps &ops) {
  const KernelBody &body = ops.body;
  if (ops.contractions.empty() || !ops.scatters.empty())
    return {};
  if (ops.contractions.size() > 1)
    return FusionDecision::declined("there is more than one contraction");
  if (!ops.reductions.empty())
    return FusionDecision::declined("a reduction is not partial", ops.reductions.front());
  auto contract = cast<ContractOp>(ops.contractions.front());
  KernelShape kernel{KernelKind::matmul, SmallVector<int64_t>(shapeOf(contract)), 0};
  DenseSet<Operation *> prologue = ancestors(body, contract->getOperands());
  const WindowOp window = windowOf(contract);
  const bool isUnpacked = !window && llvm::any_of(prologue, [](Operation *op) {
    return llvm::any_of(op->getOperandTypes(), [](Type type) { return bool(PanelsAttr::of(type)); });
  });
  for (Operation *op : prologue) {
    const bool isOfWindow = window && (op == window || op == contract.getLhs().getDefiningOp());
    const bool isGatherOfRows = isUnpacked && isa<GatherOp>(op);
    if (body.own.contains(op) || !(isPrologueOp(op) || isOfWindow || isGatherOfRows))
      return FusionDecision::declined(
          "an op before the contraction is not a cloned producer, or not cheap and elementwise", op);
  }
  for (Operation *op : body.ops) {
    if (op == contract || prologue.contains(op) || isStoredTransposed(op, body, kernel.shape))
      continue;
    if (auto partial = dyn_cast<PartialReduceOp>(op)) {
      if (!isPartialReduction(partial, kernel, contract, ops.blocking))
        return FusionDecision::declined("the blocks do not match the partial reduction", op);
      continue;
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && !body.own.contains(op)) { // of a partial reduction's operand
      if (shapeOf(reshape.getX()) != ArrayRef(kernel.shape))
        return FusionDecision::declined(
            "the operand of a reshape before a partial reduction differs in shape from the product", op);
      continue;
    }
    bool full = shapeOf(op->getResult(0)) == ArrayRef(kernel.shape);
    if (!isPointwise(op) && !(isa<RandomBitsOp>(op) && full))
      return FusionDecision::declined("an op after the contraction is not elementwise", op);
    if (!full && body.own.contains(op))
      return FusionDecision::declined("an op after the contraction differs in shape from the product", op);
  }
  for (Value result : body.results)
    if (!isa<PartialReduceOp, TransposeOp>(result.getDefiningOp()) && shapeOf(result) != ArrayRef(kernel.shape))
      return FusionDecision::declined("a result differs in shape from the product");
  return kernel;
}

/// Reads the contraction of a kernel, its factors and the kernel's results as nodes over an iteration space.
class MatmulReading {
public:
  MatmulReading(KernelOp kernel, ContractOp contract, Numerics numerics)
      : kernel(kernel), contract(contract), numerics(numerics),
        lhs(axesOf(contract.getLhs(), contract.getLhsBatch(), contract.getLhsFree(), contract.getLhsContract(),
                   Role::m)),
        rhs(axesOf(contract.getRhs(), contract.getRhsBatch(), contract.getRhsFree(), contract.getRhsContract(),
                   Role::n)),
        roots(rootsOf(kernel)) {
    auto extentsOf = [](const OperandAxes &operand, ArrayRef<int64_t> axes) {
      return llvm::map_to_vector(axes, [&](int64_t axis) { return operand.extents[axis]; });
    };
    groups = {space.addGroup(extentsOf(lhs, contract.getLhsBatch())),
              space.addKeptGroup(extentsOf(lhs, contract.getLhsFree())),
              space.addKeptGroup(extentsOf(rhs, contract.getRhsFree())),
              space.addKeptGroup(extentsOf(lhs, contract.getLhsContract()))};
  }

  LogicalResult read() {
    const int64_t elements = cast<RankedTensorType>(contract.getType()).getNumElements();
    for (const Root &root : roots)
      if (root.elements != elements)
        return emitError(kernel.getLoc(), "a result of a matmul kernel has ")
               << root.elements << " elements, expected " << elements;
    while (!tryRead()) {
      if (graph->failed)
        return failure();
      if (!space.takeRefined())
        return emitError(kernel.getLoc(), "axes of a matmul kernel do not nest");
    }
    return success();
  }

  int64_t extentOf(Role role) const { return space.extentOf(space.group(groups[role])); }
  /// Returns true if a factor is computed by a prologue.
  bool isComputed(int side) const {
    return factors[side]->kind != ValueNode::load || factors[side]->access.size() != accesses[side].size();
  }
  Type elementOf(int side) { return cast<RankedTensorType>(contract->getOperand(side).getType()).getElementType(); }

  /// The traits without the tile.
  MatmulTraits traits() {
    const auto dtypeOf = [](Type element) { return dialect::dtypeOf(element).value_or(DType::bool_); };
    MatmulTraits traits{dtypeOf(elementOf(0)), dtypeOf(elementOf(1)), dtypeOf(contract.getAccumulatorType())};
    traits.rows = extentOf(Role::m);
    traits.columns = extentOf(Role::n);
    traits.depth = extentOf(Role::k);
    traits.batch = extentOf(Role::batch);
    traits.numerics = numerics;
    traits.splitDepth = space.groupSize(groups[Role::k]) != 1;
    traits.depthRun = depthRun();
    traits.computed = isComputed(0) || isComputed(1);
    traits.lhsAlongDepth = isAlongDepth(0);
    const PanelsAttr panels = PanelsAttr::of(contract.getRhs().getType());
    traits.panels = panels != nullptr;
    traits.vanishes = contract->hasAttr(vanishesAttr) && !isAlongDepth(1);
    traits.halfBytes = panels && panels.getBits() != 0;
    if (WindowOp window = windowOf(contract))
      setWindow(traits, window);
    for (int dim : space.all())
      traits.divisors.push_back(stepOf(space.extent(dim)));
    return traits;
  }

  /// Returns true if the innermost dim of an operand is a dim of K.
  bool isAlongDepth(int side) const {
    return !accesses[size_t(side)].empty() &&
           llvm::is_contained(space.group(groups[Role::k]), accesses[size_t(side)].back());
  }

  /// The extent of the last dim of K, if adjacent indices of K are adjacent along that dim in each operand.
  int64_t depthRun() const {
    const auto dims = space.group(groups[Role::k]);
    const bool isLast = llvm::all_of(accesses, [&](const Access &access) {
      return access.empty() || !llvm::is_contained(dims, access.back()) || access.back() == dims.back();
    });
    return isLast ? space.extent(dims.back()) : 0;
  }

  KernelForm form(ScheduleAttrInterface schedule) const {
    KernelForm form;
    form.kind = KernelKind::matmul;
    form.numerics = numerics;
    form.outer = space.groupSize(groups[Role::batch]);
    for (int group : groups)
      form.roles.push_back(space.groupSize(group));
    form.schedule = schedule;
    form.lookupArguments = static_cast<int64_t>(lookupArguments().size());
    return form;
  }

  /// The lookup arguments of the left operand's window, in the order of WindowForm, or of the lookups beside a packed
  /// weight.
  SmallVector<int64_t> lookupArguments() const {
    SmallVector<int64_t> all(graph->lookupArguments);
    if (WindowOp window = windowOf(contract)) {
      const WindowSteps steps = window.getSteps();
      ArrayRef<int64_t> image = shapeOf(window.getX());
      for (int64_t axis = 0; axis < steps.rank(); ++axis)
        all.append({window.getPositions()[axis], window.getTaps()[axis], image[1 + axis], steps.paddingLow[axis]});
      all.push_back(channelsOf(window));
    }
    return all;
  }

  KernelOp kernel;
  mutable ContractOp contract;
  Numerics numerics;
  IterationSpace space;
  SmallVector<KernelResult> results;
  std::array<ValueNode *, 2> factors{};
  std::array<Access, 2> accesses; // of the factors
  Access kept;                    // batch, M, N

private:
  /// Returns false if the space was split, or on failure.
  bool tryRead() {
    graph = std::make_unique<ValueGraph>(kernel, space, numerics);
    results.clear();
    for (int side = 0; side < 2; ++side) {
      auto access = accessOf(space, side == 0 ? lhs : rhs, groups, side == 0 ? Role::m : Role::n);
      if (!access)
        return false;
      accesses[side] = *access;
    }
    // Operands without a prologue are read first: they determine the positions of dims of extent 1.
    for (bool asTheyAre : {true, false})
      for (int side = 0; side < 2; ++side) {
        Value operand = contract->getOperand(side);
        if (WindowOp window = windowOf(contract); window && side == 0)
          operand = window.getX(); // accessed as the matrix of the window's elements
        if (isa<BlockArgument>(operand) == asTheyAre && !(factors[side] = graph->get(operand, accesses[side])))
          return false;
      }
    kept = space.all();
    kept.truncate(kept.size() - space.groupSize(groups[Role::k]));
    graph->contractAccess = kept;
    for (const Root &root : roots) {
      auto result =
          root.value.getDefiningOp<TransposeOp>() ? transposedResult(root) : resultOf(*graph, space, root, kept);
      if (!result)
        return false;
      results.push_back(*result);
    }
    return true;
  }

  /// A result of shape S that is stored transposed; nullopt if the space was split, or on failure.
  std::optional<KernelResult> transposedResult(const Root &root) {
    auto op = root.value.getDefiningOp<TransposeOp>();
    const ArrayRef<int64_t> permutation = op.getPermutation();
    SmallVector<int64_t> extents;                 // of runs of axes of S that stay adjacent
    SmallVector<std::pair<int64_t, size_t>> runs; // by run: its position in the result, and its index
    int64_t before = -1;
    for (auto [axis, extent] : llvm::enumerate(shapeOf(op.getX()))) {
      const int64_t position = llvm::find(permutation, int64_t(axis)) - permutation.begin();
      if (axis > 0 && position == before + 1) {
        extents.back() *= extent;
      } else {
        runs.emplace_back(position, extents.size());
        extents.push_back(extent);
      }
      before = position;
    }
    auto parts = space.cut(kept, extents);
    if (!parts)
      return std::nullopt;
    llvm::sort(runs);
    KernelResult result{graph->get(op.getX(), kept), root.element, {}, "", {}};
    for (auto [position, number] : runs)
      llvm::append_range(result.access, (*parts)[number]);
    return result.node ? std::optional(result) : std::nullopt;
  }

  OperandAxes lhs, rhs;
  SmallVector<Root> roots;
  SmallVector<int, 4> groups; // by role
  std::unique_ptr<ValueGraph> graph;
};

/// Writes the prologues, and the contraction of their results.
Value writeProduct(GenericBuilder &builder, MatmulReading &reading, bool takesStoredFactors) {
  SmallVector<GenericBuilder::Factor, 2> factors;
  for (int side = 0; side < 2; ++side) {
    ValueNode *node = reading.factors[side];
    const Access &access = reading.accesses[side];
    factors.push_back({nullptr, access, reading.elementOf(side)});
    if (!reading.isComputed(side)) {
      factors.back().tensor = builder.operand(node->operand);
      continue;
    }
    // Groups along K are built from factors in their stored type, not from widened ones.
    const Type element = takesStoredFactors ? reading.elementOf(0) : node->type;
    factors.back().tensor = builder.generic(access, {{node, element, access, ""}})[0];
  }
  return builder.contraction(reading.space.all(), factors[0], factors[1], reading.kept,
                             reading.contract.getAccumulatorType());
}

FailureOr<KernelDescription> describeMatmul(KernelOp kernel, const Target &target, Numerics numerics) {
  auto contracts = kernel.getBody().front().getOps<ContractOp>();
  if (!llvm::hasSingleElement(contracts))
    return (*std::next(contracts.begin())).emitError("expected a single contraction in a kernel");
  MatmulReading reading(kernel, *contracts.begin(), numerics);
  if (failed(reading.read()))
    return failure();
  const IterationSpace &space = reading.space;
  const int64_t m = reading.extentOf(Role::m), n = reading.extentOf(Role::n);
  const auto spec = kernel.getSpec();
  MatmulTraits traits = reading.traits();
  traits.tile =
      spec ? MatmulTile{spec->getTileRows(), spec->getTileColumns()} : target.blocking(numerics).matmulTile(traits);
  const MatmulTile tile = traits.tile;
  KernelDescription description;
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.insert(description.extents.end(), {tile.m, tile.n});
  llvm::append_range(description.extents, reading.lookupArguments());
  description.grid = reading.extentOf(Role::batch) * ceilDivide(m, tile.m) * ceilDivide(n, tile.n);
  const double elements = double(cast<RankedTensorType>(reading.contract.getType()).getNumElements());
  const double depth = std::max<double>(1, reading.extentOf(Role::k));
  constexpr double perMultiplyAdd = 0.015; // nanoseconds
  description.cost = estimatedCost(kernel, reading.results, elements) + elements * depth * perMultiplyAdd;

  const ScheduleAttrInterface schedule = target.schedule(kernel.getContext(), traits);
  GenericBuilder builder(kernel, space, reading.form(schedule));
  SmallVector<ValueNode *> nodes(reading.factors.begin(), reading.factors.end());
  llvm::append_range(nodes, nodesOf(reading.results));
  if (failed(builder.declareOperands(nodes)))
    return failure();
  if (WindowOp window = windowOf(reading.contract)) {
    const WindowSteps steps = window.getSteps();
    builder.setWindow(reading.factors[0]->operand, {steps.stride, steps.dilation, steps.baseDilation});
  }
  builder.begin(reading.results);
  Value product = writeProduct(builder, reading, schedule.takesStoredFactors());
  for (ValueNode *node : GenericBuilder::reachable(nodes))
    if (node->kind == ValueNode::contract)
      builder.provide(node, product, reading.kept);
  SmallVector<Value> values = builder.generic(reading.kept, outputsOf(reading.results));
  func::FuncOp function = builder.function;
  description.module = builder.finish(values);
  description.scratchBytes = target.scratchBytes(function, description.extents);
  return description;
}

/// A transposed result is stored at other offsets than those of the elements that its block reads.
bool readsInPlaceMatmul(KernelOp kernel, int64_t operand) {
  const auto isTransposed = [](const Root &root) { return bool(root.value.getDefiningOp<TransposeOp>()); };
  return readsElementwise(kernel, operand) && llvm::none_of(rootsOf(kernel), isTransposed);
}

bool fitsMatmul(Block &ops) { return !ops.getOps<ContractOp>().empty(); }

/// The rows and columns of a tile are those of choose-layouts. All axes of M are reduced, as one axis, and either all
/// or none of the axes of N.
std::optional<PartialReduction> partialReductionOfMatmul(const KernelShape &kernel, Operation *contract,
                                                         int64_t reduced, const Blocking &) {
  auto op = cast<ContractOp>(contract);
  std::optional<ArrayRef<int64_t>> tile = op.getTile();
  const size_t batch = op.getLhsBatch().size(), rows = op.getLhsFree().size(), columns = op.getRhsFree().size();
  const bool reducesColumns = size_t(reduced) == kernel.shape.size();
  if (!tile || rows == 0 || columns == 0 || (size_t(reduced) != batch + rows && !reducesColumns))
    return std::nullopt;
  const auto shape = ArrayRef(kernel.shape);
  PartialReduction cut{SmallVector<int64_t>(shape.take_front(batch)), SmallVector<int64_t>(batch, 1)};
  cut.shape.push_back(product(shape.slice(batch, rows)));
  cut.tile.push_back(tile->front());
  if (reducesColumns) {
    cut.shape.push_back(product(shape.take_back(columns)));
    cut.tile.push_back(tile->back());
  } else {
    llvm::append_range(cut.shape, shape.take_back(columns));
  }
  return cut;
}

} // namespace

extern const Form matmulForm = {KernelKind::matmul,       fitsMatmul,    classifyMatmul, readsInPlaceMatmul,
                                partialReductionOfMatmul, describeMatmul};

} // namespace halftone::compiler
