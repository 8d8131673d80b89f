// One row of several shapes: what finishes side reductions, and the work on numbers that follows.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// The shapes, of more than one element, that the kernel reduces to one number, in order of appearance.
SmallVector<std::vector<int64_t>> reducedShapes(KernelOp kernel) {
  SmallVector<std::vector<int64_t>> shapes;
  for (auto reduce : kernel.getBody().front().getOps<ReduceOp>()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(reduce.getX().getType()).getShape();
    bool isWhole = cast<RankedTensorType>(reduce.getY().getType()).getRank() == 0;
    if (isWhole && product(shape) != 1 && !llvm::is_contained(shapes, std::vector<int64_t>(shape)))
      shapes.push_back(std::vector<int64_t>(shape));
  }
  return shapes;
}

} // namespace

bool reducesSeveralShapes(KernelOp kernel) {
  return kernel.getKind() == KernelKind::row && reducedShapes(kernel).size() > 1;
}

FailureOr<KernelDescription> describeFinish(KernelOp kernel, bool strict) {
  IterationSpace space;
  std::map<std::vector<int64_t>, int> groups;
  KernelDescription description;
  double elements = 0;
  for (const std::vector<int64_t> &shape : reducedShapes(kernel)) {
    groups[shape] = space.addGroup(shape);
    elements += static_cast<double>(product(shape));
  }
  SmallVector<Root> roots = rootsOf(kernel);
  for (const Root &root : roots)
    if (root.elements != 1 || root.partial)
      return emitError(kernel.getLoc(), "a row kernel of several shapes gives numbers alone");

  FailureOr<ReadRoots> read = readRoots(
      kernel, space, strict, roots,
      [&](ValueGraph &graph) {
        graph.scope.reduced = space.all();
        for (auto &[shape, group] : groups)
          graph.scope.rows[shape] = space.group(group);
      },
      [](const Root &) -> Access { return Access(); }, "axes of a row kernel do not nest");
  if (failed(read))
    return failure();
  SmallVector<KernelResult> &results = read->results;
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.push_back(1);
  description.grid = 1;
  description.cost = estimatedCost(kernel, results, elements);

  SmallVector<ValueNode *> nodes;
  SmallVector<GenericOutput> numbers;
  for (const KernelResult &result : results) {
    nodes.push_back(result.node);
    numbers.push_back({result.node, result.element, {}, ""});
  }
  KernelForm form;
  form.kind = "row";
  form.strict = strict;
  GenericBuilder builder(kernel, space, form);
  if (failed(builder.declareOperands(nodes)))
    return failure();
  builder.begin(results);
  // Reductions of one level over one shape share a generic.
  std::map<std::pair<int, int>, SmallVector<GenericOutput>> phases; // level, first dim
  for (ValueNode *node : GenericBuilder::reachable(nodes))
    if (node->kind == ValueNode::reduce)
      phases[{node->level, node->access.front()}].push_back({node, node->type, {}, node->combiner});
  for (auto &[phase, outputs] : phases) {
    SmallVector<Value> tensors = builder.generic(outputs.front().node->access, outputs);
    for (auto [output, tensor] : llvm::zip(outputs, tensors))
      builder.provide(output.node, tensor, {});
  }
  description.module = builder.finish(builder.generic({}, numbers));
  return description;
}

} // namespace halftone::compiler
