// Sort kernels: the first elements of sorted rows, and their indices.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/Roots.h"
#include "compiler/forms/SortKey.h"
#include "llvm/Support/MathExtras.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// A sort is a separate kernel, which may contain cloned producers of its operand.
FusionDecision classifySort(const FormOps &ops) {
  SortOp sort;
  for (Operation *op : ops.body.ops) {
    if (auto found = dyn_cast<SortOp>(op); found && !sort)
      sort = found;
    else if (ops.body.own.contains(op) || !isPointwise(op))
      return llvm::any_of(ops.body.ops, llvm::IsaPred<SortOp>)
                 ? FusionDecision::declined("an op other than the sort is not a cloned elementwise op", op)
                 : FusionDecision();
  }
  if (!sort)
    return {};
  return KernelShape{KernelKind::sort, SmallVector<int64_t>(shapeOf(sort.getX())), 0};
}

/// The groups of a sort kernel's space.
struct SortGroups {
  int outer, sorted, given, inner;
};

/// The key, the element and the index at each position of the sorted rows.
struct SortReading {
  std::unique_ptr<ValueGraph> graph;
  Access positions, given; // the dims of x, and of the results
  ValueNode *key = nullptr, *element = nullptr, *index = nullptr;
};

FailureOr<SortReading> readSort(KernelOp kernel, SortOp op, Numerics numerics, IterationSpace &space,
                                SortGroups groups) {
  SortReading reading;
  while (!reading.element) {
    reading.graph = std::make_unique<ValueGraph>(kernel, space, numerics);
    const Access inner = space.group(groups.inner), sorted = space.group(groups.sorted);
    reading.positions = space.group(groups.outer);
    reading.given = reading.positions;
    reading.positions.append(sorted);
    reading.positions.append(inner);
    reading.given.append(space.group(groups.given));
    reading.given.append(inner);
    reading.element = reading.graph->get(op.getX(), reading.positions);
    if (reading.graph->failed)
      return failure();
    if (!reading.element && !space.takeRefined())
      return emitError(kernel.getLoc(), "axes of a sort kernel do not nest");
    if (!reading.element)
      continue;
    ValueNode key(ValueNode::sortKey), index(ValueNode::index);
    key.op = op;
    key.inputs = {reading.element};
    key.type = sortKeyType(op);
    key.cost = 6;
    reading.key = reading.graph->make(std::move(key));
    index.access = sorted;
    index.type = elementTypeOf(op.getIndices());
    index.cost = 1;
    reading.index = reading.graph->make(std::move(index));
  }
  return reading;
}

/// The estimated time for a row on one core, in addition to that for its elements, in nanoseconds.
double costOfRow(int64_t length) {
  constexpr double perElement = 1;
  return perElement * double(length) * double(llvm::Log2_64_Ceil(uint64_t(std::max<int64_t>(length, 2))));
}

FailureOr<KernelDescription> describeSort(KernelOp kernel, const Target &target, Numerics numerics) {
  SortOp op = *kernel.getBody().front().getOps<SortOp>().begin();
  const SmallVector<Root> roots = rootsOf(kernel);
  const auto isGiven = [&](const Root &root) {
    return root.value.getDefiningOp() == op && !root.partial && !root.panels;
  };
  if (roots.empty() || !llvm::all_of(roots, isGiven))
    return emitError(kernel.getLoc(), "expected the results of the sort as the only results of a sort kernel");
  const auto axis = static_cast<size_t>(op.getAxis());
  const ArrayRef<int64_t> shape = shapeOf(op.getX());
  IterationSpace space;
  SortGroups groups{};
  groups.outer = space.addGroup(shape.take_front(axis));
  groups.sorted = space.addKeptGroup(shape[axis]);
  groups.given = space.addKeptGroup(shapeOf(op.getValues())[axis]);
  groups.inner = space.addGroup(shape.drop_front(axis + 1));
  FailureOr<SortReading> reading = readSort(kernel, op, numerics, space, groups);
  if (failed(reading))
    return failure();
  const auto &[graph, positions, given, key, element, index] = *reading;

  const int64_t length = shape[axis], rows = product(shape.take_front(axis)) * product(shape.drop_front(axis + 1));
  const auto weight = static_cast<int64_t>(costOfRow(length));
  const int64_t blockRows = target.blocking(numerics).loopBlocks({rows, 1, weight}).rows;
  KernelDescription description;
  description.grid = ceilDivide(rows, blockRows);
  for (int dim : space.all())
    description.extents.push_back(space.extent(dim));
  description.extents.push_back(blockRows);

  KernelForm form;
  form.kind = KernelKind::sort;
  form.numerics = numerics;
  form.outer = space.groupSize(groups.outer);
  form.reduced = space.groupSize(groups.sorted);
  SmallVector<KernelResult> results;
  SmallVector<GenericOutput> outputs{{key, key->type, positions, ""}};
  for (const Root &root : roots) {
    ValueNode *node = root.value == op.getValues() ? element : index;
    results.push_back({node, root.element, given, ""});
    outputs.push_back({node, root.element, positions, ""});
  }
  description.cost = estimatedCost(kernel, results, double(rows * length)) + double(rows) * costOfRow(length);
  GenericBuilder builder(kernel, space, form);
  if (failed(builder.declareOperands({key})))
    return failure();
  builder.begin(results);
  const SmallVector<Value> tensors = builder.generic(positions, outputs);
  for (auto [result, tensor] : llvm::zip_equal(results, ArrayRef(tensors).drop_front()))
    builder.provide(result.node, tensor, given);
  func::FuncOp function = builder.function;
  description.module = builder.finish(builder.generic(given, outputsOf(results)));
  description.scratchBytes = target.scratchBytes(function, description.extents);
  return description;
}

bool fitsSort(Block &ops) { return !ops.getOps<SortOp>().empty(); }

} // namespace

extern const Form sortForm = {KernelKind::sort, fitsSort, classifySort, readsNothingInPlace, nullptr, describeSort};

} // namespace halftone::compiler
