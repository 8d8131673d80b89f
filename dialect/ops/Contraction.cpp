// Contractions.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Bytecode.h"
#include "dialect/ops/Expression.h"
#include "dialect/ops/Products.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace halftone::dialect {

static SmallVector<int64_t> freeAxes(Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  SmallVector<int64_t> taken(batch);
  taken.append(contract.begin(), contract.end());
  return otherAxes(cast<RankedTensorType>(operand.getType()).getRank(), taken);
}

SmallVector<int64_t> ContractOp::getLhsFree() { return freeAxes(getLhs(), getLhsBatch(), getLhsContract()); }
SmallVector<int64_t> ContractOp::getRhsFree() { return freeAxes(getRhs(), getRhsBatch(), getRhsContract()); }

Type ContractOp::getAccumulatorType() { return productAccumulator(getElementTypeOrSelf(getLhs().getType())); }

// Sums of floats depend on their order.
bool ContractOp::isExact() { return !isa<FloatType>(getAccumulatorType()); }

static LogicalResult verifyAxes(ContractOp op, Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract,
                                StringRef side) {
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t axis : llvm::concat<const int64_t>(batch, contract)) {
    if (axis < 0 || axis >= rank)
      return op.emitOpError() << side << " axis " << axis << " is out of range for rank " << rank;
    if (!seen.insert(axis).second)
      return op.emitOpError() << side << " axis " << axis << " is named twice";
  }
  return success();
}

static LogicalResult verifyPairs(ContractOp op, ArrayRef<int64_t> lhsAxes, ArrayRef<int64_t> rhsAxes, StringRef what) {
  auto lhs = cast<RankedTensorType>(op.getLhs().getType()), rhs = cast<RankedTensorType>(op.getRhs().getType());
  if (lhsAxes.size() != rhsAxes.size())
    return op.emitOpError() << "names " << lhsAxes.size() << " " << what << " axes of lhs but " << rhsAxes.size()
                            << " of rhs";
  for (auto [a, b] : llvm::zip_equal(lhsAxes, rhsAxes))
    if (lhs.getDimSize(a) != rhs.getDimSize(b))
      return op.emitOpError() << "pairs lhs axis " << a << " of extent " << lhs.getDimSize(a) << " with rhs axis " << b
                              << " of extent " << rhs.getDimSize(b);
  return success();
}

static LogicalResult verifyTile(ContractOp op, ArrayRef<int64_t> tile) {
  if (tile.size() == 2 && llvm::all_of(tile, [](int64_t size) { return size >= 1 && size <= BlocksAttr::largestTile; }))
    return success();
  return op.emitOpError() << "tile holds the rows and columns of a block, each 1 to " << BlocksAttr::largestTile
                          << ", but got [" << tile << "]";
}

LogicalResult ContractOp::verify() {
  if (failed(verifyAxes(*this, getLhs(), getLhsBatch(), getLhsContract(), "lhs")) ||
      failed(verifyAxes(*this, getRhs(), getRhsBatch(), getRhsContract(), "rhs")) ||
      failed(verifyPairs(*this, getLhsBatch(), getRhsBatch(), "batch")) ||
      failed(verifyPairs(*this, getLhsContract(), getRhsContract(), "contracted")))
    return failure();
  if (auto tile = getTile(); tile && failed(verifyTile(*this, *tile)))
    return failure();
  auto lhs = cast<RankedTensorType>(getLhs().getType()), rhs = cast<RankedTensorType>(getRhs().getType());
  if (auto panels = PanelsAttr::of(rhs); panels && getRhsContract() != ArrayRef(panels.getDepth()))
    return emitOpError() << "reads a packed rhs along axis " << panels.getDepth() << ", but contracts ["
                         << getRhsContract() << "]";
  SmallVector<int64_t> shape;
  uint64_t depth = 1;
  for (int64_t axis : getLhsBatch())
    shape.push_back(lhs.getDimSize(axis));
  for (int64_t axis : getLhsFree())
    shape.push_back(lhs.getDimSize(axis));
  for (int64_t axis : getRhsFree())
    shape.push_back(rhs.getDimSize(axis));
  for (int64_t axis : getLhsContract())
    depth = llvm::SaturatingMultiply<uint64_t>(depth, lhs.getDimSize(axis));
  auto result = cast<RankedTensorType>(getResult().getType());
  if (result.getShape() != ArrayRef(shape))
    return emitOpError() << "result must be " << RankedTensorType::get(shape, result.getElementType()) << ", but got "
                         << result;
  return verifyProducts(*this, depth);
}

LogicalResult ContractOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  for (auto *axes : {&properties.lhs_batch, &properties.lhs_contract, &properties.rhs_batch, &properties.rhs_contract})
    if (failed(reader.readOptionalAttribute(*axes)))
      return failure();
  return BytecodeVersion::of(reader) < BytecodeVersion::tileIsProperty ? success()
                                                                       : reader.readOptionalAttribute(properties.tile);
}

void ContractOp::writeProperties(DialectBytecodeWriter &writer) {
  const Properties &properties = getProperties();
  for (auto axes : {properties.lhs_batch, properties.lhs_contract, properties.rhs_batch, properties.rhs_contract})
    writer.writeOptionalAttribute(axes);
  if (BytecodeVersion::of(writer) >= BytecodeVersion::tileIsProperty)
    writer.writeOptionalAttribute(properties.tile);
}

namespace {
struct Side {
  Value value;
  ArrayRef<int64_t> batch, contract;
  SmallVector<int64_t> free;
};
} // namespace

// The gradient of `self`: the cotangent contracted with `other` over other's free axes. `selfBegin` and `otherBegin`
// are the positions in the cotangent of the free axes of each.
static Value adjoint(Expression &e, Value cotangent, const Side &self, const Side &other, int64_t selfBegin,
                     int64_t otherBegin) {
  auto type = cast<RankedTensorType>(self.value.getType());
  Type element = type.getElementType(), compute = getElementTypeOrSelf(cotangent.getType());
  int64_t batch = self.batch.size();
  SmallVector<int64_t> ctBatch, ctContract;
  for (int64_t i = 0; i < batch; ++i)
    ctBatch.push_back(i);
  for (size_t i = 0; i < other.free.size(); ++i)
    ctContract.push_back(otherBegin + i);

  // The result has the batch axes, self's free axes, then its contracted axes in the order of other's axes.
  SmallVector<size_t> order;
  for (size_t i = 0; i < other.contract.size(); ++i)
    order.push_back(i);
  llvm::sort(order, [&](size_t a, size_t b) { return other.contract[a] < other.contract[b]; });
  SmallVector<int64_t> selfAxes(self.batch);
  selfAxes.append(self.free.begin(), self.free.end());
  for (size_t i : order)
    selfAxes.push_back(self.contract[i]);
  SmallVector<int64_t> shape, permutation(selfAxes.size());
  for (auto [index, axis] : llvm::enumerate(selfAxes)) {
    shape.push_back(type.getDimSize(axis));
    permutation[axis] = index;
  }
  Value factor = e.cast(other.value, compute, "gradient of contract");
  Value product = ContractOp::create(e.builder, e.loc, RankedTensorType::get(shape, compute), cotangent, factor,
                                     ctBatch, other.batch, ctContract, other.free, /*tile=*/DenseI64ArrayAttr());
  return e.cast(e.transpose(product, permutation), element, "gradient of contract");
}

LogicalResult ContractOp::buildGradient(OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  if (!isa<FloatType>(getElementTypeOrSelf(getResult().getType()))) {
    gradients.append(2, Value());
    return success();
  }
  Expression e(builder, getLoc());
  Side lhs{getLhs(), getLhsBatch(), getLhsContract(), getLhsFree()};
  Side rhs{getRhs(), getRhsBatch(), getRhsContract(), getRhsFree()};
  int64_t lhsBegin = lhs.batch.size(), rhsBegin = lhsBegin + lhs.free.size();
  gradients.push_back(adjoint(e, cotangents[0], lhs, rhs, lhsBegin, rhsBegin));
  gradients.push_back(adjoint(e, cotangents[0], rhs, lhs, rhsBegin, lhsBegin));
  return success();
}

// If both operands have a step axis, it is a batch axis. If only one has it, it is the first of its free axes, and the
// operand becomes lhs.
SmallVector<Value> ContractOp::lift(OpBuilder &builder, const StepOperands &operands) {
  const Location loc = getLoc();
  if (operands.isStacked.all()) {
    auto copy = cast<ContractOp>(cloneOfStacks(builder, *this, operands));
    copy.setLhsBatch(afterSteps(getLhsBatch()));
    copy.setRhsBatch(afterSteps(getRhsBatch()));
    copy.setLhsContract(stackAxes(getLhsContract()));
    copy.setRhsContract(stackAxes(getRhsContract()));
    return {copy};
  }
  const bool isLhs = operands.isStacked[0];
  const Value stack = operands[isLhs ? 0 : 1], other = operands[isLhs ? 1 : 0];
  const ArrayRef<int64_t> batch = isLhs ? getLhsBatch() : getRhsBatch();
  const ArrayRef<int64_t> contract = isLhs ? getLhsContract() : getRhsContract();
  const auto batches = static_cast<int64_t>(batch.size());
  const auto lhsFree = static_cast<int64_t>(getLhsFree().size()), rhsFree = static_cast<int64_t>(getRhsFree().size());
  const RankedTensorType type = stackType(getResult().getType(), operands.steps);

  SmallVector<int64_t> order; // axis i of `type` is axis order[i] of the product
  order.push_back(batches);
  llvm::append_range(order, llvm::seq<int64_t>(0, batches));
  const int64_t ofStack = batches + 1, ofOther = ofStack + (isLhs ? lhsFree : rhsFree);
  llvm::append_range(order, llvm::seq(isLhs ? ofStack : ofOther, (isLhs ? ofStack : ofOther) + lhsFree));
  llvm::append_range(order, llvm::seq(isLhs ? ofOther : ofStack, (isLhs ? ofOther : ofStack) + rhsFree));
  SmallVector<int64_t> shape(order.size());
  for (auto [index, axis] : llvm::enumerate(order))
    shape[axis] = type.getDimSize(index);
  Value product = ContractOp::create(builder, loc, type.clone(shape), stack, other, stackAxes(batch),
                                     isLhs ? getRhsBatch() : getLhsBatch(), stackAxes(contract),
                                     isLhs ? getRhsContract() : getLhsContract(), /*tile=*/DenseI64ArrayAttr());
  return {Expression(builder, loc).transpose(product, order)};
}

bool ContractOp::leavesLoops() { return true; }

} // namespace halftone::dialect
