// Few rows times a transposed right operand: lanes run along K, and nothing is packed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulMicroKernel.h"

namespace halftone::compiler {

/// Rows of A times rows of a transposed B, both read along K where they are (Multiply::dots).
class MatmulDots {
public:
  MatmulDots(const MatmulBlock &block, const MatmulAccess &access, const MatmulOperands &operands,
             const MatmulMicroKernel &microKernel)
      : block(block), access(access), operands(operands), microKernel(microKernel), frame(block.frame) {}

  /// The sums of the whole tile of the block.
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
