// Windows and convolutions.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ops/Expression.h"
#include "dialect/ops/Products.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace halftone::dialect {

template <class Op> static WindowSteps stepsOf(Op op) {
  auto copied = [](ArrayRef<int64_t> values) { return SmallVector<int64_t, 3>(values); };
  return {copied(op.getStride()), copied(op.getDilation()), copied(op.getLow()), copied(op.getHole())};
}

template <class Properties> static void setSteps(Builder &builder, Properties &properties, const WindowSteps &steps) {
  properties.stride = builder.getDenseI64ArrayAttr(steps.stride);
  properties.dilation = builder.getDenseI64ArrayAttr(steps.dilation);
  properties.low = builder.getDenseI64ArrayAttr(steps.paddingLow);
  properties.hole = builder.getDenseI64ArrayAttr(steps.baseDilation);
}

/// Verifies that `op` has one value of each parameter per spatial axis, and that each value is in range; its magnitude
/// of at most 2^31 keeps indices within i64 (verifyReach).
static LogicalResult verifySteps(Operation *op, const WindowSteps &steps) {
  const size_t rank = steps.stride.size();
  if (rank == 0 || steps.dilation.size() != rank || steps.paddingLow.size() != rank ||
      steps.baseDilation.size() != rank)
    return op->emitOpError()
           << "expects a stride, dilation, low and hole for each of one or more spatial axes, but got " << rank << ", "
           << steps.dilation.size() << ", " << steps.paddingLow.size() << " and " << steps.baseDilation.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    if (steps.stride[axis] == 0 || steps.dilation[axis] == 0)
      return op->emitOpError() << "stride and dilation must not be 0, but along spatial axis " << axis << " they are "
                               << steps.stride[axis] << " and " << steps.dilation[axis];
    if (steps.baseDilation[axis] < 1)
      return op->emitOpError() << "hole must be at least 1, but along spatial axis " << axis << " it is "
                               << steps.baseDilation[axis];
    constexpr int64_t limit = int64_t(1) << 31;
    for (int64_t step : {steps.stride[axis], steps.dilation[axis], steps.paddingLow[axis], steps.baseDilation[axis]})
      if (step < -limit || step > limit)
        return op->emitOpError() << "stride, dilation, low and hole must be at most " << limit
                                 << " in magnitude, but along spatial axis " << axis << " one is " << step;
  }
  return success();
}

/// Verifies that the extents of positions and taps keep every index within i64.
static LogicalResult verifyReach(Operation *op, ArrayRef<int64_t> positions, ArrayRef<int64_t> taps) {
  constexpr int64_t limit = int64_t(1) << 31;
  for (int64_t extent : llvm::concat<const int64_t>(positions, taps))
    if (extent > limit)
      return op->emitOpError() << "has at most " << limit << " positions and taps along an axis, but got " << extent;
  return success();
}

WindowSteps WindowOp::getSteps() { return stepsOf(*this); }
ArrayRef<int64_t> WindowOp::getPositions() { return tensorTypeOf(getY()).getShape().slice(1, getStride().size()); }
ArrayRef<int64_t> WindowOp::getTaps() {
  const size_t rank = getStride().size();
  return tensorTypeOf(getY()).getShape().slice(1 + rank, rank);
}

void WindowOp::build(OpBuilder &builder, OperationState &state, Type y, Value x, const WindowSteps &steps, bool lowest,
                     bool diagonal) {
  auto &properties = state.getOrAddProperties<Properties>();
  setSteps(builder, properties, steps);
  properties.lowest = lowest ? builder.getUnitAttr() : UnitAttr();
  properties.diagonal = diagonal ? builder.getUnitAttr() : UnitAttr();
  state.addOperands(x);
  state.addTypes(y);
}

DenseElementsAttr WindowOp::getFill() {
  RankedTensorType type = tensorTypeOf(getY());
  Type element = type.getElementType();
  if (auto real = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    if (!getLowest())
      return DenseElementsAttr::get(type, ArrayRef<APFloat>(APFloat::getZero(semantics)));
    const bool hasInfinity = APFloat::semanticsHasInf(semantics);
    return DenseElementsAttr::get(
        type, ArrayRef<APFloat>(hasInfinity ? APFloat::getInf(semantics, true) : APFloat::getLargest(semantics, true)));
  }
  const unsigned width = element.getIntOrFloatBitWidth();
  const bool isSigned = width > 1 && !element.isUnsignedInteger();
  return DenseElementsAttr::get(
      type, ArrayRef<APInt>(getLowest() && isSigned ? APInt::getSignedMinValue(width) : APInt::getZero(width)));
}

LogicalResult WindowOp::verify() {
  if (failed(verifySteps(*this, getSteps())))
    return failure();
  RankedTensorType x = tensorTypeOf(getX()), y = tensorTypeOf(getY());
  const int64_t rank = static_cast<int64_t>(getStride().size()), grown = getDiagonal() ? 0 : rank;
  if (x.getElementType() != y.getElementType())
    return emitOpError() << "operand and result must have the same dtype, but got " << x.getElementType() << " and "
                         << y.getElementType();
  if (x.getRank() < 1 + 2 * rank - grown || y.getRank() != x.getRank() + grown)
    return emitOpError() << "with " << rank << " spatial axes expects an operand of at least " << 1 + 2 * rank - grown
                         << " axes and a result of " << grown << " more, but got " << x << " and " << y;
  SmallVector<int64_t> expected(y.getShape().take_front(1 + rank));
  expected[0] = x.getDimSize(0);
  if (!getDiagonal())
    llvm::append_range(expected, getTaps());
  llvm::append_range(expected, x.getShape().drop_front(1 + rank));
  if (y.getShape() != ArrayRef(expected))
    return emitOpError() << "preserves the non-spatial axes: expected " << y.clone(expected) << " for " << x
                         << ", but got " << y;
  return verifyReach(*this, getPositions(), getTaps());
}

OpFoldResult WindowOp::fold(FoldAdaptor adaptor) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX());
  DenseElementsAttr fill = getFill();
  const bool isAllFill =
      tensorTypeOf(getX()).getNumElements() == 0 ||
      (elements && elements.isSplat() && elements.getSplatValue<Attribute>() == fill.getSplatValue<Attribute>());
  return isAllFill && tensorTypeOf(getY()).getNumElements() != 0 ? OpFoldResult(fill) : OpFoldResult();
}

// Each element of x gathers from the windows that contain it: for each tap at most one output position.
LogicalResult WindowOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  Expression e(builder, getLoc());
  RankedTensorType x = tensorTypeOf(getX()), y = tensorTypeOf(getY());
  const int64_t rank = static_cast<int64_t>(getStride().size());
  SmallVector<int64_t> shape(x.getShape().take_front(1 + rank)), taps;
  llvm::append_range(shape, y.getShape().drop_front(1 + rank));
  for (int64_t axis = 0; axis < rank; ++axis)
    taps.push_back(1 + rank + axis);
  Value seen = WindowOp::create(builder, getLoc(), y.clone(shape), cotangents[0], getSteps().inverse(),
                                /*lowest=*/false, /*diagonal=*/true);
  if (getDiagonal()) {
    gradients.push_back(seen);
    return success();
  }
  const bool isNarrow = x.getElementTypeBitWidth() < 32;
  Type sum = isNarrow ? builder.getF32Type() : x.getElementType();
  gradients.push_back(e.cast(e.sum(seen, taps, sum), x.getElementType(), "gradient of window"));
  return success();
}

WindowSteps ConvolutionOp::getSteps() { return stepsOf(*this); }
ArrayRef<int64_t> ConvolutionOp::getTaps() { return tensorTypeOf(getW()).getShape().take_front(getStride().size()); }
Type ConvolutionOp::getAccumulatorType() { return productAccumulator(getElementTypeOrSelf(getX().getType())); }
bool ConvolutionOp::isExact() { return !isa<FloatType>(getAccumulatorType()); }

void ConvolutionOp::build(OpBuilder &builder, OperationState &state, Type y, Value x, Value w,
                          const WindowSteps &steps) {
  setSteps(builder, state.getOrAddProperties<Properties>(), steps);
  state.addOperands({x, w});
  state.addTypes(y);
}

LogicalResult ConvolutionOp::verify() {
  if (failed(verifySteps(*this, getSteps())))
    return failure();
  RankedTensorType x = tensorTypeOf(getX()), w = tensorTypeOf(getW()), y = tensorTypeOf(getY());
  const int64_t rank = static_cast<int64_t>(getStride().size());
  for (auto [type, name] : {std::pair(x, "x"), std::pair(w, "w"), std::pair(y, "the result")})
    if (type.getRank() != rank + 3)
      return emitOpError() << "with " << rank << " spatial axes expects x, w and the result to have " << rank + 3
                           << " axes, but " << name << " is " << type;
  auto check = [&](int64_t a, int64_t b, StringRef what) -> LogicalResult {
    if (a == b)
      return success();
    return emitOpError() << what << " differ: " << x << " by " << w << " into " << y;
  };
  if (failed(check(x.getDimSize(0), y.getDimSize(0), "the first axes of x and of the result")) ||
      failed(check(x.getDimSize(rank + 1), w.getDimSize(rank), "the groups of x and of w")) ||
      failed(check(x.getDimSize(rank + 1), y.getDimSize(rank + 1), "the groups of x and of the result")) ||
      failed(check(x.getDimSize(rank + 2), w.getDimSize(rank + 1), "the channels of x and of w")) ||
      failed(check(w.getDimSize(rank + 2), y.getDimSize(rank + 2), "the last axes of w and of the result")) ||
      failed(verifyReach(*this, y.getShape().slice(1, rank), getTaps())))
    return failure();
  uint64_t depth = x.getDimSize(rank + 2);
  for (int64_t taps : getTaps())
    depth = llvm::SaturatingMultiply<uint64_t>(depth, taps);
  return verifyProducts(*this, depth);
}

namespace {
/// A permutation of the axes (first, spatial..., groups, two more).
struct AxisOrder {
  int64_t rank;

  SmallVector<int64_t> of(ArrayRef<int64_t> before, int64_t firstSpatial, ArrayRef<int64_t> after) const {
    SmallVector<int64_t> order(before);
    for (int64_t axis = 0; axis < rank; ++axis)
      order.push_back(firstSpatial + axis);
    llvm::append_range(order, after);
    return order;
  }
};
} // namespace

// Gradient of x: the cotangent convolved with w, with channels and filters swapped. Gradient of w: x convolved with the
// cotangent, with the examples as the summed channels.
LogicalResult ConvolutionOp::buildGradient(OpBuilder &builder, ValueRange cotangents,
                                           SmallVectorImpl<Value> &gradients) {
  RankedTensorType x = tensorTypeOf(getX()), w = tensorTypeOf(getW());
  if (!isa<FloatType>(x.getElementType())) {
    gradients.append(2, Value());
    return success();
  }
  Expression e(builder, getLoc());
  const AxisOrder order{static_cast<int64_t>(getStride().size())};
  const int64_t rank = order.rank, groups = rank + 1, channels = rank + 2; // axes of x and of the result
  const StringRef origin = "gradient of convolution";
  Type compute = getElementTypeOrSelf(cotangents[0].getType());
  Value factor = e.cast(getW(), compute, origin), image = e.cast(getX(), compute, origin);

  Value transposed = e.transpose(factor, order.of({}, 0, {rank, rank + 2, rank + 1}));
  Value byX =
      ConvolutionOp::create(builder, getLoc(), x.clone(compute), cotangents[0], transposed, getSteps().inverse());
  gradients.push_back(e.cast(byX, x.getElementType(), origin));

  Value channelsFirst = e.transpose(image, order.of({channels}, 1, {groups, 0}));
  Value taps = e.transpose(cotangents[0], order.of({}, 1, {groups, 0, channels}));
  SmallVector<int64_t> shape{w.getDimSize(rank + 1)};
  llvm::append_range(shape, getTaps());
  shape.append({w.getDimSize(rank), w.getDimSize(rank + 2)});
  Value byW = ConvolutionOp::create(builder, getLoc(), RankedTensorType::get(shape, compute), channelsFirst, taps,
                                    getSteps().ofTaps());
  byW = e.transpose(byW, order.of({}, 1, {groups, 0, channels}));
  gradients.push_back(e.cast(byW, w.getElementType(), origin));
  return success();
}

SmallVector<Value> WindowOp::lift(OpBuilder &builder, const StepOperands &operands) {
  const Value joined = joinSteps(builder, getLoc(), operands[0]);
  SmallVector<int64_t> shape(shapeOf(getY()));
  shape.front() = shapeOf(joined).front();
  Value y = WindowOp::create(builder, getLoc(), tensorTypeOf(getY()).clone(shape), joined, getSteps(), getLowest(),
                             getDiagonal());
  return {splitSteps(builder, getLoc(), y, operands.steps)};
}

bool ConvolutionOp::mayLift(const llvm::SmallBitVector &isStacked) { return !isStacked[1]; }

SmallVector<Value> ConvolutionOp::lift(OpBuilder &builder, const StepOperands &operands) {
  const Value joined = joinSteps(builder, getLoc(), operands[0]);
  SmallVector<int64_t> shape(shapeOf(getY()));
  shape.front() = shapeOf(joined).front();
  Value y =
      ConvolutionOp::create(builder, getLoc(), tensorTypeOf(getY()).clone(shape), joined, operands[1], getSteps());
  return {splitSteps(builder, getLoc(), y, operands.steps)};
}

bool ConvolutionOp::leavesLoops() { return true; }

} // namespace halftone::dialect
