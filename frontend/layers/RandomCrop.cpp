// RandomCrop: a crop of each batch in training, at a random position.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/layers/RandomImages.h"
#include "frontend/ops/ImageResize.h"
#include "runtime/base/Extents.h"
#include <algorithm>

namespace halftone::layers {
using namespace detail;

namespace {

class RandomCropBody final : public BodyOf<RandomCropOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    state_ = addSeedState(context, options_.seed);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    const Value x = asDtype(inputs[0], context.compute_dtype(), "layer input");
    const ImageSize size{imageAxes(x.shape(), options_.data_format), {options_.height, options_.width}};
    if (context.training())
      return cropped(x, size);
    // As in Keras, a functional model infers the layer's result with its extents in training.
    return inferenceNumber() == 0 ? x : resized(x, size, Interpolation::nearest);
  }

private:
  Value cropped(const Value &x, const ImageSize &size) const {
    const std::array<int64_t, 2> extents{x.shape()[size.axes[0]], x.shape()[size.axes[1]]};
    const bool isLarger = extents[0] > size.extents[0] && extents[1] > size.extents[1];
    std::vector<Operand> start(static_cast<size_t>(x.rank()), Operand(0));
    std::vector<int64_t> dims = x.shape().dims();
    for (size_t i = 0; i < 2; ++i) {
      const auto axis = static_cast<size_t>(size.axes[i]);
      const int64_t wanted = size.extents[i], other = size.extents[1 - i];
      if (isLarger) {
        const Value drawn = uniform(nextKey(state_), Shape()) * static_cast<double>(extents[i] - wanted + 1);
        start[axis] = ops::cast(drawn, DType::int32);
        dims[axis] = wanted;
        continue;
      }
      const int64_t fitting =
          std::clamp<int64_t>(extentProduct(extents[1 - i], wanted) / other, 1, std::max<int64_t>(extents[i], 1));
      const int64_t first = (extents[i] - fitting) / 2;
      start[axis] = Operand(first);
      dims[axis] = std::min(wanted, extents[i] - first);
    }
    const Value part = ops::slice(x, Starts(std::move(start)), Shape(std::move(dims)));
    return isLarger ? part : resized(part, size, Interpolation::bilinear);
  }

  Variable state_;
};

} // namespace

RandomCrop::RandomCrop(int64_t height, int64_t width, const RandomImageArgs &args, Where where)
    : Layer(std::make_unique<RandomCropBody>(RandomCropOptions{args, height, width}), "RandomCrop", layerArgs(args),
            where) {
  requirePositive(*this, "height", height, where);
  requirePositive(*this, "width", width, where);
}

} // namespace halftone::layers
