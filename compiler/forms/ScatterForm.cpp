// Scatter kernels: sums of updates at the rows that indices name.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/LookupReader.h"
#include "compiler/forms/Roots.h"
#include "compiler/kernels/NarrowFloat.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// The groups of a scatter kernel's space.
struct ScatterGroups {
  int batch, before, row, index, after;
};

/// The sum that a scatter kernel gives, over the dims `kept`, of the updates whose indices, at the dims `index`, name the
/// row.
struct ScatterReading {
  std::unique_ptr<ValueGraph> graph;
  Access kept, index;
  ValueNode *sum = nullptr;
};

/// The dims of these groups, one group after another.
Access joined(const IterationSpace &space, ArrayRef<int> groups) {
  Access dims;
  for (int group : groups)
    dims.append(space.group(group));
  return dims;
}

/// One element of the result of `op`.
ValueNode *sumAtRows(ValueGraph &graph, ScatterAddOp op, const IterationSpace &space, const ScatterGroups &groups) {
  const int64_t rows = shapeOf(op.getY())[op.getAxis()];
  ValueNode *named = LookupReader(graph).clamped(op.getIndices(), joined(space, {groups.batch, groups.index}), rows);
  const Access updates = joined(space, {groups.batch, groups.before, groups.index, groups.after});
  ValueNode *update = named ? graph.get(op.getUpdates(), updates) : nullptr;
  if (!update)
    return nullptr;
  ValueNode hit(ValueNode::hit);
  hit.inputs = {named, update};
  hit.access = space.group(groups.row);
  hit.type = update->type;
  hit.cost = 1;
  ValueNode sum(ValueNode::reduce);
  sum.op = op;
  sum.inputs = {graph.make(std::move(hit))};
  sum.access = space.group(groups.index);
  sum.combiner = "sum";
  sum.type = update->type;
  return graph.make(std::move(sum));
}

/// A scatter_add is a kernel by itself, with copied ops in front of its operands.
std::optional<KernelShape> classifyScatter(const FormOps &ops) {
  const KernelBody &body = ops.body;
  if (ops.scatters.empty())
    return std::nullopt;
  auto scatter = cast<ScatterAddOp>(ops.scatters.front());
  for (Operation *op : body.ops)
    if (op != scatter && (body.home.contains(op) || !isPointwise(op)))
      return std::nullopt;
  return KernelShape{KernelKind::scatter, SmallVector<int64_t>(shapeOf(scatter.getY())), 0};
}

FailureOr<ScatterReading> readScatter(KernelOp kernel, ScatterAddOp op, Numerics numerics, IterationSpace &space,
                                      const ScatterGroups &groups) {
  ScatterReading reading;
  while (!reading.sum) {
    reading.graph = std::make_unique<ValueGraph>(kernel, space, numerics);
    reading.kept = joined(space, {groups.batch, groups.before, groups.row, groups.after});
    reading.index = joined(space, {groups.batch, groups.index});
    reading.graph->scope = {reading.kept, space.group(groups.index)};
    reading.sum = sumAtRows(*reading.graph, op, space, groups);
    if (reading.graph->failed)
      return failure();
    if (!reading.sum && !space.takeRefined())
      return emitError(kernel.getLoc(), "axes of a scatter kernel do not nest");
  }
  return reading;
}

FailureOr<KernelDescription> describeScatter(KernelOp kernel, const Target &target, Numerics numerics) {
  ScatterAddOp op = *kernel.getBody().front().getOps<ScatterAddOp>().begin();
  SmallVector<Root> roots = rootsOf(kernel);
  if (roots.size() != 1 || roots[0].value != op.getResult())
    return emitError(kernel.getLoc(), "a scatter kernel gives its scatter_add alone");
  if (isNarrowFloat(roots[0].element))
    return op.emitError("a scatter_add adds in f32 or wider, not in ") << roots[0].element;
  const auto axis = static_cast<int64_t>(op.getAxis()), batch = static_cast<int64_t>(op.getBatch());
  const ArrayRef<int64_t> shape = shapeOf(op.getY()), places = shapeOf(op.getIndices()).drop_front(batch);
  IterationSpace space;
  ScatterGroups groups;
  groups.batch = space.addGroup(shape.take_front(batch));
  groups.before = space.addGroup(shape.take_front(axis).drop_front(batch));
  groups.row = space.addKeptGroup(shape[axis]);
  groups.index = space.addGroup(places);
  groups.after = space.addKeptGroup({product(shape.drop_front(axis + 1))});
  FailureOr<ScatterReading> reading = readScatter(kernel, op, numerics, space, groups);
  if (failed(reading))
    return failure();
  auto &[graph, kept, index, sum] = *reading;

  int64_t before = product(shape.take_front(axis)), columns = product(shape.drop_front(axis + 1));
  int64_t indices = product(places);
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
  description.extents.insert(description.extents.end(), graph->numbers.begin(), graph->numbers.end());

  KernelForm form;
  form.kind = KernelKind::scatter;
  form.numerics = numerics;
  form.outer = space.groupSize(groups.batch) + space.groupSize(groups.before);
  form.lookupArguments = static_cast<int64_t>(graph->numbers.size());
  form.indices = space.groupSize(groups.index);
  GenericBuilder builder(kernel, space, form);
  if (failed(builder.declareOperands({sum})))
    return failure();
  builder.begin(results);
  ValueNode *named = sum->inputs[0]->inputs[0];
  builder.provide(named, builder.generic(index, {{named, named->type, index, ""}})[0], index);
  description.module = builder.finish(builder.generic(space.all(), {{sum, sum->type, kept, sum->combiner}}));
  return description;
}

bool fitsScatter(Block &ops) { return !ops.getOps<ScatterAddOp>().empty(); }

} // namespace

extern const Form scatterForm = {KernelKind::scatter, fitsScatter, classifyScatter,
                                 readsElementwise,    nullptr,     describeScatter};

} // namespace halftone::compiler
