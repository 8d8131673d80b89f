// LayerScale: multiplies each feature by a weight.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Fields.h"
#include "frontend/layers/SpatialAxes.h"
#include "halftone/Ops.h"

namespace halftone::layers {
using namespace detail;

namespace {

class LayerScaleBody final : public BodyOf<LayerScaleOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &) override {
    gamma_ = context.add_weight({.shape = {options_.projectionDim},
                                 .initializer = initializers::Constant(options_.initValues),
                                 .name = "gamma"});
  }
  Values call(const Values &inputs, const CallContext &) override { return inputs[0] * gamma_; }

private:
  Variable gamma_;
};

} // namespace

LayerScale::LayerScale(double init_values, int64_t projection_dim, const LayerArgs &args, Where where)
    : Layer(std::make_unique<LayerScaleBody>(LayerScaleOptions{args, init_values, projection_dim}), "LayerScale", args,
            where) {
  requirePositive(*this, "projection_dim", projection_dim, where);
}

} // namespace halftone::layers
