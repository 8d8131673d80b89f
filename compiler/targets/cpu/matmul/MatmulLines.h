// Sums of a window's places, whose elements are read where the image lies.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulMicroKernel.h"
#include "compiler/targets/cpu/matmul/MatmulWindow.h"

namespace halftone::compiler {

/// Nothing of the window is packed: neighbouring places of a line of the image are rows that are summed together, and their
/// elements of one tap lie at equal distances in memory. A tap that a place does not see adds nothing to its sums.
class MatmulLines {
public:
  MatmulLines(const MatmulBlock &block, const MatmulMicroKernel &microKernel)
      : block(block), frame(block.frame), microKernel(microKernel), window(block) {}

  /// The sums of the block's rows, `counts` places of a line at a time, with a strip's columns.
  void multiply(llvm::ArrayRef<int64_t> counts, const MatmulStrip &strip) const;

private:
  using Stretch = MatmulWindow::Stretch;
  /// Neighbouring places of a line; `row` is the first one's in the tile.
  struct Places {
    MatmulWindow::Place first;
    int64_t count;
    Emitted row;
  };
  void multiplyPlaces(const Places &places, const MatmulStrip &strip) const;
  Values multiplySeen(const Places &places, const Stretch &stretch, const Values &sums, const MatmulStrip &strip) const;
  Values multiplyStretch(const Stretch &stretch, const Values &sums, const MatmulStrip &strip) const;

  const MatmulBlock &block;
  KernelFrame &frame;
  const MatmulMicroKernel &microKernel;
  MatmulWindow window;
};

} // namespace halftone::compiler
