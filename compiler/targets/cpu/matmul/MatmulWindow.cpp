// The image of a matmul's window.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulWindow.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

/// The mapping of the launch, whose extents are arguments of the kernel.
static WindowMap mapOf(const MatmulBlock &block) {
  const WindowForm &form = *block.plan.window;
  KernelFrame &frame = block.frame;
  size_t next = size_t(frame.dims) + 2; // after the extents and the tile
  const auto number = [&] { return frame.extents[next++]; };
  const auto divisor = [&] { return maximum(number(), frame.constant(1)); }; // it may be 0 for an empty matrix
  std::vector<WindowMap::Axis> axes;
  for (size_t axis = 0; axis < form.rank(); ++axis) {
    const Emitted positions = divisor(), taps = divisor(), extent = number(), paddingLow = number();
    axes.push_back({positions, taps, extent, paddingLow, frame.constant(form.stride[axis]),
                    frame.constant(form.dilation[axis]), form.baseDilation[axis]});
  }
  return {frame, divisor(), std::move(axes)};
}

MatmulWindow::MatmulWindow(const MatmulBlock &block)
    : WindowMap(mapOf(block)), image(block.plan.contraction.getInputs()[0]), block(block) {
  Emitted examples = block.size[batchRole] * block.size[positionsRole()];
  elements = constant(1);
  for (const Axis &axis : axes) {
    examples = examples / axis.positions;
    elements = elements * axis.extent;
  }
  elements = elements * channels * examples;
}

Emitted MatmulWindow::groupAt(Emitted offset) const {
  const Type stored = getElementTypeOrSelf(image);
  return block.frame.load(block.plan.accumulator, block.frame.address(block.pointerOf(image), stored, offset),
                          elementBytes(stored));
}

Emitted MatmulWindow::groupsAt(Emitted offset) const {
  const Type stored = getElementTypeOrSelf(image);
  return block.frame.load(block.lanesOf(block.plan.accumulator),
                          block.frame.address(block.pointerOf(image), stored, offset), elementBytes(stored));
}

MatmulWindow::Range MatmulWindow::elementsOf(Range positions) const {
  const Axis &axis = axes.front();
  const Position first = positionAt(positions.first), last = positionAt(positions.first + positions.count - 1);
  const Emitted none = constant(0), reach = (axis.taps - 1) * axis.dilation;
  const auto lineAt = [&](const Position &position, Emitted offset) {
    return minimum(maximum(position.along.front() * axis.stride - axis.paddingLow + offset, none), axis.extent);
  };
  // Positions with a negative stride may see all lines of their examples.
  const bool goesForward = form().stride.front() > 0;
  const Emitted begin = first.example * axis.extent + (goesForward ? lineAt(first, minimum(reach, none)) : none);
  const Emitted end = last.example * axis.extent + (goesForward ? lineAt(last, maximum(reach, none) + 1) : axis.extent);
  Emitted line = channels;
  for (size_t inner = 1; inner < axes.size(); ++inner)
    line = line * axes[inner].extent;
  return {begin * line, maximum(end - begin, none) * line};
}

Emitted MatmulWindow::partOfDepth(int64_t limit) const {
  const Emitted depth = maximum(block.groups(), constant(1)), group = constant(block.plan.groupSize);
  const auto parts = [&](Emitted unit) { // of K, in multiples of `unit`
    const Emitted units = ceilDivide(depth, unit), together = maximum(constant(limit) / unit, constant(1));
    return ceilDivide(units, ceilDivide(units, together)) * unit;
  };
  const Emitted lanes = constant(block.sizes.lanes);
  const Emitted ofTap = maximum(channels / group, constant(1));
  return select(ofTap <= constant(limit), parts(ofTap), parts(lanes));
}

} // namespace halftone::compiler
