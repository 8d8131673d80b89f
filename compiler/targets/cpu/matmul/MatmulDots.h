// Matmuls of few rows by a transposed right operand: lanes run along K, and nothing is packed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulMicroKernel.h"

namespace halftone::compiler {

/// Multiplies rows of A by rows of a transposed B; both are read in place along K (Multiply::dots).
class MatmulDots {
public:
  MatmulDots(const MatmulBlock &block, const MatmulAccess &access, const MatmulOperands &operands,
             const MatmulMicroKernel &microKernel)
      : block(block), access(access), operands(operands), microKernel(microKernel), frame(block.frame) {}

  /// Computes the sums of the block's whole tile.
  void multiply(const MatmulDepth &depth) const;

private:
  Emitted alongDepth(int side, Emitted line, Emitted k, const MatmulDepth &depth) const;

  const MatmulBlock &block;
  const MatmulAccess &access;
  const MatmulOperands &operands;
  const MatmulMicroKernel &microKernel;
  KernelFrame &frame;
};

} // namespace halftone::compiler
