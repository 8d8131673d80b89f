// PReLU: a ReLU with a trained negative slope.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Fields.h"
#include "frontend/layers/SpatialAxes.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

class PReLUBody final : public BodyOf<PReLUOptions> {
public:
  using BodyOf::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    const Shape &input = shapes.at(0);
    const std::vector<int64_t> shared = options_.shared_axes.value_or(Integers()).list();
    std::vector<int64_t> dims;
    for (int64_t axis = 1; axis < input.rank(); ++axis)
      dims.push_back(std::ranges::find(shared, axis) != shared.end() ? 1 : input[axis]);
    const bool isKnown = std::ranges::none_of(dims, [](int64_t extent) { return extent < 0; });
    const bool areAxes = std::ranges::all_of(shared, [&](int64_t axis) { return axis >= 1 && axis < input.rank(); });
    if (input.rank() == 0 || !isKnown || !areAxes)
      throw Error(ErrorKind::value_error,
                  fmt::format("PReLU needs an input whose axes have known extents, except for the batch and "
                              "`shared_axes`, which count axes from 1. Received: input_shape={}, shared_axes=[{}]",
                              input.str(), fmt::join(shared, ", ")));
    alpha_ = context.add_weight({.shape = Shape(dims),
                                 .initializer = options_.alpha_initializer,
                                 .regularizer = options_.alpha_regularizer,
                                 .constraint = options_.alpha_constraint,
                                 .name = "alpha"});
    rank_ = input.rank();
  }
  Values call(const Values &inputs, const CallContext &context) override {
    const Value x = asComputed(inputs[0], context);
    requireRank(x.shape(), rank_);
    return ops::relu(x) - alpha_ * ops::relu(-x);
  }

private:
  int64_t rank_ = 0;
  Variable alpha_;
};

} // namespace

PReLU::PReLU(const PReLUArgs &args, Where where)
    : Layer(std::make_unique<PReLUBody>(PReLUOptions{args}), "PReLU", layerArgs(args), where) {}

} // namespace halftone::layers
