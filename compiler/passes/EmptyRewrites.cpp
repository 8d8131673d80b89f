// Folds tensors without elements, and reductions, contractions, convolutions and scatter_adds of them, to constants.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/ExactRewrites.h"
#include "dialect/ControlFlow.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}
bool isEmpty(Value value) { return isEmpty(value.getType()); }

Value empty(PatternRewriter &rewriter, Location loc, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return ConstantOp::create(rewriter, loc, tensor, DenseElementsAttr::get(tensor, ArrayRef<Attribute>()));
}

/// The splat of the neutral element of `kind`: the result of a reduction of no elements.
DenseElementsAttr neutral(ReduceKind kind, RankedTensorType type) {
  if (auto real = dyn_cast<FloatType>(type.getElementType())) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    switch (kind) {
    case ReduceKind::max:
    case ReduceKind::min:
      return DenseElementsAttr::get(type, ArrayRef<APFloat>(APFloat::getInf(semantics, kind == ReduceKind::max)));
    case ReduceKind::prod:
      return DenseElementsAttr::get(type, ArrayRef<APFloat>(APFloat::getOne(semantics)));
    default:
      return DenseElementsAttr::get(type, ArrayRef<APFloat>(APFloat::getZero(semantics)));
    }
  }
  auto whole = cast<IntegerType>(type.getElementType());
  const unsigned width = whole.getWidth();
  const bool isUnsigned = whole.isUnsigned() || width == 1;
  APInt value = APInt::getZero(width);
  if (kind == ReduceKind::max)
    value = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  else if (kind == ReduceKind::min)
    value = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  else if (kind == ReduceKind::prod)
    value = 1;
  else if (kind == ReduceKind::and_)
    value = APInt::getAllOnes(width);
  return DenseElementsAttr::get(type, ArrayRef<APInt>(value));
}

/// Replaces an op all of whose results are empty by constants.
struct DropEmptyResults : RewritePattern {
  explicit DropEmptyResults(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    // isMemoryEffectFree is called last because it visits all ops nested in an op with regions.
    if (op->getNumResults() == 0 || op->getNumRegions() != 0 ||
        !llvm::all_of(op->getResults(), [](Value result) { return isEmpty(result); }) ||
        !isa<HalftoneDialect>(op->getDialect()) || isa<ConstantOp>(op) || !isMemoryEffectFree(op))
      return rewriter.notifyMatchFailure(op,
                                         "a result has elements, or the op is a constant, has effects or has regions");
    SmallVector<Value> constants;
    for (Type type : op->getResultTypes())
      constants.push_back(empty(rewriter, op->getLoc(), type));
    rewriter.replaceOp(op, constants);
    return success();
  }
};

/// Replaces uses of an empty result of a branch or loop, or of an empty carry or slice, by a constant. DropWhenResults
/// and simplifyLoops then remove the result and the argument.
struct DropEmptyOfRegions : RewritePattern {
  explicit DropEmptyOfRegions(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isBranchOrLoop(op))
      return rewriter.notifyMatchFailure(op, "the op is not a branch or loop");
    bool changed = false;
    const auto drop = [&](Value value) {
      if (!isEmpty(value) || value.use_empty())
        return;
      rewriter.replaceAllUsesWith(value, empty(rewriter, op->getLoc(), value.getType()));
      changed = true;
    };
    llvm::for_each(op->getResults(), drop);
    rewriter.setInsertionPoint(op);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), drop);
    return changed ? success() : rewriter.notifyMatchFailure(op, "no used result or argument is empty");
  }
};

/// Replaces an op with empty operands and a nonempty result by the splat that its combiner gives for no elements.
template <class Op> struct FoldOfEmpty : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (isEmpty(type) || !llvm::any_of(op->getOperands(), [](Value operand) { return isEmpty(operand); }))
      return rewriter.notifyMatchFailure(op, "the result is empty, or no operand is");
    ReduceKind kind = ReduceKind::sum;
    if constexpr (std::is_same_v<Op, ReduceOp>)
      kind = op.getKind();
    rewriter.replaceOpWithNewOp<ConstantOp>(op, type, neutral(kind, type));
    return success();
  }
};

/// Replaces a scatter without updates by x.
struct ScatterOfNone : OpRewritePattern<ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterOp op, PatternRewriter &rewriter) const override {
    if (!isEmpty(op.getUpdates()))
      return rewriter.notifyMatchFailure(op, "the updates are not empty");
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

} // namespace

void populateEmptyRewrites(RewritePatternSet &patterns) {
  patterns.add<DropEmptyResults, DropEmptyOfRegions, FoldOfEmpty<ReduceOp>, FoldOfEmpty<ContractOp>,
               FoldOfEmpty<ConvolutionOp>, FoldOfEmpty<ScatterAddOp>, ScatterOfNone>(patterns.getContext());
}

} // namespace halftone::compiler
