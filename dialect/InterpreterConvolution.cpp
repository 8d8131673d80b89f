// The interpreter's windows and convolutions.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/InterpreterProducts.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

/// The indices in x that a window reads, per spatial axis, output position and tap.
class WindowPositions {
public:
  WindowPositions(const WindowSteps &steps, ArrayRef<int64_t> spatial, ArrayRef<int64_t> positions,
                  ArrayRef<int64_t> taps)
      : positions(positions), taps(taps) {
    const SmallVector<int64_t> strides = stridesOf(spatial);
    for (int64_t axis = 0; axis < steps.rank(); ++axis) {
      auto &row = offsets.emplace_back();
      for (int64_t position = 0; position < positions[axis]; ++position)
        for (int64_t tap = 0; tap < taps[axis]; ++tap) {
          auto index = steps.indexOf(axis, position, tap, spatial[axis]);
          row.push_back(index ? *index * strides[axis] : outside);
        }
    }
  }

  static constexpr int64_t outside = -1;

  /// The linear index over the spatial axes that a tap at an output position reads, or `outside`. The arguments are
  /// linear indices.
  int64_t offset(int64_t position, int64_t tap) const {
    int64_t sum = 0;
    for (size_t axis = offsets.size(); axis-- > 0;) {
      const int64_t step = offsets[axis][position % positions[axis] * taps[axis] + tap % taps[axis]];
      if (step == outside)
        return outside;
      sum += step;
      position /= positions[axis];
      tap /= taps[axis];
    }
    return sum;
  }

private:
  ArrayRef<int64_t> positions, taps;
  SmallVector<std::vector<int64_t>> offsets; // for each axis, indexed by [position][tap]
};

int64_t count(ArrayRef<int64_t> shape) { return ShapedType::getNumElements(shape); }

TensorData evaluateWindow(WindowOp op, const TensorData &x) {
  auto type = cast<RankedTensorType>(op.getType());
  const int64_t rank = op.getSteps().rank();
  ArrayRef<int64_t> spatial = x.type.getShape().slice(1, rank), after = type.getShape().drop_front(1 + 2 * rank);
  const WindowPositions window(op.getSteps(), spatial, op.getPositions(), op.getTaps());
  const int64_t positions = count(op.getPositions()), taps = count(op.getTaps()), pixels = count(spatial),
                channels = count(after);
  // The fill value as a tensor of one element.
  const auto scalar = RankedTensorType::get({}, type.getElementType());
  TensorWriter fill(scalar);
  const Attribute value = op.getFill().getSplatValue<Attribute>();
  if (auto real = dyn_cast<FloatAttr>(value))
    fill.real(0, real.getValueAsDouble());
  else
    fill.whole(0, IntFormat(type.getElementType()).wrap(cast<IntegerAttr>(value).getValue().getZExtValue()));
  const TensorData outside = fill.take();

  TensorWriter writer(type);
  int64_t next = 0;
  for (int64_t example = 0; example < type.getDimSize(0); ++example)
    for (int64_t position = 0; position < positions; ++position)
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t pixel = window.offset(position, tap);
        int64_t from = example * pixels + pixel;
        if (op.getDiagonal())
          from = from * taps + tap;
        for (int64_t channel = 0; channel < channels; ++channel, ++next) {
          if (pixel == WindowPositions::outside)
            writer.copy(next, outside, 0);
          else
            writer.copy(next, x, from * channels + channel);
        }
      }
  return writer.take();
}

/// One convolution: sums in row-major order of taps and channels.
class Convolution {
public:
  Convolution(ConvolutionOp op, const TensorData &x, const TensorData &w, const InterpreterOptions &options)
      : op(op), x(x), w(w), type(cast<RankedTensorType>(op.getType())), rank(op.getSteps().rank()),
        window(op.getSteps(), x.type.getShape().slice(1, rank), type.getShape().slice(1, rank), op.getTaps()),
        rules(x.type.getElementType(), op.getAccumulatorType(), type.getElementType(), options),
        taps(count(op.getTaps())), groups(x.type.getDimSize(rank + 1)), channels(x.type.getDimSize(rank + 2)),
        filters(type.getDimSize(rank + 2)), pixels(count(x.type.getShape().slice(1, rank))) {}

  TensorData evaluate() const {
    TensorWriter writer(type);
    const IntFormat format(x.type.getElementType()), sumFormat(type.getElementType());
    const int64_t positions = count(type.getShape().slice(1, rank));
    int64_t next = 0;
    for (int64_t example = 0; example < type.getDimSize(0); ++example)
      for (int64_t position = 0; position < positions; ++position)
        for (int64_t group = 0; group < groups; ++group)
          for (int64_t filter = 0; filter < filters; ++filter, ++next) {
            if (x.isFloat()) {
              writer.real(next, realSum(example, position, group, filter));
              continue;
            }
            IntProducts sum(sumFormat);
            forEachProduct(example, position, group, filter, [&](int64_t from, int64_t weight) {
              if (from >= 0)
                sum.add(wholeAt(x, from, format), wholeAt(w, weight, format));
            });
            writer.whole(next, sum.finish());
          }
    return writer.take();
  }

private:
  Interval realSum(int64_t example, int64_t position, int64_t group, int64_t filter) const {
    RealProducts sum(rules);
    forEachProduct(example, position, group, filter, [&](int64_t from, int64_t weight) {
      if (from < 0)
        sum.addNothing(realAt(w, weight));
      else
        sum.add(realAt(x, from), realAt(w, weight));
    });
    return sum.finish();
  }

  /// Calls `visit(element of x, or a negative number outside of it; element of w)`.
  void forEachProduct(int64_t example, int64_t position, int64_t group, int64_t filter,
                      llvm::function_ref<void(int64_t, int64_t)> visit) const {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t pixel = window.offset(position, tap);
      const int64_t from = ((example * pixels + pixel) * groups + group) * channels;
      const int64_t weight = (tap * groups + group) * channels;
      for (int64_t channel = 0; channel < channels; ++channel)
        visit(pixel == WindowPositions::outside ? WindowPositions::outside : from + channel,
              (weight + channel) * filters + filter);
    }
  }

  ConvolutionOp op;
  const TensorData &x, &w;
  RankedTensorType type;
  int64_t rank;
  WindowPositions window;
  ProductRules rules;
  int64_t taps, groups, channels, filters, pixels;
};

} // namespace

std::optional<TensorData> evaluateConvolution(Operation *op, Operands operands, const InterpreterOptions &options) {
  if (auto window = dyn_cast<WindowOp>(op))
    return evaluateWindow(window, *operands[0]);
  if (auto convolution = dyn_cast<ConvolutionOp>(op))
    return Convolution(convolution, *operands[0], *operands[1], options).evaluate();
  return std::nullopt;
}

} // namespace halftone::dialect
