// Groups: neighbours along K in one element of a matmul's packed operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulOperands.h"

namespace halftone::compiler {

/// Factors of a product that takes several indices of K at a time: four i8 or two bf16. A group holds those of a row of
/// A or of a column of B in 32 bits, the first in the lowest bits; groups past K are 0.
class MatmulGroups {
public:
  MatmulGroups(const MatmulBlock &block, const MatmulAccess &access, const MatmulOperands &operands)
      : block(block), access(access), operands(operands), frame(block.frame), plan(block.plan) {}

  /// 16 consecutive groups of an operand along K.
  Emitted alongDepth(int side, MatmulIndex index, Emitted group) const;
  /// One group from each of 16 adjacent rows of A or columns of B.
  Emitted across(int side, MatmulIndex index, Emitted group) const;
  /// Adds 128 to each byte of groups of columns if the product takes unsigned operands; otherwise returns them
  /// unchanged.
  Emitted biased(int side, Emitted group) const;
  /// Joins members into groups, lane by lane, the first in the lowest bits.
  Emitted joined(const Values &members) const;

private:
  Emitted throughPrologue(int side, MatmulIndex index, Emitted first) const;
  Emitted inMemory(int side, MatmulIndex index, Emitted first) const;
  Emitted sameBits(Emitted vector, mlir::Type type) const;

  const MatmulBlock &block;
  const MatmulAccess &access;
  const MatmulOperands &operands;
  KernelFrame &frame;
  const MatmulPlan &plan;
};

} // namespace halftone::compiler
