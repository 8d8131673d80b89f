// Values that a kernel reads at computed indices: slices, concatenations, gathers, windows.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/LookupReader.h"
#include "compiler/forms/Roots.h"
#include "compiler/kernels/NarrowFloat.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

int LookupReader::lookupArgument(int64_t value) {
  graph.lookupArguments.push_back(value);
  return static_cast<int>(graph.lookupArguments.size()) - 1;
}

ValueNode *LookupReader::index(Value value, ArrayRef<int> access, std::optional<int64_t> extent) {
  ValueNode *index = graph.get(value, access);
  if (!index)
    return nullptr;
  ValueNode node(ValueNode::clamp);
  node.inputs = {index};
  node.argument = extent ? lookupArgument(*extent) : -1;
  node.type = IntegerType::get(value.getContext(), 64);
  node.cost = extent ? 3 : 1;
  return graph.make(std::move(node));
}

ValueNode *LookupReader::lookup(Value x, SmallVector<LookupAxis, 3> position) {
  while (auto reshape = x.getDefiningOp<ReshapeOp>())
    x = reshape.getX();
  auto argument = dyn_cast<BlockArgument>(x);
  if (!argument)
    return graph.fail(x.getDefiningOp(),
                      "a value that is read at computed indices must be an operand of the kernel, but is computed");
  ValueNode node(ValueNode::lookup);
  node.operand = static_cast<int>(argument.getArgNumber());
  for (const LookupAxis &axis : position) {
    node.access.append(axis.dims.begin(), axis.dims.end());
    if (axis.window)
      node.access.append(axis.window->taps.begin(), axis.window->taps.end());
    if (axis.index)
      node.inputs.push_back(axis.index);
  }
  node.position = std::move(position);
  node.type = arithmeticType(elementTypeOf(argument));
  node.cost = 4;
  if (isNarrowFloat(elementTypeOf(argument)))
    node.exact = elementTypeOf(argument);
  return graph.make(std::move(node));
}

ValueNode *LookupReader::read(Operation *op, ArrayRef<int> access) {
  if (auto sliceOp = dyn_cast<SliceOp>(op))
    return slice(sliceOp, access);
  if (auto gatherOp = dyn_cast<GatherOp>(op))
    return gather(gatherOp, access);
  if (auto windowOp = dyn_cast<WindowOp>(op))
    return window(windowOp, access);
  return concat(cast<ConcatOp>(op), access);
}

ValueNode *LookupReader::slice(SliceOp op, ArrayRef<int> access) {
  // An axis that is not sliced is merged with the previous one.
  ArrayRef<int64_t> from = shapeOf(op.getX()), to = shapeOf(op.getY());
  SmallVector<int64_t> extents;
  SmallVector<LookupAxis, 3> position;
  SmallVector<std::pair<int64_t, int64_t>> ranges; // start, extent in x
  for (auto [axis, start] : llvm::enumerate(op.getStart())) {
    if (from[axis] == to[axis] && !extents.empty()) {
      extents.back() *= to[axis];
      ranges.back().first *= from[axis];
      ranges.back().second *= from[axis];
      continue;
    }
    extents.push_back(to[axis]);
    ranges.push_back({start, from[axis]});
  }
  auto parts = graph.cut(op, access, extents);
  if (!parts)
    return nullptr;
  for (auto [range, part] : llvm::zip(ranges, *parts))
    position.push_back({part, nullptr, lookupArgument(range.second), lookupArgument(range.first), false});
  return lookup(op.getX(), std::move(position));
}

ValueNode *LookupReader::gather(GatherOp op, ArrayRef<int> access) {
  const int64_t axis = op.getAxis(), batch = op.getBatch();
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  auto count = static_cast<int64_t>(shapeOf(op.getIndices()).size()) - batch;
  ArrayRef<int64_t> to = shapeOf(op.getY());
  auto parts = graph.cut(op, access,
                         {product(to.take_front(batch)), product(to.slice(batch, axis - batch)),
                          product(to.slice(axis, count)), product(to.drop_front(axis + count))});
  if (!parts)
    return nullptr;
  Access names((*parts)[0]), outer((*parts)[0]);
  names.append((*parts)[2]);
  outer.append((*parts)[1]);
  ValueNode *named = index(op.getIndices(), names, shape[axis]);
  if (!named)
    return nullptr;
  SmallVector<LookupAxis, 3> position;
  if (!outer.empty())
    position.push_back({outer});
  position.push_back({{}, named, named->argument});
  if (int64_t rest = product(shape.drop_front(axis + 1)); rest != 1)
    position.push_back({(*parts)[3], nullptr, lookupArgument(rest)});
  return lookup(op.getX(), std::move(position));
}

ValueNode *LookupReader::concat(ConcatOp op, ArrayRef<int> access) {
  // The axis and those after it are merged: the result consists of consecutive runs of the operands.
  auto axis = static_cast<int64_t>(op.getAxis());
  ArrayRef<int64_t> shape = shapeOf(op.getY());
  auto parts = graph.cut(op, access, {product(shape.take_front(axis)), product(shape.drop_front(axis))});
  if (!parts)
    return nullptr;
  ValueNode node(ValueNode::concat);
  int64_t start = 0;
  for (Value x : op.getXs()) {
    int64_t run = product(shapeOf(x).drop_front(axis));
    if (run == 0)
      continue;
    if (start > 0)
      node.starts.push_back(lookupArgument(start));
    ValueNode *input =
        x.getDefiningOp<ConstantOp>()
            ? graph.get(x, access)
            : lookup(x, {{(*parts)[0]},
                         {(*parts)[1], nullptr, lookupArgument(run), start ? lookupArgument(-start) : -1, true}});
    if (!input)
      return nullptr;
    node.inputs.push_back(input);
    start += run;
  }
  node.access = (*parts)[1];
  node.op = op;
  node.type = arithmeticType(elementTypeOf(op.getY()));
  node.cost = 2.0 * static_cast<double>(node.inputs.size());
  if (isNarrowFloat(elementTypeOf(op.getY())))
    node.exact = elementTypeOf(op.getY());
  return graph.make(std::move(node));
}

/// Returns true if the window stays in its image along spatial axis `axis`, and that axis has no base dilation.
static bool staysInside(WindowOp op, int64_t axis) {
  const WindowSteps steps = op.getSteps();
  const int64_t positions = (op.getPositions()[axis] - 1) * steps.stride[axis],
                taps = (op.getTaps()[axis] - 1) * steps.dilation[axis];
  const int64_t lowest = std::min<int64_t>(positions, 0) + std::min<int64_t>(taps, 0) - steps.paddingLow[axis];
  const int64_t highest = std::max<int64_t>(positions, 0) + std::max<int64_t>(taps, 0) - steps.paddingLow[axis];
  return steps.baseDilation[axis] == 1 && lowest >= 0 && highest < shapeOf(op.getX())[1 + axis];
}

ValueNode *LookupReader::window(WindowOp op, ArrayRef<int> access) {
  const WindowSteps steps = op.getSteps();
  ArrayRef<int64_t> x = shapeOf(op.getX());
  const int64_t rank = steps.rank(), others = product(x.drop_front(1 + (op.getDiagonal() ? 2 : 1) * rank));
  SmallVector<int64_t> extents{x.front()};
  llvm::append_range(extents, op.getPositions());
  llvm::append_range(extents, op.getTaps());
  extents.push_back(others);
  auto parts = graph.cut(op, access, extents);
  if (!parts)
    return nullptr;
  SmallVector<LookupAxis, 3> position{{parts->front()}};
  for (int64_t axis = 0; axis < rank; ++axis) {
    LookupAxis spatial{(*parts)[1 + axis], nullptr, lookupArgument(x[1 + axis]),
                       lookupArgument(-steps.paddingLow[axis])};
    spatial.window = {(*parts)[1 + rank + axis], steps.stride[axis], steps.dilation[axis], steps.baseDilation[axis],
                      staysInside(op, axis)};
    position.push_back(spatial);
  }
  if (op.getDiagonal())
    for (int64_t axis = 0; axis < rank; ++axis)
      position.push_back({(*parts)[1 + rank + axis], nullptr, lookupArgument(op.getTaps()[axis])});
  if (others != 1)
    position.push_back({parts->back(), nullptr, lookupArgument(others)});
  ValueNode *node = lookup(op.getX(), std::move(position));
  if (node) {
    node->op = op;
    node->cost += 4 * double(rank);
  }
  return node;
}

} // namespace halftone::compiler
