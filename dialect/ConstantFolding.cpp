// Constant folding with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ExactRewrites.h"
#include "dialect/InterpreterOps.h"

using namespace mlir;

namespace halftone::dialect {
namespace {

constexpr int64_t largestBytes = int64_t(64) << 10;
constexpr int64_t maxWritten = 64; // elements of a constant that is not a splat

bool isSmall(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() <= largestBytes * 8 / std::max(8u, tensor.getElementTypeBitWidth());
}

/// Returns true if every legal compilation of `op` gives the interpreter's bits.
bool isExact(Operation *op) {
  auto compute = dyn_cast<ComputeOpInterface>(op);
  if (!compute || !compute.isExact())
    return false;
  if (compute.keepsDtype())
    return true;
  if (!isa<ElementwiseOpInterface>(op))
    return false;
  Type from = getElementTypeOrSelf(op->getOperand(0).getType()), to = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<CastOp>(op))
    return !isa<FloatType>(from) && !isa<FloatType>(to);
  // A kernel may keep a narrow float in a wider type, and may fuse a product into a sum.
  return !isa<FloatType>(to) || (isa<Float32Type, Float64Type>(to) && !isa<MulOp>(op));
}

/// Returns the elements as the value of a constant; null if a constant cannot hold them.
DenseElementsAttr valueOf(const TensorData &data) {
  Type element = data.type.getElementType();
  if (auto format = dyn_cast<FloatType>(element)) {
    SmallVector<APFloat> values;
    for (double each : data.low) {
      if (std::isnan(each))
        return {};
      bool inexact;
      values.emplace_back(each).convert(format.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    }
    return DenseElementsAttr::get(data.type, values);
  }
  SmallVector<APInt> values;
  for (int64_t each : data.integers)
    values.emplace_back(element.getIntOrFloatBitWidth(), each, /*isSigned=*/true, /*implicitTrunc=*/true);
  return DenseElementsAttr::get(data.type, values);
}

struct FoldConstants : RewritePattern {
  explicit FoldConstants(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<HalftoneDialect>(op->getDialect()) || op->getNumOperands() == 0 || op->getNumResults() != 1 ||
        op->getNumRegions() != 0 || !isExact(op) || !isSmall(op->getResult(0).getType()))
      return rewriter.notifyMatchFailure(op,
                                         "the op is not exact, has no operands, has regions, or its result is large");
    SmallVector<TensorData> values;
    for (Value operand : op->getOperands()) {
      auto constant = operand.getDefiningOp<ConstantOp>();
      std::optional<TensorData> value;
      if (constant && isSmall(operand.getType()))
        value = evaluate(constant, {}, {});
      if (!value)
        return rewriter.notifyMatchFailure(op, "an operand is not a small constant");
      values.push_back(*std::move(value));
    }
    std::optional<TensorData> result =
        evaluate(op, llvm::to_vector(llvm::make_pointer_range(std::as_const(values))), {});
    DenseElementsAttr value = result ? valueOf(*result) : DenseElementsAttr();
    if (!value || (!value.isSplat() && value.getNumElements() > maxWritten))
      return rewriter.notifyMatchFailure(op,
                                         "the interpreter does not fold it, or the result is too large to write out");
    rewriter.replaceOpWithNewOp<ConstantOp>(op, result->type, value);
    return success();
  }
};

} // namespace

void populateConstantFolding(RewritePatternSet &patterns) { patterns.add<FoldConstants>(patterns.getContext()); }

} // namespace halftone::dialect
