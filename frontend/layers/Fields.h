// The arguments of each layer as config keys, in Keras's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ConfigFields.h"
#include "frontend/layers/LayerImpl.h"
#include "halftone/Layers.h"

namespace halftone::detail {

/// The fields that all layers share. They precede a layer's own fields, which "activity_regularizer" follows if the
/// layer has one.
template <class Args>
constexpr std::tuple baseFields{Field{"name", &Args::name}, Field{"trainable", &Args::trainable},
                                Field{"dtype", &Args::dtype}};
template <class Args> constexpr std::tuple activityField{Field{"activity_regularizer", &Args::activity_regularizer}};

/// All arguments of a layer: its Args extended by the positional ones, and the layer that they construct.
struct DenseOptions : layers::DenseArgs {
  int64_t units = 0;
  Layer layer() const { return layers::Dense(units, *this); }
};
struct EinsumDenseOptions : layers::EinsumDenseArgs {
  std::string equation{};
  Shape outputShape{};
  Layer layer() const { return layers::EinsumDense(equation, outputShape, *this); }
};
struct EmbeddingOptions : layers::EmbeddingArgs {
  int64_t inputDim = 0, outputDim = 0;
  Layer layer() const { return layers::Embedding(inputDim, outputDim, *this); }
};
struct ReversibleEmbeddingOptions : layers::ReversibleEmbeddingArgs {
  int64_t inputDim = 0, outputDim = 0;
  Layer layer() const { return layers::ReversibleEmbedding(inputDim, outputDim, *this); }
};
struct MaskingOptions : LayerArgs {
  double maskValue = 0.0;
  Layer layer() const { return layers::Masking(maskValue, *this); }
};
struct PositionEmbeddingOptions : layers::PositionEmbeddingArgs {
  int64_t sequenceLength = 0;
  Layer layer() const { return layers::PositionEmbedding(sequenceLength, *this); }
};
struct DropoutOptions : layers::DropoutArgs {
  double rate = 0.0;
  Layer layer() const { return layers::Dropout(rate, *this); }
};
struct GaussianNoiseOptions : layers::GaussianNoiseArgs {
  double stddev = 0.0;
  Layer layer() const { return layers::GaussianNoise(stddev, *this); }
};
struct GaussianDropoutOptions : layers::GaussianNoiseArgs {
  double rate = 0.0;
  Layer layer() const { return layers::GaussianDropout(rate, *this); }
};
struct AlphaDropoutOptions : layers::DropoutArgs {
  double rate = 0.0;
  Layer layer() const { return layers::AlphaDropout(rate, *this); }
};
struct ActivationOptions : layers::ActivationArgs {
  ActivationArg activation{};
  Layer layer() const { return layers::Activation(activation, *this); }
};
struct LeakyReLUOptions : layers::ActivationArgs {
  double negativeSlope = 0.3;
  Layer layer() const { return layers::LeakyReLU(negativeSlope, *this); }
};
struct ELUOptions : layers::ActivationArgs {
  double alpha = 1.0;
  Layer layer() const { return layers::ELU(alpha, *this); }
};
struct SoftmaxOptions : layers::SoftmaxArgs {
  Axes axis = -1;
  Layer layer() const { return layers::Softmax(axis, *this); }
};
struct ReshapeOptions : layers::ReshapeArgs {
  std::vector<int64_t> targetShape{};
  Layer layer() const { return layers::Reshape(Shape(targetShape), *this); }
};
struct RescalingOptions : layers::RescalingArgs {
  NumberOrTensor scale = 1.0, offset = 0.0;
  Layer layer() const { return layers::Rescaling(scale, offset, *this); }
};
struct LayerScaleOptions : LayerArgs {
  double initValues = 1.0;
  int64_t projectionDim = 0;
  Layer layer() const { return layers::LayerScale(initValues, projectionDim, *this); }
};
struct CustomScaleOptions : LayerArgs {
  double scale = 1.0;
  Layer layer() const { return layers::CustomScaleLayer(scale, *this); }
};
struct ConcatenateOptions : layers::MergeArgs {
  int64_t axis = -1;
  Layer layer() const { return layers::Concatenate(axis, *this); }
};
struct DotOptions : layers::DotArgs {
  Axes axes{};
  Layer layer() const { return layers::Dot(axes, *this); }
};
/// The options of a layer without positional arguments.
template <class LayerClass, class Args> struct PlainOptions : Args {
  Layer layer() const { return LayerClass(static_cast<const Args &>(*this)); }
};
using LayerNormalizationOptions = PlainOptions<layers::LayerNormalization, layers::LayerNormalizationArgs>;
using GroupNormalizationOptions = PlainOptions<layers::GroupNormalization, layers::GroupNormalizationArgs>;
using BatchNormalizationOptions = PlainOptions<layers::BatchNormalization, layers::BatchNormalizationArgs>;
using RMSNormalizationOptions = PlainOptions<layers::RMSNormalization, layers::RMSNormalizationArgs>;
using UnitNormalizationOptions = PlainOptions<layers::UnitNormalization, layers::UnitNormalizationArgs>;
using ReLUOptions = PlainOptions<layers::ReLU, layers::ReLUArgs>;
using IdentityOptions = PlainOptions<layers::Identity, LayerArgs>;
using ActivityRegularizationOptions = PlainOptions<layers::ActivityRegularization, layers::ActivityRegularizationArgs>;
using FlattenOptions = PlainOptions<layers::Flatten, layers::FlattenArgs>;
using PReLUOptions = PlainOptions<layers::PReLU, layers::PReLUArgs>;
template <class LayerClass> using MergeOptions = PlainOptions<LayerClass, layers::MergeArgs>;

struct PermuteOptions : LayerArgs {
  std::vector<int64_t> dims{};
  Layer layer() const { return layers::Permute(dims, *this); }
};
struct RepeatVectorOptions : LayerArgs {
  int64_t n = 0;
  Layer layer() const { return layers::RepeatVector(n, *this); }
};
struct NormalizationOptions : layers::NormalizationArgs {
  Axes axis = -1;
  Layer layer() const { return layers::Normalization(axis, *this); }
};

struct InputOptions {
  Shape batchShape{};
  DType dtype = DType::float32;
  std::string name{};
};

/// The fields of one layer other than those that all layers share.
template <class Options> constexpr std::tuple layerFields{};

/// All fields of an InputLayer. Of the fields that all layers share it has only the name.
template <>
inline constexpr std::tuple layerFields<InputOptions>{
    Field{"batch_shape", &InputOptions::batchShape, Presence::required},
    Field{"dtype", &InputOptions::dtype},
    FixedField{"sparse", false},
    FixedField{"ragged", false},
    Field{"name", &InputOptions::name},
    FixedField{"optional", false}};
/// The last fields of layers that LoRA can adapt. Keras writes them only if LoRA is requested.
template <class Args>
constexpr std::tuple loraFields{GivenField{"lora_rank", &Args::lora_rank}, GivenField{"lora_alpha", &Args::lora_alpha}};
/// The last fields of layers that can also be quantized.
template <class Args>
constexpr std::tuple adaptionFields =
    std::tuple_cat(std::tuple{Field{"quantization_config", &Args::quantization_config}}, loraFields<Args>);
template <>
inline constexpr std::tuple layerFields<DenseOptions> = std::tuple_cat(
    std::tuple{Field{"units", &DenseOptions::units, Presence::required}, Field{"activation", &DenseOptions::activation},
               Field{"use_bias", &DenseOptions::use_bias},
               Field{"kernel_initializer", &DenseOptions::kernel_initializer},
               Field{"bias_initializer", &DenseOptions::bias_initializer},
               Field{"kernel_regularizer", &DenseOptions::kernel_regularizer},
               Field{"bias_regularizer", &DenseOptions::bias_regularizer},
               Field{"kernel_constraint", &DenseOptions::kernel_constraint},
               Field{"bias_constraint", &DenseOptions::bias_constraint}},
    adaptionFields<layers::DenseArgs>);
template <>
inline constexpr std::tuple layerFields<EinsumDenseOptions> = std::tuple_cat(
    std::tuple{Field{"output_shape", &EinsumDenseOptions::outputShape, Presence::required},
               Field{"equation", &EinsumDenseOptions::equation, Presence::required},
               Field{"activation", &EinsumDenseOptions::activation}, Field{"bias_axes", &EinsumDenseOptions::bias_axes},
               Field{"kernel_initializer", &EinsumDenseOptions::kernel_initializer},
               Field{"bias_initializer", &EinsumDenseOptions::bias_initializer},
               Field{"kernel_regularizer", &EinsumDenseOptions::kernel_regularizer},
               Field{"bias_regularizer", &EinsumDenseOptions::bias_regularizer},
               Field{"activity_regularizer", &EinsumDenseOptions::activity_regularizer},
               Field{"kernel_constraint", &EinsumDenseOptions::kernel_constraint},
               Field{"bias_constraint", &EinsumDenseOptions::bias_constraint}},
    adaptionFields<layers::EinsumDenseArgs>);
template <class Options, class Args>
constexpr std::tuple tableFields = std::tuple_cat(
    std::tuple{Field{"input_dim", &Options::inputDim, Presence::required},
               Field{"output_dim", &Options::outputDim, Presence::required},
               Field{"embeddings_initializer", &Args::embeddings_initializer},
               Field{"embeddings_regularizer", &Args::embeddings_regularizer},
               Field{"activity_regularizer", &Args::activity_regularizer},
               Field{"embeddings_constraint", &Args::embeddings_constraint}, Field{"mask_zero", &Args::mask_zero}},
    adaptionFields<Args>);
template <>
inline constexpr std::tuple layerFields<EmbeddingOptions> = tableFields<EmbeddingOptions, layers::EmbeddingArgs>;
template <>
inline constexpr std::tuple layerFields<ReversibleEmbeddingOptions> =
    std::tuple_cat(tableFields<ReversibleEmbeddingOptions, layers::ReversibleEmbeddingArgs>,
                   std::tuple{Field{"tie_weights", &layers::ReversibleEmbeddingArgs::tie_weights},
                              Field{"reverse_dtype", &layers::ReversibleEmbeddingArgs::reverse_dtype},
                              Field{"logit_soft_cap", &layers::ReversibleEmbeddingArgs::logit_soft_cap}});

template <> inline constexpr std::tuple layerFields<MaskingOptions>{Field{"mask_value", &MaskingOptions::maskValue}};
template <>
inline constexpr std::tuple layerFields<PositionEmbeddingOptions>{
    Field{"sequence_length", &PositionEmbeddingOptions::sequenceLength, Presence::required},
    Field{"initializer", &PositionEmbeddingOptions::initializer}};

/// The fields of normalizations with scale and offset: those before and after the fields specific to batch
/// normalization.
template <class Args>
constexpr std::tuple affineFields{Field{"epsilon", &Args::epsilon}, Field{"center", &Args::center},
                                  Field{"scale", &Args::scale}};
template <class Args>
constexpr std::tuple affineInitializers{Field{"beta_initializer", &Args::beta_initializer},
                                        Field{"gamma_initializer", &Args::gamma_initializer}};
template <class Args>
constexpr std::tuple affineLimits{
    Field{"beta_regularizer", &Args::beta_regularizer}, Field{"gamma_regularizer", &Args::gamma_regularizer},
    Field{"beta_constraint", &Args::beta_constraint}, Field{"gamma_constraint", &Args::gamma_constraint}};
template <>
inline constexpr std::tuple layerFields<LayerNormalizationOptions> =
    std::tuple_cat(std::tuple{Field{"axis", &layers::LayerNormalizationArgs::axis}},
                   affineFields<layers::LayerNormalizationArgs>,
                   std::tuple{Field{"rms_scaling", &layers::LayerNormalizationArgs::rms_scaling}},
                   affineInitializers<layers::LayerNormalizationArgs>, affineLimits<layers::LayerNormalizationArgs>);
template <>
inline constexpr std::tuple layerFields<GroupNormalizationOptions> =
    std::tuple_cat(std::tuple{Field{"groups", &layers::GroupNormalizationArgs::groups},
                              Field{"axis", &layers::GroupNormalizationArgs::axis}},
                   affineFields<layers::GroupNormalizationArgs>, affineInitializers<layers::GroupNormalizationArgs>,
                   affineLimits<layers::GroupNormalizationArgs>);
template <>
inline constexpr std::tuple layerFields<BatchNormalizationOptions> = std::tuple_cat(
    std::tuple{Field{"axis", &layers::BatchNormalizationArgs::axis},
               Field{"momentum", &layers::BatchNormalizationArgs::momentum}},
    affineFields<layers::BatchNormalizationArgs>, affineInitializers<layers::BatchNormalizationArgs>,
    std::tuple{Field{"moving_mean_initializer", &layers::BatchNormalizationArgs::moving_mean_initializer},
               Field{"moving_variance_initializer", &layers::BatchNormalizationArgs::moving_variance_initializer}},
    affineLimits<layers::BatchNormalizationArgs>,
    std::tuple{Field{"synchronized", &layers::BatchNormalizationArgs::synchronized}, FixedField{"renorm", false},
               FixedField{"renorm_clipping", nullptr}, FixedField{"renorm_momentum", 0.99}});
template <>
inline constexpr std::tuple layerFields<RMSNormalizationOptions>{
    Field{"axis", &layers::RMSNormalizationArgs::axis}, Field{"epsilon", &layers::RMSNormalizationArgs::epsilon}};
template <>
inline constexpr std::tuple layerFields<UnitNormalizationOptions>{Field{"axis", &layers::UnitNormalizationArgs::axis}};

template <>
inline constexpr std::tuple layerFields<DropoutOptions>{Field{"rate", &DropoutOptions::rate, Presence::required},
                                                        Field{"seed", &DropoutOptions::seed},
                                                        Field{"noise_shape", &DropoutOptions::noise_shape}};
template <>
inline constexpr std::tuple layerFields<GaussianNoiseOptions>{
    Field{"stddev", &GaussianNoiseOptions::stddev, Presence::required}, Field{"seed", &GaussianNoiseOptions::seed}};
template <>
inline constexpr std::tuple layerFields<GaussianDropoutOptions>{
    Field{"rate", &GaussianDropoutOptions::rate, Presence::required}, Field{"seed", &GaussianDropoutOptions::seed}};
template <>
inline constexpr std::tuple layerFields<AlphaDropoutOptions>{
    Field{"rate", &AlphaDropoutOptions::rate, Presence::required}, Field{"seed", &AlphaDropoutOptions::seed},
    Field{"noise_shape", &AlphaDropoutOptions::noise_shape}};
template <>
inline constexpr std::tuple layerFields<ActivityRegularizationOptions>{
    Field{"l1", &layers::ActivityRegularizationArgs::l1}, Field{"l2", &layers::ActivityRegularizationArgs::l2}};
template <>
inline constexpr std::tuple layerFields<ActivationOptions>{
    Field{"activation", &ActivationOptions::activation, Presence::required}};
template <>
inline constexpr std::tuple layerFields<ReLUOptions>{Field{"max_value", &layers::ReLUArgs::max_value},
                                                     Field{"negative_slope", &layers::ReLUArgs::negative_slope},
                                                     Field{"threshold", &layers::ReLUArgs::threshold}};
template <>
inline constexpr std::tuple layerFields<LeakyReLUOptions>{Field{"negative_slope", &LeakyReLUOptions::negativeSlope}};
template <> inline constexpr std::tuple layerFields<ELUOptions>{Field{"alpha", &ELUOptions::alpha}};
template <>
inline constexpr std::tuple layerFields<PReLUOptions>{Field{"alpha_initializer", &layers::PReLUArgs::alpha_initializer},
                                                      Field{"alpha_regularizer", &layers::PReLUArgs::alpha_regularizer},
                                                      Field{"alpha_constraint", &layers::PReLUArgs::alpha_constraint},
                                                      ListField{"shared_axes", &layers::PReLUArgs::shared_axes}};
template <> inline constexpr std::tuple layerFields<SoftmaxOptions>{Field{"axis", &SoftmaxOptions::axis}};
template <>
inline constexpr std::tuple layerFields<FlattenOptions>{Field{"data_format", &layers::FlattenArgs::data_format}};
template <>
inline constexpr std::tuple layerFields<ReshapeOptions>{
    Field{"target_shape", &ReshapeOptions::targetShape, Presence::required}};
template <>
inline constexpr std::tuple layerFields<RescalingOptions>{Field{"scale", &RescalingOptions::scale, Presence::required},
                                                          Field{"offset", &RescalingOptions::offset}};
template <>
inline constexpr std::tuple layerFields<LayerScaleOptions>{
    Field{"init_values", &LayerScaleOptions::initValues, Presence::required},
    Field{"projection_dim", &LayerScaleOptions::projectionDim, Presence::required}};
template <>
inline constexpr std::tuple layerFields<CustomScaleOptions>{
    Field{"scale", &CustomScaleOptions::scale, Presence::required}};
template <> inline constexpr std::tuple layerFields<ConcatenateOptions>{Field{"axis", &ConcatenateOptions::axis}};
template <>
inline constexpr std::tuple layerFields<DotOptions>{Field{"axes", &DotOptions::axes, Presence::required},
                                                    Field{"normalize", &layers::DotArgs::normalize}};
template <>
inline constexpr std::tuple layerFields<PermuteOptions>{Field{"dims", &PermuteOptions::dims, Presence::required}};
template <>
inline constexpr std::tuple layerFields<RepeatVectorOptions>{Field{"n", &RepeatVectorOptions::n, Presence::required}};
template <>
inline constexpr std::tuple layerFields<NormalizationOptions>{
    ListField{"axis", &NormalizationOptions::axis}, Field{"invert", &layers::NormalizationArgs::invert},
    Field{"mean", &layers::NormalizationArgs::mean}, Field{"variance", &layers::NormalizationArgs::variance}};

/// True if outputs have the mask of the first input, as in Keras layers that support masking.
template <class Options> constexpr bool passesMask = false;
template <> inline constexpr bool passesMask<ActivationOptions> = true;
template <> inline constexpr bool passesMask<BatchNormalizationOptions> = true;
template <> inline constexpr bool passesMask<DenseOptions> = true;
template <> inline constexpr bool passesMask<DropoutOptions> = true;
template <> inline constexpr bool passesMask<GaussianNoiseOptions> = true;
template <> inline constexpr bool passesMask<GaussianDropoutOptions> = true;
template <> inline constexpr bool passesMask<AlphaDropoutOptions> = true;
template <> inline constexpr bool passesMask<IdentityOptions> = true;
template <> inline constexpr bool passesMask<ActivityRegularizationOptions> = true;
template <> inline constexpr bool passesMask<GroupNormalizationOptions> = true;
template <> inline constexpr bool passesMask<LayerNormalizationOptions> = true;
template <> inline constexpr bool passesMask<PositionEmbeddingOptions> = true;
template <> inline constexpr bool passesMask<ELUOptions> = true;
template <> inline constexpr bool passesMask<LeakyReLUOptions> = true;
template <> inline constexpr bool passesMask<PReLUOptions> = true;
template <> inline constexpr bool passesMask<ReLUOptions> = true;
template <> inline constexpr bool passesMask<SoftmaxOptions> = true;
template <> inline constexpr bool passesMask<UnitNormalizationOptions> = true;

/// The maximum number of inputs of a call; 0 for any number. The second input of some layers is a mask.
template <class Options> constexpr size_t mostInputs = 1;
template <class LayerClass> inline constexpr size_t mostInputs<MergeOptions<LayerClass>> = 0;
template <> inline constexpr size_t mostInputs<ConcatenateOptions> = 0;
template <> inline constexpr size_t mostInputs<DotOptions> = 0; // checked by the layer itself
template <> inline constexpr size_t mostInputs<CustomScaleOptions> = 2;
template <> inline constexpr size_t mostInputs<SoftmaxOptions> = 2;
template <> inline constexpr size_t mostInputs<BatchNormalizationOptions> = 2;

template <class Options> class BodyOf : public LayerBody {
public:
  explicit BodyOf(Options options) : options_(std::move(options)) {}
  void get_config(Config &config) const override { writeFields(config, options_, layerFields<Options>); }
  Value mask(const Values &, const std::vector<Value> &masks) override {
    return passesMask<Options> && !masks.empty() ? masks.front() : Value();
  }
  size_t most_inputs() const override { return mostInputs<Options>; }

protected:
  Options options_;
};

/// The arguments that all layers share. `casts`: whether a layer whose arguments have no `autocast` casts its inputs.
template <class Args> LayerArgs layerArgs(const Args &args, bool casts = false) {
  LayerArgs result{args.activity_regularizer, args.trainable, args.dtype, casts, args.name};
  if constexpr (requires { args.autocast; })
    result.autocast = args.autocast;
  return result;
}

} // namespace halftone::detail
