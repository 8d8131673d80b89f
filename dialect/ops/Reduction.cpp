// Reductions.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Gradient.h"
#include "dialect/ops/Expression.h"

using namespace mlir;

namespace halftone::dialect {

static LogicalResult verifyAxes(Operation *op, RankedTensorType x, ArrayRef<int64_t> axes) {
  for (auto [index, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= x.getRank())
      return op->emitOpError() << "axis " << axis << " is out of range for an operand of rank " << x.getRank();
    if (index && axes[index - 1] >= axis)
      return op->emitOpError() << "axes must ascend strictly, but " << axis << " follows " << axes[index - 1];
  }
  return success();
}

static LogicalResult verifyDTypes(Operation *op, ReduceKind kind, Type x, Type y) {
  bool logical = kind == ReduceKind::and_ || kind == ReduceKind::or_;
  if (logical && isa<FloatType>(x))
    return op->emitOpError() << stringifyReduceKind(kind) << " takes bool or integers, but got " << x;
  if (!logical && x.isInteger(1))
    return op->emitOpError() << stringifyReduceKind(kind) << " takes numbers, but got " << x;
  if (y != x && !(y.isF32() && isa<FloatType>(x) && x.getIntOrFloatBitWidth() < 32))
    return op->emitOpError() << "of " << x << " gives " << x
                             << (isa<FloatType>(x) && x.getIntOrFloatBitWidth() < 32 ? " or f32" : "") << ", but got "
                             << y;
  return success();
}

static LogicalResult verifyShape(Operation *op, ArrayRef<int64_t> shape, RankedTensorType y) {
  if (y.getShape() != shape)
    return op->emitOpError() << "gives " << RankedTensorType::get(shape, y.getElementType()) << ", but its result is "
                             << y;
  return success();
}

static SmallVector<int64_t> keptShape(RankedTensorType x, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape;
  for (int64_t axis : otherAxes(x.getRank(), axes))
    shape.push_back(x.getDimSize(axis));
  return shape;
}

// Sums and products of floats depend on their order.
static bool dependsOnOrder(ReduceKind kind, Value x) {
  return isa<FloatType>(getElementTypeOrSelf(x)) && (kind == ReduceKind::sum || kind == ReduceKind::prod);
}
static bool isExtremum(ReduceKind kind) { return kind == ReduceKind::max || kind == ReduceKind::min; }

bool ReduceOp::isExact() { return !dependsOnOrder(getKind(), getX()); }
bool ReduceOp::keepsDtype() { return isExtremum(getKind()); }
bool CumsumOp::isExact() { return !dependsOnOrder(ReduceKind::sum, getX()); }
bool PartialReduceOp::isExact() { return !dependsOnOrder(getKind(), getX()); }
bool PartialReduceOp::keepsDtype() { return isExtremum(getKind()); }
// Of one element the index is 0.
bool ArgReduceOp::isDecision() { return cast<RankedTensorType>(getX().getType()).getDimSize(getAxis()) > 1; }
bool ReduceAllOp::isExact() { return getKind() != ReduceAllKind::sum_of_squares; }
bool ReduceAllOp::isDecision() { return getKind() == ReduceAllKind::all_finite; }

LogicalResult ReduceOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), y = cast<RankedTensorType>(getY().getType());
  if (failed(verifyAxes(*this, x, getAxes())) ||
      failed(verifyDTypes(*this, getKind(), x.getElementType(), y.getElementType())))
    return failure();
  return verifyShape(*this, keptShape(x, getAxes()), y);
}

LogicalResult PartialReduceOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), y = cast<RankedTensorType>(getY().getType());
  if (failed(verifyAxes(*this, x, getAxes())) ||
      failed(verifyDTypes(*this, getKind(), x.getElementType(), y.getElementType())))
    return failure();
  if (getTile().size() != getAxes().size())
    return emitOpError() << "needs one tile extent per axis, " << getAxes().size() << ", but got " << getTile().size();
  SmallVector<int64_t> shape(x.getShape());
  for (auto [axis, tile] : llvm::zip_equal(getAxes(), getTile())) {
    if (tile <= 0)
      return emitOpError() << "tile extents are positive, but got " << tile;
    shape[axis] = llvm::divideCeil(shape[axis], tile);
  }
  return verifyShape(*this, shape, y);
}

LogicalResult ArgReduceOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), y = cast<RankedTensorType>(getY().getType());
  int64_t axis = getAxis();
  if (getKind() != ReduceKind::max && getKind() != ReduceKind::min)
    return emitOpError() << "finds max or min, but got " << stringifyReduceKind(getKind());
  if (failed(verifyAxes(*this, x, axis)))
    return failure();
  if (x.getDimSize(axis) == 0)
    return emitOpError() << "has no element along axis " << axis;
  return verifyShape(*this, keptShape(x, axis), y);
}

LogicalResult CumsumOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), y = cast<RankedTensorType>(getY().getType());
  int64_t axis = getAxis();
  if (failed(verifyAxes(*this, x, axis)) ||
      failed(verifyDTypes(*this, ReduceKind::sum, x.getElementType(), y.getElementType())))
    return failure();
  return verifyShape(*this, x.getShape(), y);
}

LogicalResult ReduceAllOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, ValueRange operands,
                                            DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                            SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (!adaptor.getKindAttr())
    return emitOptionalError(loc, "'halftone.reduce_all' op needs a kind");
  Builder builder(context);
  bool wide = llvm::any_of(operands.getTypes(), [](Type type) { return getElementTypeOrSelf(type).isF64(); });
  Type element = adaptor.getKind() == ReduceAllKind::all_finite ? Type(builder.getI1Type())
                 : wide                                         ? Type(builder.getF64Type())
                                                                : Type(builder.getF32Type());
  types.push_back(RankedTensorType::get({}, element));
  return success();
}

// Shares the cotangent equally among the elements that equal the extremum. If the extremum is NaN, no element equals
// it: the share is ct / 0, and 0 times that is NaN for each element.
static Value shareAmongTies(Expression &e, ReduceOp op, Value cotangent, ArrayRef<int64_t> kept) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  Type wide = x.getElementType().isF64() ? x.getElementType() : Type(e.builder.getF32Type());
  Value extremum = e.broadcast(e.cast(op.getY(), x.getElementType(), "gradient of reduce"), x, kept);
  Value ones = e.zeroUnless(e.compare(ComparePredicate::eq, op.getX(), extremum), e.splat(x, 1.0));
  Value count = e.sum(ones, op.getAxes(), wide);
  Value share = e.div(e.cast(cotangent, wide, "gradient of reduce"), e.cast(count, wide, "gradient of reduce"));
  return e.mul(ones, e.broadcast(e.cast(share, x.getElementType(), "gradient of reduce"), x, kept));
}

// `count` rows of a matrix, from `first` on.
static Value rowsOf(Expression &e, Value x, int64_t first, int64_t count) {
  auto type = cast<RankedTensorType>(x.getType());
  return SliceOp::create(e.builder, e.loc, type.clone({count, type.getDimSize(1)}), x, ArrayRef<int64_t>{first, 0});
}

// Given the cotangent of the product of a matrix's rows, computes that of each row. Rows multiply in pairs, the
// products in pairs again, and so on; on the way back each of a pair takes the other as its factor. So zeros need no
// special case, in derivatives of any order.
static Value cotangentsOfFactors(Expression &e, Value rows, Value cotangent) {
  int64_t count = cast<RankedTensorType>(rows.getType()).getDimSize(0), half = count / 2;
  if (count == 1)
    return cotangent;
  Value low = rowsOf(e, rows, 0, half), high = rowsOf(e, rows, half, half);
  SmallVector<Value, 2> products{e.mul(low, high)};
  bool odd = count % 2 != 0;
  if (odd)
    products.push_back(rowsOf(e, rows, 2 * half, 1));
  auto type = cast<RankedTensorType>(rows.getType());
  Type halved = type.clone({half + odd, type.getDimSize(1)});
  Value paired = odd ? ConcatOp::create(e.builder, e.loc, halved, products, 0).getResult() : products[0];
  Value back = cotangentsOfFactors(e, paired, cotangent);
  Value ofPairs = odd ? rowsOf(e, back, 0, half) : back;
  SmallVector<Value, 3> parts{e.mul(ofPairs, high), e.mul(ofPairs, low)};
  if (odd)
    parts.push_back(rowsOf(e, back, half, 1));
  return ConcatOp::create(e.builder, e.loc, rows.getType(), parts, 0);
}

// Gives each element the cotangent times the product of the others.
static Value productOfOthers(Expression &e, ReduceOp op, Value cotangent, ArrayRef<int64_t> kept) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  if (x.getNumElements() == 0)
    return e.splat(x, 0.0);
  Type wide = x.getElementType().isF64() ? x.getElementType() : Type(e.builder.getF32Type());
  SmallVector<int64_t> order(op.getAxes()), shape, back(x.getRank());
  order.append(kept.begin(), kept.end());
  for (auto [place, axis] : llvm::enumerate(order)) {
    shape.push_back(x.getDimSize(axis));
    back[axis] = place;
  }
  int64_t columns = cast<RankedTensorType>(op.getY().getType()).getNumElements(), rows = x.getNumElements() / columns;
  auto reshape = [&](Value value, ArrayRef<int64_t> to) -> Value {
    return ReshapeOp::create(e.builder, e.loc, RankedTensorType::get(to, wide), value);
  };
  StringRef origin = "gradient of reduce";
  Value factors = reshape(e.transpose(e.cast(op.getX(), wide, origin), order), {rows, columns});
  Value result = cotangentsOfFactors(e, factors, reshape(e.cast(cotangent, wide, origin), {1, columns}));
  return e.cast(e.transpose(reshape(result, shape), back), x.getElementType(), origin);
}

LogicalResult ReduceOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  auto x = cast<RankedTensorType>(getX().getType());
  if (!isDifferentiable(x)) {
    gradients.push_back({});
    return success();
  }
  Expression e(builder, getLoc());
  SmallVector<int64_t> kept = otherAxes(x.getRank(), getAxes());
  switch (getKind()) {
  case ReduceKind::sum:
    gradients.push_back(e.broadcast(e.cast(cotangents[0], x.getElementType(), "gradient of reduce"), x, kept));
    return success();
  case ReduceKind::max:
  case ReduceKind::min:
    gradients.push_back(shareAmongTies(e, *this, cotangents[0], kept));
    return success();
  case ReduceKind::prod:
    gradients.push_back(productOfOthers(e, *this, cotangents[0], kept));
    return success();
  case ReduceKind::and_:
  case ReduceKind::or_:
    break;
  }
  llvm_unreachable("a reduction of floats");
}

LogicalResult CumsumOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  auto x = cast<RankedTensorType>(getX().getType());
  if (!isDifferentiable(x)) {
    gradients.push_back({});
    return success();
  }
  Value cotangent = cotangents[0];
  Value sums = CumsumOp::create(builder, getLoc(), cotangent.getType(), cotangent, getAxis(), !getReverse());
  gradients.push_back(Expression(builder, getLoc()).cast(sums, x.getElementType(), "gradient of cumsum"));
  return success();
}

} // namespace halftone::dialect
