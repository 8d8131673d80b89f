// Roots, partial results and cost.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Roots.h"
#include "compiler/kernels/NarrowFloat.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

SmallVector<Root> rootsOf(KernelOp kernel) {
  SmallVector<Root> roots;
  for (Value value : kernel.getBody().front().getTerminator()->getOperands()) {
    Root root;
    root.element = storedType(cast<RankedTensorType>(value.getType()).getElementType());
    if (auto pack = value.getDefiningOp<PackOp>()) {
      root.panels = PanelsAttr::of(value.getType());
      value = pack.getX();
    }
    for (auto reshape = value.getDefiningOp<ReshapeOp>(); reshape && !root.panels;
         reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getX();
    if ((root.partial = value.getDefiningOp<PartialReduceOp>()))
      value = root.partial.getX();
    root.value = value;
    root.elements = cast<RankedTensorType>(value.getType()).getNumElements();
    roots.push_back(root);
  }
  return roots;
}

std::optional<Reduction> firstReduction(Block &ops) {
  for (Operation &op : ops) {
    SmallVector<int64_t> axes;
    if (auto reduce = dyn_cast<ReduceOp>(op))
      axes.assign(reduce.getAxes().begin(), reduce.getAxes().end());
    else if (auto arg = dyn_cast<ArgReduceOp>(op))
      axes.push_back(int64_t(arg.getAxis()));
    else
      continue;
    Reduction reduction{&op, {}, {}, {}};
    for (auto [axis, extent] : llvm::enumerate(cast<RankedTensorType>(op.getOperand(0).getType()).getShape())) {
      if (llvm::is_contained(axes, int64_t(axis))) {
        reduction.reduced.push_back(extent);
        reduction.keptBefore.append(reduction.keptAfter);
        reduction.keptAfter.clear();
      } else {
        reduction.keptAfter.push_back(extent);
      }
    }
    if (product(reduction.reduced) != 1)
      return reduction;
  }
  return std::nullopt;
}

SmallVector<std::vector<int64_t>> shapesReducedToScalars(Block &ops) {
  SmallVector<std::vector<int64_t>> shapes;
  for (auto reduce : ops.getOps<ReduceOp>()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(reduce.getX().getType()).getShape();
    bool isWhole = cast<RankedTensorType>(reduce.getY().getType()).getRank() == 0;
    if (isWhole && product(shape) != 1 && !llvm::is_contained(shapes, std::vector<int64_t>(shape)))
      shapes.push_back(std::vector<int64_t>(shape));
  }
  return shapes;
}

int64_t specifiedRows(KernelOp kernel) {
  auto spec = kernel.getSpec();
  return spec ? spec->getRows() : 0;
}

std::optional<KernelResult> resultOf(ValueGraph &graph, IterationSpace &space, const Root &root, const Access &all) {
  KernelResult result{nullptr, root.element, all, "", root.panels};
  if (root.partial) {
    PartialReduceOp partial = root.partial;
    auto type = cast<RankedTensorType>(partial.getX().getType());
    SmallVector<int64_t> extents(type.getShape());
    SmallVector<int64_t> runs;
    SmallVector<bool> kept;
    for (auto [axis, extent] : llvm::enumerate(extents)) {
      bool isKept = !llvm::is_contained(partial.getAxes(), int64_t(axis));
      if (!kept.empty() && (kept.back() == isKept || extent == 1)) {
        runs.back() *= extent;
        continue;
      }
      runs.push_back(extent);
      kept.push_back(isKept);
    }
    auto parts = space.cut(all, runs);
    if (!parts)
      return std::nullopt;
    result.access.clear();
    for (auto [isKept, part] : llvm::zip(kept, *parts))
      if (isKept)
        result.access.append(part.begin(), part.end());
    if (result.access != all) { // otherwise nothing is combined: every element is a partial result
      result.combiner = graph.combinerOf(partial.getKind(), type.getElementType());
      // A dim of extent 1, which cut() may assign to either adjacent part, is combined too.
      llvm::erase_if(result.access, [&](int dim) { return space.extent(dim) == 1; });
    }
    if (isNarrowFloat(root.element)) {
      partial.emitError("a partial reduction must accumulate in f32 or wider, not in ") << root.element;
      graph.failed = true;
      return std::nullopt;
    }
  }
  if (root.panels) { // rows and columns are separate dims
    auto axes = space.cut(all, cast<RankedTensorType>(root.value.getType()).getShape());
    if (!axes)
      return std::nullopt;
  }
  result.node = graph.get(root.value, all);
  if (!result.node)
    return std::nullopt;
  return result;
}

FailureOr<ReadRoots> readRoots(KernelOp kernel, IterationSpace &space, Numerics numerics, ArrayRef<Root> roots,
                               llvm::function_ref<void(ValueGraph &)> prepare,
                               llvm::function_ref<Access(const Root &)> accessOf, StringRef message) {
  for (;;) {
    ReadRoots read{std::make_unique<ValueGraph>(kernel, space, numerics), {}};
    prepare(*read.graph);
    for (const Root &root : roots) {
      auto result = resultOf(*read.graph, space, root, accessOf(root));
      if (!result)
        break;
      read.results.push_back(*result);
    }
    if (read.graph->failed)
      return failure();
    if (read.results.size() == roots.size())
      return read;
    if (!space.takeRefined())
      return emitError(kernel.getLoc(), message);
  }
}

SmallVector<ValueNode *> nodesOf(ArrayRef<KernelResult> results) {
  return llvm::map_to_vector(results, [](const KernelResult &result) { return result.node; });
}

GenericOutput outputOf(const KernelResult &result) {
  return {result.node, result.element, result.access, result.combiner, !result.combiner.empty()};
}
SmallVector<GenericOutput> outputsOf(ArrayRef<KernelResult> results) { return llvm::map_to_vector(results, outputOf); }

void writeRowSchedule(func::FuncOp function, ArrayRef<int64_t> extents, const Target &target) {
  FailureOr<KernelForm> form = KernelForm::read(function);
  assert(succeeded(form) && "builders write valid forms");
  form->schedule = target.schedule(function.getContext(), RowTraits{function, extents});
  form->write(function);
}

LogicalResult checkPartialResults(ArrayRef<Root> roots, ArrayRef<KernelResult> results, int64_t grid) {
  for (auto [root, result] : llvm::zip(roots, results)) {
    if (result.combiner.empty())
      continue;
    PartialReduceOp partial = root.partial;
    auto type = cast<RankedTensorType>(partial.getX().getType());
    int64_t parts = 1;
    for (auto [axis, tile] : llvm::zip(partial.getAxes(), partial.getTile()))
      parts *= ceilDivide(type.getDimSize(axis), std::max<int64_t>(tile, 1));
    if (parts != grid)
      return partial.emitError("a partial reduction has ")
             << parts << " partial results in a kernel of " << grid << " blocks; expected one per block";
  }
  return success();
}

double estimatedCost(KernelOp kernel, ArrayRef<KernelResult> results, double elements) {
  double ops = 0;
  llvm::SmallBitVector lookedUp(kernel.getBody().getNumArguments());
  for (ValueNode *node : GenericBuilder::reachable(nodesOf(results))) {
    double inputs = 0;
    for (ValueNode *input : node->inputs)
      inputs += input->cost;
    if (node->kind == ValueNode::lookup)
      lookedUp.set(node->operand);
    ops += node->level > 0 && node->cost == 0 ? 1 : std::max(0.0, node->cost - inputs);
  }
  double bytes = 0;
  auto add = [&](Type type, double maxElements) {
    auto tensor = cast<RankedTensorType>(type);
    bytes += std::min(double(tensor.getNumElements()), maxElements) * std::max(1u, tensor.getElementTypeBitWidth() / 8);
  };
  constexpr double all = std::numeric_limits<double>::infinity();
  for (BlockArgument argument : kernel.getBody().getArguments())
    add(argument.getType(), lookedUp.test(argument.getArgNumber()) ? elements : all);
  for (Type type : kernel.getBody().front().getTerminator()->getOperandTypes())
    add(type, all);
  constexpr double perVectorOp = 0.05, perByte = 0.06; // nanoseconds per element, with eight lanes
  return elements * ops * perVectorOp + bytes * perByte;
}

} // namespace halftone::compiler
