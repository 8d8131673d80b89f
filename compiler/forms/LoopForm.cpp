// Elementwise loops and reduction loops.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/kernels/KernelSource.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

int64_t extentOf(const IterationSpace &space, ArrayRef<int> dims) {
  int64_t result = 1;
  for (int dim : dims)
    result *= space.extent(dim);
  return result;
}

/// The shape that a loop kernel goes over: tiles of side reductions are cut along the shape that they reduce.
SmallVector<int64_t> shapeOf(ArrayRef<Root> roots) {
  const Root *shaped = llvm::find_if(roots, [](const Root &root) { return bool(root.partial); });
  if (shaped == roots.end())
    return SmallVector<int64_t>(cast<RankedTensorType>(roots.front().value.getType()).getShape());
  for (const Root &root : roots)
    if (root.partial)
      shaped = &root;
  return SmallVector<int64_t>(cast<RankedTensorType>(shaped->value.getType()).getShape());
}

/// The blocks of a kernel whose spec says `specified` indices of the first axis of `shape` with extent > 1; nullopt when
/// they do not nest with the kernel's dims, of which the last has `columns`.
std::optional<LoopBlocks> blocksOfSpec(ArrayRef<int64_t> shape, int64_t specified, size_t dims, int64_t columns) {
  size_t axis = 0;
  while (axis + 1 < shape.size() && shape[axis] == 1)
    ++axis;
  if (axis < shape.size())
    specified = std::min(specified, std::max<int64_t>(shape[axis], 1));
  int64_t elements = specified * product(shape.drop_front(std::min(axis + 1, shape.size())));
  if (dims == 1)
    return LoopBlocks{1, std::max<int64_t>(elements, 1)};
  if (columns != 0 && elements % columns == 0)
    return LoopBlocks{std::max<int64_t>(elements / columns, 1), columns};
  return std::nullopt;
}

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

} // namespace

FailureOr<KernelDescription> describeLoop(KernelOp kernel, const Target &target, bool strict) {
  SmallVector<Root> roots = rootsOf(kernel);
  for (const Root &root : roots)
    if (root.elements != roots.front().elements)
      return emitError(kernel.getLoc(), "results of a loop kernel differ in size: ")
             << root.elements << " and " << roots.front().elements;
  SmallVector<int64_t> shape = shapeOf(roots);
  IterationSpace space;
  int group = space.addKeptGroup(shape);
  FailureOr<ReadRoots> read = readRoots(
      kernel, space, strict, roots, [](ValueGraph &) {}, [&](const Root &) -> Access { return space.group(group); },
      "the tiles of a side reduction do not nest with the kernel's axes");
  if (failed(read))
    return failure();
  SmallVector<KernelResult> &results = read->results;

  Access all = space.all();
  LoopSpace loop{extentOf(space, ArrayRef<int>(all).drop_back()), space.extent(all.back())};
  loop.packs = llvm::any_of(results, [](const KernelResult &result) { return result.panels != nullptr; });
  KernelDescription description;
  description.cost = estimatedCost(kernel, results, double(loop.rows) * double(loop.columns));
  KernelForm form;
  form.kind = "loop";
  form.strict = strict;
  form.outer = static_cast<int64_t>(all.size()) - 1;
  form.numbers = static_cast<int64_t>(read->graph->numbers.size());
  GenericBuilder builder(kernel, space, form);
  SmallVector<ValueNode *> nodes;
  SmallVector<GenericOutput> outputs;
  for (const KernelResult &result : results) {
    nodes.push_back(result.node);
    outputs.push_back({result.node, result.element, result.access, result.combiner});
  }
  if (failed(builder.declareOperands(nodes)))
    return failure();
  builder.begin(results);
  func::FuncOp function = builder.function;
  description.module = builder.finish(builder.generic(all, outputs));
  loop.transposes = KernelSource::read(function)->transposedOperands() > 0;

  LoopBlocks blocks = target.blocking().loopBlocks(loop);
  int64_t specified = specifiedRows(kernel);
  if (loop.packs && (all.size() != 2 || specified || loop.transposes))
    return emitError(kernel.getLoc(), "packed results in a loop kernel that has more than two axes, side reductions or "
                                      "transposed operands");
  if (specified) {
    auto found = blocksOfSpec(shape, specified, all.size(), loop.columns);
    if (!found)
      return emitError(kernel.getLoc(), "blocks of ") << specified << " rows do not nest with the kernel's axes";
    blocks = *found;
  }
  description.grid = ceilDivide(loop.rows, blocks.rows) * ceilDivide(loop.columns, blocks.columns);
  if (failed(checkPieces(roots, results, description.grid)))
    return failure();
  for (int dim : all)
    description.extents.push_back(space.extent(dim));
  description.extents.insert(description.extents.end(), {blocks.rows, blocks.columns});
  description.extents.insert(description.extents.end(), read->graph->numbers.begin(), read->graph->numbers.end());
  description.scratchBytes = target.scratchBytes(function, description.extents);
  return description;
}

FailureOr<KernelDescription> describeReductionLoop(KernelOp kernel, const Reduction &reduction,
                                                   const Target &target, bool strict) {
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
  int64_t rows = extentOf(space, kept) / std::max<int64_t>(columns, 1);
  int64_t depth = extentOf(space, reduced);
  LoopBlocks blocks = target.blocking().loopBlocks({rows, columns, depth});
  KernelDescription description;
  description.grid = ceilDivide(rows, blocks.rows) * ceilDivide(columns, blocks.columns);
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.insert(description.extents.end(), {blocks.rows, blocks.columns});
  description.cost = estimatedCost(kernel, results, double(rows) * double(columns) * std::max<int64_t>(depth, 1));

  KernelForm form;
  form.kind = "loop";
  form.strict = strict;
  form.outer = static_cast<int64_t>(outer.size());
  form.reduced = static_cast<int64_t>(reduced.size());
  GenericBuilder builder(kernel, space, form);
  SmallVector<ValueNode *> nodes;
  SmallVector<GenericOutput> epilogue;
  for (const KernelResult &result : results) {
    nodes.push_back(result.node);
    epilogue.push_back({result.node, result.element, kept, ""});
  }
  if (failed(builder.declareOperands(nodes)))
    return failure();
  builder.begin(results);
  SmallVector<GenericOutput> accumulated = accumulatorsOf(GenericBuilder::reachable(nodes), kept);
  if (accumulated.empty())
    return failure();
  SmallVector<Value> totals = builder.generic(space.all(), accumulated);
  for (auto [output, total] : llvm::zip(accumulated, totals))
    builder.provide(output.node, total, kept); // of an arg pair the index, which comes last
  description.module = builder.finish(builder.generic(kept, epilogue));
  return description;
}

} // namespace halftone::compiler
