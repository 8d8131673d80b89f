// A matmul's left operand that is a window of an image: the image, and the mapping of the matrix to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulBlock.h"
#include "compiler/targets/cpu/matmul/WindowMap.h"

namespace halftone::compiler {

/// The matrix has one row per output position of the window (examples and positions, row-major), and one column per tap
/// and channel. The elements of a tap outside of the image are 0.
class MatmulWindow : public WindowMap {
public:
  explicit MatmulWindow(const MatmulBlock &block);

  /// The role of the matrix's rows: those of A, or K in a gradient.
  MatmulRole positionsRole() const { return block.plan.lanesAlongDepth(0) ? rowRole : depthRole; }
  /// The packed element of adjacent elements of the image from `offset` on.
  Emitted groupAt(Emitted offset) const;
  /// A vector of such packed elements.
  Emitted groupsAt(Emitted offset) const;
  /// The number of packed elements along K to multiply at a time, at most `limit`: all channels of some taps, in parts
  /// of equal size.
  Emitted partOfDepth(int64_t limit) const;
  /// The elements of the image in the lines along its first axis that `positions` cover, and in those between them.
  Range elementsOf(Range positions) const;
  /// The strides and dilations, which are known at compile time.
  const WindowForm &form() const { return *block.plan.window; }

  Emitted elements; // of the image
  mlir::Value image;

private:
  Emitted constant(int64_t value) const { return block.frame.constant(value); }

  const MatmulBlock &block;
};

} // namespace halftone::compiler
