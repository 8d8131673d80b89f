// Shared by normalization layers: statistics in float32 or more, parameters along chosen axes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/LayerImpl.h"
#include <vector>

namespace halftone::detail {

/// `x` itself if it is a float of 32 bits or more, else `x` in float32.
Value widened(const Value &x);

/// The sum over axes counted from the front; they stay, with extent 1.
Value sumOver(const Value &x, const std::vector<int64_t> &axes);
/// How many elements each sum over `axes` has.
double countOver(const Value &x, const std::vector<int64_t> &axes);
Value meanOver(const Value &x, const std::vector<int64_t> &axes);

struct Moments {
  Value mean, variance; // both have the rank of `x`, with extent 1 on the axes; the variance is biased
};
/// Moments over `axes`. The variance is the mean of squared distances, so it is not negative.
Moments momentsOf(const Value &x, const std::vector<int64_t> &axes);
/// The mask of a layer's steps as the weights of the elements of `x`, whose last axis the mask does not have: 1 where the
/// mask holds, else 0. As in NumPy, the mask broadcasts to the other axes. The weights have the extents of `x`, except along
/// the axis `features`, over which nothing is summed; so a sum of weights counts elements of `x`. value_error naming both
/// shapes if the mask does not broadcast.
Value weightsOf(const Value &mask, const Value &x, int64_t features);
/// The same, where each element counts as often as its weight, from weightsOf(), says.
Moments momentsOf(const Value &x, const std::vector<int64_t> &axes, const Value &weights);

/// `parameter`, whose axes are `axes` of `x` in ascending order, in the dtype of `x` and shaped to broadcast with it.
Value along(const Value &parameter, const Value &x, const std::vector<int64_t> &axes);

/// The extents of `axes` in `input`. value_error naming `layer` when an axis is out of range or its extent is none.
Shape extentsOf(const char *layer, const Shape &input, const std::vector<int64_t> &axes);

/// The trainable scale and offset of a normalization, never read in a narrower dtype.
struct ScaleAndOffset {
  bool center = true, scale = true;
  WeightArgs gammaArgs, betaArgs;
  Variable gamma{}, beta{};

  template <class Args>
  explicit ScaleAndOffset(const Args &args)
      : center(args.center), scale(args.scale), gammaArgs{.initializer = args.gamma_initializer,
                                                          .autocast = false,
                                                          .regularizer = args.gamma_regularizer,
                                                          .constraint = args.gamma_constraint,
                                                          .name = "gamma"},
        betaArgs{.initializer = args.beta_initializer,
                 .autocast = false,
                 .regularizer = args.beta_regularizer,
                 .constraint = args.beta_constraint,
                 .name = "beta"} {}
  void build(BuildContext &context, const Shape &shape);
  /// x * gamma + beta; both parameters have the axes `axes` of `x`.
  Value operator()(Value x, const std::vector<int64_t> &axes) const;
};

} // namespace halftone::detail
