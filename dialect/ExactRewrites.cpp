// Algebraic rewrites that change no bit of any result.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/ExactRewrites.h"
#include "dialect/Dialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace halftone::dialect {
namespace {

/// The one value of a constant that is a splat; null otherwise.
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

/// `op(x, neutral)` is x; with `commutes`, `op(neutral, x)` too.
template <class Op, bool (*isNeutral)(Value), bool commutes> struct DropNeutral : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (isNeutral(op.getRhs()))
      rewriter.replaceOp(op, op.getLhs());
    else if (commutes && isNeutral(op.getLhs()))
      rewriter.replaceOp(op, op.getRhs());
    else
      return failure();
    return success();
  }
};

template <class Op> struct DropPair : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().template getDefiningOp<Op>();
    if (!inner)
      return failure();
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

struct DropSelect : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    auto condition = dyn_cast_or_null<IntegerAttr>(splatOf(op.getCondition()));
    if (op.getLhs() != op.getRhs() && !condition)
      return failure();
    rewriter.replaceOp(op, condition && condition.getValue().isZero() ? op.getRhs() : op.getLhs());
    return success();
  }
};

/// contract(transpose(x), y) reads x itself, when the free axes keep their order.
struct ContractReadsTransposed : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    bool changed = false;
    auto tryOperand = [&](OpOperand &operand, SmallVector<int64_t> free, ArrayRef<int64_t> batch,
                          ArrayRef<int64_t> contract, auto setBatch, auto setContract) {
      auto transpose = operand.get().getDefiningOp<TransposeOp>();
      if (!transpose)
        return;
      ArrayRef<int64_t> permutation = transpose.getPermutation();
      auto permuted = [&](ArrayRef<int64_t> axes) {
        return llvm::map_to_vector(axes, [&](int64_t axis) { return permutation[axis]; });
      };
      if (!llvm::is_sorted(permuted(free)))
        return;
      SmallVector<int64_t> newBatch = permuted(batch), newContract = permuted(contract);
      rewriter.modifyOpInPlace(op, [&] {
        operand.set(transpose.getX());
        setBatch(newBatch);
        setContract(newContract);
      });
      changed = true;
    };
    tryOperand(
        op.getLhsMutable(), op.getLhsFree(), op.getLhsBatch(), op.getLhsContract(),
        [&](ArrayRef<int64_t> axes) { op.setLhsBatch(axes); },
        [&](ArrayRef<int64_t> axes) { op.setLhsContract(axes); });
    tryOperand(
        op.getRhsMutable(), op.getRhsFree(), op.getRhsBatch(), op.getRhsContract(),
        [&](ArrayRef<int64_t> axes) { op.setRhsBatch(axes); },
        [&](ArrayRef<int64_t> axes) { op.setRhsContract(axes); });
    return success(changed);
  }
};

/// transpose(contract(x, y)) that brings the free axes of y before those of x is contract(y, x).
struct SwapContract : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto contract = op.getX().getDefiningOp<ContractOp>();
    if (!contract || !contract->hasOneUse())
      return failure();
    int64_t batch = contract.getLhsBatch().size(), left = contract.getLhsFree().size(),
            right = contract.getRhsFree().size();
    SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(0, batch));
    llvm::append_range(swapped, llvm::seq<int64_t>(batch + left, batch + left + right));
    llvm::append_range(swapped, llvm::seq<int64_t>(batch, batch + left));
    if (op.getPermutation() != ArrayRef<int64_t>(swapped))
      return failure();
    rewriter.replaceOpWithNewOp<ContractOp>(op, op.getType(), contract.getRhs(), contract.getLhs(),
                                            contract.getRhsBatch(), contract.getLhsBatch(), contract.getRhsContract(),
                                            contract.getLhsContract(), /*tile=*/DenseI64ArrayAttr());
    return success();
  }
};

/// A diagonal window of what is the same for all taps is a plain window.
struct WindowOfBroadcast : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getX().getDefiningOp<BroadcastOp>();
    if (!op.getDiagonal() || !broadcast)
      return failure();
    const int64_t rank = op.getSteps().rank(), all = cast<RankedTensorType>(op.getX().getType()).getRank();
    SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(0, 1 + rank));
    llvm::append_range(kept, llvm::seq<int64_t>(1 + 2 * rank, all));
    if (broadcast.getAxes() != ArrayRef<int64_t>(kept))
      return failure();
    rewriter.replaceOpWithNewOp<WindowOp>(op, op.getType(), broadcast.getX(), op.getSteps(), op.getLowest());
    return success();
  }
};

/// A `when` whose condition is known is the region that runs.
struct InlineDecidedWhen : OpRewritePattern<WhenOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhenOp op, PatternRewriter &rewriter) const override {
    auto condition = dyn_cast_or_null<IntegerAttr>(splatOf(op.getCondition()));
    if (!condition)
      return failure();
    Block &taken = (condition.getValue().isZero() ? op.getElseRegion() : op.getThenRegion()).front();
    Operation *yield = taken.getTerminator();
    SmallVector<Value> values(yield->getOperands());
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(&taken, op);
    rewriter.replaceOp(op, values);
    return success();
  }
};

/// An integer or bool that widens and comes back is itself. (A float may not have been rounded yet: its casts stay.)
struct DropIntegerRoundTrip : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<CastOp>();
    if (!inner || inner.getX().getType() != op.getType())
      return failure();
    auto narrow = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getType()));
    auto wide = dyn_cast<IntegerType>(getElementTypeOrSelf(inner.getType()));
    if (!narrow || !wide || wide.getWidth() < narrow.getWidth())
      return failure();
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

} // namespace

void populateExactRewrites(RewritePatternSet &patterns) {
  patterns.add<DropNeutral<MulOp, isOne, true>, DropNeutral<DivOp, isOne, false>, DropNeutral<PowOp, isOne, false>,
               DropNeutral<AddOp, isNegativeZero, true>, DropNeutral<SubOp, isPositiveZero, false>, DropPair<NegOp>,
               DropPair<NotOp>, DropSelect, SwapContract, InlineDecidedWhen, WindowOfBroadcast>(patterns.getContext());
  populateTransposedOperands(patterns);
}

void populateTransposedOperands(RewritePatternSet &patterns) {
  patterns.add<ContractReadsTransposed>(patterns.getContext());
}

void populateWhenRewrites(RewritePatternSet &patterns) {
  populateRegionBranchOpInterfaceCanonicalizationPatterns(patterns, WhenOp::getOperationName());
}

void populateIntegerRewrites(RewritePatternSet &patterns) { patterns.add<DropIntegerRoundTrip>(patterns.getContext()); }

} // namespace halftone::dialect
