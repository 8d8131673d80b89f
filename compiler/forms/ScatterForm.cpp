// Scatter kernels: combine updates into the rows that indices name.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/LookupReader.h"
#include "compiler/forms/Roots.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/NarrowFloat.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// A scatter_add, or a scatter into x.
struct ScatterFacts {
  explicit ScatterFacts(Operation *op) : op(op) {
    llvm::TypeSwitch<Operation *>(op).Case([&](ScatterAddOp add) { read(add); }).Case([&](ScatterOp scatter) {
      read(scatter);
      x = scatter.getX();
      kind = scatter.getKind();
    });
  }
  ArrayRef<int64_t> shape() const { return shapeOf(op->getResult(0)); }
  std::string combiner(const ValueGraph &graph) const {
    return kind == ScatterKind::set
               ? lastCombiner.str()
               : graph.combinerOf(*symbolizeReduceKind(stringifyScatterKind(kind)), elementTypeOf(op->getResult(0)));
  }

  Operation *op;
  Value x, indices, updates;
  int64_t axis = 0, batch = 0;
  ScatterKind kind = ScatterKind::sum;

private:
  template <class Op> void read(Op scatter) {
    indices = scatter.getIndices();
    updates = scatter.getUpdates();
    axis = static_cast<int64_t>(scatter.getAxis());
    batch = static_cast<int64_t>(scatter.getBatch());
  }
};

/// The groups of a scatter kernel's space.
struct ScatterGroups {
  int batch, before, row, index, after;
};

/// The result of a scatter kernel over the dims `kept`: the combination of the updates whose indices, over the dims
/// `index`, name the row.
struct ScatterReading {
  std::unique_ptr<ValueGraph> graph;
  Access kept, index;
  ValueNode *sum = nullptr;
};

/// Concatenates the dims of these groups.
Access joined(const IterationSpace &space, ArrayRef<int> groups) {
  Access dims;
  for (int group : groups)
    dims.append(space.group(group));
  return dims;
}

/// One element of the result, at the dims `kept`.
ValueNode *combinedAtRows(ValueGraph &graph, const ScatterFacts &facts, const IterationSpace &space,
                          const ScatterGroups &groups, const Access &kept) {
  const auto extent = facts.x ? std::nullopt : std::optional(facts.shape()[size_t(facts.axis)]);
  ValueNode *named = LookupReader(graph).index(facts.indices, joined(space, {groups.batch, groups.index}), extent);
  const Access updates = joined(space, {groups.batch, groups.before, groups.index, groups.after});
  ValueNode *update = named ? graph.get(facts.updates, updates) : nullptr;
  ValueNode *start = update && facts.x ? graph.get(facts.x, kept) : nullptr;
  if (!update || (facts.x && !start))
    return nullptr;
  ValueNode hit(ValueNode::hit);
  hit.inputs = {named, update};
  hit.access = space.group(groups.row);
  hit.combiner = facts.combiner(graph);
  hit.type = update->type;
  hit.cost = 1;
  ValueNode sum(ValueNode::reduce);
  sum.op = facts.op;
  sum.combiner = hit.combiner;
  sum.inputs = {graph.make(std::move(hit))};
  if (start)
    sum.inputs.push_back(start);
  sum.access = space.group(groups.index);
  sum.type = update->type;
  return graph.make(std::move(sum));
}

/// A scatter is a separate kernel, which may contain cloned producers of its operands.
FusionDecision classifyScatter(const FormOps &ops) {
  const KernelBody &body = ops.body;
  if (ops.scatters.empty())
    return {};
  Operation *scatter = ops.scatters.front();
  for (Operation *op : body.ops)
    if (op != scatter && (body.own.contains(op) || !isPointwise(op)))
      return FusionDecision::declined("an op other than the scatter is not a cloned elementwise op", op);
  return KernelShape{KernelKind::scatter, SmallVector<int64_t>(shapeOf(scatter->getResult(0))), 0};
}

FailureOr<ScatterReading> readScatter(KernelOp kernel, const ScatterFacts &facts, Numerics numerics,
                                      IterationSpace &space, const ScatterGroups &groups) {
  ScatterReading reading;
  while (!reading.sum) {
    reading.graph = std::make_unique<ValueGraph>(kernel, space, numerics);
    reading.kept = joined(space, {groups.batch, groups.before, groups.row, groups.after});
    reading.index = joined(space, {groups.batch, groups.index});
    reading.graph->scope = {reading.kept, space.group(groups.index)};
    reading.sum = combinedAtRows(*reading.graph, facts, space, groups, reading.kept);
    if (reading.graph->failed)
      return failure();
    if (!reading.sum && !space.takeRefined())
      return emitError(kernel.getLoc(), "axes of a scatter kernel do not nest");
  }
  return reading;
}

FailureOr<KernelDescription> describeScatter(KernelOp kernel, const Target &target, Numerics numerics) {
  const ScatterFacts facts(&*llvm::find_if(kernel.getBody().front(), [](Operation &op) { return isScatter(&op); }));
  SmallVector<Root> roots = rootsOf(kernel);
  if (roots.size() != 1 || roots[0].value != facts.op->getResult(0))
    return emitError(kernel.getLoc(), "expected the scatter as the only result of a scatter kernel");
  if (isNarrowFloat(roots[0].element))
    return facts.op->emitError("a scatter must combine in f32 or wider, not in ") << roots[0].element;
  const int64_t axis = facts.axis, batch = facts.batch;
  const ArrayRef<int64_t> shape = facts.shape(), indexExtents = shapeOf(facts.indices).drop_front(batch);
  IterationSpace space;
  ScatterGroups groups;
  groups.batch = space.addGroup(shape.take_front(batch));
  groups.before = space.addGroup(shape.take_front(axis).drop_front(batch));
  groups.row = space.addKeptGroup(shape[axis]);
  groups.index = space.addGroup(indexExtents);
  groups.after = space.addKeptGroup({product(shape.drop_front(axis + 1))});
  FailureOr<ScatterReading> reading = readScatter(kernel, facts, numerics, space, groups);
  if (failed(reading))
    return failure();
  auto &[graph, kept, index, sum] = *reading;

  int64_t before = product(shape.take_front(axis)), columns = product(shape.drop_front(axis + 1));
  int64_t indices = product(indexExtents);
  int64_t rows = target.blocking(numerics).scatterBlock(shape[axis], indices, columns),
          blocks = ceilDivide(shape[axis], rows);
  KernelDescription description;
  description.grid = before * blocks;
  SmallVector<KernelResult> results{{sum, roots[0].element, kept, ""}};
  constexpr double perIndex = 1; // nanoseconds
  description.cost = estimatedCost(kernel, results, double(before) * double(indices) * double(columns)) +
                     perIndex * double(before) * double(blocks) * double(indices);
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.push_back(rows);
  description.extents.insert(description.extents.end(), graph->lookupArguments.begin(), graph->lookupArguments.end());

  KernelForm form;
  form.kind = KernelKind::scatter;
  form.numerics = numerics;
  form.outer = space.groupSize(groups.batch) + space.groupSize(groups.before);
  form.lookupArguments = static_cast<int64_t>(graph->lookupArguments.size());
  form.indices = space.groupSize(groups.index);
  GenericBuilder builder(kernel, space, form);
  if (failed(builder.declareOperands({sum})))
    return failure();
  builder.begin(results);
  ValueNode *named = sum->inputs[0]->inputs[0];
  builder.provide(named, builder.generic(index, {{named, named->type, index, ""}})[0], index);
  Value start = facts.x ? builder.generic(kept, {{sum->inputs[1], sum->type, kept, ""}})[0] : Value();
  description.module =
      builder.finish(builder.generic(space.all(), {{sum, sum->type, kept, sum->combiner, false, start}}));
  return description;
}

bool fitsScatter(Block &ops) {
  return llvm::any_of(ops, [](Operation &op) { return isScatter(&op); });
}

/// Returns true only for x: a block reads its own rows of x before it combines updates with them.
bool readsAtRows(KernelOp kernel, int64_t operand) {
  SmallVector<Value> open{kernel.getBody().front().getArgument(operand)};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isa<ElementwiseOpInterface>(user))
        open.push_back(user->getResult(0));
      else if (!isa<ScatterOp>(user) || use.getOperandNumber() != 0)
        return false;
    }
  return true;
}

} // namespace

extern const Form scatterForm = {KernelKind::scatter, fitsScatter, classifyScatter,
                                 readsAtRows,         nullptr,     describeScatter};

} // namespace halftone::compiler
