// Elements of a matmul's operands, one index of K at a time.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/MatmulOperands.h"
#include "compiler/kernels/ScalarBody.h"

namespace halftone::compiler {
using namespace mlir;

/// `value`, an expression that `known` maps the leaves of, in lanes.
static Value cloneExpression(KernelFrame &frame, Value value, IRMapping &known, int64_t lanes) {
  if (Value done = known.lookupOrNull(value))
    return done;
  Operation *op = value.getDefiningOp();
  const Type type = atLanes(value.getType(), lanes);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(frame, op->getLoc(),
                                     DenseElementsAttr::get(cast<ShapedType>(type), Attribute(constant.getValue())));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(cloneExpression(frame, operand, known, lanes));
  OperationState state(op->getLoc(), op->getName(), operands, type, op->getAttrs());
  known.map(value, frame.create(state)->getResult(0));
  return known.lookup(value);
}

Emitted MatmulOperands::stored(int side, const MatmulIndex &index) const {
  linalg::GenericOp prologue = problem.prologue[size_t(side)], contraction = problem.contraction;
  if (!prologue) {
    OpOperand *input = contraction.getDpsInputOperand(side);
    return access.load(input->get(), frame.source.accessOf(contraction, *input), index);
  }
  Values arguments;
  for (OpOperand *input : prologue.getDpsInputOperands())
    arguments.push_back(access.load(input->get(), frame.source.accessOf(prologue, *input), index));
  arguments.resize(prologue.getBody()->getNumArguments());
  const auto result = cast<OpResult>(contraction.getInputs()[unsigned(side)]).getResultNumber();
  return access.body(prologue, arguments, index)[result];
}

Emitted MatmulOperands::factor(int side, const MatmulIndex &index) const {
  IRMapping known;
  known.map(problem.contraction.getBody()->getArgument(unsigned(side)), stored(side, index).value());
  return frame.wrap(cloneExpression(frame, problem.factorOf(side), known, block.sizes.lanes));
}

} // namespace halftone::compiler
