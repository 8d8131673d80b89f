// Attention.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/AttentionParts.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace halftone::dialect {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

FloatType AttentionOp::getScoreType() {
  Type element = getElementTypeOrSelf(getQ().getType());
  return isa<Float64Type>(element) ? cast<FloatType>(element) : Float32Type::get(getContext());
}

SmallVector<int64_t, 4> AttentionOp::getScoreShape() {
  ArrayRef<int64_t> q = typeOf(getQ()).getShape(), k = typeOf(getK()).getShape();
  return {q[0], q[2], q[1], k[1]};
}

/// Whether q, k and v have fitting shapes and one dtype.
static LogicalResult verifyInputs(AttentionOp op) {
  RankedTensorType q = typeOf(op.getQ()), k = typeOf(op.getK()), v = typeOf(op.getV());
  for (auto [type, name, axes] :
       {std::tuple(q, "q", "(b, t, n, h)"), {k, "k", "(b, s, m, h)"}, {v, "v", "(b, s, m, e)"}})
    if (type.getRank() != 4)
      return op.emitOpError() << name << " has the axes " << axes << ", but got " << type;
  if (k.getElementType() != q.getElementType() || v.getElementType() != q.getElementType())
    return op.emitOpError() << "takes q, k and v of one dtype, but got " << q.getElementType() << ", "
                            << k.getElementType() << " and " << v.getElementType();
  if (k.getDimSize(0) != q.getDimSize(0) || v.getDimSize(0) != q.getDimSize(0))
    return op.emitOpError() << "takes q, k and v of one batch, but got " << q << ", " << k << " and " << v;
  if (k.getDimSize(3) != q.getDimSize(3))
    return op.emitOpError() << "multiplies q and k over their last axes, but these have the extents " << q.getDimSize(3)
                            << " and " << k.getDimSize(3);
  if (v.getDimSize(1) != k.getDimSize(1) || v.getDimSize(2) != k.getDimSize(2))
    return op.emitOpError() << "takes a key for each value and head, but got " << k << " and " << v;
  const int64_t heads = q.getDimSize(2), groups = k.getDimSize(2);
  if (groups == 0 || heads % groups != 0)
    return op.emitOpError() << "needs a count of heads of q that is a multiple of that of k, but got " << heads
                            << " and " << groups;
  return success();
}

/// Whether an operand that is the same along some axes of the scores fits them.
static LogicalResult verifyRepeats(AttentionOp op, Value operand, StringRef name) {
  if (!operand)
    return success();
  ArrayRef<int64_t> shape = typeOf(operand).getShape();
  const SmallVector<int64_t, 4> scores = op.getScoreShape();
  const bool fits = shape.size() == 4 && llvm::all_of(llvm::zip(shape, scores), [](auto pair) {
                      return std::get<0>(pair) == 1 || std::get<0>(pair) == std::get<1>(pair);
                    });
  if (fits)
    return success();
  return op.emitOpError() << name << " has the extents (b, n, t, s) = [" << ArrayRef(scores)
                          << "], or 1 in place of some, but got " << operand.getType();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyInputs(*this)) || failed(verifyRepeats(*this, getBias(), "bias")) ||
      failed(verifyRepeats(*this, getMask(), "mask")))
    return failure();
  const double rate = getRate().convertToDouble(), scale = getScale().convertToDouble();
  if (!std::isfinite(scale))
    return emitOpError() << "needs a finite scale, but got " << scale;
  if (!(rate >= 0 && rate < 1))
    return emitOpError() << "needs a rate of at least 0 and below 1, but got " << rate;
  if ((rate > 0) != static_cast<bool>(getKey()))
    return emitOpError() << "takes a key if its rate is above 0, and else none; the rate is " << rate;
  if (getKey() && typeOf(getKey()).getShape() != ArrayRef<int64_t>(2))
    return emitOpError() << "takes a key of 2 words, but got " << getKey().getType();
  RankedTensorType q = typeOf(getQ());
  const auto out = q.clone({q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), typeOf(getV()).getDimSize(3)});
  const auto lse = RankedTensorType::get(ArrayRef(getScoreShape()).drop_back(), getScoreType());
  if (getOut().getType() != out || getLse().getType() != lse)
    return emitOpError() << "gives " << out << " and " << lse << ", but its results are " << getOut().getType()
                         << " and " << getLse().getType();
  return success();
}

/// `slope`, in the shape of scores, summed over the axes along which `bias` is the same.
static Value gradientOfBias(Expression &e, Value slope, Value bias) {
  SmallVector<int64_t> summed;
  for (auto [axis, extents] : llvm::enumerate(llvm::zip(typeOf(bias).getShape(), typeOf(slope).getShape())))
    if (std::get<0>(extents) != std::get<1>(extents))
      summed.push_back(static_cast<int64_t>(axis));
  Value sum = e.sum(slope, summed, typeOf(slope).getElementType());
  sum = ReshapeOp::create(e.builder, e.loc, typeOf(bias).clone(typeOf(sum).getElementType()), sum);
  return e.cast(sum, typeOf(bias).getElementType(), "gradient of attention");
}

// The weights come from the scores and lse. Beside scores of -1e9 and less, lse has lost the logarithm of the count of equal
// ones, so with a bias or a mask the weights are made to add up to 1 again.
static Value weightsOf(AttentionOp op, AttentionParts &parts) {
  Value shifted = parts.e.sub(parts.scores(), parts.ofRows(op.getLse()));
  Value weights = ExpOp::create(parts.e.builder, parts.e.loc, shifted);
  if (!op.getBias() && !op.getMask())
    return weights;
  return parts.e.div(weights, parts.ofRows(parts.e.sum(weights, {3}, op.getScoreType())));
}

LogicalResult AttentionOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  AttentionParts parts(*this, builder);
  Expression &e = parts.e;
  const Type element = typeOf(getQ()).getElementType(), score = getScoreType();
  const auto narrowed = [&](Value value) { return e.cast(value, element, "gradient of attention"); };
  const auto widened = [&](Value value) { return e.cast(value, score, "gradient of attention"); };
  Value weights = weightsOf(*this, parts), byValues, slope; // slope: the cotangent of the scores
  if (Value out = cotangents[0]) {
    byValues = parts.overQueries(narrowed(parts.dropped(weights)), out, 1);
    Value total = e.sum(e.mul(widened(out), widened(getOut())), {3}, score);
    slope = e.sub(parts.dropped(parts.products(out, getV())), parts.ofRows(e.transpose(total, {0, 2, 1})));
  }
  if (Value lse = cotangents[1])
    slope = slope ? e.add(slope, parts.ofRows(lse)) : parts.ofRows(lse);
  slope = e.mul(weights, slope);
  if (Value seen = parts.allowed())
    slope = e.zeroUnless(seen, slope);
  const double scale = getScale().convertToDouble();
  gradients.push_back(parts.overKeys(narrowed(slope), getK(), scale));
  gradients.push_back(parts.overQueries(narrowed(slope), getQ(), scale));
  gradients.push_back(byValues);
  if (getBias())
    gradients.push_back(gradientOfBias(e, slope, getBias()));
  gradients.resize(getNumOperands());
  return success();
}

} // namespace halftone::dialect
