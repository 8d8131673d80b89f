// Copies of a window's matrix to scratch, in runs that are contiguous in the image.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulWindow.h"

namespace halftone::compiler {

/// Copies rows or columns of the matrix. Taps outside of the image are 0. The copy has the accumulator's type, or the
/// image's type for an instruction that takes groups, so neighbours form groups.
class WindowCopy {
public:
  WindowCopy(const MatmulBlock &block, const MatmulWindow &window);

  /// Copies these columns of the row of `position` to contiguous elements from `to` on. The elements after
  /// them, fewer than a vector, become undefined.
  void copy(const MatmulWindow::Position &position, MatmulWindow::Range columns, Emitted to) const;
  /// Like copy(), for `count` columns that are all outside of the image.
  void copyOutside(Emitted count, Emitted to) const;
  Emitted at(Emitted to, Emitted offset) const { return frame.address(to, element, offset); }
  /// Copies this column of the rows of `positions` to contiguous elements of the accumulator's type from `to` on. The
  /// last axis has a positive stride and no base dilation. The elements after them, fewer than a vector,
  /// become undefined.
  void copyPositions(Emitted column, MatmulWindow::Range positions, Emitted to) const;

private:
  /// A part of a row of taps along the last axis that is contiguous in memory.
  struct Run {
    MatmulWindow::Seen seen;
    Emitted begin, length; // columns of the matrix
  };
  void copyRowOfTaps(const MatmulWindow::Seen &outer, Emitted position, Emitted begin, MatmulWindow::Range columns,
                     Emitted to) const;
  void copyRun(const Run &run, MatmulWindow::Range columns, Emitted to) const;
  void copyInside(Emitted from, Emitted count, Emitted to) const;
  void copyVectors(Emitted from, Emitted count, Emitted to) const;
  Emitted read(Emitted from, mlir::VectorType vector) const;
  Emitted readBeforeEnd(Emitted from, mlir::VectorType vector) const;
  Emitted factorOf(Emitted read) const;
  void copyLine(const MatmulWindow::Seen &line, const Values &taps, Emitted channel, MatmulWindow::Range positions,
                Emitted to) const;
  void copyStrided(Emitted from, Emitted pitch, Emitted count, Emitted to) const;
  void zero(Emitted begin, Emitted end, Emitted to) const;
  Emitted constant(int64_t value) const { return frame.constant(value); }

  const MatmulBlock &block;
  KernelFrame &frame;
  const MatmulWindow &window;
  mlir::Type element; // of a copy
  int64_t step;       // elements in a vector of a copy
};

} // namespace halftone::compiler
