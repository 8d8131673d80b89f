// Elements of a matmul's operands, for one index of K at a time.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulOperands.h"

namespace halftone::compiler {
using namespace mlir;

Emitted MatmulOperands::stored(int side, const MatmulIndex &index) const {
  linalg::GenericOp prologue = plan.prologue[size_t(side)], contraction = plan.contraction;
  if (!prologue) {
    OpOperand *input = contraction.getDpsInputOperand(side);
    return access.load(input->get(), frame.source.accessOf(contraction, *input), index);
  }
  Values arguments = access.loadInputs(prologue, index);
  arguments.resize(prologue.getBody()->getNumArguments());
  const auto result = cast<OpResult>(contraction.getInputs()[unsigned(side)]).getResultNumber();
  return access.body(prologue, arguments, index)[result];
}

Emitted MatmulOperands::factor(int side, const MatmulIndex &index) const {
  return plan.factor(frame, side, stored(side, index), block.sizes.lanes);
}

} // namespace halftone::compiler
