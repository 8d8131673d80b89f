// Loop kernels: elementwise ops, with operands that may be lookups.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/Roots.h"
#include "compiler/kernels/KeptElements.h"
#include "compiler/kernels/KernelSource.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

/// The shape over which a loop kernel iterates. With partial reductions it is the shape that they reduce, since their
/// tiles divide it.
SmallVector<int64_t> shapeOfRoots(ArrayRef<Root> roots) {
  const Root *shaped = llvm::find_if(roots, [](const Root &root) { return bool(root.partial); });
  if (shaped == roots.end())
    return SmallVector<int64_t>(cast<RankedTensorType>(roots.front().value.getType()).getShape());
  for (const Root &root : roots)
    if (root.partial)
      shaped = &root;
  return SmallVector<int64_t>(cast<RankedTensorType>(shaped->value.getType()).getShape());
}

/// The blocks of a kernel whose spec gives each block `specified` indices of the first axis of `shape` with extent > 1.
/// The kernel has `dims` dims, the last of extent `columns`. Returns nullopt if the blocks are not whole rows of that
/// dim.
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

FusionDecision classifyLoop(const FormOps &ops) {
  const KernelBody &body = ops.body;
  if (!ops.contractions.empty() || !ops.reductions.empty() || !ops.scatters.empty())
    return {};
  KernelShape kernel;
  bool transposes = false, lookups = false, randomBits = false, partials = false, packs = false, shaped = false;
  auto setShape = [&](Value value) {
    if (shaped)
      return ArrayRef(kernel.shape) == shapeOf(value);
    kernel.shape.assign(shapeOf(value).begin(), shapeOf(value).end());
    return shaped = true;
  };
  for (Value result : body.results) {
    auto partial = result.getDefiningOp<PartialReduceOp>();
    if (!setShape(partial ? Value(partial.getX()) : result))
      return FusionDecision::declined("the results have different shapes");
  }
  if (!shaped)
    return FusionDecision::declined("no result is read");
  int64_t elements = ShapedType::getNumElements(kernel.shape);
  for (Operation *op : body.ops) {
    if (auto partial = dyn_cast<PartialReduceOp>(op)) {
      partials = true;
      if (!isPartialReduction(partial, kernel, nullptr, ops.blocking))
        return FusionDecision::declined("the blocks do not match the partial reduction", op);
      continue;
    }
    transposes |= isa<TransposeOp>(op);
    packs |= isa<PackOp>(op);
    if (isa<RandomBitsOp>(op)) {
      randomBits = true;
      if (shapeOf(op->getResult(0)) != ArrayRef(kernel.shape))
        return FusionDecision::declined("random bits differ in shape from the results", op);
    } else if (!isPointwise(op) && !isa<TransposeOp, PackOp>(op) && !isLookup(op)) {
      return FusionDecision::declined("an op is not elementwise", op);
    }
    lookups |= isLookup(op);
    for (Value operand : lookedUpOperands(op))
      if (Operation *producer = operand.getDefiningOp();
          llvm::is_contained(body.ops, producer) && !(isa<ConcatOp>(op) && isa<ConstantOp>(producer)))
        return FusionDecision::declined("an op looks up elements of a value that the kernel computes", op);
    if (body.own.contains(op) && elementsOf(op->getResult(0)) != elements)
      return FusionDecision::declined("an op differs from the results in its number of elements", op);
  }
  if ((transposes && (randomBits || partials || lookups || packs)) || (packs && partials))
    return FusionDecision::declined("a transpose or pack is not supported together with another op of the kernel");
  return kernel;
}

FailureOr<KernelDescription> describeLoop(KernelOp kernel, const Target &target, Numerics numerics) {
  SmallVector<Root> roots = rootsOf(kernel);
  for (const Root &root : roots)
    if (root.elements != roots.front().elements)
      return emitError(kernel.getLoc(), "results of a loop kernel differ in size: ")
             << root.elements << " and " << roots.front().elements;
  SmallVector<int64_t> shape = shapeOfRoots(roots);
  IterationSpace space;
  int group = space.addKeptGroup(shape);
  FailureOr<ReadRoots> read = readRoots(
      kernel, space, numerics, roots, [](ValueGraph &) {}, [&](const Root &) -> Access { return space.group(group); },
      "the tiles of a partial reduction do not nest with the kernel's axes");
  if (failed(read))
    return failure();
  SmallVector<KernelResult> &results = read->results;

  Access all = space.all();
  LoopSpace loop{space.extentOf(ArrayRef<int>(all).drop_back()), space.extent(all.back())};
  loop.packs = llvm::any_of(results, [](const KernelResult &result) { return result.panels != nullptr; });
  KernelDescription description;
  description.cost = estimatedCost(kernel, results, double(loop.rows) * double(loop.columns));
  KernelForm form;
  form.kind = KernelKind::loop;
  form.numerics = numerics;
  form.outer = static_cast<int64_t>(all.size()) - 1;
  form.lookupArguments = static_cast<int64_t>(read->graph->lookupArguments.size());
  GenericBuilder builder(kernel, space, form);
  if (failed(builder.declareOperands(nodesOf(results))))
    return failure();
  builder.begin(results);
  func::FuncOp function = builder.function;
  const SmallVector<Value> tensors = builder.generic(all, outputsOf(results));
  markKept(tensors.front().getDefiningOp<linalg::GenericOp>());
  description.module = builder.finish(tensors);
  FailureOr<KernelSource> source = KernelSource::read(function);
  if (failed(source))
    return failure();
  loop.transposes = source->transposedOperands() > 0;

  LoopBlocks blocks = target.blocking(numerics).loopBlocks(loop);
  int64_t specified = specifiedRows(kernel);
  if (loop.packs && (all.size() != 2 || specified || loop.transposes))
    return emitError(kernel.getLoc(), "packed results are not supported in a loop kernel with more than two axes, "
                                      "partial reductions or transposed operands");
  if (specified) {
    auto found = blocksOfSpec(shape, specified, all.size(), loop.columns);
    if (!found)
      return emitError(kernel.getLoc(), "blocks of ") << specified << " rows do not nest with the kernel's axes";
    blocks = *found;
  }
  description.grid = ceilDivide(loop.rows, blocks.rows) * ceilDivide(loop.columns, blocks.columns);
  if (failed(checkPartialResults(roots, results, description.grid)))
    return failure();
  for (int dim : all)
    description.extents.push_back(space.extent(dim));
  description.extents.insert(description.extents.end(), {blocks.rows, blocks.columns});
  description.extents.insert(description.extents.end(), read->graph->lookupArguments.begin(),
                             read->graph->lookupArguments.end());
  description.scratchBytes = target.scratchBytes(function, description.extents);
  return description;
}

/// Returns true if there are no reductions, except of one element.
bool fitsLoop(Block &ops) { return !firstReduction(ops); }

} // namespace

extern const Form loopForm = {KernelKind::loop,       fitsLoop,    classifyLoop, readsElementwise,
                              partialReductionOfRows, describeLoop};

} // namespace halftone::compiler
