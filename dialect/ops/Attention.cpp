// The attention ops.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/AttentionParts.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace halftone::dialect {

FloatType AttentionOp::getScoreType() { return AttentionInputs(*this).scoreType(); }
SmallVector<int64_t, 4> AttentionOp::getScoreShape() { return AttentionInputs(*this).scoreShape(); }
FloatType AttentionGradOp::getScoreType() { return AttentionInputs(*this).scoreType(); }
SmallVector<int64_t, 4> AttentionGradOp::getScoreShape() { return AttentionInputs(*this).scoreShape(); }

/// Verifies that q, k and v have compatible shapes and the same dtype.
static LogicalResult verifyOperands(Operation *op, const AttentionInputs &inputs) {
  RankedTensorType q = tensorTypeOf(inputs.q), k = tensorTypeOf(inputs.k), v = tensorTypeOf(inputs.v);
  for (auto [type, name, axes] :
       {std::tuple(q, "q", "(b, t, n, h)"), {k, "k", "(b, s, m, h)"}, {v, "v", "(b, s, m, e)"}})
    if (type.getRank() != 4)
      return op->emitOpError() << name << " must have the axes " << axes << ", but got " << type;
  if (k.getElementType() != q.getElementType() || v.getElementType() != q.getElementType())
    return op->emitOpError() << "expects q, k and v of the same dtype, but got " << q.getElementType() << ", "
                             << k.getElementType() << " and " << v.getElementType();
  if (k.getDimSize(0) != q.getDimSize(0) || v.getDimSize(0) != q.getDimSize(0))
    return op->emitOpError() << "expects q, k and v with the same batch size, but got " << q << ", " << k << " and "
                             << v;
  if (k.getDimSize(3) != q.getDimSize(3))
    return op->emitOpError() << "multiplies q and k over their last axes, but these have the extents "
                             << q.getDimSize(3) << " and " << k.getDimSize(3);
  if (v.getDimSize(1) != k.getDimSize(1) || v.getDimSize(2) != k.getDimSize(2))
    return op->emitOpError() << "expects k and v to agree in length and heads, but got " << k << " and " << v;
  const int64_t heads = q.getDimSize(2), groups = k.getDimSize(2);
  if (groups == 0 || heads % groups != 0)
    return op->emitOpError() << "expects the number of heads of q to be a multiple of that of k, but got " << heads
                             << " and " << groups;
  return success();
}

/// Verifies that an operand with broadcast axes is compatible with the scores.
static LogicalResult verifyRepeats(Operation *op, const AttentionInputs &inputs, Value operand, StringRef name) {
  if (!operand)
    return success();
  ArrayRef<int64_t> shape = tensorTypeOf(operand).getShape();
  const SmallVector<int64_t, 4> scores = inputs.scoreShape();
  const bool fits = shape.size() == 4 && llvm::all_of(llvm::zip(shape, scores), [](auto pair) {
                      return std::get<0>(pair) == 1 || std::get<0>(pair) == std::get<1>(pair);
                    });
  if (fits)
    return success();
  return op->emitOpError() << name << " must have the extents (b, n, t, s) = [" << ArrayRef(scores)
                           << "], each of which may be 1, but got " << operand.getType();
}

/// Verifies the operands and attributes that both ops share.
static LogicalResult verifyInputs(Operation *op, const AttentionInputs &inputs) {
  if (failed(verifyOperands(op, inputs)) || failed(verifyRepeats(op, inputs, inputs.bias, "bias")) ||
      failed(verifyRepeats(op, inputs, inputs.mask, "mask")))
    return failure();
  if (!std::isfinite(inputs.scale))
    return op->emitOpError() << "expects a finite scale, but got " << inputs.scale;
  if (!(inputs.rate >= 0 && inputs.rate < 1))
    return op->emitOpError() << "expects a rate of at least 0 and below 1, but got " << inputs.rate;
  if ((inputs.rate > 0) != static_cast<bool>(inputs.key))
    return op->emitOpError() << "expects a key if and only if its rate is above 0; the rate is " << inputs.rate;
  if (inputs.key && tensorTypeOf(inputs.key).getShape() != ArrayRef<int64_t>(2))
    return op->emitOpError() << "expects a key of 2 words, but got " << inputs.key.getType();
  return success();
}

/// The type of `out`, and of its cotangent.
static RankedTensorType outType(const AttentionInputs &inputs) {
  RankedTensorType q = tensorTypeOf(inputs.q);
  return q.clone({q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), tensorTypeOf(inputs.v).getDimSize(3)});
}
/// The type with one element per row of scores.
static RankedTensorType rowType(const AttentionInputs &inputs) {
  return RankedTensorType::get(ArrayRef(inputs.scoreShape()).drop_back(), inputs.scoreType());
}

LogicalResult AttentionOp::verify() {
  const AttentionInputs inputs(*this);
  if (failed(verifyInputs(*this, inputs)))
    return failure();
  const RankedTensorType out = outType(inputs), lse = rowType(inputs);
  if (getOut().getType() != out || getLse().getType() != lse)
    return emitOpError() << "results must be " << out << " and " << lse << ", but got " << getOut().getType() << " and "
                         << getLse().getType();
  return success();
}

LogicalResult AttentionGradOp::verify() {
  const AttentionInputs inputs(*this);
  if (failed(verifyInputs(*this, inputs)))
    return failure();
  for (auto [value, type, name] : {std::tuple(getLse(), rowType(inputs), "lse"),
                                   {getByOut(), outType(inputs), "by_out"},
                                   {getDelta(), rowType(inputs), "delta"}})
    if (value.getType() != type)
      return emitOpError() << name << " must be " << type << ", but got " << value.getType();
  const int64_t parts = partsOfQueries(*this);
  for (auto [result, operand] : llvm::zip(getResults(), ValueRange{getQ(), getK(), getV()})) {
    const bool inParts = parts > 0 && result != getByQ();
    const RankedTensorType whole = tensorTypeOf(operand),
                           type = inParts ? typeOfPartialResults(whole, parts, inputs.scoreType()) : whole;
    if (result.getType() != type)
      return emitOpError() << "result must be " << type
                           << (inParts ? ", partial results as by_k" : ", the type of the operand") << ", but got "
                           << result.getType();
  }
  return success();
}

/// Sums `scoreGradients`, in the shape of scores, over the broadcast axes of `bias`.
static Value gradientOfBias(Expression &e, Value scoreGradients, Value bias) {
  SmallVector<int64_t> summed;
  for (auto [axis, extents] :
       llvm::enumerate(llvm::zip(tensorTypeOf(bias).getShape(), tensorTypeOf(scoreGradients).getShape())))
    if (std::get<0>(extents) != std::get<1>(extents))
      summed.push_back(static_cast<int64_t>(axis));
  Value sum = e.sum(scoreGradients, summed, tensorTypeOf(scoreGradients).getElementType());
  sum = ReshapeOp::create(e.builder, e.loc, tensorTypeOf(bias).clone(tensorTypeOf(sum).getElementType()), sum);
  return e.cast(sum, tensorTypeOf(bias).getElementType(), "gradient of attention");
}

LogicalResult AttentionOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  AttentionParts parts(AttentionInputs(*this), builder, getLoc());
  Expression &e = parts.e;
  const Type score = getScoreType();
  const auto widened = [&](Value value) { return e.cast(value, score, "gradient of attention"); };
  Value byOut = cotangents[0], delta;
  if (byOut)
    delta = e.transpose(e.sum(e.mul(widened(byOut), widened(getOut())), {3}, score), {0, 2, 1});
  else
    byOut = e.splat(getOut().getType(), 0);
  if (Value lse = cotangents[1])
    delta = delta ? e.sub(delta, lse) : e.neg(lse);
  auto grad = AttentionGradOp::create(
      builder, getLoc(), TypeRange{getQ().getType(), getK().getType(), getV().getType()}, getQ(), getK(), getV(),
      getBias(), getMask(), getKey(), getLse(), byOut, delta, getCausalAttr(), getScaleAttr(), getRateAttr());
  gradients.append(grad->result_begin(), grad->result_end());
  if (getBias())
    gradients.push_back(gradientOfBias(e, parts.scoreGradients(getLse(), byOut, delta).scoreGradients, getBias()));
  gradients.resize(getNumOperands());
  return success();
}

// Random draws are indexed over all scores, so lifting the steps into one op would change the draws.
bool AttentionOp::mayLift(const llvm::SmallBitVector &) { return !getKey(); }

SmallVector<Value> AttentionOp::lift(OpBuilder &builder, const StepOperands &operands) {
  const Location loc = getLoc();
  const int64_t batch = getScoreShape().front();
  SmallVector<Value> joined;
  for (unsigned number = 0; number < getNumOperands(); ++number) {
    if (!operands.isStacked[number] && shapeOf(operands[number]).front() == 1 && batch != 1) {
      joined.push_back(operands[number]); // a bias or mask that is broadcast over all samples and steps
      continue;
    }
    Value stack = operands.stack(builder, loc, number);
    if (shapeOf(stack)[1] != batch) {
      SmallVector<int64_t> shape(shapeOf(stack)), axes{0};
      shape[1] = batch;
      llvm::append_range(axes, llvm::seq<int64_t>(2, shape.size()));
      const Type whole = tensorTypeOf(stack).clone(shape);
      shape.erase(shape.begin() + 1);
      stack = ReshapeOp::create(builder, loc, tensorTypeOf(stack).clone(shape), stack);
      stack = BroadcastOp::create(builder, loc, whole, stack, axes);
    }
    joined.push_back(joinSteps(builder, loc, stack));
  }
  Operation *copy = builder.clone(**this);
  copy->setOperands(joined);
  SmallVector<Value> results;
  for (Value result : copy->getResults()) {
    SmallVector<int64_t> shape(shapeOf(result));
    shape.front() *= operands.steps;
    result.setType(tensorTypeOf(result).clone(shape));
    results.push_back(splitSteps(builder, loc, result, operands.steps));
  }
  return results;
}

bool AttentionOp::leavesLoops() { return true; }

} // namespace halftone::dialect
