// Shared code of layers that change images of a batch randomly in training.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Promotion.h"
#include "frontend/layers/FieldsImage.h"
#include "frontend/layers/RandomNumbers.h"
#include "frontend/layers/SpatialAxes.h"
#include <array>

namespace halftone::detail {

/// The common call of these layers: casts to the compute dtype, changes nothing outside of training, and treats a
/// single image as a batch of one.
template <class Options> class RandomImagesBody : public BodyOf<Options> {
public:
  using BodyOf<Options>::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    state_ = addSeedState(context, this->options_.seed);
  }
  Values call(const Values &inputs, const CallContext &context) final {
    const Value x = asDtype(inputs[0], context.compute_dtype(), "layer input");
    const std::array<int64_t, 2> axes = imageAxes(x.shape(), this->options_.data_format);
    if (!context.training() || x.shape().elements() == 0)
      return x;
    if (x.rank() == 4)
      return changed(x, axes);
    return ops::squeeze(changed(ops::expand_dims(x, 0), {axes[0] + 1, axes[1] + 1}), 0);
  }

protected:
  /// Changes a batch; the axes are those of height and width.
  virtual Value changed(const Value &x, const std::array<int64_t, 2> &axes) const = 0;
  Variable state_;
};

/// The bounds of a draw.
struct Bounds {
  double lower, upper;
};
/// A factor f has the bounds -|f| and |f|.
Bounds boundsOf(const Factor &factor);
/// float32 in [`lower`, `upper`), unless both are equal.
Value uniformBetween(const Value &key, const Shape &shape, const Bounds &bounds);

/// The factor as stored by Keras's base class of these layers: -|f| and |f|, the former not below `least`, or two
/// bounds in ascending order. As in Keras, value_error unless a single number is between `least` and 1 or, of two
/// finite numbers, the first is at most 1 and the second at least `least`.
Factor keptFactor(const char *layer, const Factor &factor, double least, Where where);
/// value_error unless the one or two numbers are between `least` and 1; `allows` tells whether `least` itself is valid.
enum class LeastFactor : uint8_t { allowed, excluded };
void requireFactor(const Layer &layer, const char *argument, const Factor &factor, double least, LeastFactor allows,
                   Where where);
/// not_implemented_error for modes that layers do not support.
void requireTransform(const Layer &layer, FillMode fillMode, Interpolation interpolation, Where where);
/// value_error unless the layer computes in floats.
void requireFloats(const char *layer, DType compute);

} // namespace halftone::detail
