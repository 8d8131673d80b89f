// Groups: neighbours along K that one element of a matmul's packed operands holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulOperands.h"

namespace halftone::compiler {

/// Factors of a product that takes several indices of K at once: four of i8, or two of bf16. A group holds those of a row of A or of
/// a column of B in 32 bits, the first in the lowest; groups past K are 0.
class MatmulGroups {
public:
  MatmulGroups(const MatmulBlock &block, const MatmulAccess &access, const MatmulOperands &operands)
      : block(block), access(access), operands(operands), frame(block.frame), plan(block.plan) {}

  /// 16 neighbouring groups along K of an operand.
  Emitted alongDepth(int side, MatmulIndex index, Emitted group) const;
  /// One group of each of 16 neighbouring rows of A or columns of B.
  Emitted across(int side, MatmulIndex index, Emitted group) const;
  /// Groups of columns in bytes as numbers 128 larger, where the product wants them so; others as they are.
  Emitted biased(int side, Emitted group) const;
  /// Groups of these members, lane by lane, the first in the lowest bits.
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
