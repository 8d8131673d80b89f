// Reduction loops: reductions that keep the innermost axis, along which vectors lie.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/Roots.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// The accumulators of a reduction loop, in the order of `reached`; nothing after a diagnostic.
SmallVector<GenericOutput> accumulatorsOf(ArrayRef<ValueNode *> reached, const Access &kept) {
  SmallVector<GenericOutput> accumulated;
  for (ValueNode *node : reached) {
    if (node->kind != ValueNode::reduce && node->kind != ValueNode::argReduce)
      continue;
    if (node->level > 1) {
      node->op->emitError("a reduction loop has no reduction of a reduction");
      return {};
    }
    if (node->kind == ValueNode::argReduce)
      accumulated.push_back({node, node->inputs[0]->type, kept, node->combiner});
    accumulated.push_back({node, node->type, kept, node->combiner});
  }
  return accumulated;
}

std::optional<KernelShape> classifyReductionLoop(const FormOps &ops) {
  const KernelBody &body = ops.body;
  if (!ops.contractions.empty() || ops.reductions.empty() || !ops.scatters.empty())
    return std::nullopt;
  auto first = dyn_cast<ReduceOp>(ops.reductions.front());
  if (!first)
    return std::nullopt;
  ArrayRef<int64_t> whole = shapeOf(first.getX());
  KernelShape kernel{KernelKind::reduction_loop, SmallVector<int64_t>(shapeOf(first.getY())), 0};
  SmallVector<Value> operands;
  for (Operation *op : ops.reductions) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || reduce.getAxes() != first.getAxes() || reduce.getAxes().empty() || shapeOf(reduce.getX()) != whole ||
        reduce.getAxes().back() == static_cast<int64_t>(whole.size()) - 1)
      return std::nullopt;
    operands.push_back(reduce.getX());
  }
  DenseSet<Operation *> before = ancestors(body, operands);
  const bool hasColumns = product(whole.drop_front(first.getAxes().back() + 1)) > 1; // else it is a row kernel
  for (Operation *op : body.ops) {
    for (Value operand : lookedUpOperands(op))
      if (llvm::is_contained(body.ops, operand.getDefiningOp()))
        return std::nullopt;
    if (isa<ReduceOp>(op)) {
      if (before.contains(op))
        return std::nullopt;
      continue;
    }
    ArrayRef<int64_t> wanted = before.contains(op) ? whole : ArrayRef(kernel.shape);
    bool full = shapeOf(op->getResult(0)) == wanted;
    const bool isWindow = isa<WindowOp>(op) && before.contains(op) && hasColumns;
    if ((!isPointwise(op) && !((isa<RandomBitsOp>(op) || isWindow) && full)) || (body.home.contains(op) && !full))
      return std::nullopt;
  }
  for (Value result : body.results)
    if (shapeOf(result) != ArrayRef(kernel.shape) || before.contains(result.getDefiningOp()))
      return std::nullopt;
  return kernel;
}

FailureOr<KernelDescription> describeReductionLoop(KernelOp kernel, const Target &target, bool strict) {
  const Reduction reduction = *firstReduction(kernel.getBody().front());
  IterationSpace space;
  int outerGroup = space.addGroup(reduction.keptBefore);
  int reducedGroup = space.addGroup(reduction.reduced);
  int innerGroup = space.addGroup(reduction.keptAfter);
  SmallVector<Root> roots = rootsOf(kernel);
  for (Root &root : roots)
    if (root.partial)
      return root.partial.emitError("a reduction loop has no side reductions");

  Access kept;
  FailureOr<ReadRoots> read = readRoots(
      kernel, space, strict, roots,
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
  // The vector runs along the last dim alone; the other kept ones are rows.
  int64_t columns = space.extent(inner.back());
  int64_t rows = space.extentOf(kept) / std::max<int64_t>(columns, 1);
  int64_t depth = space.extentOf(reduced);
  const bool sharesRows = inner.size() > 1;
  LoopBlocks blocks = target.blocking().loopBlocks({rows, columns, depth, false, false, sharesRows});
  KernelDescription description;
  description.grid = ceilDivide(rows, blocks.rows) * ceilDivide(columns, blocks.columns);
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.insert(description.extents.end(), {blocks.rows, blocks.columns});
  llvm::append_range(description.extents, read->graph->numbers);
  description.cost = estimatedCost(kernel, results, double(rows) * double(columns) * std::max<int64_t>(depth, 1));

  KernelForm form;
  form.kind = "reduction_loop";
  form.strict = strict;
  form.outer = static_cast<int64_t>(outer.size());
  form.reduced = static_cast<int64_t>(reduced.size());
  form.numbers = static_cast<int64_t>(read->graph->numbers.size());
  GenericBuilder builder(kernel, space, form);
  SmallVector<ValueNode *> nodes = nodesOf(results);
  if (failed(builder.declareOperands(nodes)))
    return failure();
  builder.begin(results);
  SmallVector<GenericOutput> accumulated = accumulatorsOf(GenericBuilder::reachable(nodes), kept);
  if (accumulated.empty())
    return failure();
  SmallVector<Value> totals = builder.generic(space.all(), accumulated);
  for (auto [output, total] : llvm::zip(accumulated, totals))
    builder.provide(output.node, total, kept); // of an arg pair the index, which comes last
  description.module = builder.finish(builder.generic(kept, outputsOf(results)));
  return description;
}

/// The form of every reduction that keeps more than one element behind its last axis.
bool fitsReductionLoop(Block &) { return true; }

} // namespace

extern const Form reductionLoopForm = {KernelKind::reduction_loop, fitsReductionLoop, classifyReductionLoop,
                                       readsElementwise,           nullptr,           describeReductionLoop};

} // namespace halftone::compiler
