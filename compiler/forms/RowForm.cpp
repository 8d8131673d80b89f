// Row kernels: phases of elementwise ops, each of which ends with the reductions that it feeds.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/Roots.h"
#include "compiler/forms/RowRoles.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

constexpr double cheap = 6; // vector ops that a later phase recomputes rather than loading the value from scratch

/// The values that each phase computes and those that it keeps for later phases.
class PhasePlan {
public:
  PhasePlan(const IterationSpace &space, ArrayRef<int> inner) : inner(space.size()) {
    for (int dim : inner)
      this->inner.set(dim);
  }
  bool isFull(const ValueNode *node) const { return node->dims.anyCommon(inner); }
  void need(ValueNode *node, int phase) {
    if (node->kind == ValueNode::reduce || node->kind == ValueNode::argReduce || node->kind == ValueNode::load)
      return;
    if (isFull(node)) {
      auto [first, isNew] = firstPhase.try_emplace(node, phase);
      if (!isNew && first->second == phase)
        return;
      if (!isNew && node->cost > cheap) {
        if (!llvm::is_contained(kept[first->second], node))
          kept[first->second].push_back(node);
        return;
      }
    }
    for (ValueNode *input : node->inputs)
      need(input, phase);
  }
  std::map<int, SmallVector<ValueNode *>> kept; // by phase

private:
  llvm::SmallBitVector inner;
  std::map<ValueNode *, int> firstPhase;
};

/// The rows per block of a kernel with partial reductions: `specified` indices of the first outer axis of extent > 1.
int64_t rowsOfSpec(ArrayRef<int64_t> outer, int64_t specified) {
  while (!outer.empty() && outer.front() == 1)
    outer = outer.drop_front();
  return outer.empty() ? 1 : std::max<int64_t>(1, std::min(specified, outer.front()) * product(outer.drop_front()));
}

FusionDecision classifyRow(const FormOps &ops) {
  const KernelBody &body = ops.body;
  if (!ops.contractions.empty() || ops.reductions.empty() || !ops.scatters.empty())
    return {};
  KernelShape kernel{KernelKind::row, SmallVector<int64_t>(shapeOf(ops.reductions.front()->getOperand(0))), 0};
  int64_t rank = kernel.shape.size();
  std::optional<int64_t> outerRank;
  for (Operation *op : ops.reductions) {
    SmallVector<int64_t> axes;
    if (auto reduce = dyn_cast<ReduceOp>(op))
      axes.assign(reduce.getAxes().begin(), reduce.getAxes().end());
    else
      axes.push_back(cast<ArgReduceOp>(op).getAxis());
    if (axes.empty() || shapeOf(op->getOperand(0)) != ArrayRef(kernel.shape) || axes.back() != rank - 1 ||
        axes.front() != rank - static_cast<int64_t>(axes.size()) || (outerRank && *outerRank != axes.front()))
      return FusionDecision::declined("the reductions are not over the same trailing axes of one shape", op);
    outerRank = axes.front();
  }
  kernel.outerRank = *outerRank;
  RowRoles roles(kernel.shape, *outerRank);
  if (!roles.assign(body))
    return FusionDecision::declined("a value would have two roles, such as a whole row and one element per row");
  for (Operation *op : body.ops) {
    if (auto partial = dyn_cast<PartialReduceOp>(op)) {
      if (!isPartialReduction(partial, kernel, nullptr, ops.blocking))
        return FusionDecision::declined("the blocks do not match the partial reduction", op);
      continue;
    }
    RowRole role = roles.of(op->getResult(0));
    if (!isPointwise(op) && !isa<ReduceOp, ArgReduceOp, RandomBitsOp>(op))
      return FusionDecision::declined("an op is neither elementwise nor a reduction", op);
    if (role == RowRole::unknown || (body.own.contains(op) && role != RowRole::full && role != RowRole::outer))
      return FusionDecision::declined("an op has neither the shape of the rows nor one element per row", op);
    for (Value operand : op->getOperands())
      if (!isa<BroadcastOp, RandomBitsOp>(op) && roles.of(operand) == RowRole::unknown)
        return FusionDecision::declined("an operand has no role in the row kernel", op);
  }
  return kernel;
}

/// Writes the generics of a row kernel. A result that is `full` is computed over all dims, in the phase of its level;
/// any other once per row, at the end.
class RowWriter {
public:
  RowWriter(GenericBuilder &builder, const IterationSpace &space, ArrayRef<KernelResult> results, ArrayRef<bool> full,
            const Access &outer)
      : builder(builder), space(space), results(results), full(full), outer(outer),
        reached(GenericBuilder::reachable(nodesOf(results))), values(results.size()) {}

  /// The tensors of the results.
  SmallVector<Value> write(ArrayRef<int> inner) {
    int phases = 1;
    for (ValueNode *node : reached)
      phases = std::max(phases, node->level + 1);
    PhasePlan plan = planOf(phases, inner);
    for (int phase = 0; phase < phases; ++phase)
      writePhase(phase, plan.kept[phase]);
    writePerRow();
    return values;
  }

private:
  static bool isReduction(const ValueNode *node) {
    return node->kind == ValueNode::reduce || node->kind == ValueNode::argReduce;
  }

  PhasePlan planOf(int phases, ArrayRef<int> inner) {
    PhasePlan plan(space, inner);
    for (int phase = 0; phase < phases; ++phase) {
      for (ValueNode *node : reached)
        if (node->level == phase + 1 && isReduction(node))
          plan.need(node->inputs[0], phase);
      for (auto [isFull, result] : llvm::zip(full, results))
        if (isFull && result.node->level == phase)
          plan.need(result.node, phase);
    }
    return plan;
  }

  void writePhase(int phase, ArrayRef<ValueNode *> kept) {
    SmallVector<GenericOutput> outputs;
    SmallVector<int> resultOf; // by output: the index of the result, or -1
    SmallVector<ValueNode *> provides;
    auto add = [&](GenericOutput output, int result, ValueNode *provided) {
      outputs.push_back(std::move(output));
      resultOf.push_back(result);
      provides.push_back(provided);
    };
    for (ValueNode *node : reached) {
      if (node->level != phase + 1)
        continue;
      if (node->kind == ValueNode::argReduce)
        add({node, node->inputs[0]->type, outer, node->combiner}, -1, nullptr);
      if (isReduction(node))
        add({node, node->type, outer, node->combiner}, -1, node);
    }
    for (auto [number, result] : llvm::enumerate(results))
      if (full[number] && result.node->level == phase)
        add(outputOf(result), static_cast<int>(number), nullptr);
    for (ValueNode *node : kept)
      add({node, node->type, space.all(), ""}, -1, node);
    if (outputs.empty())
      return;
    SmallVector<Value> tensors = builder.generic(space.all(), outputs);
    for (auto [output, tensor, result, node] : llvm::zip(outputs, tensors, resultOf, provides)) {
      if (result >= 0)
        values[result] = tensor;
      if (node)
        builder.provide(node, tensor, output.access);
    }
  }

  void writePerRow() {
    SmallVector<KernelResult> perRow;
    for (auto [isFull, result] : llvm::zip(full, results))
      if (!isFull)
        perRow.push_back(result);
    if (perRow.empty())
      return;
    SmallVector<Value> tensors = builder.generic(outer, outputsOf(perRow));
    size_t next = 0;
    for (auto [value, isFull] : llvm::zip(values, full))
      if (!isFull)
        value = tensors[next++];
  }

  GenericBuilder &builder;
  const IterationSpace &space;
  ArrayRef<KernelResult> results;
  ArrayRef<bool> full;
  Access outer;
  SmallVector<ValueNode *> reached;
  SmallVector<Value> values;
};

FailureOr<KernelDescription> describeRow(KernelOp kernel, const Target &target, Numerics numerics) {
  const Reduction reduction = *firstReduction(kernel.getBody().front());
  SmallVector<int64_t> outerShape(reduction.keptBefore);
  outerShape.append(reduction.keptAfter);
  int64_t rows = product(outerShape), columns = product(reduction.reduced);
  IterationSpace space;
  int outerGroup = space.addGroup(outerShape);
  int innerGroup = space.addGroup(reduction.reduced);
  SmallVector<Root> roots = rootsOf(kernel);
  for (const Root &root : roots)
    if (root.elements != rows && root.elements != rows * columns)
      return emitError(kernel.getLoc(), "a result of a row kernel has ")
             << root.elements << " elements, expected " << rows << " or " << rows * columns;

  FailureOr<ReadRoots> read = readRoots(
      kernel, space, numerics, roots,
      [&](ValueGraph &graph) { graph.scope = {space.group(outerGroup), space.group(innerGroup)}; },
      [&](const Root &root) -> Access {
        return root.elements == rows * columns ? space.all() : space.group(outerGroup);
      },
      "axes of a row kernel do not nest");
  if (failed(read))
    return failure();
  SmallVector<KernelResult> &results = read->results;

  Access all = space.all(), outer = space.group(outerGroup), inner = space.group(innerGroup);
  int64_t blockRows = target.blocking(numerics).rowBlock(rows, columns);
  if (int64_t specified = specifiedRows(kernel))
    blockRows = rowsOfSpec(reduction.keptBefore, specified);
  KernelDescription description;
  description.grid = ceilDivide(rows, blockRows);
  if (failed(checkPartialResults(roots, results, description.grid)))
    return failure();
  for (int dim : all)
    description.extents.push_back(space.extent(dim));
  description.extents.push_back(blockRows);
  description.cost = estimatedCost(kernel, results, double(rows) * double(columns));

  KernelForm form;
  form.kind = KernelKind::row;
  form.numerics = numerics;
  form.outer = static_cast<int64_t>(outer.size());
  GenericBuilder builder(kernel, space, form);
  if (failed(builder.declareOperands(nodesOf(results))))
    return failure();
  builder.begin(results);
  func::FuncOp function = builder.function;
  auto isFull = [&](const Root &root) { return root.elements == rows * columns; };
  SmallVector<bool> full = llvm::map_to_vector(roots, isFull);
  description.module = builder.finish(RowWriter(builder, space, results, full, outer).write(inner));
  writeRowSchedule(function, description.extents, target);
  description.scratchBytes = target.scratchBytes(function, description.extents);
  return description;
}

/// Returns true if the reductions keep no axis after their last one and are of one shape. Several shapes, each reduced
/// to a scalar, are of the finish form.
bool fitsRow(Block &ops) {
  return product(firstReduction(ops)->keptAfter) == 1 && shapesReducedToScalars(ops).size() <= 1;
}

/// A phase may read an operand after an earlier phase has stored a result. A scalar result, however, is stored after
/// all operands have been read.
bool readsScalarInPlace(KernelOp kernel, int64_t operand) {
  Block &body = kernel.getBody().front();
  return cast<RankedTensorType>(body.getArgument(operand).getType()).getRank() == 0 &&
         body.getOps<PartialReduceOp>().empty();
}

std::optional<PartialReduction> partialReductionOfOuterRows(const KernelShape &kernel, Operation *contract,
                                                            int64_t reduced, const Blocking &blocking) {
  const bool keepsPart = reduced > kernel.outerRank && reduced < int64_t(kernel.shape.size());
  if (blockedAxis(kernel.shape) >= kernel.outerRank || (keepsPart && !blocking.keepsPartsOfRows()))
    return std::nullopt;
  return partialReductionOfRows(kernel, contract, reduced, blocking);
}

} // namespace

extern const Form rowForm = {KernelKind::row, fitsRow, classifyRow, readsScalarInPlace, partialReductionOfOuterRows,
                             describeRow};

} // namespace halftone::compiler
