// Decomposition of `attention` into ordinary ops.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/AttentionParts.h"

using namespace mlir;

namespace halftone::dialect {

static constexpr StringRef origin = "attention";

FloatType AttentionInputs::scoreType() const {
  Type element = tensorTypeOf(q).getElementType();
  return isa<Float64Type>(element) ? cast<FloatType>(element) : Float32Type::get(q.getContext());
}

SmallVector<int64_t, 4> AttentionInputs::scoreShape() const {
  ArrayRef<int64_t> queries = tensorTypeOf(q).getShape();
  return {queries[0], queries[2], queries[1], tensorTypeOf(k).getDimSize(1)};
}

AttentionParts::AttentionParts(const AttentionInputs &inputs, OpBuilder &builder, Location loc)
    : e(builder, loc), inputs(inputs), scoreType(RankedTensorType::get(inputs.scoreShape(), inputs.scoreType())),
      heads(tensorTypeOf(inputs.q).getDimSize(2)), groups(tensorTypeOf(inputs.k).getDimSize(2)) {}

Value AttentionParts::scores() {
  Value scores = e.mul(products(inputs.q, inputs.k), inputs.scale);
  if (inputs.bias)
    scores = e.add(scores, repeated(e.cast(inputs.bias, scoreType.getElementType(), origin)));
  if (Value seen = allowed())
    scores = e.select(seen, scores, e.splat(scoreType, maskedScore));
  return scores;
}

AttentionSoftmax AttentionParts::softmax() {
  AttentionSoftmax values;
  values.scores = scores();
  const auto rowType = RankedTensorType::get(scoreType.getShape().drop_back(), scoreType.getElementType());
  values.largest =
      ReduceOp::create(e.builder, e.loc, rowType, ReduceKind::max, values.scores, e.builder.getDenseI64ArrayAttr({3}));
  values.raised = ExpOp::create(e.builder, e.loc, e.sub(values.scores, ofRows(values.largest)));
  values.total = e.sum(values.raised, {3}, scoreType.getElementType());
  return values;
}

Value AttentionParts::lse(const AttentionSoftmax &softmax) {
  return e.add(softmax.largest, LogOp::create(e.builder, e.loc, softmax.total));
}

// For scores of large magnitude, rounding loses from lse the logarithm of the number of equal scores, as in fully
// masked rows. With a bias or a mask, the weights of such rows are normalized again.
AttentionScoreGradients AttentionParts::scoreGradients(Value lse, Value byOut, Value delta) {
  AttentionScoreGradients values;
  values.scores = scores();
  values.raised = ExpOp::create(e.builder, e.loc, e.sub(values.scores, ofRows(lse)));
  Value weights = values.raised;
  if (inputs.bias || inputs.mask) {
    values.total = e.sum(values.raised, {3}, scoreType.getElementType());
    Value size = AbsOp::create(e.builder, e.loc, lse.getType(), lse);
    Value isLarge = e.compare(ComparePredicate::ge, size, e.splat(lse.getType(), largeLse));
    weights = e.div(weights, ofRows(e.select(isLarge, values.total, e.splat(lse.getType(), 1))));
  }
  values.kept = dropped(weights);
  values.scoreGradients = e.mul(weights, e.sub(dropped(products(byOut, inputs.v)), ofRows(delta)));
  if (Value seen = allowed())
    values.scoreGradients = e.zeroUnless(seen, values.scoreGradients);
  return values;
}

SmallVector<Value, 3> AttentionParts::gradients(const AttentionScoreGradients &values, Value byOut, Type keySums) {
  Value scoreGradients = narrowed(values.scoreGradients);
  return {overKeys(scoreGradients, inputs.k, inputs.scale),
          overQueries(scoreGradients, inputs.q, inputs.scale, keySums),
          overQueries(narrowed(values.kept), byOut, 1, keySums)};
}

SmallVector<Value, 3> AttentionParts::gradientsInParts(const AttentionScoreGradients &values, Value byOut,
                                                       int64_t parts) {
  const Value scoreGradients = narrowed(values.scoreGradients), kept = narrowed(values.kept);
  const int64_t queries = scoreType.getDimSize(2), run = llvm::divideCeil(queries, parts);
  SmallVector<Value> byKeys, byValues;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = std::min(part * run, queries), count = std::min(run, queries - begin);
    const auto add = [&](SmallVector<Value> &all, Value weights, Value x, double scale) {
      Value sums =
          overQueries(ofRun(weights, 2, begin, count), ofRun(x, 1, begin, count), scale, scoreType.getElementType());
      all.push_back(reshape(sums, typeOfPartialResults(sums.getType(), 1, scoreType.getElementType()).getShape()));
    };
    add(byKeys, scoreGradients, inputs.q, inputs.scale);
    add(byValues, kept, byOut, 1);
  }
  const auto joined = [&](ArrayRef<Value> all) {
    SmallVector<int64_t> shape(tensorTypeOf(all[0]).getShape());
    shape[0] = parts;
    return ConcatOp::create(e.builder, e.loc, tensorTypeOf(all[0]).clone(shape), all, 0).getResult();
  };
  return {overKeys(scoreGradients, inputs.k, inputs.scale), joined(byKeys), joined(byValues)};
}

Value AttentionParts::ofRun(Value value, int64_t axis, int64_t begin, int64_t count) {
  SmallVector<int64_t> shape(tensorTypeOf(value).getShape()), start(shape.size(), 0);
  if (shape[axis] == count)
    return value;
  shape[axis] = count;
  start[axis] = begin;
  return SliceOp::create(e.builder, e.loc, tensorTypeOf(value).clone(shape), value, start);
}

Value AttentionParts::narrowed(Value value) {
  return e.cast(value, tensorTypeOf(inputs.q).getElementType(), "gradient of attention");
}

Value AttentionParts::allowed() {
  Value seen = inputs.mask ? repeated(inputs.mask) : Value();
  if (!inputs.causal)
    return seen;
  const auto type = scoreType.clone(e.builder.getI32Type());
  Value query = IotaOp::create(e.builder, e.loc, type, 2), key = IotaOp::create(e.builder, e.loc, type, 3);
  Value past = e.compare(ComparePredicate::ge, query, key);
  return seen ? AndOp::create(e.builder, e.loc, seen, past).getResult() : past;
}

// Uses the upper 24 bits of each word, which f32 holds exactly.
Value AttentionParts::dropped(Value weights) {
  const double rate = inputs.rate;
  if (rate == 0)
    return weights;
  const auto bits = scoreType.clone(IntegerType::get(e.builder.getContext(), 32, IntegerType::Unsigned));
  Value word = RandomBitsOp::create(e.builder, e.loc, bits, inputs.key);
  Value upper = e.cast(ShrOp::create(e.builder, e.loc, word, e.splat(bits, 8)), e.builder.getF32Type(), origin);
  Value kept = e.compare(ComparePredicate::ge, upper, e.splat(upper.getType(), rate * 0x1p24));
  return e.zeroUnless(kept, e.mul(weights, 1 / (1 - rate)));
}

Value AttentionParts::repeated(Value value) {
  SmallVector<int64_t> kept, shape;
  for (auto [axis, extent] : llvm::enumerate(tensorTypeOf(value).getShape()))
    if (extent == scoreType.getDimSize(axis)) {
      kept.push_back(static_cast<int64_t>(axis));
      shape.push_back(extent);
    }
  return e.broadcast(reshape(value, shape), scoreType.clone(tensorTypeOf(value).getElementType()), kept);
}

Value AttentionParts::reshape(Value value, ArrayRef<int64_t> shape) {
  return tensorTypeOf(value).getShape() == shape
             ? value
             : ReshapeOp::create(e.builder, e.loc, tensorTypeOf(value).clone(shape), value).getResult();
}

Value AttentionParts::grouped(Value value, int64_t axis) {
  SmallVector<int64_t> shape(tensorTypeOf(value).getShape());
  shape[axis] = groups;
  shape.insert(shape.begin() + axis + 1, heads / groups);
  return reshape(value, shape);
}

Value AttentionParts::contract(Value lhs, Value rhs, const Axes &axes, Type element) {
  SmallVector<int64_t> shape, lhsTaken = axes.lhsBatch, rhsTaken = axes.rhsBatch;
  llvm::append_range(lhsTaken, axes.lhsContract);
  llvm::append_range(rhsTaken, axes.rhsContract);
  for (int64_t axis : axes.lhsBatch)
    shape.push_back(tensorTypeOf(lhs).getDimSize(axis));
  for (int64_t axis : otherAxes(tensorTypeOf(lhs).getRank(), lhsTaken))
    shape.push_back(tensorTypeOf(lhs).getDimSize(axis));
  for (int64_t axis : otherAxes(tensorTypeOf(rhs).getRank(), rhsTaken))
    shape.push_back(tensorTypeOf(rhs).getDimSize(axis));
  return ContractOp::create(e.builder, e.loc, RankedTensorType::get(shape, element), lhs, rhs, axes.lhsBatch,
                            axes.rhsBatch, axes.lhsContract, axes.rhsContract,
                            /*tile=*/DenseI64ArrayAttr());
}

Value AttentionParts::contract(Value lhs, Value rhs, const Axes &axes, double scale, Type element) {
  if (scale == 1)
    return contract(lhs, rhs, axes, element);
  return e.cast(e.mul(contract(lhs, rhs, axes, scoreType.getElementType()), scale), element, origin);
}

Value AttentionParts::products(Value x, Value y) {
  const Type element = scoreType.getElementType();
  if (heads == groups)
    return contract(x, y, {{0, 2}, {0, 2}, {3}, {3}}, element);
  Value product = contract(grouped(x, 2), y, {{0, 2}, {0, 2}, {4}, {3}}, element); // (b, m, t, n / m, s)
  return reshape(e.transpose(product, {0, 1, 3, 2, 4}), scoreType.getShape());
}

Value AttentionParts::sumsOverKeys(Value weights, Value y) {
  const Type element = scoreType.getElementType();
  if (heads == groups)
    return contract(weights, y, {{0, 1}, {0, 2}, {3}, {1}}, element);
  return reshape(contract(grouped(weights, 1), y, {{0, 1}, {0, 2}, {4}, {1}}, element),
                 {scoreType.getDimSize(0), heads, scoreType.getDimSize(2), tensorTypeOf(y).getDimSize(3)});
}

Value AttentionParts::overKeys(Value weights, Value y, double scale) {
  const Type element = tensorTypeOf(y).getElementType();
  if (heads == groups)
    return e.transpose(contract(weights, y, {{0, 1}, {0, 2}, {3}, {1}}, scale, element), {0, 2, 1, 3});
  Value product = contract(grouped(weights, 1), y, {{0, 1}, {0, 2}, {4}, {1}}, scale, element); // (b, m, n / m, t, c)
  return reshape(e.transpose(product, {0, 3, 1, 2, 4}),
                 {scoreType.getDimSize(0), scoreType.getDimSize(2), heads, tensorTypeOf(y).getDimSize(3)});
}

Value AttentionParts::overQueries(Value weights, Value x, double scale, Type element) {
  Value product = heads == groups
                      ? contract(weights, x, {{0, 1}, {0, 2}, {2}, {1}}, scale, element)
                      : contract(grouped(weights, 1), grouped(x, 2), {{0, 1}, {0, 2}, {2, 3}, {3, 1}}, scale, element);
  return e.transpose(product, {0, 2, 1, 3});
}

int64_t partsOfQueries(AttentionGradOp op) {
  const RankedTensorType type = tensorTypeOf(op.getByK());
  return type.getRank() == 5 ? type.getDimSize(0) : 0;
}

RankedTensorType typeOfPartialResults(Type whole, int64_t parts, Type sum) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(whole).getShape());
  shape.insert(shape.begin(), parts);
  return RankedTensorType::get(shape, sum);
}

SmallVector<Value, 3> expanded(AttentionGradOp op, OpBuilder &builder) {
  AttentionParts parts(AttentionInputs(op), builder, op.getLoc());
  const AttentionScoreGradients values = parts.scoreGradients(op.getLse(), op.getByOut(), op.getDelta());
  if (const int64_t count = partsOfQueries(op))
    return parts.gradientsInParts(values, op.getByOut(), count);
  return parts.gradients(values, op.getByOut(), tensorTypeOf(op.getQ()).getElementType());
}

} // namespace halftone::dialect
