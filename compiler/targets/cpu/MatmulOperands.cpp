// Elements of a matmul's operands, one index of K at a time.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/MatmulOperands.h"

namespace halftone::compiler {
using namespace mlir;

Emitted MatmulOperands::stored(int side, const MatmulPlace &place) const {
  linalg::GenericOp prologue = problem.prologue[size_t(side)], contraction = problem.contraction;
  if (!prologue) {
    OpOperand *input = contraction.getDpsInputOperand(side);
    return access.load(input->get(), frame.source.accessOf(contraction, *input), place);
  }
  Values arguments;
  for (OpOperand *input : prologue.getDpsInputOperands())
    arguments.push_back(access.load(input->get(), frame.source.accessOf(prologue, *input), place));
  arguments.resize(prologue.getBody()->getNumArguments());
  const auto result = cast<OpResult>(contraction.getInputs()[unsigned(side)]).getResultNumber();
  return access.body(prologue, arguments, place)[result];
}

Emitted MatmulOperands::factor(int side, const MatmulPlace &place) const {
  return problem.factor(frame, side, stored(side, place), block.sizes.lanes);
}

} // namespace halftone::compiler
