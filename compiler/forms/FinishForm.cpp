// Finish kernels: one row with several shapes, which completes partial reductions and computes scalars from them.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/Roots.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// One row with several shapes, each of which is reduced to a scalar, and ops on scalars.
FusionDecision classifyFinish(const FormOps &ops) {
  const KernelBody &body = ops.body;
  if (!ops.contractions.empty() || ops.reductions.empty() || !ops.scatters.empty())
    return {};
  constexpr size_t maxReductions = 32;
  constexpr int64_t maxElements = 4 * maxElementsOfOneRow;
  int64_t elements = 0;
  for (Operation *op : ops.reductions) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || !shapeOf(reduce.getY()).empty() || elementsOf(reduce.getX()) == 0 ||
        elementsOf(reduce.getX()) > maxElementsOfOneRow)
      return FusionDecision::declined("an op is not a reduction of few elements to a scalar", op);
    elements += elementsOf(reduce.getX());
  }
  if (ops.reductions.size() > maxReductions || elements > maxElements)
    return FusionDecision::declined("there are too many reductions, or they have too many elements in total");
  for (Operation *op : body.ops) {
    auto broadcast = dyn_cast<BroadcastOp>(op);
    if ((!isPointwise(op) && !isa<ReduceOp>(op)) || (broadcast && !shapeOf(broadcast.getX()).empty()))
      return FusionDecision::declined("an op is neither elementwise nor a broadcast of a scalar", op);
  }
  for (Value result : body.results)
    if (!shapeOf(result).empty())
      return FusionDecision::declined("a result is not a scalar");
  return KernelShape{KernelKind::finish, {}, 0};
}

FailureOr<KernelDescription> describeFinish(KernelOp kernel, const Target &target, Numerics numerics) {
  IterationSpace space;
  std::map<std::vector<int64_t>, int> groups;
  KernelDescription description;
  double elements = 0;
  for (const std::vector<int64_t> &shape : shapesReducedToScalars(kernel.getBody().front())) {
    groups[shape] = space.addGroup(shape);
    elements += static_cast<double>(product(shape));
  }
  SmallVector<Root> roots = rootsOf(kernel);
  for (const Root &root : roots)
    if (root.elements != 1 || root.partial)
      return emitError(kernel.getLoc(), "expected only scalar results in a finish kernel");

  FailureOr<ReadRoots> read = readRoots(
      kernel, space, numerics, roots,
      [&](ValueGraph &graph) {
        graph.scope.reduced = space.all();
        for (auto &[shape, group] : groups)
          graph.scope.rows[shape] = space.group(group);
      },
      [](const Root &) -> Access { return Access(); }, "axes of a finish kernel do not nest");
  if (failed(read))
    return failure();
  SmallVector<KernelResult> &results = read->results;
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.push_back(1);
  description.grid = 1;
  description.cost = estimatedCost(kernel, results, elements);

  SmallVector<ValueNode *> nodes = nodesOf(results);
  KernelForm form;
  form.kind = KernelKind::finish;
  form.numerics = numerics;
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
  func::FuncOp function = builder.function;
  description.module = builder.finish(builder.generic({}, outputsOf(results)));
  writeRowSchedule(function, description.extents, target);
  description.scratchBytes = target.scratchBytes(function, description.extents);
  return description;
}

/// Returns true if values of several shapes are each reduced to a scalar.
bool fitsFinish(Block &ops) { return shapesReducedToScalars(ops).size() > 1; }

/// Results are scalars, which are stored after all operands have been read.
bool readsScalarInPlace(KernelOp kernel, int64_t operand) {
  return cast<RankedTensorType>(kernel.getBody().getArgument(operand).getType()).getRank() == 0;
}

} // namespace

extern const Form finishForm = {KernelKind::finish, fitsFinish, classifyFinish,
                                readsScalarInPlace, nullptr,    describeFinish};

} // namespace halftone::compiler
