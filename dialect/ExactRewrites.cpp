// Bit-exact algebraic rewrites.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ExactRewrites.h"
#include "dialect/Dialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace halftone::dialect {
namespace {

/// Returns the value of a splat constant; null if `value` is not one.
Attribute splatOf(Value value) {
  DenseElementsAttr elements;
  bool isSplat = matchPattern(value, m_Constant(&elements)) && elements.isSplat();
  return isSplat ? elements.getSplatValue<Attribute>() : Attribute();
}

bool isNumber(Value value, double number, bool negativeZero = false) {
  Attribute splat = splatOf(value);
  if (auto real = dyn_cast_or_null<FloatAttr>(splat))
    return number == 0 ? real.getValue().isZero() && real.getValue().isNegative() == negativeZero
                       : real.getValue().isExactlyValue(number);
  auto integer = dyn_cast_or_null<IntegerAttr>(splat);
  return integer && integer.getValue() == static_cast<uint64_t>(number);
}

bool isOne(Value value) { return isNumber(value, 1); }
bool isPositiveZero(Value value) { return isNumber(value, 0); }       // or the integer 0
bool isNegativeZero(Value value) { return isNumber(value, 0, true); } // or the integer 0

/// Rewrites `op(x, neutral)` to x, and with `commutes` also `op(neutral, x)`.
template <class Op, bool (*isNeutral)(Value), bool commutes> struct DropNeutral : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (isNeutral(op.getRhs()))
      rewriter.replaceOp(op, op.getLhs());
    else if (commutes && isNeutral(op.getLhs()))
      rewriter.replaceOp(op, op.getRhs());
    else
      return rewriter.notifyMatchFailure(op, "no operand is the neutral element");
    return success();
  }
};

template <class Op> struct DropPair : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().template getDefiningOp<Op>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "the operand is not an op of the same kind");
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

struct DropSelect : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    auto condition = dyn_cast_or_null<IntegerAttr>(splatOf(op.getCondition()));
    if (op.getLhs() != op.getRhs() && !condition)
      return rewriter.notifyMatchFailure(op, "the condition is unknown, and the operands differ");
    rewriter.replaceOp(op, condition && condition.getValue().isZero() ? op.getRhs() : op.getLhs());
    return success();
  }
};

/// If a broadcast gives all taps the same elements, a diagonal window of it becomes a plain window of the broadcast's
/// operand.
struct WindowOfBroadcast : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getX().getDefiningOp<BroadcastOp>();
    if (!op.getDiagonal() || !broadcast)
      return rewriter.notifyMatchFailure(op, "the op is not a diagonal window of a broadcast");
    const int64_t rank = op.getSteps().rank(), all = cast<RankedTensorType>(op.getX().getType()).getRank();
    SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(0, 1 + rank));
    llvm::append_range(kept, llvm::seq<int64_t>(1 + 2 * rank, all));
    if (broadcast.getAxes() != ArrayRef<int64_t>(kept))
      return rewriter.notifyMatchFailure(op, "the elements of the broadcast may differ between taps");
    rewriter.replaceOpWithNewOp<WindowOp>(op, op.getType(), broadcast.getX(), op.getSteps(), op.getLowest());
    return success();
  }
};

/// Replaces a `when` with a constant condition by the ops of the region that runs.
struct InlineDecidedWhen : OpRewritePattern<WhenOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhenOp op, PatternRewriter &rewriter) const override {
    auto condition = dyn_cast_or_null<IntegerAttr>(splatOf(op.getCondition()));
    if (!condition)
      return rewriter.notifyMatchFailure(op, "the condition is unknown");
    Block &taken = (condition.getValue().isZero() ? op.getElseRegion() : op.getThenRegion()).front();
    Operation *yield = taken.getTerminator();
    SmallVector<Value> values(yield->getOperands());
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(&taken, op);
    rewriter.replaceOp(op, values);
    return success();
  }
};

/// Removes a widening cast of an integer or bool followed by the inverse cast. (A float may not have been rounded yet,
/// so its casts stay.)
struct DropIntegerRoundTrip : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<CastOp>();
    if (!inner || inner.getX().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "the operand is not a cast from the same type");
    auto narrow = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getType()));
    auto wide = dyn_cast<IntegerType>(getElementTypeOrSelf(inner.getType()));
    if (!narrow || !wide || wide.getWidth() < narrow.getWidth())
      return rewriter.notifyMatchFailure(op, "the casts are not of integers, or the first one narrows");
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

} // namespace

void populateExactRewrites(RewritePatternSet &patterns) {
  patterns.add<DropNeutral<MulOp, isOne, true>, DropNeutral<DivOp, isOne, false>, DropNeutral<PowOp, isOne, false>,
               DropNeutral<AddOp, isNegativeZero, true>, DropNeutral<SubOp, isPositiveZero, false>, DropPair<NegOp>,
               DropPair<NotOp>, DropSelect, InlineDecidedWhen, WindowOfBroadcast>(patterns.getContext());
  populateContractionRewrites(patterns);
}

void populateWhenRewrites(RewritePatternSet &patterns) {
  populateRegionBranchOpInterfaceCanonicalizationPatterns(patterns, WhenOp::getOperationName());
}

void populateIntegerRewrites(RewritePatternSet &patterns) { patterns.add<DropIntegerRoundTrip>(patterns.getContext()); }

} // namespace halftone::dialect
