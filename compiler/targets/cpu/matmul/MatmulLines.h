// Sums of a window's positions, whose elements are read directly from the image.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulMicroKernel.h"
#include "compiler/targets/cpu/matmul/MatmulWindow.h"

namespace halftone::compiler {

/// The window is not packed. Adjacent positions on a line of the image are rows that are accumulated together; their
/// elements of one tap have a constant stride in memory. A tap outside of the image adds nothing to the sums of a
/// position.
class MatmulLines {
public:
  MatmulLines(const MatmulBlock &block, const MatmulMicroKernel &microKernel)
      : block(block), frame(block.frame), microKernel(microKernel), window(block) {}

  /// Computes the sums of the block's rows with a strip's columns, `counts` positions of a line at a time.
  void multiply(llvm::ArrayRef<int64_t> counts, const MatmulStrip &strip) const;

private:
  using ColumnRun = MatmulWindow::ColumnRun;
  /// Adjacent positions on a line; `row` is the row of the first one in the tile.
  struct Positions {
    MatmulWindow::Position first;
    int64_t count;
    Emitted row;
  };
  void multiplyPositions(const Positions &positions, const MatmulStrip &strip) const;
  Values multiplySeen(const Positions &positions, const ColumnRun &run, const Values &sums,
                      const MatmulStrip &strip) const;
  Values multiplyColumnRun(const ColumnRun &run, const Values &sums, const MatmulStrip &strip) const;

  const MatmulBlock &block;
  KernelFrame &frame;
  const MatmulMicroKernel &microKernel;
  MatmulWindow window;
};

} // namespace halftone::compiler
