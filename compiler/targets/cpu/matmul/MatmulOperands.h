// The elements of a matmul's operands, after their prologues.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulAccess.h"

namespace halftone::compiler {

class MatmulOperands {
public:
  MatmulOperands(const MatmulBlock &block, const MatmulAccess &access)
      : block(block), access(access), frame(block.frame), plan(block.plan) {}

  /// The operand's elements at `index`, in the stored type.
  Emitted stored(int side, const MatmulIndex &index) const;
  /// The operand's elements at `index`, in the accumulator's type.
  Emitted factor(int side, const MatmulIndex &index) const;

private:
  const MatmulBlock &block;
  const MatmulAccess &access;
  KernelFrame &frame;
  const MatmulPlan &plan;
};

} // namespace halftone::compiler
