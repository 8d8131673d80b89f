// Elementwise loops and reduction loops.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/linalg/Forms.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

struct LoopBlocks {
  int64_t rows = 1, columns = 1, grid = 1;
};

/// Blocks of a rows x columns space in which one element costs `weight` simple ones: at least 4096 of those a block,
/// about 256 blocks of large spaces, and whole cache lines of a row (of f16 when each element is much work; several
/// where rows are long, since each is on a page of its own).
LoopBlocks chooseBlocks(int64_t rows, int64_t columns, int64_t weight) {
  constexpr int64_t smallest = 4096, most = 256;
  weight = std::max<int64_t>(weight, 1);
  int64_t line = weight < 64 ? 64 : columns >= 512 ? 128 : 32;
  int64_t wanted = std::max(ceilDivide(smallest, weight), ceilDivide(rows * columns, most));
  LoopBlocks blocks;
  blocks.columns = std::min(std::max<int64_t>(columns, 1), ceilDivide(wanted, line) * line);
  if (blocks.columns == columns)
    blocks.rows = std::clamp<int64_t>(wanted / std::max<int64_t>(columns, 1), 1, std::max<int64_t>(rows, 1));
  return blocks;
}

/// How many operands of the one generic are transposed: the last two dims are the vector's and their own last.
int64_t transposedOperands(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](linalg::GenericOp generic) {
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      AffineMap map = generic.getMatchingIndexingMap(operand);
      unsigned dims = map.getNumDims();
      count += dims >= 2 && map.getNumResults() >= 2 && map.isFunctionOfDim(dims - 1) &&
               map.getResults().back() == getAffineDimExpr(dims - 2, map.getContext());
    }
  });
  return count;
}

/// Blocks for packed results: whole lines of the panels, and rows that are staged in little memory.
LoopBlocks packedBlocks(int64_t rows, int64_t columns) {
  constexpr int64_t longest = 256, smallest = 4096, most = 256;
  LoopBlocks blocks;
  blocks.columns = std::clamp<int64_t>(columns, 1, longest);
  int64_t wanted = std::max(smallest, ceilDivide(rows * columns, most)) / blocks.columns;
  blocks.rows = ceilDivide(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(rows, 1)), stagedRows) * stagedRows;
  return blocks;
}

/// Blocks for squares to be transposed in: few pages of either tensor.
LoopBlocks squareBlocks(int64_t rows, int64_t columns) {
  constexpr int64_t side = 64, most = 256;
  LoopBlocks blocks;
  blocks.columns = std::min(std::max<int64_t>(columns, 1), side);
  int64_t wanted = ceilDivide(rows * columns, most * side * side) * side;
  blocks.rows = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(rows, 1));
  return blocks;
}

int64_t extentOf(const IterationSpace &space, ArrayRef<int> dims) {
  int64_t result = 1;
  for (int dim : dims)
    result *= space.extent(dim);
  return result;
}

} // namespace

FailureOr<KernelDescription> describeLoop(KernelOp kernel, bool strict) {
  SmallVector<Root> roots = rootsOf(kernel);
  const Root *largest = &roots.front();
  for (const Root &root : roots)
    if (root.elements != largest->elements)
      return emitError(kernel.getLoc(), "results of a loop kernel differ in size: ")
             << root.elements << " and " << largest->elements;
  SmallVector<int64_t> shape;
  for (const Root &root : roots) // tiles of side reductions are cut along the shape that they reduce
    if (shape.empty() || root.partial)
      shape.assign(cast<RankedTensorType>(root.value.getType()).getShape().begin(),
                   cast<RankedTensorType>(root.value.getType()).getShape().end());

  IterationSpace space;
  int group = space.addKeptGroup(shape);
  FailureOr<ReadRoots> read = readRoots(
      kernel, space, strict, roots, [](ValueGraph &) {}, [&](const Root &) -> Access { return space.group(group); },
      "the tiles of a side reduction do not nest with the kernel's axes");
  if (failed(read))
    return failure();
  SmallVector<KernelResult> &results = read->results;

  Access all = space.all();
  int64_t columns = space.extent(all.back()), rows = extentOf(space, ArrayRef<int>(all).drop_back());
  LoopBlocks blocks = chooseBlocks(rows, columns, 1);
  if (int64_t specified = specifiedRows(kernel)) {
    size_t axis = 0;
    while (axis + 1 < shape.size() && shape[axis] == 1)
      ++axis;
    if (axis < shape.size())
      specified = std::min(specified, std::max<int64_t>(shape[axis], 1));
    int64_t elements = specified * product(ArrayRef<int64_t>(shape).drop_front(std::min(axis + 1, shape.size())));
    if (all.size() == 1)
      blocks = {1, std::max<int64_t>(elements, 1)};
    else if (columns != 0 && elements % columns == 0)
      blocks = {std::max<int64_t>(elements / columns, 1), columns};
    else
      return emitError(kernel.getLoc(), "blocks of ") << specified << " rows do not nest with the kernel's axes";
  }
  KernelDescription description;
  description.cost = estimatedCost(kernel, results, double(rows) * double(columns));

  GenericBuilder builder(kernel, space, strict, 2, static_cast<int>(read->graph->numbers.size()));
  SmallVector<ValueNode *> nodes;
  SmallVector<GenericOutput> outputs;
  for (const KernelResult &result : results) {
    nodes.push_back(result.node);
    outputs.push_back({result.node, result.element, result.access, result.combiner});
  }
  if (failed(builder.declareOperands(nodes)))
    return failure();
  builder.begin(KernelKind::loop, all.size() - 1, results);
  SmallVector<Value> values = builder.generic(all, outputs);
  description.module = builder.finish(values);
  if (int64_t transposed = transposedOperands(*description.module)) {
    description.scratchBytes = transposed * transposedSquareBytes;
    if (!specifiedRows(kernel))
      blocks = squareBlocks(rows, columns);
  }
  if (int64_t packed = llvm::count_if(results, [](const KernelResult &result) { return result.panels != nullptr; })) {
    if (all.size() != 2 || specifiedRows(kernel) || description.scratchBytes)
      return emitError(kernel.getLoc(),
                       "packed results in a loop kernel that has more than two axes, side reductions or "
                       "transposed operands");
    blocks = packedBlocks(rows, columns);
    description.scratchBytes = packed * stagedBytes(blocks.columns);
  }
  description.grid = ceilDivide(rows, blocks.rows) * ceilDivide(columns, blocks.columns);
  if (failed(checkPieces(roots, results, description.grid)))
    return failure();
  for (int dim : all)
    description.extents.push_back(space.extent(dim));
  description.extents.insert(description.extents.end(), {blocks.rows, blocks.columns});
  description.extents.insert(description.extents.end(), read->graph->numbers.begin(), read->graph->numbers.end());
  return description;
}

FailureOr<KernelDescription> describeReductionLoop(KernelOp kernel, const Reduction &reduction, bool strict) {
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
  LoopBlocks blocks = chooseBlocks(rows, columns, depth);
  KernelDescription description;
  description.grid = ceilDivide(rows, blocks.rows) * ceilDivide(columns, blocks.columns);
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.insert(description.extents.end(), {blocks.rows, blocks.columns});
  description.cost = estimatedCost(kernel, results, double(rows) * double(columns) * std::max<int64_t>(depth, 1));

  GenericBuilder builder(kernel, space, strict, 2);
  SmallVector<ValueNode *> nodes, reductions;
  SmallVector<GenericOutput> epilogue;
  for (const KernelResult &result : results) {
    nodes.push_back(result.node);
    epilogue.push_back({result.node, result.element, kept, ""});
  }
  if (failed(builder.declareOperands(nodes)))
    return failure();
  builder.begin(KernelKind::loop, outer.size(), results);
  builder.function->setAttr("halftone.reduced", builder.builder.getI64IntegerAttr(reduced.size()));
  SmallVector<ValueNode *> reached = GenericBuilder::reachable(nodes);
  SmallVector<GenericOutput> accumulated;
  for (ValueNode *node : reached) {
    if (node->kind != ValueNode::reduce && node->kind != ValueNode::argReduce)
      continue;
    if (node->level > 1)
      return node->op->emitError("a reduction loop has no reduction of a reduction");
    if (node->kind == ValueNode::argReduce) {
      accumulated.push_back({node, node->inputs[0]->type, kept, node->combiner});
      accumulated.push_back({node, node->type, kept, node->combiner});
    } else {
      accumulated.push_back({node, node->type, kept, node->combiner});
    }
  }
  SmallVector<Value> totals = builder.generic(space.all(), accumulated);
  for (auto [output, total] : llvm::zip(accumulated, totals))
    builder.provide(output.node, total, kept); // of an arg pair the index, which comes last
  description.module = builder.finish(builder.generic(kept, epilogue));
  return description;
}

} // namespace halftone::compiler
