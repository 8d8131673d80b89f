// Scan kernels: cumulative sums, products or extrema along an axis.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/Roots.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// One cumsum, which is the kernel's only result, with elementwise ops on its operand.
FusionDecision classifyScan(const FormOps &ops) {
  const KernelBody &body = ops.body;
  auto scans = llvm::make_filter_range(body.ops, llvm::IsaPred<CumsumOp>);
  if (!llvm::hasSingleElement(scans))
    return {};
  auto scan = cast<CumsumOp>(*scans.begin());
  if (body.results.size() != 1 || body.results.front() != scan.getY())
    return FusionDecision::declined("the cumulative sum is not the only result");
  ArrayRef<int64_t> shape = shapeOf(scan.getY());
  for (Operation *op : body.ops) {
    const bool full = shapeOf(op->getResult(0)) == shape;
    if (op != scan && ((!isPointwise(op) && !(isa<RandomBitsOp>(op) && full)) || (body.own.contains(op) && !full)))
      return FusionDecision::declined("an op is not elementwise, or differs in shape from the cumulative sum", op);
  }
  return KernelShape{KernelKind::cumulative, SmallVector<int64_t>(shape), 0};
}

/// The cumsum as a node over all dims of the space, which is split as the operand requires.
struct ScanReading {
  std::unique_ptr<ValueGraph> graph;
  ValueNode *sums = nullptr;
};

FailureOr<ScanReading> readScan(KernelOp kernel, CumsumOp op, Numerics numerics, IterationSpace &space) {
  ScanReading reading;
  while (!reading.sums) {
    reading.graph = std::make_unique<ValueGraph>(kernel, space, numerics);
    ValueNode *term = reading.graph->get(op.getX(), space.all());
    if (reading.graph->failed)
      return failure();
    if (term) {
      ValueNode sums(ValueNode::reduce);
      sums.op = op;
      sums.inputs = {term};
      sums.combiner = reading.graph->combinerOf(op.getKind(), elementTypeOf(op.getX()));
      sums.type = term->type;
      reading.sums = reading.graph->make(std::move(sums));
    } else if (!space.takeRefined()) {
      return emitError(kernel.getLoc(), "axes of a cumulative kernel do not nest");
    }
  }
  return reading;
}

FailureOr<KernelDescription> describeScan(KernelOp kernel, const Target &target, Numerics numerics) {
  CumsumOp op = *kernel.getBody().front().getOps<CumsumOp>().begin();
  SmallVector<Root> roots = rootsOf(kernel);
  if (roots.size() != 1 || roots[0].value != op.getResult() || roots[0].partial || roots[0].panels)
    return emitError(kernel.getLoc(), "expected the cumsum as the only result of a cumulative kernel");
  const auto axis = static_cast<size_t>(op.getAxis());
  ArrayRef<int64_t> shape = shapeOf(op.getY());
  IterationSpace space;
  const int outerGroup = space.addGroup(shape.take_front(axis)), scannedGroup = space.addKeptGroup(shape[axis]);
  const int innerGroup = space.addGroup(shape.drop_front(axis + 1));
  FailureOr<ScanReading> reading = readScan(kernel, op, numerics, space);
  if (failed(reading))
    return failure();
  ValueNode *sums = reading->sums;

  const Access all = space.all(), outer = space.group(outerGroup), scanned = space.group(scannedGroup);
  const Access inner = space.group(innerGroup);
  // A strip is a run of columns of one row. The last dim is the columns; all others except the scanned ones are rows.
  // Without inner dims a strip is the whole row.
  const int64_t columns = inner.empty() ? 1 : space.extent(inner.back()), depth = space.extentOf(scanned);
  const int64_t rows = space.extentOf(outer) * space.extentOf(inner) / std::max<int64_t>(columns, 1);
  const LoopBlocks blocks = target.blocking(numerics).loopBlocks({rows, columns, depth});
  const int64_t strips = rows * ceilDivide(columns, blocks.columns);
  KernelDescription description;
  description.grid = ceilDivide(strips, blocks.rows);
  for (int dim : all)
    description.extents.push_back(space.extent(dim));
  description.extents.insert(description.extents.end(), {blocks.rows, blocks.columns});
  const SmallVector<KernelResult> results{{sums, roots[0].element, all, ""}};
  description.cost = estimatedCost(kernel, results, double(space.extentOf(all)));

  KernelForm form;
  form.kind = KernelKind::cumulative;
  form.numerics = numerics;
  form.outer = static_cast<int64_t>(outer.size());
  form.reduced = static_cast<int64_t>(scanned.size());
  form.reverse = op.getReverse();
  GenericBuilder builder(kernel, space, form);
  if (failed(builder.declareOperands({sums})))
    return failure();
  builder.begin(results);
  builder.provide(sums, builder.generic(all, {{sums, sums->type, all, sums->combiner}})[0], all);
  description.module = builder.finish(builder.generic(all, outputsOf(results)));
  return description;
}

bool fitsScan(Block &ops) { return !ops.getOps<CumsumOp>().empty(); }

} // namespace

extern const Form scanForm = {KernelKind::cumulative, fitsScan, classifyScan,
                              readsNothingInPlace,    nullptr,  describeScan};

} // namespace halftone::compiler
