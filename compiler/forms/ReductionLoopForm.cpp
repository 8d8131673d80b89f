// Reduction loop kernels: reductions that keep the innermost axis, along which they are vectorized.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/Roots.h"
#include "dialect/TypeInference.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// The accumulators of a reduction loop, in the order of `reached`; empty after a diagnostic.
SmallVector<GenericOutput> accumulatorsOf(ArrayRef<ValueNode *> reached, const Access &kept) {
  SmallVector<GenericOutput> accumulated;
  for (ValueNode *node : reached) {
    if (node->kind != ValueNode::reduce && node->kind != ValueNode::argReduce)
      continue;
    if (node->level > 1) {
      node->op->emitError("a reduction of a reduction is not supported in a reduction loop");
      return {};
    }
    if (node->kind == ValueNode::argReduce)
      accumulated.push_back({node, node->inputs[0]->type, kept, node->combiner});
    accumulated.push_back({node, node->type, kept, node->combiner});
  }
  return accumulated;
}

FusionDecision classifyReductionLoop(const FormOps &ops) {
  const KernelBody &body = ops.body;
  if (!ops.contractions.empty() || ops.reductions.empty() || !ops.scatters.empty())
    return {};
  auto first = dyn_cast<ReduceOp>(ops.reductions.front());
  if (!first)
    return {};
  ArrayRef<int64_t> whole = shapeOf(first.getX());
  KernelShape kernel{KernelKind::reduction_loop, SmallVector<int64_t>(shapeOf(first.getY())), 0};
  SmallVector<Value> operands;
  for (Operation *op : ops.reductions) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || reduce.getAxes() != first.getAxes() || reduce.getAxes().empty() || shapeOf(reduce.getX()) != whole ||
        reduce.getAxes().back() == static_cast<int64_t>(whole.size()) - 1)
      return FusionDecision::declined("the reductions differ in shape or axes, or include the last axis", op);
    operands.push_back(reduce.getX());
  }
  DenseSet<Operation *> before = ancestors(body, operands);
  const bool hasColumns = product(whole.drop_front(first.getAxes().back() + 1)) > 1; // otherwise it is a row kernel
  for (Operation *op : body.ops) {
    for (Value operand : lookedUpOperands(op))
      if (llvm::is_contained(body.ops, operand.getDefiningOp()))
        return FusionDecision::declined("an op looks up elements of a value that the kernel computes", op);
    if (isa<ReduceOp>(op)) {
      if (before.contains(op))
        return FusionDecision::declined("a reduction reads the result of another", op);
      continue;
    }
    ArrayRef<int64_t> wanted = before.contains(op) ? whole : ArrayRef(kernel.shape);
    bool full = shapeOf(op->getResult(0)) == wanted;
    // A cloned window may be smaller, since a broadcast repeats it.
    const bool isWindow = isa<WindowOp>(op) && before.contains(op) && hasColumns;
    if ((!isPointwise(op) && !(isa<RandomBitsOp>(op) && full) && !isWindow) || (body.own.contains(op) && !full))
      return FusionDecision::declined(
          "an op is not elementwise, or differs in shape from the operands and results of the reductions", op);
  }
  for (Value result : body.results)
    if (shapeOf(result) != ArrayRef(kernel.shape) || before.contains(result.getDefiningOp()))
      return FusionDecision::declined(
          "a result differs in shape from the results of the reductions, or is computed before them");
  return kernel;
}

/// Finds groups along which lanes may run. In a grouped convolution with few channels and filters per group, the last
/// dims of the kernel are (group, filter). It reads its image through a window; the last axis of the image is one index
/// of (group, channel). Tensors that it reads along the filters have (group, filter) as their last axes.
class LaneGroupsFinder {
public:
  LaneGroupsFinder(KernelOp kernel, const IterationSpace &space, const Access &inner) : kernel(kernel), space(space) {
    if (inner.size() >= 2 && inner.back() == inner[inner.size() - 2] + 1) {
      filter = inner.back();
      group = filter - 1;
    }
  }

  /// The groups along which lanes may run; nullopt if there are none.
  std::optional<GroupedTraits> find(ArrayRef<ValueNode *> nodes) {
    if (group < 0 || !llvm::all_of(nodes, [&](ValueNode *node) { return fits(*node); }) || !image)
      return std::nullopt;
    const auto dtype = dtypeOf(getElementTypeOrSelf(image));
    if (!dtype)
      return std::nullopt;
    return GroupedTraits{*dtype, space.extent(filter), channel < 0 ? 1 : space.extent(channel), channel};
  }

private:
  bool fits(const ValueNode &node) {
    if (node.kind == ValueNode::argReduce)
      return false;
    if (node.kind == ValueNode::lookup)
      return node.inputs.empty() && !llvm::is_contained(node.access, filter) && fitsLookup(node);
    if (node.kind != ValueNode::load || !llvm::is_contained(node.access, filter))
      return true;
    return llvm::count(node.access, group) == 1 && llvm::count(node.access, filter) == 1 && node.access.size() >= 2 &&
           node.access.back() == filter && node.access[node.access.size() - 2] == group;
  }

  bool fitsLookup(const ValueNode &node) {
    if (!llvm::is_contained(node.access, group))
      return true;
    const LookupAxis &last = node.position.back();
    if (!last.window || !last.window->inside || last.window->taps != Access{group} || last.dims.size() > 1)
      return false;
    const int own = last.dims.empty() ? -1 : last.dims.front();
    const int64_t channels = own < 0 ? 1 : space.extent(own);
    if ((image && own != channel) || last.window->dilation != channels || (own >= 0 && last.window->stride != 1))
      return false;
    channel = own;
    image = kernel.getBody().getArgument(unsigned(node.operand)).getType();
    return llvm::count(node.access, group) == 1;
  }

  KernelOp kernel;
  const IterationSpace &space;
  int group = -1, filter = -1, channel = -1; // dims
  Type image;                                // null if no image is read this way
};

/// The rows and columns of a reduction loop. Lanes run along the last dim, or along the last dim and the groups. The
/// other kept dims are rows, except the channels of a group, which are all in one row.
LoopSpace loopSpaceOf(const IterationSpace &space, ArrayRef<int> kept, ArrayRef<int> inner, ArrayRef<int> reduced,
                      const std::optional<GroupedTraits> &groups) {
  const size_t vectorDims = groups ? 2 : 1;
  Access rowDims(kept.drop_back(vectorDims));
  if (groups)
    llvm::erase(rowDims, int(groups->channelDim));
  LoopSpace loops{space.extentOf(rowDims), space.extentOf(inner.take_back(vectorDims)), space.extentOf(reduced)};
  loops.sharesRows = !rowDims.empty() && llvm::is_contained(inner, rowDims.back());
  loops.groups = groups.has_value();
  return loops;
}

FailureOr<KernelDescription> describeReductionLoop(KernelOp kernel, const Target &target, Numerics numerics) {
  const Reduction reduction = *firstReduction(kernel.getBody().front());
  IterationSpace space;
  int outerGroup = space.addGroup(reduction.keptBefore);
  int reducedGroup = space.addGroup(reduction.reduced);
  int innerGroup = space.addGroup(reduction.keptAfter);
  SmallVector<Root> roots = rootsOf(kernel);
  for (Root &root : roots)
    if (root.partial)
      return root.partial.emitError("partial reductions are not supported in a reduction loop");

  Access kept;
  FailureOr<ReadRoots> read = readRoots(
      kernel, space, numerics, roots,
      [&](ValueGraph &graph) {
        kept = space.group(outerGroup);
        Access inner = space.group(innerGroup);
        kept.append(inner.begin(), inner.end());
        graph.scope = {kept, space.group(reducedGroup)};
      },
      [&](const Root &) -> Access { return kept; }, "axes of a reduction loop do not nest");
  if (failed(read))
    return failure();
  SmallVector<KernelResult> &results = read->results;

  Access outer = space.group(outerGroup), reduced = space.group(reducedGroup), inner = space.group(innerGroup);
  KernelForm form;
  SmallVector<ValueNode *> nodes = nodesOf(results);
  std::optional<GroupedTraits> groups;
  if (!numerics.fixesOrder())
    groups = LaneGroupsFinder(kernel, space, inner).find(GenericBuilder::reachable(nodes));
  if (groups)
    form.schedule = target.schedule(kernel.getContext(), *groups);
  if (!form.schedule)
    groups.reset();
  const LoopSpace loops = loopSpaceOf(space, kept, inner, reduced, groups);
  const LoopBlocks blocks = target.blocking(numerics).loopBlocks(loops);
  KernelDescription description;
  description.grid = ceilDivide(loops.rows, blocks.rows) * ceilDivide(loops.columns, blocks.columns);
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.insert(description.extents.end(), {blocks.rows, blocks.columns});
  llvm::append_range(description.extents, read->graph->lookupArguments);
  description.cost = estimatedCost(kernel, results, double(space.extentOf(kept)) * std::max<int64_t>(loops.weight, 1));

  form.kind = KernelKind::reduction_loop;
  form.numerics = numerics;
  form.outer = static_cast<int64_t>(outer.size());
  form.reduced = static_cast<int64_t>(reduced.size());
  form.lookupArguments = static_cast<int64_t>(read->graph->lookupArguments.size());
  GenericBuilder builder(kernel, space, form);
  if (failed(builder.declareOperands(nodes)))
    return failure();
  builder.begin(results);
  SmallVector<GenericOutput> accumulated = accumulatorsOf(GenericBuilder::reachable(nodes), kept);
  if (accumulated.empty())
    return failure();
  SmallVector<Value> totals = builder.generic(space.all(), accumulated);
  for (auto [output, total] : llvm::zip(accumulated, totals))
    builder.provide(output.node, total, kept); // for an arg pair the index, which comes last
  func::FuncOp function = builder.function;
  description.module = builder.finish(builder.generic(kept, outputsOf(results)));
  description.scratchBytes = target.scratchBytes(function, description.extents);
  return description;
}

/// Accepts every reduction, since earlier forms take those that keep at most one element after their last axis.
bool fitsReductionLoop(Block &) { return true; }

} // namespace

extern const Form reductionLoopForm = {KernelKind::reduction_loop, fitsReductionLoop, classifyReductionLoop,
                                       readsElementwise,           nullptr,           describeReductionLoop};

} // namespace halftone::compiler
