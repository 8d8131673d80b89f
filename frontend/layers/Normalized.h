// Shared code of normalization layers: statistics in float32 or wider, parameters along chosen axes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/LayerImpl.h"
#include <vector>

namespace halftone::detail {

/// `x` in float32 at least.
Value widened(const Value &x);

/// The sum over non-negative axes, which are kept with extent 1.
Value sumOver(const Value &x, const std::vector<int64_t> &axes);
/// The number of elements in each sum over `axes`.
double countOver(const Value &x, const std::vector<int64_t> &axes);
Value meanOver(const Value &x, const std::vector<int64_t> &axes);

struct Moments {
  Value mean, variance; // both have the rank of `x`, with extent 1 on the axes; the variance is biased
};
/// Moments over `axes`. The variance is the mean of squared deviations, so it is not negative.
Moments momentsOf(const Value &x, const std::vector<int64_t> &axes);
/// The weights of the elements of `x` from a step mask, which lacks the last axis of `x`: 1 where the mask is true,
/// otherwise 0. As in NumPy, the mask broadcasts to the other axes. The weights have the extents of `x`, except along
/// the axis `features`, over which nothing is summed; so a sum of weights counts elements of `x`. value_error naming
/// both shapes if the mask does not broadcast.
Value weightsOf(const Value &mask, const Value &x, int64_t features);
/// Moments over `axes`, with elements weighted by `weights` from weightsOf().
Moments momentsOf(const Value &x, const std::vector<int64_t> &axes, const Value &weights);

/// Casts `parameter`, whose axes are `axes` of `x` in ascending order, to the dtype of `x` and reshapes it to broadcast
/// with `x`.
Value along(const Value &parameter, const Value &x, const std::vector<int64_t> &axes);

/// The extents of `axes` in `input`. value_error naming `layer` if an axis is out of range or its extent is unknown.
Shape extentsOf(const char *layer, const Shape &input, const std::vector<int64_t> &axes);

/// The trainable scale and offset of a normalization. They are never read in a narrower dtype.
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
