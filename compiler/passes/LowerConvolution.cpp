// Lowers a convolution to the contraction of a window of its image with its kernel.
// SPDX-License-Identifier: Apache-2.0
//
//   %y = convolution %x, %w : (8x28x28x1x3, 5x5x1x3x16) -> 8x24x24x1x16
// becomes
//   %p = window %x : 8x24x24x5x5x3
//   %y = reshape (contract %p, %w {lhs_contract = [3, 4, 5], rhs_contract = [0, 1, 2]} : 8x24x24x16)
#include "compiler/passes/LowerConvolution.h"
#include "compiler/forms/KernelBody.h"
#include "dialect/TypeInference.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

SmallVector<int64_t> axes(int64_t begin, int64_t end) { return llvm::to_vector(llvm::seq<int64_t>(begin, end)); }
SmallVector<int64_t> joined(std::initializer_list<ArrayRef<int64_t>> parts) {
  SmallVector<int64_t> all;
  for (ArrayRef<int64_t> part : parts)
    llvm::append_range(all, part);
  return all;
}

/// Builds ops at the location of a convolution, with its element types.
class ConvolutionBuilder {
protected:
  ConvolutionBuilder(ConvolutionOp op, PatternRewriter &rewriter) : op(op), rewriter(rewriter) {}

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return rewriter.createOrFold<ReshapeOp>(op.getLoc(), tensorTypeOf(value).clone(shape), value);
  }
  Value transpose(Value value, ArrayRef<int64_t> permutation) {
    const auto shape = llvm::map_to_vector(permutation, [&](int64_t axis) { return shapeOf(value)[axis]; });
    return rewriter.createOrFold<TransposeOp>(op.getLoc(), tensorTypeOf(value).clone(shape), value,
                                              rewriter.getDenseI64ArrayAttr(permutation));
  }
  Value cast(Value value, Type element) {
    if (tensorTypeOf(value).getElementType() == element)
      return value;
    return CastOp::create(rewriter, op.getLoc(), tensorTypeOf(value).clone(element), value, CastKind::storage,
                          "convolution");
  }

  /// The elements (n, positions.., taps.., c..) of an image (n, s.., c..).
  Value windowOf(Value image, const WindowSteps &steps, ArrayRef<int64_t> positions, ArrayRef<int64_t> taps) {
    ArrayRef<int64_t> shape = shapeOf(image);
    const auto type =
        tensorTypeOf(image).clone(joined({shape.take_front(), positions, taps, shape.drop_front(1 + steps.rank())}));
    return WindowOp::create(rewriter, op.getLoc(), type, image, steps);
  }

  /// The batch and contracted axes of the operands of a contraction.
  struct Axes {
    SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  };

  Value contract(Value lhs, Value rhs, const Axes &of) {
    SmallVector<int64_t> shape;
    auto add = [&](Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> summed) {
      for (auto [axis, extent] : llvm::enumerate(shapeOf(operand)))
        if (!llvm::is_contained(batch, int64_t(axis)) && !llvm::is_contained(summed, int64_t(axis)))
          shape.push_back(extent);
    };
    for (int64_t axis : of.lhsBatch)
      shape.push_back(shapeOf(lhs)[axis]);
    add(lhs, of.lhsBatch, of.lhsContract);
    add(rhs, of.rhsBatch, of.rhsContract);
    return ContractOp::create(rewriter, op.getLoc(), op.getType().clone(shape), lhs, rhs, of.lhsBatch, of.rhsBatch,
                              of.lhsContract, of.rhsContract, /*tile=*/DenseI64ArrayAttr());
  }

  /// Multiplies `seen` by `weights`, broadcast from the axes `own`, and sums the product over the axes `summed`.
  Value sumOfProducts(Value seen, Value weights, ArrayRef<int64_t> own, ArrayRef<int64_t> summed) {
    const Type sum = op.getAccumulatorType(), element = tensorTypeOf(op).getElementType();
    const auto type = tensorTypeOf(seen).clone(sum);
    Value factor = cast(weights, sum), product = cast(seen, sum);
    factor = BroadcastOp::create(rewriter, op.getLoc(), type, factor, own);
    product = MulOp::create(rewriter, op.getLoc(), product, factor);
    SmallVector<int64_t> shape;
    for (auto [axis, extent] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(summed, int64_t(axis)))
        shape.push_back(extent);
    Value total = ReduceOp::create(rewriter, op.getLoc(), RankedTensorType::get(shape, sum), ReduceKind::sum, product,
                                   rewriter.getDenseI64ArrayAttr(summed));
    return cast(total, element);
  }

  ConvolutionOp op;
  PatternRewriter &rewriter;
};

/// Builds the replacement of one convolution.
class Lowering : ConvolutionBuilder {
public:
  Lowering(ConvolutionOp op, const Target &target, PatternRewriter &rewriter)
      : ConvolutionBuilder(op, rewriter), target(target), rank(op.getSteps().rank()), x(shapeOf(op.getX())),
        w(shapeOf(op.getW())), y(shapeOf(op.getY())) {}

  Value lower() {
    const int64_t groups = x[rank + 1];
    const bool isOne = groups == 1;
    Value image = isOne ? reshape(op.getX(), joined({x.take_front(rank + 1), x.take_back()})) : groupsFirst(op.getX());
    Value patches = patchesOf(image, op.getSteps(), y.slice(1, rank), op.getTaps());
    const bool seesAll = patches != image; // otherwise one tap
    Value source = transposedKernel();
    const bool isTransposed = source && (!seesAll || readsTransposedKernel());
    source = isTransposed ? source : op.getW();
    // The kernel's axes: taps, the group if there are several, channels and filters; filters and channels if it is
    // transposed.
    const ArrayRef<int64_t> taps = seesAll ? w.take_front(rank) : w.take_front(0);
    Value kernel = reshape(source, joined({taps, shapeOf(source).take_back(isOne ? 2 : 3)}));
    const auto count = static_cast<int64_t>(taps.size()), lead = int64_t(isOne ? 0 : 1);
    Axes of{{}, {}, axes(lead + rank + 1, lead + rank + 2 + count), axes(0, count)};
    of.rhsContract.push_back(count + lead + (isTransposed ? 1 : 0));
    if (isOne)
      return reshape(contract(patches, kernel, of), y);
    of.lhsBatch = {0}, of.rhsBatch = {count};
    return transpose(contract(withGroups(patches, groups), kernel, of), joined({axes(1, rank + 2), {0, rank + 2}}));
  }

  /// The gradient of another convolution with respect to its kernel: a contraction over the positions of that
  /// convolution's window. Null if the operands do not have the layouts of such a gradient.
  Value lowerAsKernelGradient() {
    Value image = imageOfGradient(), cotangent = image ? cotangentOf(op.getW()) : Value();
    if (!cotangent)
      return {};
    ArrayRef<int64_t> positions = op.getTaps(), taps = y.slice(1, rank);
    const int64_t groups = x[rank + 1], examples = shapeOf(image).front(), channels = shapeOf(image).back();
    const int64_t filters = y.back();
    const bool isOne = groups == 1;
    Value own = isOne ? reshape(image, joined({shapeOf(image).take_front(rank + 1), {channels}})) : groupsFirst(image);
    Value patches = patchesOf(own, op.getSteps().ofTaps(), positions, taps);
    const SmallVector<int64_t> summed = axes(0, rank + 1);
    if (isOne) {
      Value gradients = reshape(cotangent, joined({{examples}, positions, {filters}}));
      Value product =
          reshape(contract(patches, gradients, {{}, {}, summed, summed}), joined({taps, {1, channels, filters}}));
      return transpose(product, joined({{rank + 1}, axes(0, rank), {rank, rank + 2}}));
    }
    Value product = contract(withGroups(patches, groups), cotangent, {{0}, {rank + 1}, axes(1, rank + 2), summed});
    product = reshape(product, joined({{groups}, taps, {channels, filters}}));
    return transpose(product, joined({{rank + 1}, axes(1, rank + 1), {0, rank + 2}}));
  }

  /// Depthwise, without a contraction: a group of one channel and one filter is a sum over the taps. Null for other
  /// groups.
  Value lowerChannelwise() {
    if (x[rank + 1] == 1 || x[rank + 2] != 1 || y[rank + 2] != 1)
      return {};
    Value seen = windowOf(reshape(op.getX(), x.drop_back()), op.getSteps(), y.slice(1, rank), op.getTaps());
    Value weights = reshape(op.getW(), w.drop_back(2));
    return reshape(sumOfProducts(seen, weights, axes(rank + 1, 2 * rank + 2), axes(rank + 1, 2 * rank + 1)), y);
  }

  /// The gradient of a depthwise convolution with respect to its kernel: a sum over the examples and positions. Null
  /// for other convolutions.
  Value lowerAsChannelwiseGradient() {
    Value image = imageOfGradient(), cotangent = image ? cotangentOf(op.getW()) : Value();
    if (x[rank + 1] == 1 || x[0] != 1 || y[rank + 2] != 1 || !cotangent)
      return {};
    ArrayRef<int64_t> taps = y.slice(1, rank);
    const WindowSteps steps = op.getSteps().ofTaps();
    Value seen = windowOf(reshape(image, shapeOf(image).drop_back()), steps, op.getTaps(), taps);
    Value weights = reshape(cotangent, shapeOf(cotangent).drop_back());
    return reshape(sumOfProducts(seen, weights, joined({axes(0, rank + 1), {2 * rank + 1}}), axes(0, rank + 1)), y);
  }

  /// Groups of few channels and filters, without a contraction: a sum over the channels of the group and the taps, for
  /// all groups at once. Null if the target prefers a contraction (Lowerings::sumsGroups).
  Value lowerGroups() {
    if (!sumsGroups(x[rank + 2]))
      return {};
    Value seen = windowOfGroups(op.getX(), op.getSteps(), y.slice(1, rank), op.getTaps());
    Value weights = transpose(op.getW(), joined({{rank + 1}, axes(0, rank), {rank, rank + 2}}));
    return sumOfProducts(withFilters(seen), weights, axes(rank + 1, 2 * rank + 4), axes(rank + 1, 2 * rank + 2));
  }

  /// The gradient of such a convolution with respect to its kernel: a sum over the examples and positions. Null for
  /// other convolutions.
  Value lowerAsGroupsGradient() {
    Value image = sumsGroups(x[0]) ? imageOfGradient() : Value(), cotangent = image ? cotangentOf(op.getW()) : Value();
    if (!cotangent)
      return {};
    Value seen = windowOfGroups(image, op.getSteps().ofTaps(), op.getTaps(), y.slice(1, rank));
    const SmallVector<int64_t> own = joined({axes(0, rank + 1), {2 * rank + 2, 2 * rank + 3}});
    return sumOfProducts(withFilters(seen), cotangent, own, axes(0, rank + 1));
  }

private:
  bool sumsGroups(int64_t channels) {
    const auto dtype = dtypeOf(tensorTypeOf(op.getX()).getElementType());
    return x[rank + 1] > 1 && dtype && target.lowerings().sumsGroups(*dtype, channels, y.back());
  }

  /// The elements (n, positions.., c, taps.., g) of an image (n, s.., g, c): the groups and their channels form an
  /// additional spatial axis of the window.
  Value windowOfGroups(Value image, WindowSteps steps, ArrayRef<int64_t> positions, ArrayRef<int64_t> taps) {
    const ArrayRef<int64_t> shape = shapeOf(image);
    const int64_t groups = shape[rank + 1], channels = shape[rank + 2];
    steps.stride.push_back(1);
    steps.dilation.push_back(channels);
    steps.paddingLow.push_back(0);
    steps.baseDilation.push_back(1);
    return windowOf(reshape(image, joined({shape.take_front(rank + 1), {groups * channels}})), steps,
                    joined({positions, {channels}}), joined({taps, {groups}}));
  }
  /// Broadcasts along a new last axis, the filters of a group.
  Value withFilters(Value seen) {
    const ArrayRef<int64_t> shape = shapeOf(seen);
    const auto type = tensorTypeOf(seen).clone(joined({shape, {y.back()}}));
    return BroadcastOp::create(rewriter, op.getLoc(), type, seen, axes(0, static_cast<int64_t>(shape.size())));
  }

  /// The permutations through which a gradient with respect to the kernel reads the image and the cotangent.
  SmallVector<int64_t> imageOrder() const { return joined({{rank + 2}, axes(1, rank + 1), {rank + 1, 0}}); }
  SmallVector<int64_t> cotangentOrder() const { return joined({axes(1, rank + 1), {rank + 1, 0, rank + 2}}); }

  /// Rearranges a value (n, s.., g, c) as (g * n, s.., c), group by group, as the contraction of each group reads it.
  Value groupsFirst(Value value) {
    const ArrayRef<int64_t> shape = shapeOf(value);
    Value moved = transpose(value, joined({{rank + 1}, axes(0, rank + 1), {rank + 2}}));
    return reshape(moved, joined({{shape[rank + 1] * shape[0]}, shape.slice(1, rank), {shape[rank + 2]}}));
  }
  /// Splits the first axis of such a value into groups and examples.
  Value withGroups(Value value, int64_t groups) {
    const ArrayRef<int64_t> shape = shapeOf(value);
    return reshape(value, joined({{groups, shape[0] / groups}, shape.drop_front()}));
  }

  /// The operand of the transpose that exchanges channels and filters, through which a gradient with respect to the
  /// image reads its kernel; null if the kernel is not such a transpose.
  Value transposedKernel() {
    auto transposeOp = op.getW().getDefiningOp<TransposeOp>();
    return transposeOp &&
                   transposeOp.getPermutation() == ArrayRef<int64_t>(joined({axes(0, rank + 1), {rank + 2, rank + 1}}))
               ? transposeOp.getX()
               : Value();
  }
  bool readsTransposedKernel() {
    const int64_t rows = llvm::product_of(y.take_front(rank + 1));
    const auto dtype = dtypeOf(tensorTypeOf(op.getW()).getElementType());
    return dtype && target.lowerings().readsDepthInRuns(*dtype, rows, w[rank + 1]);
  }

  /// The patches (n, positions.., taps.., c) of an image (n, s.., c); the image itself if each position has one tap,
  /// its own element.
  Value patchesOf(Value image, const WindowSteps &steps, ArrayRef<int64_t> positions, ArrayRef<int64_t> taps) {
    ArrayRef<int64_t> shape = shapeOf(image);
    bool isWhole = shape.slice(1, rank) == positions;
    for (int64_t axis = 0; axis < rank; ++axis)
      isWhole &= taps[axis] == 1 && steps.paddingLow[axis] == 0 && steps.stride[axis] == steps.baseDilation[axis];
    if (isWhole)
      return image;
    return windowOf(image, steps, positions, taps);
  }

  /// The image of the convolution whose gradient with respect to its kernel this one may be; null if it is not one.
  /// With one example and one channel per group, the transpose of the image is folded away; then a gradient is assumed
  /// to have more taps than positions.
  Value imageOfGradient() {
    const bool isLikely =
        op.getX().getDefiningOp<TransposeOp>() || llvm::product_of(y.slice(1, rank)) <= llvm::product_of(op.getTaps());
    return isLikely ? operandOfTranspose(op.getX(), imageOrder()) : Value();
  }
  /// The operand of `value`, a transpose with this permutation; null if `value` is no such transpose. A transpose that
  /// moves only axes of extent 1 may have been folded away, so then `value` is reshaped.
  Value operandOfTranspose(Value value, ArrayRef<int64_t> permutation) {
    if (auto transposeOp = value.getDefiningOp<TransposeOp>();
        transposeOp && transposeOp.getPermutation() == permutation)
      return transposeOp.getX();
    SmallVector<int64_t> before(permutation.size()), moved;
    for (auto [axis, from] : llvm::enumerate(permutation)) {
      before[from] = shapeOf(value)[axis];
      if (before[from] != 1)
        moved.push_back(from);
    }
    return llvm::is_sorted(moved) ? reshape(value, before) : Value();
  }
  /// The cotangent before its transpose. The transpose of a splat has been folded away, so a splat is reshaped;
  /// otherwise null if `value` is no such transpose.
  Value cotangentOf(Value value) {
    DenseElementsAttr elements;
    if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
      return operandOfTranspose(value, cotangentOrder());
    SmallVector<int64_t> shape(shapeOf(value).size());
    for (auto [axis, before] : llvm::enumerate(cotangentOrder()))
      shape[before] = shapeOf(value)[axis];
    const auto type = tensorTypeOf(value).clone(shape);
    return ConstantOp::create(rewriter, op.getLoc(), type, elements.resizeSplat(type));
  }

  const Target &target;
  int64_t rank;
  ArrayRef<int64_t> x, w, y;
};

struct LowerConvolution : OpRewritePattern<ConvolutionOp> {
  LowerConvolution(MLIRContext *context, const Target &target, Numerics numerics)
      : OpRewritePattern(context), target(target), numerics(numerics) {}
  LogicalResult matchAndRewrite(ConvolutionOp op, PatternRewriter &rewriter) const override {
    Lowering lowering(op, target, rewriter);
    Value result;
    if (!numerics.fixesOrder()) {
      const bool isFloat = isa<FloatType>(op.getAccumulatorType());
      result = lowering.lowerAsChannelwiseGradient();
      result = result || !isFloat ? result : lowering.lowerAsGroupsGradient();
      result = result ? result : lowering.lowerAsKernelGradient();
      result = result || !isFloat ? result : lowering.lowerChannelwise();
      result = result || !isFloat ? result : lowering.lowerGroups();
    }
    rewriter.replaceOp(op, result ? result : lowering.lower());
    return success();
  }
  const Target &target;
  Numerics numerics;
};

} // namespace

void populateConvolutionLowering(RewritePatternSet &patterns, const Target &target, Numerics numerics) {
  patterns.add<LowerConvolution>(patterns.getContext(), target, numerics);
}

} // namespace halftone::compiler
