// normalize: rewrites ops into the forms that kernels support.
// SPDX-License-Identifier: Apache-2.0
//
//   %0 = transpose %w [1, 0];  %1 = contract %x, %0 {lhs_contract = [1], rhs_contract = [0]}
//   %ok = reduce_all all_finite (%1)
// becomes
//   %1 = contract %x, %w {lhs_contract = [1], rhs_contract = [1]}
//   %2 = is_finite %1;  %ok = reduce and %2 {axes = [0, 1]}
#include "compiler/forms/KernelBody.h"
#include "compiler/passes/ExactRewrites.h"
#include "compiler/passes/LoopRewrites.h"
#include "compiler/passes/LoopSums.h"
#include "compiler/passes/LowerAttention.h"
#include "compiler/passes/LowerConvolution.h"
#include "compiler/passes/ModuleAttributes.h"
#include "compiler/passes/Passes.h"
#include "compiler/targets/Target.h"
#include "dialect/ControlFlow.h"
#include "dialect/ExactRewrites.h"
#include "dialect/TypeInference.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_NORMALIZEPASS
#include "compiler/passes/Passes.h.inc"

namespace {

RankedTensorType withElement(Value value, Type element) { return RankedTensorType::get(shapeOf(value), element); }

Value castTo(PatternRewriter &rewriter, Location loc, Value value, Type element) {
  if (tensorTypeOf(value).getElementType() == element)
    return value;
  return CastOp::create(rewriter, loc, withElement(value, element), value, CastKind::storage, "reduction");
}

bool isNarrow(Type element) { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32; }

/// The dtype of partial results of a reduction.
Type partialElement(ReduceOp op) {
  Type element = tensorTypeOf(op.getY()).getElementType();
  bool adds = op.getKind() == ReduceKind::sum || op.getKind() == ReduceKind::prod;
  return adds && isNarrow(element) ? Type(Float32Type::get(op.getContext())) : element;
}

Value reduceAxes(PatternRewriter &rewriter, Location loc, ReduceKind kind, Value value, ArrayRef<int64_t> axes,
                 Type element) {
  SmallVector<int64_t> shape;
  for (auto [axis, extent] : llvm::enumerate(shapeOf(value)))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      shape.push_back(extent);
  return ReduceOp::create(rewriter, loc, RankedTensorType::get(shape, element), kind, value,
                          rewriter.getDenseI64ArrayAttr(axes));
}

/// Replaces a reduction of one element by that element, so that it needs no kernel.
struct FoldReductionOfOne : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> axes = op.getAxes(), shape = shapeOf(op.getX());
    if (axes.empty() || llvm::any_of(axes, [&](int64_t axis) { return shape[axis] != 1; }))
      return rewriter.notifyMatchFailure(op, "a reduced axis has an extent other than 1, or no axis is reduced");
    Type element = tensorTypeOf(op.getX()).getElementType();
    Value kept =
        ReshapeOp::create(rewriter, op.getLoc(), RankedTensorType::get(shapeOf(op.getY()), element), op.getX());
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), kept, tensorTypeOf(op.getY()).getElementType()));
    return success();
  }
};
struct FoldArgReduceOfOne : OpRewritePattern<ArgReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ArgReduceOp op, PatternRewriter &rewriter) const override {
    if (shapeOf(op.getX())[op.getAxis()] != 1)
      return rewriter.notifyMatchFailure(op, "the axis has an extent other than 1");
    auto type = tensorTypeOf(op.getY());
    rewriter.replaceOpWithNewOp<ConstantOp>(
        op, type, DenseElementsAttr::get(type, rewriter.getIntegerAttr(type.getElementType(), 0)));
    return success();
  }
};

struct FoldSortOfOne : OpRewritePattern<SortOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SortOp op, PatternRewriter &rewriter) const override {
    if (shapeOf(op.getX())[op.getAxis()] != 1 || op.getX().getType() != op.getValues().getType())
      return rewriter.notifyMatchFailure(op, "the axis has an extent other than 1, or the values change their dtype");
    auto type = tensorTypeOf(op.getIndices());
    Value zeros = ConstantOp::create(rewriter, op.getLoc(), type,
                                     DenseElementsAttr::get(type, rewriter.getIntegerAttr(type.getElementType(), 0)));
    rewriter.replaceOp(op, {op.getX(), zeros});
    return success();
  }
};

/// Makes a scatter_add accumulate narrow floats in f32.
struct WidenScatterAdd : OpRewritePattern<ScatterAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterAddOp op, PatternRewriter &rewriter) const override {
    Type element = tensorTypeOf(op.getY()).getElementType();
    if (!isNarrow(element))
      return rewriter.notifyMatchFailure(op, "the dtype is not a narrow float");
    Value sum = ScatterAddOp::create(rewriter, op.getLoc(), withElement(op.getY(), rewriter.getF32Type()),
                                     op.getIndices(), op.getUpdates(), op.getAxis(), op.getBatch());
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), sum, element));
    return success();
  }
};

/// Makes a scatter combine narrow floats in f32.
struct WidenScatter : OpRewritePattern<ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterOp op, PatternRewriter &rewriter) const override {
    const Type element = tensorTypeOf(op.getY()).getElementType(), wide = rewriter.getF32Type();
    if (!isNarrow(element))
      return rewriter.notifyMatchFailure(op, "the dtype is not a narrow float");
    Value y = ScatterOp::create(rewriter, op.getLoc(), withElement(op.getY(), wide), op.getKind(),
                                castTo(rewriter, op.getLoc(), op.getX(), wide), op.getIndices(),
                                castTo(rewriter, op.getLoc(), op.getUpdates(), wide), op.getAxis(), op.getBatch());
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), y, element));
    return success();
  }
};

/// Splits a reduction over trailing and other axes into one over the trailing axes, followed by one over the others.
struct SplitMixedAxes : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> axes = op.getAxes();
    if (axes.empty()) {
      rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), op.getX(), tensorTypeOf(op.getY()).getElementType()));
      return success();
    }
    int64_t rank = shapeOf(op.getX()).size(), first = rank;
    while (llvm::is_contained(axes, first - 1))
      --first;
    if (first == rank || rank - first == static_cast<int64_t>(axes.size()))
      return rewriter.notifyMatchFailure(op, "all reduced axes are trailing, or none is");
    Type element = partialElement(op);
    auto trailing = llvm::to_vector(llvm::seq<int64_t>(first, rank));
    Value partial = reduceAxes(rewriter, op.getLoc(), op.getKind(), op.getX(), trailing, element);
    Value whole = reduceAxes(rewriter, op.getLoc(), op.getKind(), partial, axes.drop_back(trailing.size()), element);
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), whole, tensorTypeOf(op.getY()).getElementType()));
    return success();
  }
};

/// Expands a reduction of several tensors to one scalar: reduces each tensor, then combines the scalars.
struct ExpandReduceAll : OpRewritePattern<ReduceAllOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceAllOp op, PatternRewriter &rewriter) const override {
    Type element = tensorTypeOf(op.getY()).getElementType();
    Location loc = op.getLoc();
    Value whole;
    for (Value x : op.getXs()) {
      if (elementsOf(x) == 0) // an empty x contributes nothing: the neutral element of max is no valid magnitude
        continue;
      Value one = reduceOne(rewriter, loc, op.getKind(), x, element);
      whole = whole ? combine(rewriter, loc, op.getKind(), whole, one) : one;
    }
    if (!whole) {
      auto type = RankedTensorType::get({}, element);
      Attribute neutral =
          element.isInteger(1) ? Attribute(rewriter.getBoolAttr(true)) : Attribute(rewriter.getFloatAttr(element, 0));
      whole = ConstantOp::create(rewriter, loc, type, DenseElementsAttr::get(type, neutral));
    }
    rewriter.replaceOp(op, whole);
    return success();
  }
  static Value reduceOne(PatternRewriter &rewriter, Location loc, ReduceAllKind kind, Value x, Type element) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(x).size()));
    Value value;
    ReduceKind reduction = ReduceKind::and_;
    switch (kind) {
    case ReduceAllKind::all_finite:
      value = IsFiniteOp::create(rewriter, loc, withElement(x, element), x);
      break;
    case ReduceAllKind::sum_of_squares:
      value = castTo(rewriter, loc, x, element);
      value = MulOp::create(rewriter, loc, value.getType(), value, value);
      reduction = ReduceKind::sum;
      break;
    case ReduceAllKind::max_abs:
      value = castTo(rewriter, loc, AbsOp::create(rewriter, loc, x.getType(), x), element);
      reduction = ReduceKind::max;
      break;
    }
    return axes.empty() ? value : reduceAxes(rewriter, loc, reduction, value, axes, element);
  }
  static Value combine(PatternRewriter &rewriter, Location loc, ReduceAllKind kind, Value a, Value b) {
    switch (kind) {
    case ReduceAllKind::all_finite:
      return AndOp::create(rewriter, loc, a.getType(), a, b);
    case ReduceAllKind::sum_of_squares:
      return AddOp::create(rewriter, loc, a.getType(), a, b);
    case ReduceAllKind::max_abs:
      return MaximumOp::create(rewriter, loc, a.getType(), a, b);
    }
    return {};
  }
};

/// Transposes the operand of arg_reduce so that the reduced axis is last.
struct ArgReduceLastAxis : OpRewritePattern<ArgReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ArgReduceOp op, PatternRewriter &rewriter) const override {
    int64_t rank = shapeOf(op.getX()).size(), axis = op.getAxis();
    if (axis == rank - 1)
      return rewriter.notifyMatchFailure(op, "the axis is the last one");
    SmallVector<int64_t> permutation, shape;
    for (int64_t each = 0; each < rank; ++each)
      if (each != axis)
        permutation.push_back(each);
    permutation.push_back(axis);
    for (int64_t each : permutation)
      shape.push_back(shapeOf(op.getX())[each]);
    auto type = RankedTensorType::get(shape, tensorTypeOf(op.getX()).getElementType());
    Value moved =
        TransposeOp::create(rewriter, op.getLoc(), type, op.getX(), rewriter.getDenseI64ArrayAttr(permutation));
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(moved);
      op.setAxis(rank - 1);
    });
    return success();
  }
};

/// Hoists a reshape above elementwise ops if the reshapes of their operands are free or cancel. Kernels do not contain
/// reshapes, so a reshape separates them.
struct HoistReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    Operation *producer = op.getX().getDefiningOp();
    if (!producer || !isFreeAbove(op.getX(), op, 0))
      return rewriter.notifyMatchFailure(op, "a reshape of the operands would not be free");
    if (auto broadcast = dyn_cast<BroadcastOp>(producer)) {
      rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), broadcast.getX(), ArrayRef<int64_t>());
      return success();
    }
    if (!isa<ElementwiseOpInterface>(producer))
      return rewriter.notifyMatchFailure(op, "the operand is not the result of an elementwise op");
    Operation *moved = rewriter.clone(*producer);
    rewriter.modifyOpInPlace(moved, [&] {
      for (OpOperand &operand : moved->getOpOperands()) {
        auto type = RankedTensorType::get(op.getType().getShape(), tensorTypeOf(operand.get()).getElementType());
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(moved);
        operand.set(ReshapeOp::create(rewriter, op.getLoc(), type, operand.get()));
      }
      moved->getResult(0).setType(op.getType());
    });
    rewriter.replaceOp(op, moved->getResults());
    if (producer->use_empty()) // otherwise it would count as a reader of its operands
      rewriter.eraseOp(producer);
    return success();
  }
  /// Returns true if a reshape of `value` is free: its elementwise chain has no other users, and starts at values in
  /// memory, splats or reshapes.
  static bool isFreeAbove(Value value, ReshapeOp reshape, int64_t depth) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<ReshapeOp>(op))
      return depth > 0;
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      return shapeOf(broadcast.getX()).empty();
    if (isAlwaysCloned(op) && isa<ConstantOp>(op))
      return depth > 0;
    constexpr int64_t deepest = 16;
    if (!isa<ElementwiseOpInterface>(op) || depth > deepest)
      return false;
    int64_t readers = 0;
    for (Operation *user : value.getUsers()) {
      if (isOpTriviallyDead(user)) // left behind by a rewrite
        continue;
      auto other = dyn_cast<ReshapeOp>(user);
      if (depth == 0 ? !other || other.getType() != reshape.getType() : ++readers > 1)
        return false;
    }
    return llvm::all_of(op->getOperands(), [&](Value operand) { return isFreeAbove(operand, reshape, depth + 1); });
  }
};

bool isSplat(Value value) {
  Operation *op = value.getDefiningOp();
  auto broadcast = dyn_cast_or_null<BroadcastOp>(op);
  return op && (broadcast ? shapeOf(broadcast.getX()).empty() : isa<ConstantOp>(op) && isAlwaysCloned(op));
}

/// Returns the splat `value` as a tensor of another shape.
Value splatOf(PatternRewriter &rewriter, Value value, RankedTensorType type) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return BroadcastOp::create(rewriter, value.getLoc(), type, broadcast.getX(), ArrayRef<int64_t>());
  auto elements = cast<DenseElementsAttr>(value.getDefiningOp<ConstantOp>().getValue());
  return ConstantOp::create(rewriter, value.getLoc(), type, elements.resizeSplat(type));
}

/// Sinks reshapes of values of one shape below an elementwise op, where HoistReshape does not apply. The op can then
/// join the kernel that computes its operands, and a reshape after it (for example, of a mean with keepdims) cancels.
struct SinkReshape : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOpInterface op, PatternRewriter &rewriter) const override {
    std::optional<ArrayRef<int64_t>> shape;
    bool isComputed = false;
    for (Value operand : op->getOperands()) {
      if (isSplat(operand))
        continue;
      auto reshape = operand.getDefiningOp<ReshapeOp>();
      if (!reshape || (shape && *shape != shapeOf(reshape.getX())))
        return rewriter.notifyMatchFailure(op, "an operand is not a reshape from the same shape");
      shape = shapeOf(reshape.getX());
      Operation *source = reshape.getX().getDefiningOp();
      if (source && (isBranchOrLoop(source) || source->getBlock() != op->getBlock()))
        return rewriter.notifyMatchFailure(op, "an operand is the result of a loop or branch, or of another block");
      isComputed |= !HoistReshape::isFreeAbove(reshape.getX(), reshape, 1);
    }
    if (!isComputed)
      return rewriter.notifyMatchFailure(op, "no operand is computed: HoistReshape applies");
    auto at = [&](Value value) { return RankedTensorType::get(*shape, tensorTypeOf(value).getElementType()); };
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isSplat(operand) ? splatOf(rewriter, operand, at(operand))
                                          : operand.getDefiningOp<ReshapeOp>().getX());
    Operation *moved = rewriter.clone(*op);
    rewriter.modifyOpInPlace(moved, [&] {
      moved->setOperands(operands);
      moved->getResult(0).setType(at(moved->getResult(0)));
    });
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(), moved->getResult(0));
    return success();
  }
};

/// Splits a long concat into a tree of short ones, because a kernel tests every operand of a concat for each element.
struct SplitLongConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    constexpr size_t limit = 8;
    if (op.getXs().size() <= limit)
      return rewriter.notifyMatchFailure(op, "it has few operands");
    const auto axis = static_cast<int64_t>(op.getAxis());
    SmallVector<Value> joined;
    for (ValueRange rest = op.getXs(); !rest.empty();) {
      const ValueRange part = rest.take_front(std::min(limit, rest.size()));
      rest = rest.drop_front(part.size());
      SmallVector<int64_t> shape(shapeOf(op.getY()));
      shape[axis] = 0;
      for (Value x : part)
        shape[axis] += shapeOf(x)[axis];
      auto type = RankedTensorType::get(shape, tensorTypeOf(op.getY()).getElementType());
      joined.push_back(part.size() == 1 ? part.front()
                                        : ConcatOp::create(rewriter, op.getLoc(), type, part, axis).getResult());
    }
    rewriter.modifyOpInPlace(op, [&] { op.getXsMutable().assign(joined); });
    return success();
  }
};

/// Replaces a transpose that moves only axes of extent 1 by a reshape: it moves nothing in memory.
struct ReshapeUnitAxes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> moved(op.getPermutation());
    llvm::erase_if(moved, [&](int64_t axis) { return shapeOf(op.getX())[axis] == 1; });
    if (!llvm::is_sorted(moved))
      return rewriter.notifyMatchFailure(op, "an axis with an extent other than 1 moves");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getX());
    return success();
  }
};

/// Sinks a transpose of a contraction's result below elementwise ops. They can then join the contraction's kernel,
/// which stores the result transposed.
struct SinkTranspose : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOpInterface op, PatternRewriter &rewriter) const override {
    TransposeOp first;
    for (Value operand : op->getOperands())
      if (auto transpose = operand.getDefiningOp<TransposeOp>(); transpose && !first)
        first = transpose;
    const int64_t rank = first ? static_cast<int64_t>(first.getPermutation().size()) : 0;
    if (rank == 0 || first.getPermutation().back() != rank - 1 || !isProduct(first.getX(), op->getBlock()))
      return rewriter.notifyMatchFailure(
          op, "no operand is the transposed result of a contraction that keeps the innermost axis");
    const auto isMovable = [&](Value operand) {
      auto transpose = operand.getDefiningOp<TransposeOp>();
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      return (transpose && transpose.getPermutation() == first.getPermutation()) || isSplat(operand) ||
             (broadcast && llvm::is_sorted(axesBefore(broadcast, first)));
    };
    if (!llvm::all_of(op->getOperands(), isMovable))
      return rewriter.notifyMatchFailure(
          op, "an operand is neither transposed in the same way nor a broadcast that can be transposed");
    const auto at = [&](Value value) {
      return RankedTensorType::get(shapeOf(first.getX()), tensorTypeOf(value).getElementType());
    };
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      if (auto transpose = operand.getDefiningOp<TransposeOp>())
        operands.push_back(transpose.getX());
      else if (broadcast && !isSplat(operand))
        operands.push_back(BroadcastOp::create(rewriter, operand.getLoc(), at(operand), broadcast.getX(),
                                               axesBefore(broadcast, first)));
      else
        operands.push_back(splatOf(rewriter, operand, at(operand)));
    }
    Operation *moved = rewriter.clone(*op);
    rewriter.modifyOpInPlace(moved, [&] {
      moved->setOperands(operands);
      moved->getResult(0).setType(at(moved->getResult(0)));
    });
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op->getResult(0).getType(), moved->getResult(0),
                                             first.getPermutation());
    return success();
  }

  /// The axes of a broadcast's operand, in terms of the value before the transpose.
  static SmallVector<int64_t> axesBefore(BroadcastOp broadcast, TransposeOp transpose) {
    return llvm::map_to_vector(broadcast.getAxes(), [&](int64_t axis) { return transpose.getPermutation()[axis]; });
  }
  /// Returns true if `value` is the result of a contraction, or of a few elementwise ops on one.
  static bool isProduct(Value value, Block *block) {
    constexpr size_t limit = 16;
    llvm::SetVector<Operation *> work;
    const auto add = [&](Value each) {
      if (Operation *op = each.getDefiningOp(); op && op->getBlock() == block)
        work.insert(op);
    };
    add(value);
    for (size_t next = 0; next < std::min(work.size(), limit); ++next) {
      if (isa<ContractOp>(work[next]))
        return true;
      if (isa<ElementwiseOpInterface>(work[next]))
        llvm::for_each(work[next]->getOperands(), add);
    }
    return false;
  }
};

class Normalize : public impl::NormalizePassBase<Normalize> {
public:
  using NormalizePassBase::NormalizePassBase;

private:
  void runOnModule() override {
    const FailureOr<CompiledFor> compiled = compiledFor(getOperation(), target, strict);
    if (failed(compiled))
      return signalPassFailure();
    const Target &machine = *compiled->target;
    const Numerics numerics = compiled->numerics;
    if (!numerics.fixesOrder())
      sumOverSteps(getOperation());
    while (simplifyLoops(getOperation())) { // a module that is given in stage pure is not simplified
    }
    RewritePatternSet patterns(&getContext());
    populateEmptyRewrites(patterns); // such a module may also have values without elements
    populateContractionRewrites(patterns);
    populateAttentionLowering(patterns, machine, numerics);
    populateConvolutionLowering(patterns, machine, numerics);
    if (!numerics.fixesOrder())
      populateBaseDilationLowering(patterns);
    patterns.add<ArgReduceLastAxis, ExpandReduceAll, FoldArgReduceOfOne, FoldReductionOfOne, FoldSortOfOne,
                 HoistReshape, ReshapeUnitAxes, SinkReshape, SinkTranspose, SplitLongConcat, SplitMixedAxes,
                 WidenScatter, WidenScatterAdd>(&getContext());
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) {
      getOperation().emitError("normalize did not converge");
      return signalPassFailure();
    }
  }
};

} // namespace
} // namespace halftone::compiler
