// Basic layers: dense, embeddings, masking, dropout, shapes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Layer.h"
#include "Ops.h"

namespace halftone::layers {

struct DenseArgs {
  ActivationArg activation{};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  Constraint kernel_constraint{};
  Constraint bias_constraint{};
  std::optional<int64_t> lora_rank{};       // enables LoRA when the layer is built, with enable_lora()'s initializers
  std::optional<double> lora_alpha{};       // default: the rank
  QuantizationConfig quantization_config{}; // for a quantized policy; default: that of the policy
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// activation(x @ kernel + bias) over the last axis: (..., n) -> (..., units). kernel (n, units), bias (units,).
class HALFTONE_API Dense : public Layer {
public:
  explicit Dense(int64_t units, const DenseArgs &args = {}, Where where = Where::current());
  Variable kernel() const { return weight("kernel"); } // the stored weight, without LoRA's product
  Variable bias() const { return weight("bias"); }
  Variable lora_kernel_a() const { return weight("lora_kernel_a"); }
  Variable lora_kernel_b() const { return weight("lora_kernel_b"); }
};

struct EinsumDenseArgs {
  ActivationArg activation{};
  std::optional<std::string> bias_axes{}; // labels of the output axes that the bias has; none: no bias
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  Constraint kernel_constraint{};
  Constraint bias_constraint{};
  std::optional<int64_t> lora_rank{}; // see DenseArgs, also for lora_alpha
  std::optional<double> lora_alpha{};
  QuantizationConfig quantization_config{}; // see DenseArgs
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// activation(einsum(equation, {x, kernel}) + bias). The equation is "ab,bc->ac", "...ab,bc->...ac" or "ab...,bc->ac...",
/// with any letters. `output_shape` has one extent per label of the output except the batch and "..."; None takes the
/// input's extent. The kernel has one axis per label of the equation's second operand. The bias has the output's axes
/// from the first of `bias_axes` on, with extent 1 along all others.
class HALFTONE_API EinsumDense : public Layer {
public:
  EinsumDense(std::string_view equation, const Shape &output_shape, const EinsumDenseArgs &args = {},
              Where where = Where::current());
  Variable kernel() const { return weight("kernel"); } // see Dense
  Variable bias() const { return weight("bias"); }
  Variable lora_kernel_a() const { return weight("lora_kernel_a"); }
  Variable lora_kernel_b() const { return weight("lora_kernel_b"); }
};

struct EmbeddingArgs {
  Initializer embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer{};
  Constraint embeddings_constraint{};
  bool mask_zero = false;             // the result carries a mask that is false for the index 0
  Tensor weights{};                   // (input_dim, output_dim), replaces the initializer; not part of the config
  std::optional<int64_t> lora_rank{}; // see DenseArgs, also for lora_alpha
  std::optional<double> lora_alpha{};
  QuantizationConfig quantization_config{}; // see DenseArgs
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Table lookup: row i of embeddings (input_dim, output_dim) for each index i, (...) -> (..., output_dim), in the
/// compute dtype. The table is read without rounding. Indices other than int32 and int64 are cast to int32, and indices
/// out of range are clamped.
class HALFTONE_API Embedding : public Layer {
public:
  Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingArgs &args = {}, Where where = Where::current());
  Variable embeddings() const { return weight("embeddings"); } // the stored weight, without LoRA's product
  Variable lora_embeddings_a() const { return weight("lora_embeddings_a"); }
  Variable lora_embeddings_b() const { return weight("lora_embeddings_b"); }
};

struct ReversibleEmbeddingArgs {
  bool tie_weights = true; // false: the reverse projection has a weight reverse_embeddings (output_dim, input_dim)
  Initializer embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer{};
  Constraint embeddings_constraint{};
  bool mask_zero = false;                 // see EmbeddingArgs
  std::optional<DType> reverse_dtype{};   // for the reverse projection; default: the dtype of its operands
  std::optional<double> logit_soft_cap{}; // c: the reverse projection gives tanh(y / c) * c instead of y
  Tensor weights{};                       // see EmbeddingArgs
  std::optional<int64_t> lora_rank{};     // see DenseArgs, also for lora_alpha
  std::optional<double> lora_alpha{};
  QuantizationConfig quantization_config{}; // see DenseArgs; by default int4 quantizes activations too
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
struct ReverseArgs {
  bool reverse = true;
};
/// An Embedding with a reverse projection: layer(x, {.reverse = true}) is x @ table^T, (..., output_dim) -> (...,
/// input_dim), the logits of a language model. The table is read without rounding, and the input is not cast.
class HALFTONE_API ReversibleEmbedding : public Layer {
public:
  ReversibleEmbedding(int64_t input_dim, int64_t output_dim, const ReversibleEmbeddingArgs &args = {},
                      Where where = Where::current());
  explicit ReversibleEmbedding(const Layer &layer); // for example from a loaded model; type_error for another class
  using Layer::operator();
  [[nodiscard]] Value operator()(const Value &x, const ReverseArgs &args) const;
  Variable embeddings() const { return weight("embeddings"); } // see Embedding
  Variable reverse_embeddings() const { return weight("reverse_embeddings"); }
  Variable lora_embeddings_a() const { return weight("lora_embeddings_a"); }
  Variable lora_embeddings_b() const { return weight("lora_embeddings_b"); }
};

/// Adds a mask (batch, steps) to the input, which is false for each step whose features all equal `mask_value`; the
/// features of those steps become 0.
class HALFTONE_API Masking : public Layer {
public:
  Masking(double mask_value = 0.0, const LayerArgs &args = {}, Where where = Where::current());
};
struct PositionEmbeddingArgs {
  Initializer initializer = "glorot_uniform";
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Position embeddings for an input (..., steps, features), broadcast to its shape: row i of the weight
/// position_embeddings (sequence_length, features) for step i. value_error for an input with more steps.
class HALFTONE_API PositionEmbedding : public Layer {
public:
  explicit PositionEmbedding(int64_t sequence_length, const PositionEmbeddingArgs &args = {},
                             Where where = Where::current());
  Variable position_embeddings() const { return weight("position_embeddings"); }
};

struct DropoutArgs {
  /// The shape of the dropout mask, which broadcasts to the input's shape; None takes the input's extent. Default: the
  /// input's shape.
  std::optional<Shape> noise_shape{};
  std::optional<int64_t> seed{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// In training, sets a fraction `rate` of the elements to 0 and scales the others by 1 / (1 - rate); otherwise the
/// identity. value_error for a rate outside of [0, 1].
class HALFTONE_API Dropout : public Layer {
public:
  explicit Dropout(double rate, const DropoutArgs &args = {}, Where where = Where::current());
};
struct GaussianNoiseArgs {
  std::optional<int64_t> seed{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// In training, adds normally distributed noise with mean 0 and standard deviation stddev; otherwise the identity.
/// value_error for a stddev outside of [0, 1].
class HALFTONE_API GaussianNoise : public Layer {
public:
  explicit GaussianNoise(double stddev, const GaussianNoiseArgs &args = {}, Where where = Where::current());
};

/// In training, multiplies by normally distributed noise with mean 1 and standard deviation sqrt(rate / (1 - rate));
/// otherwise the identity. value_error for a rate outside of [0, 1].
class HALFTONE_API GaussianDropout : public Layer {
public:
  explicit GaussianDropout(double rate, const GaussianNoiseArgs &args = {}, Where where = Where::current());
};
/// In training, sets a fraction `rate` of the elements to the minimum of SELU, then scales and shifts all elements so
/// that the mean and variance of standardized inputs are preserved; otherwise the identity. value_error for a rate
/// outside of [0, 1).
class HALFTONE_API AlphaDropout : public Layer {
public:
  explicit AlphaDropout(double rate, const DropoutArgs &args = {}, Where where = Where::current());
};
/// Returns the input.
class HALFTONE_API Identity : public Layer {
public:
  Identity(const LayerArgs &args = {}, Where where = Where::current());
};
struct ActivityRegularizationArgs {
  double l1 = 0.0, l2 = 0.0;
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// Returns the input and adds the loss l1 * |x| + l2 * x^2, summed over its elements x and divided by the batch size.
/// value_error for negative factors.
class HALFTONE_API ActivityRegularization : public Layer {
public:
  ActivityRegularization(const ActivityRegularizationArgs &args = {}, Where where = Where::current());
};

struct FlattenArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last; // channels_first: axis 1 is first moved to the end
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// (batch, a, b, ...) -> (batch, a * b * ...).
class HALFTONE_API Flatten : public Layer {
public:
  Flatten(const FlattenArgs &args = {}, Where where = Where::current());
};
struct ReshapeArgs {
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// (batch, ...) -> (batch, target_shape...); one target dimension may be -1.
class HALFTONE_API Reshape : public Layer {
public:
  explicit Reshape(const Shape &target_shape, const ReshapeArgs &args = {}, Where where = Where::current());
};
struct RescalingArgs {
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// x * scale + offset in the compute dtype; integers are cast first. A list or a tensor, such as one value per channel,
/// broadcasts with x.
class HALFTONE_API Rescaling : public Layer {
public:
  explicit Rescaling(const NumberOrTensor &scale, const NumberOrTensor &offset = 0.0, const RescalingArgs &args = {},
                     Where where = Where::current());
};
/// Multiplies x (batch, ..., projection_dim) by the weight gamma (projection_dim,), which is initialized to
/// init_values: the LayerScale of ConvNeXt.
class HALFTONE_API LayerScale : public Layer {
public:
  LayerScale(double init_values, int64_t projection_dim, const LayerArgs &args = {}, Where where = Where::current());
};
/// x + y * scale for two inputs x and y of equal shapes, as in InceptionResNetV2.
class HALFTONE_API CustomScaleLayer : public Layer {
public:
  explicit CustomScaleLayer(double scale, const LayerArgs &args = {}, Where where = Where::current());
};
struct LambdaArgs {
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// Applies a function, whose result is not cast. The layer has no config: get_config() is a value_error. A function of
/// a `const Value &` takes one input, a function of a `const Values &` any number.
class HALFTONE_API Lambda : public Layer {
public:
  explicit Lambda(std::function<Value(const Value &)> function, const LambdaArgs &args = {},
                  Where where = Where::current());
  template <class F>
    requires detail::Concrete<F> && std::is_invocable_r_v<Value, F &, const Values &>
  explicit Lambda(F function, const LambdaArgs &args = {}, Where where = Where::current())
      : Lambda(OfAll{std::move(function)}, args, where) {}

private:
  struct OfAll {
    std::function<Value(const Values &)> function;
  };
  Lambda(OfAll function, const LambdaArgs &args, Where where);
};
/// Permutes the axes after the batch: (batch, ...) -> (batch, ...). `dims` counts them from 1.
class HALFTONE_API Permute : public Layer {
public:
  explicit Permute(const std::vector<int64_t> &dims, const LayerArgs &args = {}, Where where = Where::current());
};
/// (batch, features) -> (batch, n, features).
class HALFTONE_API RepeatVector : public Layer {
public:
  explicit RepeatVector(int64_t n, const LayerArgs &args = {}, Where where = Where::current());
};
} // namespace halftone::layers
