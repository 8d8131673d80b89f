// Lowers a convolution with base dilation to one convolution per phase.
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a strided convolution by its image is a convolution with base dilation.
//
//   %y = convolution %dy, %w {stride = [1], dilation = [-1], low = [0], hole = [2]} : (8x14x1x4, 3x1x4x5) -> 8x28x1x5
// becomes
//   %a = convolution %dy, (taps 0 and 2 of %w) -> 8x14x1x5;  %b = convolution %dy, (tap 1 of %w) -> 8x14x1x5
//   %y = reshape (concat %a, %b : 8x14x2x1x5)
// Only taps that meet an element are multiplied: 9 instead of 36 for a 3x3 kernel with stride 2.
#include "compiler/forms/KernelBody.h"
#include "compiler/passes/LowerConvolution.h"
#include "dialect/ops/Expression.h"
#include "llvm/ADT/Sequence.h"
#include <numeric>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

/// The output positions o of one phase along one axis: o = phase + baseDilation * o'. They read elements only at the
/// taps k = firstTap + baseDilation * k'.
struct AxisPhase {
  int64_t firstTap, taps, paddingLow;
};

class PhaseLowering {
public:
  PhaseLowering(ConvolutionOp op, PatternRewriter &rewriter)
      : op(op), rewriter(rewriter), e(rewriter, op.getLoc()), steps(op.getSteps()), rank(steps.rank()) {}

  /// Returns true if the taps that each output position meets are `baseDilation` apart, and if there are few phases.
  bool applies() const {
    constexpr int64_t maxPhases = 64;
    int64_t phases = 1;
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (std::gcd(steps.dilation[axis], steps.baseDilation[axis]) != 1 || steps.baseDilation[axis] > maxPhases)
        return false;
      phases *= steps.baseDilation[axis];
    }
    return phases > 1 && phases <= maxPhases && op.getType().getNumElements() != 0;
  }

  Value lower() {
    SmallVector<Value> outputs;
    SmallVector<AxisPhase> phases(rank);
    addPhases(0, phases, outputs);
    for (int64_t axis = rank - 1; axis >= 0; --axis)
      outputs = interleaved(outputs, axis);
    if (outputs.front().getType() == op.getType())
      return outputs.front();
    return SliceOp::create(rewriter, op.getLoc(), op.getType(), outputs.front(),
                           SmallVector<int64_t>(op.getType().getRank(), 0));
  }

private:
  AxisPhase phaseOf(int64_t axis, int64_t phase) const {
    const int64_t baseDilation = steps.baseDilation[axis], extent = op.getTaps()[axis];
    int64_t tap = 0;
    const auto distance = [&] {
      return phase * steps.stride[axis] + tap * steps.dilation[axis] - steps.paddingLow[axis];
    };
    while (distance() % baseDilation != 0)
      ++tap;
    return {tap, tap < extent ? ceilDivide(extent - tap, baseDilation) : 0, -distance() / baseDilation};
  }

  /// Appends the results of all phases to `outputs`, with the phases of the last axis varying fastest.
  void addPhases(int64_t axis, SmallVectorImpl<AxisPhase> &phases, SmallVectorImpl<Value> &outputs) {
    if (axis == rank) {
      outputs.push_back(outputOf(phases));
      return;
    }
    for (int64_t phase = 0; phase < steps.baseDilation[axis]; ++phase) {
      phases[axis] = phaseOf(axis, phase);
      addPhases(axis + 1, phases, outputs);
    }
  }

  Value outputOf(ArrayRef<AxisPhase> phases) {
    SmallVector<int64_t> shape(op.getType().getShape());
    WindowSteps own = steps;
    for (int64_t axis = 0; axis < rank; ++axis) {
      shape[1 + axis] = ceilDivide(shape[1 + axis], steps.baseDilation[axis]);
      own.paddingLow[axis] = phases[axis].paddingLow;
      own.baseDilation[axis] = 1;
    }
    const auto type = op.getType().clone(shape);
    if (llvm::any_of(phases, [](const AxisPhase &phase) { return phase.taps == 0; }))
      return e.splat(type, 0.0);
    return ConvolutionOp::create(rewriter, op.getLoc(), type, op.getX(), tapsOf(phases), own);
  }

  /// The taps of the kernel that these phases use. A transpose of the axes after the taps is moved after the selection,
  /// so that a contraction may absorb it.
  Value tapsOf(ArrayRef<AxisPhase> phases) {
    auto transpose = op.getW().getDefiningOp<TransposeOp>();
    const bool keepsTaps =
        transpose && llvm::equal(transpose.getPermutation().take_front(rank), llvm::seq<int64_t>(0, rank));
    Value taken = takenFrom(keepsTaps ? transpose.getX() : op.getW(), phases);
    return keepsTaps ? e.transpose(taken, transpose.getPermutation()) : taken;
  }

  Value takenFrom(Value kernel, ArrayRef<AxisPhase> phases) {
    const ArrayRef<int64_t> w = shapeOf(kernel);
    const int64_t channels = ShapedType::getNumElements(w.drop_front(rank));
    SmallVector<int64_t> flat{1}, taken{1}, result;
    WindowSteps every;
    for (int64_t axis = 0; axis < rank; ++axis) {
      flat.push_back(w[axis]);
      result.push_back(phases[axis].taps);
      every.stride.push_back(steps.baseDilation[axis]);
      every.dilation.push_back(1);
      every.paddingLow.push_back(-phases[axis].firstTap);
      every.baseDilation.push_back(1);
    }
    taken.append(result);
    taken.append(rank, 1);
    flat.push_back(channels);
    taken.push_back(channels);
    llvm::append_range(result, w.drop_front(rank));
    Value all = reshape(kernel, flat);
    return reshape(WindowOp::create(rewriter, op.getLoc(), tensorTypeOf(all).clone(taken), all, every), result);
  }

  /// Interleaves each `baseDilation` consecutive outputs along `axis`.
  SmallVector<Value> interleaved(ArrayRef<Value> outputs, int64_t axis) {
    const int64_t baseDilation = steps.baseDilation[axis];
    if (baseDilation == 1)
      return SmallVector<Value>(outputs);
    SmallVector<Value> result;
    for (; !outputs.empty(); outputs = outputs.drop_front(baseDilation)) {
      SmallVector<int64_t> shape(shapeOf(outputs.front())), withPhaseAxis(shape);
      withPhaseAxis.insert(withPhaseAxis.begin() + 2 + axis, 1);
      const auto unitAxes = llvm::map_to_vector(outputs.take_front(baseDilation),
                                                [&](Value output) { return reshape(output, withPhaseAxis); });
      withPhaseAxis[2 + axis] = baseDilation;
      shape[1 + axis] *= baseDilation;
      Value joined = ConcatOp::create(rewriter, op.getLoc(), op.getType().clone(withPhaseAxis), unitAxes, 2 + axis);
      result.push_back(reshape(joined, shape));
    }
    return result;
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return rewriter.createOrFold<ReshapeOp>(op.getLoc(), tensorTypeOf(value).clone(shape), value);
  }

  mutable ConvolutionOp op;
  PatternRewriter &rewriter;
  Expression e;
  WindowSteps steps;
  int64_t rank;
};

struct LowerBaseDilation : OpRewritePattern<ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolutionOp op, PatternRewriter &rewriter) const override {
    PhaseLowering lowering(op, rewriter);
    if (!lowering.applies())
      return rewriter.notifyMatchFailure(op, "the convolution has no base dilation that phases could remove");
    rewriter.replaceOp(op, lowering.lower());
    return success();
  }
};

} // namespace

void populateBaseDilationLowering(RewritePatternSet &patterns) {
  patterns.add<LowerBaseDilation>(patterns.getContext(), /*benefit=*/2); // before the convolution itself is lowered
}

} // namespace halftone::compiler
