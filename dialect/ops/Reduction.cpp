// Reductions.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Bytecode.h"
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
    return op->emitOpError() << "of " << x << " expects a result of " << x
                             << (isa<FloatType>(x) && x.getIntOrFloatBitWidth() < 32 ? " or f32" : "") << ", but got "
                             << y;
  return success();
}

static LogicalResult verifyShape(Operation *op, ArrayRef<int64_t> shape, RankedTensorType y) {
  if (y.getShape() != shape)
    return op->emitOpError() << "result must be " << RankedTensorType::get(shape, y.getElementType()) << ", but got "
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
bool CumsumOp::isExact() { return !dependsOnOrder(getKind(), getX()); }
bool PartialReduceOp::isExact() { return !dependsOnOrder(getKind(), getX()); }
bool PartialReduceOp::keepsDtype() { return isExtremum(getKind()); }
// With a single element the index is always 0.
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
      return emitOpError() << "tile extents must be positive, but got " << tile;
    shape[axis] = llvm::divideCeil(shape[axis], tile);
  }
  return verifyShape(*this, shape, y);
}

LogicalResult ArgReduceOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), y = cast<RankedTensorType>(getY().getType());
  int64_t axis = getAxis();
  if (getKind() != ReduceKind::max && getKind() != ReduceKind::min)
    return emitOpError() << "supports max and min, but got " << stringifyReduceKind(getKind());
  if (failed(verifyAxes(*this, x, axis)))
    return failure();
  if (x.getDimSize(axis) == 0)
    return emitOpError() << "has no elements along axis " << axis;
  return verifyShape(*this, keptShape(x, axis), y);
}

LogicalResult CumsumOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), y = cast<RankedTensorType>(getY().getType());
  int64_t axis = getAxis();
  if (getKind() == ReduceKind::and_ || getKind() == ReduceKind::or_)
    return emitOpError() << "supports sum, prod, max and min, but got " << stringifyReduceKind(getKind());
  if (failed(verifyAxes(*this, x, axis)) ||
      failed(verifyDTypes(*this, getKind(), x.getElementType(), y.getElementType())))
    return failure();
  return verifyShape(*this, x.getShape(), y);
}

LogicalResult CumsumOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readAttribute(properties.axis)))
    return failure();
  if (BytecodeVersion::of(reader) >= BytecodeVersion::cumsumHasKind &&
      failed(reader.readOptionalAttribute(properties.kind)))
    return failure();
  return reader.readOptionalAttribute(properties.reverse);
}

void CumsumOp::writeProperties(DialectBytecodeWriter &writer) {
  const Properties &properties = getProperties();
  writer.writeAttribute(properties.axis);
  if (BytecodeVersion::of(writer) >= BytecodeVersion::cumsumHasKind)
    writer.writeOptionalAttribute(properties.kind);
  writer.writeOptionalAttribute(properties.reverse);
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

// Distributes the cotangent equally over the elements that equal the extremum. If the extremum is NaN, no element
// equals it: the share is ct / 0, and multiplied by 0 it is NaN for each element.
static Value shareAmongTies(Expression &e, ReduceOp op, Value cotangent, ArrayRef<int64_t> kept) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  Type wide = x.getElementType().isF64() ? x.getElementType() : Type(e.builder.getF32Type());
  Value extremum = e.broadcast(e.cast(op.getY(), x.getElementType(), "gradient of reduce"), x, kept);
  Value ones = e.zeroUnless(e.compare(ComparePredicate::eq, op.getX(), extremum), e.splat(x, 1.0));
  Value count = e.sum(ones, op.getAxes(), wide);
  Value share = e.div(e.cast(cotangent, wide, "gradient of reduce"), e.cast(count, wide, "gradient of reduce"));
  return e.mul(ones, e.broadcast(e.cast(share, x.getElementType(), "gradient of reduce"), x, kept));
}

// Slices `count` rows of a matrix, from `first` on.
static Value rowsOf(Expression &e, Value x, int64_t first, int64_t count) {
  auto type = cast<RankedTensorType>(x.getType());
  return SliceOp::create(e.builder, e.loc, type.clone({count, type.getDimSize(1)}), x, ArrayRef<int64_t>{first, 0});
}

// Computes the cotangent of each row of a matrix from the cotangent of the product of its rows. Rows are multiplied
// pairwise, the products pairwise again, and so on; on the way back each row of a pair has the other as its factor. So
// zeros need no special case, in derivatives of any order.
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

// For each element, computes the cotangent times the product of the other elements.
static Value productOfOthers(Expression &e, ReduceOp op, Value cotangent, ArrayRef<int64_t> kept) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  if (x.getNumElements() == 0)
    return e.splat(x, 0.0);
  Type wide = x.getElementType().isF64() ? x.getElementType() : Type(e.builder.getF32Type());
  SmallVector<int64_t> order(op.getAxes()), shape, back(x.getRank());
  order.append(kept.begin(), kept.end());
  for (auto [position, axis] : llvm::enumerate(order)) {
    shape.push_back(x.getDimSize(axis));
    back[axis] = position;
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

namespace {

/// The gradient of a cumsum, in terms of elements before and after in the direction of the cumsum.
struct CumsumGradient {
  CumsumGradient(Expression &e, CumsumOp op)
      : e(e), op(op), axis(static_cast<int64_t>(op.getAxis())),
        extent(cast<RankedTensorType>(op.getX().getType()).getDimSize(axis)) {}

  /// Slices `count` elements along the axis, after the first `first` ones in the direction of the cumsum.
  Value cut(Value x, int64_t first, int64_t count) {
    auto type = cast<RankedTensorType>(x.getType());
    SmallVector<int64_t> start(type.getRank(), 0), shape(type.getShape());
    start[axis] = op.getReverse() ? extent - first - count : first;
    shape[axis] = count;
    return SliceOp::create(e.builder, e.loc, type.clone(shape), x, start);
  }
  Value join(Value before, Value after) {
    auto type = cast<RankedTensorType>(before.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = extent;
    if (op.getReverse())
      std::swap(before, after);
    return ConcatOp::create(e.builder, e.loc, type.clone(shape), ValueRange{before, after}, axis);
  }
  Value first(Value like, double value) {
    auto type = cast<RankedTensorType>(like.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = 1;
    return e.splat(type.clone(shape), value);
  }

  /// Returns P_i R_i, where P_i is the product of the elements before element i, and R_i = dy_i + x_(i+1) R_(i+1). The
  /// recurrence is composed with itself at distances of 1, 2, 4, ... elements, so no division is needed, and
  /// derivatives of any order are correct with zeros.
  Value ofProducts(Value x, Value y, Value cotangent) {
    if (extent == 1)
      return cotangent;
    Value before = join(first(y, 1.0), cut(y, 0, extent - 1));
    Value sums = cotangent, factors = join(cut(x, 1, extent - 1), first(x, 0.0));
    for (int64_t distance = 1; distance < extent; distance *= 2) {
      const int64_t rest = extent - distance;
      Value left = cut(factors, 0, rest);
      Value more = e.add(cut(sums, 0, rest), e.mul(left, cut(sums, distance, rest)));
      factors = join(e.mul(left, cut(factors, distance, rest)), cut(factors, rest, distance));
      sums = join(more, cut(sums, rest, distance));
    }
    return e.mul(before, sums);
  }

  /// Each cotangent goes to the element that is the max or min: the last one that exceeds all elements before it.
  Value ofExtrema(Value x, Value y, Value cotangent) {
    if (extent == 1)
      return cotangent;
    const bool isMax = op.getKind() == ReduceKind::max;
    auto indices = cast<RankedTensorType>(x.getType()).clone(e.builder.getI32Type());
    Value position = IotaOp::create(e.builder, e.loc, indices, axis), here = cut(x, 1, extent - 1);
    Value before = cut(y, 0, extent - 1);
    Value isNan = e.compare(ComparePredicate::ne, here, here),
          wasNone = e.compare(ComparePredicate::eq, before, before);
    Value isBetter = e.compare(isMax ? ComparePredicate::gt : ComparePredicate::lt, here, before);
    isBetter = OrOp::create(e.builder, e.loc, isBetter, AndOp::create(e.builder, e.loc, isNan, wasNone));
    Value begin = cut(position, 0, 1),
          none = e.splat(cut(position, 1, extent - 1).getType(), op.getReverse() ? extent - 1 : 0);
    Value named = join(begin, e.select(isBetter, cut(position, 1, extent - 1), none));
    named = CumsumOp::create(e.builder, e.loc, indices, named, axis, op.getReverse(),
                             op.getReverse() ? ReduceKind::min : ReduceKind::max);
    // The axis moves after the others, which are batch axes.
    SmallVector<int64_t> order = otherAxes(indices.getRank(), axis), back(indices.getRank());
    order.push_back(axis);
    for (auto [to, from] : llvm::enumerate(order))
      back[from] = static_cast<int64_t>(to);
    Value updates = e.transpose(cotangent, order);
    Value sums = ScatterAddOp::create(e.builder, e.loc, updates.getType(), e.transpose(named, order), updates,
                                      indices.getRank() - 1, indices.getRank() - 1);
    return e.transpose(sums, back);
  }

  Expression &e;
  CumsumOp op;
  const int64_t axis, extent;
};

} // namespace

LogicalResult CumsumOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  auto x = cast<RankedTensorType>(getX().getType());
  if (!isDifferentiable(x)) {
    gradients.push_back({});
    return success();
  }
  Expression e(builder, getLoc());
  const StringRef origin = "gradient of cumsum";
  Value cotangent = cotangents[0], byX;
  if (getKind() == ReduceKind::sum) {
    byX = CumsumOp::create(builder, getLoc(), cotangent.getType(), cotangent, getAxis(), !getReverse());
  } else if (x.getNumElements() == 0) {
    byX = cotangent;
  } else {
    Type wide = x.getElementType().isF64() ? x.getElementType() : Type(builder.getF32Type());
    const auto widened = [&](Value value) { return e.cast(value, wide, origin); };
    CumsumGradient gradient(e, *this);
    byX = getKind() == ReduceKind::prod
              ? gradient.ofProducts(widened(getX()), widened(getY()), widened(cotangent))
              : gradient.ofExtrema(getX(), e.cast(getY(), x.getElementType(), origin), widened(cotangent));
  }
  gradients.push_back(e.cast(byX, x.getElementType(), origin));
  return success();
}

SmallVector<Value> ReduceOp::lift(OpBuilder &builder, const StepOperands &operands) {
  auto copy = cast<ReduceOp>(cloneOfStacks(builder, *this, operands));
  copy.setAxes(stackAxes(getAxes()));
  return {copy};
}

SmallVector<Value> ArgReduceOp::lift(OpBuilder &builder, const StepOperands &operands) {
  auto copy = cast<ArgReduceOp>(cloneOfStacks(builder, *this, operands));
  copy.setAxis(getAxis() + 1);
  return {copy};
}

SmallVector<Value> CumsumOp::lift(OpBuilder &builder, const StepOperands &operands) {
  auto copy = cast<CumsumOp>(cloneOfStacks(builder, *this, operands));
  copy.setAxis(getAxis() + 1);
  return {copy};
}

bool ReduceOp::leavesLoops() { return true; }
bool ArgReduceOp::leavesLoops() { return true; }
bool CumsumOp::leavesLoops() { return true; }

} // namespace halftone::dialect
