// The collective ops.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ControlFlow.h"

using namespace mlir;

namespace halftone::dialect {

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

LogicalResult verifyCollective(Operation *op) {
  if (op->getNumOperands() == 0)
    return op->emitOpError("expects at least one value");
  for (Operation *around = op->getParentOp(); around; around = around->getParentOp())
    if (isBranchOrLoop(around))
      return op->emitOpError() << "is nested in a '" << around->getName()
                               << "', but every process must run the same collectives";
  return success();
}

LogicalResult AllReduceOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  if (getKind() != CollectiveKind::sum)
    return emitOpError() << "of kind " << stringifyCollectiveKind(getKind()) << " has no gradient; expected kind sum";
  for (Value cotangent : cotangents)
    gradients.push_back(
        cotangent
            ? AllReduceOp::create(builder, getLoc(), CollectiveKind::sum, cotangent, IntegerAttr()).getOutputs().front()
            : Value());
  return success();
}

namespace {

ArrayRef<int64_t> offsetsOf(ArrayAttr offsets, size_t value) {
  return cast<DenseI64ArrayAttr>(offsets[value]).asArrayRef();
}

/// Verifies that there is one array of borders per value, that the borders of each ascend from 0 and have the same
/// count, and that `rank` is the index of one of their intervals.
LogicalResult checkDivision(ArrayAttr offsets, int64_t rank, size_t values, function_ref<InFlightDiagnostic()> error) {
  if (offsets.size() != values)
    return error() << "has " << values << " values, but borders for " << offsets.size();
  for (size_t i = 0; i < values; ++i) {
    const ArrayRef<int64_t> own = offsetsOf(offsets, i);
    if (own.size() < 2 || own.size() != offsetsOf(offsets, 0).size() || own.front() != 0 || !llvm::is_sorted(own))
      return error() << "expected ascending borders that begin with 0, equally many for each value, but got "
                     << offsets[i];
    if (rank < 0 || rank + 1 >= static_cast<int64_t>(own.size()))
      return error() << "has rank " << rank << ", but borders for " << own.size() - 1 << " processes";
  }
  return success();
}

int64_t ownElements(ArrayRef<int64_t> offsets, int64_t rank) { return offsets[rank + 1] - offsets[rank]; }
int64_t allElements(ArrayRef<int64_t> offsets, int64_t) { return offsets.back(); }

/// Infers the result types. Each result has `count(offsets, rank)` elements. If its operand has as many, the result has
/// the operand's type; otherwise it is a vector.
template <class Adaptor>
LogicalResult inferTypes(std::optional<Location> location, Adaptor &op,
                         function_ref<int64_t(ArrayRef<int64_t>, int64_t)> count, SmallVectorImpl<Type> &types) {
  if (!op.getBordersAttr() || !op.getRankAttr())
    return emitOptionalError(location, "a divided collective needs borders and a rank");
  const auto error = [&] { return emitError(location.value_or(UnknownLoc::get(op.getBorders().getContext()))); };
  if (failed(checkDivision(op.getBorders(), op.getRank(), op.getXs().size(), error)))
    return failure();
  for (auto [i, x] : llvm::enumerate(op.getXs())) {
    const auto type = cast<RankedTensorType>(x.getType());
    const int64_t elements = count(offsetsOf(op.getBorders(), i), op.getRank());
    types.push_back(type.getNumElements() == elements ? type
                                                      : RankedTensorType::get({elements}, type.getElementType()));
  }
  return success();
}

template <class Op> LogicalResult verifyDivided(Op op, function_ref<int64_t(ArrayRef<int64_t>, int64_t)> count) {
  if (failed(checkDivision(op.getBorders(), op.getRank(), op.getXs().size(), [&] { return op.emitOpError(); })))
    return failure();
  for (auto [i, x] : llvm::enumerate(op.getXs()))
    if (const int64_t expected = count(offsetsOf(op.getBorders(), i), op.getRank());
        cast<RankedTensorType>(x.getType()).getNumElements() != expected)
      return op.emitOpError() << "expected a value of " << expected << " elements, according to its borders, but got "
                              << x.getType();
  return success();
}

} // namespace

LogicalResult ReduceScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                                DictionaryAttr attributes, OpaqueProperties properties,
                                                RegionRange regions, SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  return inferTypes(location, op, ownElements, types);
}
LogicalResult ReduceScatterOp::verify() { return verifyDivided(*this, allElements); }

LogicalResult AllGatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                            DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                            SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  return inferTypes(location, op, allElements, types);
}
LogicalResult AllGatherOp::verify() { return verifyDivided(*this, ownElements); }

} // namespace halftone::dialect
