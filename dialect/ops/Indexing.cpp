// Slice, concatenate, gather and scatter ops.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Bytecode.h"
#include "dialect/Gradient.h"
#include "dialect/TypeInference.h"
#include "dialect/ops/Expression.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace halftone::dialect {

LogicalResult SliceOp::verify() {
  RankedTensorType x = tensorTypeOf(getX()), y = tensorTypeOf(getY());
  if (x.getElementType() != y.getElementType())
    return emitOpError() << "operand and result must have the same dtype, but got " << x.getElementType() << " and "
                         << y.getElementType();
  if (x.getRank() != y.getRank() || x.getRank() != static_cast<int64_t>(getStart().size()))
    return emitOpError() << "needs one start and one result axis per axis of its operand, " << x.getRank()
                         << ", but got " << getStart().size() << " and " << y.getRank();
  for (auto [axis, start] : llvm::enumerate(getStart()))
    if (start < 0 || start > x.getDimSize(axis) - y.getDimSize(axis)) // their sum may overflow
      return emitOpError() << "takes " << y.getDimSize(axis) << " elements from " << start << " along axis " << axis
                           << ", which has " << x.getDimSize(axis);
  return success();
}

LogicalResult ConcatOp::verify() {
  RankedTensorType y = tensorTypeOf(getY());
  int64_t axis = getAxis();
  uint64_t total = 0;
  if (getXs().empty())
    return emitOpError() << "expects at least one operand";
  if (axis < 0 || axis >= y.getRank())
    return emitOpError() << "axis " << axis << " is out of range for a result of rank " << y.getRank();
  for (auto [number, operand] : llvm::enumerate(getXs())) {
    RankedTensorType x = tensorTypeOf(operand);
    SmallVector<int64_t> expected(y.getShape());
    if (x.getRank() == y.getRank())
      expected[axis] = x.getDimSize(axis);
    if (x != y.clone(expected))
      return emitOpError() << "operand #" << number << " and the result differ in more than the extent of axis " << axis
                           << ": " << x << " and " << y;
    total = llvm::SaturatingAdd<uint64_t>(total, x.getDimSize(axis));
  }
  if (total != static_cast<uint64_t>(y.getDimSize(axis)))
    return emitOpError() << "operands have " << total << " elements along axis " << axis << ", but the result has "
                         << y.getDimSize(axis);
  return success();
}

// Verifies that `parts` has the index axes after the first `batch`, which all three share, in place of `axis` of
// `whole`.
static LogicalResult verifyLookup(Operation *op, RankedTensorType whole, RankedTensorType indices,
                                  RankedTensorType parts, int64_t axis, int64_t batch) {
  if (axis < 0 || axis >= whole.getRank())
    return op->emitOpError() << "axis " << axis << " is out of range for a tensor of rank " << whole.getRank();
  if (batch < 0 || batch > axis)
    return op->emitOpError() << "batch axes must precede axis " << axis << ", but batch is " << batch;
  if (indices.getRank() < batch || indices.getShape().take_front(batch) != whole.getShape().take_front(batch))
    return op->emitOpError() << "expected indices whose first " << batch << " axes are those of " << whole
                             << ", but got " << indices;
  SmallVector<int64_t> expected(whole.getShape().take_front(axis));
  llvm::append_range(expected, indices.getShape().drop_front(batch));
  llvm::append_range(expected, whole.getShape().drop_front(axis + 1));
  if (ArrayRef(expected) != parts.getShape())
    return op->emitOpError() << "expected " << parts.clone(expected) << ", with the axes of the indices " << indices
                             << " in place of axis " << axis << " of " << whole << ", but got " << parts;
  if (whole.getDimSize(axis) == 0 && parts.getNumElements() != 0 && !isa<ScatterOp>(op))
    return op->emitOpError() << "axis " << axis << " has extent 0, so no index is valid";
  return success();
}

LogicalResult GatherOp::verify() {
  RankedTensorType x = tensorTypeOf(getX()), y = tensorTypeOf(getY());
  if (x.getElementType() != y.getElementType())
    return emitOpError() << "operand and result must have the same dtype, but got " << x.getElementType() << " and "
                         << y.getElementType();
  return verifyLookup(*this, x, tensorTypeOf(getIndices()), y, getAxis(), getBatch());
}

LogicalResult ScatterAddOp::verify() {
  RankedTensorType updates = tensorTypeOf(getUpdates()), y = tensorTypeOf(getY());
  Type from = updates.getElementType(), to = y.getElementType();
  bool isNarrowFloat = isa<FloatType>(from) && from.getIntOrFloatBitWidth() < 32;
  if (from != to && !(isNarrowFloat && to.isF32()))
    return emitOpError()
           << "result must have the dtype of the updates, or f32 if that is a narrower float, but got updates of "
           << from << " and a result of " << to;
  return verifyLookup(*this, y, tensorTypeOf(getIndices()), updates, getAxis(), getBatch());
}

LogicalResult ScatterOp::verify() {
  RankedTensorType x = tensorTypeOf(getX()), updates = tensorTypeOf(getUpdates());
  if (x.getElementType() != updates.getElementType())
    return emitOpError() << "expects x and updates of the same dtype, but got " << x.getElementType() << " and "
                         << updates.getElementType();
  return verifyLookup(*this, x, tensorTypeOf(getIndices()), updates, getAxis(), getBatch());
}

// Reads a lookup's properties from bytecode: files before version 3 have no batch.
template <class Op> static LogicalResult readLookup(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<typename Op::Properties>();
  if (failed(reader.readAttribute(properties.axis)))
    return failure();
  return BytecodeVersion::of(reader) < BytecodeVersion::lookupsHaveBatches
             ? success()
             : reader.readOptionalAttribute(properties.batch);
}
template <class Op> static void writeLookup(DialectBytecodeWriter &writer, Op op) {
  writer.writeAttribute(op.getProperties().axis);
  if (BytecodeVersion::of(writer) >= BytecodeVersion::lookupsHaveBatches)
    writer.writeOptionalAttribute(op.getProperties().batch);
}

LogicalResult GatherOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  return readLookup<GatherOp>(reader, state);
}
void GatherOp::writeProperties(DialectBytecodeWriter &writer) { writeLookup(writer, *this); }
LogicalResult ScatterAddOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  return readLookup<ScatterAddOp>(reader, state);
}
void ScatterAddOp::writeProperties(DialectBytecodeWriter &writer) { writeLookup(writer, *this); }

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX()); elements && elements.isSplat())
    return elements.resizeSplat(tensorTypeOf(getY()));
  if (auto inner = getX().getDefiningOp<SliceOp>()) {
    SmallVector<int64_t> start(getStart());
    for (auto [offset, more] : llvm::zip(start, inner.getStart()))
      offset += more;
    getXMutable().assign(inner.getX());
    setStart(start);
    return getY();
  }
  return {};
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getXs().size() == 1)
    return getXs()[0];
  auto isEmpty = [](Value x) { return tensorTypeOf(x).getNumElements() == 0; };
  if (!isEmpty(getY()) && llvm::any_of(getXs(), isEmpty)) {
    SmallVector<Value> kept = llvm::to_vector(llvm::make_filter_range(getXs(), [&](Value x) { return !isEmpty(x); }));
    getXsMutable().assign(kept);
    return getY();
  }
  auto first = dyn_cast_or_null<DenseElementsAttr>(adaptor.getXs().front());
  if (!first || !first.isSplat())
    return {};
  for (Attribute each : adaptor.getXs()) {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(each);
    if (!elements || !elements.isSplat() || elements.getSplatValue<Attribute>() != first.getSplatValue<Attribute>())
      return {};
  }
  return first.resizeSplat(tensorTypeOf(getY()));
}

// Pads a slice's cotangent with zeros, axis by axis.
LogicalResult SliceOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  Expression e(builder, getLoc());
  Value padded = cotangents[0];
  for (auto [axis, start] : llvm::enumerate(getStart())) {
    RankedTensorType type = tensorTypeOf(padded);
    int64_t whole = tensorTypeOf(getX()).getDimSize(axis);
    if (type.getDimSize(axis) == whole)
      continue;
    auto zeros = [&](int64_t extent) {
      SmallVector<int64_t> shape(type.getShape());
      shape[axis] = extent;
      return e.splat(type.clone(shape), 0.0);
    };
    SmallVector<Value> parts;
    if (start > 0)
      parts.push_back(zeros(start));
    parts.push_back(padded);
    if (int64_t rest = whole - start - type.getDimSize(axis); rest > 0)
      parts.push_back(zeros(rest));
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = whole;
    padded = ConcatOp::create(builder, getLoc(), type.clone(shape), parts, axis);
  }
  gradients.push_back(padded);
  return success();
}

LogicalResult ConcatOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  SmallVector<int64_t> start(tensorTypeOf(getY()).getRank(), 0);
  for (Value x : getXs()) {
    gradients.push_back(SliceOp::create(builder, getLoc(), x.getType(), cotangents[0], start));
    start[getAxis()] += tensorTypeOf(x).getDimSize(getAxis());
  }
  return success();
}

LogicalResult GatherOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  gradients.push_back(
      ScatterAddOp::create(builder, getLoc(), getX().getType(), getIndices(), cotangents[0], getAxis(), getBatch()));
  gradients.push_back({});
  return success();
}

LogicalResult ScatterAddOp::buildGradient(OpBuilder &builder, ValueRange cotangents,
                                          SmallVectorImpl<Value> &gradients) {
  RankedTensorType updates = tensorTypeOf(getUpdates());
  auto type = updates.clone(tensorTypeOf(getY()).getElementType());
  Value read = GatherOp::create(builder, getLoc(), type, cotangents[0], getIndices(), getAxis(), getBatch());
  gradients.append({{}, Expression(builder, getLoc()).cast(read, updates.getElementType(), "gradient of scatter_add")});
  return success();
}

namespace {

/// The gradient of a scatter.
struct ScatterGradient {
  ScatterGradient(Expression &e, ScatterOp op)
      : e(e), op(op), axis(static_cast<int64_t>(op.getAxis())), batch(static_cast<int64_t>(op.getBatch())),
        indices(tensorTypeOf(op.getIndices())) {}

  Value gather(Value whole) { return gather(whole, axis, tensorTypeOf(op.getUpdates()).getShape()); }
  Value gather(Value whole, int64_t along, ArrayRef<int64_t> shape) {
    return GatherOp::create(e.builder, e.loc, tensorTypeOf(whole).clone(shape), whole, op.getIndices(), along, batch);
  }
  Value scatter(ScatterKind kind, Value x, Value updates, int64_t along) {
    return ScatterOp::create(e.builder, e.loc, x.getType(), kind, x, op.getIndices(), updates, along, batch);
  }
  /// Broadcasts a value per index to the updates.
  Value ofUpdates(Value ofIndices) {
    auto updates = cast<RankedTensorType>(op.getUpdates().getType());
    SmallVector<int64_t> kept;
    for (int64_t index = 0; index < indices.getRank(); ++index)
      kept.push_back(index < batch ? index : axis + index - batch);
    return e.broadcast(ofIndices, updates.clone(tensorTypeOf(ofIndices).getElementType()), kept);
  }
  /// Computes whether each index is in range.
  Value isInside() {
    const auto rows = static_cast<double>(tensorTypeOf(op.getX()).getDimSize(axis));
    Value at = op.getIndices();
    return AndOp::create(e.builder, e.loc, e.compare(ComparePredicate::ge, at, e.splat(indices, 0)),
                         e.compare(ComparePredicate::lt, at, e.splat(indices, rows)));
  }
  /// Computes whether each index is the last one that selects its slice, so that its update determines the result
  /// there.
  Value isLast() {
    const ArrayRef<int64_t> shape = indices.getShape();
    const int64_t count = ShapedType::getNumElements(shape.drop_front(batch));
    const Type element = e.builder.getIntegerType(llvm::isInt<32>(count) ? 32 : 64);
    const auto iotaType = RankedTensorType::get({count}, element),
               split = indices.clone(shape.drop_front(batch), element);
    Value number = IotaOp::create(e.builder, e.loc, iotaType, 0);
    SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(batch, indices.getRank()));
    number = e.broadcast(ReshapeOp::create(e.builder, e.loc, split, number), indices.clone(element), kept);
    SmallVector<int64_t> rows(shape.take_front(batch));
    rows.push_back(tensorTypeOf(op.getX()).getDimSize(axis));
    Value left = scatter(ScatterKind::set, e.splat(RankedTensorType::get(rows, element), -1), number, batch);
    return e.compare(ComparePredicate::eq, gather(left, batch, shape), number);
  }

  void build(Value cotangent, SmallVectorImpl<Value> &gradients) {
    const auto updates = cast<RankedTensorType>(op.getUpdates().getType());
    if (op.getKind() == ScatterKind::sum) {
      gradients.append({cotangent, {}, e.zeroUnless(ofUpdates(isInside()), gather(cotangent))});
      return;
    }
    if (op.getKind() == ScatterKind::set) {
      gradients.append({scatter(ScatterKind::set, cotangent, e.splat(updates, 0.0), axis),
                        {},
                        e.zeroUnless(ofUpdates(isLast()), gather(cotangent))});
      return;
    }
    const Type element = updates.getElementType(), wide = element.isF64() ? element : Type(e.builder.getF32Type());
    if (op.getKind() == ScatterKind::prod)
      return buildProduct(cotangent, wide, gradients);
    const auto ones = [&](Value equal) { return e.zeroUnless(equal, e.splat(tensorTypeOf(equal).clone(wide), 1.0)); };
    Value ofX = e.compare(ComparePredicate::eq, op.getX(), op.getY());
    Value ofEach = AndOp::create(e.builder, e.loc, ofUpdates(isInside()),
                                 e.compare(ComparePredicate::eq, op.getUpdates(), gather(op.getY())));
    Value share = e.div(e.cast(cotangent, wide, origin), scatter(ScatterKind::sum, ones(ofX), ones(ofEach), axis));
    gradients.append({e.cast(e.zeroUnless(ofX, share), element, origin),
                      {},
                      e.cast(e.zeroUnless(ofEach, gather(share)), element, origin)});
  }

  /// The derivative with respect to a factor is the product of the other factors: the product of all non-zero factors,
  /// divided by the factor if it is non-zero, provided that no other factor is 0.
  void buildProduct(Value cotangent, Type wide, SmallVectorImpl<Value> &gradients) {
    const Value x = e.cast(op.getX(), wide, origin), updates = e.cast(op.getUpdates(), wide, origin);
    const auto isZero = [&](Value value) {
      return e.compare(ComparePredicate::eq, value, e.splat(value.getType(), 0.0));
    };
    const auto number = [&](Value value) { return e.zeroUnless(isZero(value), e.splat(value.getType(), 1.0)); };
    const auto factor = [&](Value value) { return e.select(isZero(value), e.splat(value.getType(), 1.0), value); };
    const Value zeros = scatter(ScatterKind::sum, number(x), number(updates), axis),
                product = e.mul(e.cast(cotangent, wide, origin),
                                scatter(ScatterKind::prod, factor(x), factor(updates), axis));
    const auto byFactor = [&](Value value, Value zerosThere, Value productThere) {
      const Value isFree = e.compare(ComparePredicate::eq, zerosThere, number(value)); // all zeros are this one
      return e.cast(e.zeroUnless(isFree, e.div(productThere, factor(value))), elementTypeOf(op.getX()), origin);
    };
    const Value byUpdates = byFactor(updates, gather(zeros), gather(product));
    gradients.append({byFactor(x, zeros, product), {}, e.zeroUnless(ofUpdates(isInside()), byUpdates)});
  }

  static constexpr llvm::StringLiteral origin = "gradient of scatter";
  Expression &e;
  ScatterOp op;
  const int64_t axis, batch;
  RankedTensorType indices;
};

} // namespace

LogicalResult ScatterOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  Expression e(builder, getLoc());
  ScatterGradient(e, *this).build(cotangents[0], gradients);
  return success();
}

SmallVector<Value> SliceOp::lift(OpBuilder &builder, const StepOperands &operands) {
  auto copy = cast<SliceOp>(cloneOfStacks(builder, *this, operands));
  SmallVector<int64_t> start(getStart());
  start.insert(start.begin(), 0);
  copy.setStart(start);
  return {copy};
}

SmallVector<Value> ConcatOp::lift(OpBuilder &builder, const StepOperands &operands) {
  auto copy = cast<ConcatOp>(cloneOfStacks(builder, *this, operands));
  copy.setAxis(getAxis() + 1);
  return {copy};
}

// Without batch axes, the steps are additional axes of the indices, or additional axes of x before `axis`.
SmallVector<Value> GatherOp::lift(OpBuilder &builder, const StepOperands &operands) {
  const RankedTensorType type = stackType(getY().getType(), operands.steps);
  if (getBatch() == 0 && getAxis() == 0 && !operands.isStacked[0])
    return {GatherOp::create(builder, getLoc(), type, operands[0], operands[1], 0)};
  if (getBatch() == 0 && !operands.isStacked[1])
    return {GatherOp::create(builder, getLoc(), type, operands[0], operands[1], getAxis() + 1)};
  auto copy = cast<GatherOp>(cloneOfStacks(builder, *this, operands));
  copy.setAxis(getAxis() + 1);
  copy.setBatch(getBatch() + 1);
  return {copy};
}

SmallVector<Value> ScatterAddOp::lift(OpBuilder &builder, const StepOperands &operands) {
  auto copy = cast<ScatterAddOp>(cloneOfStacks(builder, *this, operands));
  copy.setAxis(getAxis() + 1);
  copy.setBatch(getBatch() + 1);
  return {copy};
}

SmallVector<Value> ScatterOp::lift(OpBuilder &builder, const StepOperands &operands) {
  auto copy = cast<ScatterOp>(cloneOfStacks(builder, *this, operands));
  copy.setAxis(getAxis() + 1);
  copy.setBatch(getBatch() + 1);
  return {copy};
}

bool GatherOp::leavesLoops() { return true; }
bool ScatterAddOp::leavesLoops() { return true; }
bool ScatterOp::leavesLoops() { return true; }

} // namespace halftone::dialect
