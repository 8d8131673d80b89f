// Packing of a window of an image into scratch as A, and the subnormal check of an image that is read in place.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulGroups.h"
#include "compiler/targets/cpu/matmul/SubnormalWatch.h"
#include "compiler/targets/cpu/matmul/WindowCopy.h"

namespace halftone::compiler {

class WindowPacking {
public:
  /// Emits the window's extents.
  WindowPacking(const MatmulBlock &block, const MatmulGroups &groups, SubnormalWatch &watch)
      : block(block), groups(groups), watch(watch), frame(block.frame), plan(block.plan), lanes(block.sizes.lanes),
        window(block), copy(block, window) {}

  /// Packs A as the plan specifies.
  void pack(const MatmulDepth &depth);
  /// Passes all pairs of the image that the tile's positions read to the watch.
  void watchImage();

private:
  void packPositions(Emitted firstPosition, const MatmulDepth &depth);
  void packAlongDepth(Emitted firstPosition, const MatmulDepth &depth);
  void packPairs(Emitted firstPosition, const MatmulDepth &depth);
  void transposeLines(Emitted lines, Emitted pitch, Emitted count, Emitted to);
  Emitted constant(int64_t value) const { return frame.constant(value); }

  const MatmulBlock &block;
  const MatmulGroups &groups;
  SubnormalWatch &watch;
  KernelFrame &frame;
  const MatmulPlan &plan;
  int64_t lanes;
  MatmulWindow window;
  WindowCopy copy;
};

} // namespace halftone::compiler
