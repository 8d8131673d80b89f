// Layers that normalize by statistics of a batch, of each sample, or of data seen before.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Data.h"
#include "Layer.h"
#include "Ops.h"

namespace halftone::layers {

struct LayerNormalizationArgs {
  Axes axis = -1;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer{};
  Regularizer gamma_regularizer{};
  Constraint beta_constraint{};
  Constraint gamma_constraint{};
  bool rms_scaling = false; // x / sqrt(variance + epsilon) * gamma: no mean is taken off, and there is no beta
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, statistics over `axis` of each sample. As of group and batch
/// normalization: computed in float32 at least, weights are never rounded, the result has the compute dtype. Inputs are
/// not autocast.
class HALFTONE_API LayerNormalization : public Layer {
public:
  explicit LayerNormalization(const LayerNormalizationArgs &args = {}, Where where = Where::current());
};
struct GroupNormalizationArgs {
  int64_t groups = 32; // -1: one a channel
  int64_t axis = -1;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer{};
  Regularizer gamma_regularizer{};
  Constraint beta_constraint{};
  Constraint gamma_constraint{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Statistics over each sample's groups of channels. Inputs are not autocast.
class HALFTONE_API GroupNormalization : public Layer {
public:
  explicit GroupNormalization(const GroupNormalizationArgs &args = {}, Where where = Where::current());
};
struct BatchNormalizationArgs {
  int64_t axis = -1;
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros";
  Initializer moving_variance_initializer = "ones";
  Regularizer beta_regularizer{};
  Regularizer gamma_regularizer{};
  Constraint beta_constraint{};
  Constraint gamma_constraint{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// Statistics of the batch over all axes but `axis`, in training while the layer is trainable; else the moving ones:
/// moving * momentum + batch * (1 - momentum), left as they are by a batch that is not finite. Inputs are autocast.
/// A second input, or the mask that the input carries, is a mask (batch, ...) of the elements that the statistics count.
class HALFTONE_API BatchNormalization : public Layer {
public:
  explicit BatchNormalization(const BatchNormalizationArgs &args = {}, Where where = Where::current());
};
struct RMSNormalizationArgs {
  Axes axis = -1;
  double epsilon = 1e-6;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// x / sqrt(mean(x^2) + epsilon) * scale, computed in float32 at least. Inputs and the scale are autocast.
class HALFTONE_API RMSNormalization : public Layer {
public:
  explicit RMSNormalization(const RMSNormalizationArgs &args = {}, Where where = Where::current());
};
struct UnitNormalizationArgs {
  Axes axis = -1;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// x / |x| over `axis`, in the compute dtype; zeros stay zeros.
class HALFTONE_API UnitNormalization : public Layer {
public:
  explicit UnitNormalization(const UnitNormalizationArgs &args = {}, Where where = Where::current());
};

struct NormalizationArgs {
  Tensor mean{}; // both or none; their axes are those that are kept, or the last of these; a scalar serves all
  Tensor variance{};
  bool invert = false; // x * sqrt(variance) + mean
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// (x - mean) / sqrt(variance), in the compute dtype, with one mean and variance for each index of the axes `axis` (one
/// for all if it is empty). They are given, or adapt() computes them; until then the mean is 0 and the variance 1.
class HALFTONE_API Normalization : public Layer {
public:
  explicit Normalization(const Axes &axis = -1, const NormalizationArgs &args = {}, Where where = Where::current());
  /// Takes mean and variance of these data, and builds the layer for their shape. value_error if the layer has given
  /// ones or was built for other extents. Of a dataset `x` of all batches counts.
  void adapt(const Tensor &data) const;
  void adapt(const Dataset &data) const;
};
} // namespace halftone::layers
