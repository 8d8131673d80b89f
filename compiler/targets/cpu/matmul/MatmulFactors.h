// Where the multiplication reads the elements of A and B: in scratch, in panels, or in place.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulGroups.h"
#include "compiler/targets/cpu/matmul/MatmulSums.h"
#include "compiler/targets/cpu/matmul/SubnormalWatch.h"

namespace halftone::compiler {

/// A's element [row][k] is at a + offsetOf(row) + k * depthPitch, in packed elements.
struct MatmulRows {
  Emitted a, rowPitch, depthPitch;
  Emitted panelRows{}, panelPitch{}; // set if rows are in panels: the rows per panel, and the pitch of panels

  Emitted offsetOf(Emitted row) const {
    return panelRows ? row / panelRows * panelPitch + row % panelRows * rowPitch : row * rowPitch;
  }
};

/// Columns of the tile that are multiplied together: `vectors` vectors from `column` on, over a slice of K.
struct MatmulStrip {
  int64_t vectors;
  Emitted column;
  MatmulDepth depth;
  MatmulRows rows;                             // A's elements
  std::function<Values(const MatmulStep &)> b; // B's vectors
  Emitted scale{}, unscale{}; // the power of two that scales B's elements, and its inverse; null if none
};

class MatmulFactors {
public:
  MatmulFactors(const MatmulBlock &block, const MatmulAccess &access, const MatmulOperands &operands,
                const MatmulGroups &groups, SubnormalWatch &watch)
      : block(block), access(access), operands(operands), groups(groups), watch(watch), frame(block.frame),
        plan(block.plan) {}

  MatmulRows rows(const MatmulDepth &depth) const;
  /// B's vectors, packed or in place.
  std::function<Values(const MatmulStep &)> columns(const MatmulStrip &strip) const;
  /// The address of a strip (MatmulPlan::readsStrips), which is packed, [k][column], or in panels.
  Emitted stripAt(const MatmulStrip &strip) const;
  /// B's vectors, read in place. If B is packed panel by panel, also copies them to the panel.
  std::function<Values(const MatmulStep &)> columnsInPlace(const MatmulStrip &strip) const;
  /// Sets `scale` and `unscale` of a strip whose B is read in place: 2^64 and its inverse if all elements of B are below
  /// 2^-80 and not all are 0, as for cotangents that vanish over many steps; otherwise 1. CPUs take many times as long
  /// for subnormal operands; scaled elements and their products are normal.
  void scale(MatmulStrip &strip) const;
  /// Like scale(), for a strip whose B is packed in pairs. Also scales the packed pairs.
  void scalePairs(MatmulStrip &strip) const;
  /// Prefetches B's vectors some indices of K after `k`, if B is read in place.
  void prefetchColumns(const MatmulStrip &strip, Emitted k) const;
  /// The address of the panel that begins at `column` of the tile.
  Emitted panelAt(Emitted column) const;
  /// Checks the tile's panels for subnormal numbers.
  void watchPanels() const;

private:
  /// Sets `scale` and `unscale` of a strip. `magnitudes` gives the absolute values of B's elements at an index of K as
  /// integers of their bits, which are below `limit` for small elements.
  void scaleBy(MatmulStrip &strip, Emitted limit, llvm::function_ref<Emitted(Emitted)> magnitudes) const;
  /// Calls `use` with each of B's vectors, read in place, and its index in the strip. Returns the results.
  Values columnsAt(const MatmulStrip &strip, const MatmulStep &step,
                   llvm::function_ref<Emitted(Emitted, int64_t)> use) const;
  std::function<Values(const MatmulStep &)> columnsOfPanels(const MatmulStrip &strip) const;
  Emitted biasedHalves(Emitted words, Emitted half) const;

  const MatmulBlock &block;
  const MatmulAccess &access;
  const MatmulOperands &operands;
  const MatmulGroups &groups;
  SubnormalWatch &watch;
  KernelFrame &frame;
  const MatmulPlan &plan;
};

} // namespace halftone::compiler
