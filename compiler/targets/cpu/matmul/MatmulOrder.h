// In which order a matmul's block goes through K, its columns and its rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulDots.h"
#include "compiler/targets/cpu/matmul/MatmulEpilogue.h"
#include "compiler/targets/cpu/matmul/MatmulLines.h"
#include "compiler/targets/cpu/matmul/MatmulTiles.h"

namespace halftone::compiler {

class MatmulOrder {
public:
  MatmulOrder(const MatmulProblem &problem, KernelFrame &frame)
      : problem(problem), frame(frame), block(problem, frame), access(block), operands(block, access),
        groups(block, access, operands), watch(block), packing(block, access, operands, groups, watch),
        factors(block, access, operands, groups, watch), microKernel(block, access, watch),
        dots(block, access, operands, microKernel), tiles(block, packing, factors), epilogue(block, access) {}
  MatmulOrder(const MatmulOrder &) = delete; // the parts refer to each other
  MatmulOrder &operator=(const MatmulOrder &) = delete;

  /// Blocks one after another.
  void emit();

private:
  void emitBlock(Emitted number);
  void packRows(const MatmulDepth &depth);
  /// Sets `panelsAreSubnormal`. A thread looks once at the panels of each of the first 64 column tiles.
  void watchPanels();
  void multiply(const MatmulDepth &depth);
  void multiplyTile(const MatmulDepth &depth);
  void multiplyColumns(Emitted begin, Emitted end, int64_t vectors, const MatmulDepth &depth);
  /// Packs the strip's panel, multiplying the first `count` rows meanwhile where there are so many; how many were.
  Emitted packWithFirstRows(int64_t count, const MatmulStrip &strip);
  void multiplyRows(llvm::ArrayRef<int64_t> counts, Emitted row, const MatmulStrip &strip);
  /// Nobody has looked for subnormal numbers in a right operand that came packed: the first rows' multiplication in
  /// registers does.
  bool watchesPanels() const { return problem.panels && problem.groupSize == 2 && !microKernel.widens; }
  void multiplyWatching(llvm::ArrayRef<int64_t> counts, const MatmulStrip &strip);
  Emitted constant(int64_t value) { return frame.constant(value); }

  const MatmulProblem &problem;
  KernelFrame &frame;
  Emitted panelsAreSubnormal; // whether the block's panels have such a number, if problem.watchesPanelsAhead()
  MatmulBlock block;
  MatmulAccess access;
  MatmulOperands operands;
  MatmulGroups groups;
  SubnormalWatch watch;
  MatmulPacking packing;
  MatmulFactors factors;
  MatmulMicroKernel microKernel;
  MatmulDots dots;
  MatmulTiles tiles;
  MatmulEpilogue epilogue;
};

} // namespace halftone::compiler
