// The catalogue of layers. First argument(s) as in Keras; everything else in one struct, in Keras's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Layer.h"
#include "Ops.h"

namespace halftone::layers {
using halftone::Input;

struct DenseArgs {
  ActivationArg activation{};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// activation(x @ kernel + bias) over the last axis: (..., n) -> (..., units). kernel (n, units), bias (units,).
class HALFTONE_API Dense : public Layer {
public:
  explicit Dense(int64_t units, const DenseArgs &args = {}, Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable bias() const { return weight("bias"); }
};

struct EmbeddingArgs {
  Initializer embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Row i of embeddings (input_dim, output_dim) for each integer i: (...) -> (..., output_dim), in the compute dtype.
/// The table is read unrounded. Indices that are no int32 or int64 are cast to int32; one below 0 reads the first row,
/// one past the end the last.
class HALFTONE_API Embedding : public Layer {
public:
  Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingArgs &args = {}, Where where = Where::current());
  Variable embeddings() const { return weight("embeddings"); }
};

struct NormalizationArgs {
  Axes axis = -1;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer{};
  Regularizer gamma_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, statistics over `axis` of each sample. As of group and batch
/// normalization: computed in float32 at least, weights are never rounded, the result has the compute dtype. Inputs are
/// not autocast.
class HALFTONE_API LayerNormalization : public Layer {
public:
  explicit LayerNormalization(const NormalizationArgs &args = {}, Where where = Where::current());
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
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Statistics of the batch over all axes but `axis`, in training while the layer is trainable; else the moving ones:
/// moving * momentum + batch * (1 - momentum), left as they are by a batch that is not finite. Inputs are autocast.
class HALFTONE_API BatchNormalization : public Layer {
public:
  explicit BatchNormalization(const BatchNormalizationArgs &args = {}, Where where = Where::current());
};
struct RMSNormalizationArgs {
  Axes axis = -1;
  double epsilon = 1e-6;
  PolicyArg dtype{};
  std::string name{};
};
/// x / sqrt(mean(x^2) + epsilon) * scale, computed in float32 at least. Inputs and the scale are autocast.
class HALFTONE_API RMSNormalization : public Layer {
public:
  explicit RMSNormalization(const RMSNormalizationArgs &args = {}, Where where = Where::current());
};
struct UnitNormalizationArgs {
  Axes axis = -1;
  PolicyArg dtype{};
  std::string name{};
};
/// x / |x| over `axis`, in the compute dtype; zeros stay zeros.
class HALFTONE_API UnitNormalization : public Layer {
public:
  explicit UnitNormalization(const UnitNormalizationArgs &args = {}, Where where = Where::current());
};

struct PlainArgs {
  PolicyArg dtype{};
  std::string name{};
};
struct RandomLayerArgs {
  std::optional<int64_t> seed{};
  PolicyArg dtype{};
  std::string name{};
};
/// In training, zeros a share `rate` of the elements and scales the others by 1 / (1 - rate); else the identity.
class HALFTONE_API Dropout : public Layer {
public:
  explicit Dropout(double rate, const RandomLayerArgs &args = {}, Where where = Where::current());
};
/// In training, adds normally distributed noise with mean 0 and this deviation; else the identity.
class HALFTONE_API GaussianNoise : public Layer {
public:
  explicit GaussianNoise(double stddev, const RandomLayerArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API Activation : public Layer {
public:
  explicit Activation(const ActivationArg &activation, const PlainArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API ReLU : public Layer {
public:
  explicit ReLU(const PlainArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API Softmax : public Layer {
public:
  explicit Softmax(int64_t axis = -1, const PlainArgs &args = {}, Where where = Where::current());
};
/// (batch, a, b, ...) -> (batch, a * b * ...).
class HALFTONE_API Flatten : public Layer {
public:
  explicit Flatten(const PlainArgs &args = {}, Where where = Where::current());
};
/// (batch, ...) -> (batch, target_shape...); one target dimension may be -1.
class HALFTONE_API Reshape : public Layer {
public:
  explicit Reshape(const Shape &target_shape, const PlainArgs &args = {}, Where where = Where::current());
};
/// x * scale + offset in the compute dtype; integers are cast first.
class HALFTONE_API Rescaling : public Layer {
public:
  explicit Rescaling(double scale, double offset = 0.0, const PlainArgs &args = {}, Where where = Where::current());
};
/// The sum, and the product, of all inputs, which broadcast.
class HALFTONE_API Add : public Layer {
public:
  explicit Add(const PlainArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API Multiply : public Layer {
public:
  explicit Multiply(const PlainArgs &args = {}, Where where = Where::current());
};
/// The inputs one after the other along `axis`; their shapes agree but for that axis.
class HALFTONE_API Concatenate : public Layer {
public:
  explicit Concatenate(int64_t axis = -1, const PlainArgs &args = {}, Where where = Where::current());
};
/// Returns the function's result, which is not cast.
class HALFTONE_API Lambda : public Layer {
public:
  explicit Lambda(std::function<Value(const Value &)> function, const PlainArgs &args = {},
                  Where where = Where::current());
};
} // namespace halftone::layers
