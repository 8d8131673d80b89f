// The micro-kernel: the sums of a few rows and a strip of columns, accumulated in registers along K.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/LinesCores.h"
#include "compiler/targets/cpu/matmul/MatmulCores.h"
#include "compiler/targets/cpu/matmul/MatmulFactors.h"

namespace halftone::compiler {

class MatmulMicroKernel {
public:
  MatmulMicroKernel(const MatmulBlock &block, const MatmulAccess &access, SubnormalWatch &watch)
      : block(block), access(access), watch(watch), frame(block.frame), plan(block.plan) {}

  /// The sums of `rows` rows from `row` on by a strip's columns, row by row, including those of earlier slices of K.
  Values multiply(int64_t rows, Emitted row, const MatmulStrip &strip) const;
  /// Calls a core that computes and stores the sums of the rows from `row` on, in groups of `counts` rows, by a strip
  /// at `b` (MatmulPlan::readsStrips).
  void multiplyStrip(llvm::ArrayRef<int64_t> counts, Emitted row, Emitted b, const MatmulStrip &strip) const;
  /// Like multiplyStrip() for the first of `counts` rows, or one row if there are fewer, by a core that also checks B.
  /// Returns whether a factor contains a subnormal number; the sums are stored only if none does.
  Emitted multiplyWatching(llvm::ArrayRef<int64_t> counts, Emitted b, const MatmulStrip &strip) const;
  /// Calls a core that packs a strip of columns, which start at `from` (MatmulPlan::isMatrix), to `b` and in the same loop
  /// computes and stores the sums of the first of `counts` rows, or no sums if there are fewer rows.
  void packAndMultiply(llvm::ArrayRef<int64_t> counts, Emitted from, Emitted b, const MatmulStrip &strip) const;
  /// Calls a core that computes and stores the sums of the block's rows, which are read from an image, up to `counts`
  /// positions of a line at a time, by a packed strip at `b`.
  void multiplyLines(llvm::ArrayRef<int64_t> counts, Emitted b, const MatmulStrip &strip) const;
  /// The initial sums of `rows` rows from `row` on: those of earlier slices of K, or 0.
  Values begin(int64_t rows, Emitted row, const MatmulStrip &strip) const;
  /// Stores sums. Sums of a scaled strip are unscaled and added to those of earlier slices of K.
  void store(const Values &sums, Emitted row, const MatmulStrip &strip) const;
  /// `sum` + x * y of packed elements.
  Emitted multiplyAdd(Emitted x, Emitted y, Emitted sum) const;

  bool widens = false; // multiplies widened members of pairs, because a factor contains a subnormal number

private:
  /// The location of sums in memory. The sums of one row are contiguous.
  struct SumsMemory {
    Emitted at, pitch;
    bool aligned = true;
  };
  SumsMemory memoryOf(Emitted row, const MatmulStrip &strip) const;
  Values load(int64_t rows, Emitted row, const MatmulStrip &strip) const;
  Emitted addUnscaled(Emitted sum, Emitted at, int64_t alignment, const MatmulStrip &strip) const;
  StripCore coreOf(llvm::ArrayRef<int64_t> counts, const MatmulStrip &strip) const;
  StripCore::Call callOf(Emitted row, Emitted b, const MatmulStrip &strip) const;
  /// Sets the arguments of a core that reads B unpacked, from `from` on.
  void setUnpacked(StripCore::Call &call, Emitted from, const MatmulStrip &strip) const;
  SumRule ruleOfSums() const;
  MatmulSums sumsOf(int64_t vectors) const;
  Emitted addressIn(const SumsMemory &memory, int64_t row, int64_t vector) const;

  const MatmulBlock &block;
  const MatmulAccess &access;
  SubnormalWatch &watch;
  KernelFrame &frame;
  const MatmulPlan &plan;
};

} // namespace halftone::compiler
