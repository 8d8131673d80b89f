// The catalogue of layers, for conversion to and from configs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassNames.h"
#include "frontend/layers/FieldsAttention.h"
#include "frontend/layers/FieldsConvolution.h"
#include "frontend/layers/FieldsImage.h"
#include "frontend/layers/FieldsPreprocessing.h"
#include "frontend/layers/FieldsRecurrent.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/Registered.h"
#include "frontend/layers/Wrapped.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

struct Known {
  const char *className;
  Layer (*make)(SavedObject &);
};

template <class Options> Layer made(SavedObject &saved) {
  Options options;
  if constexpr (requires { options.trainable; }) { // a SpatialDropout lists all of its fields
    saved.fields.read(options, baseFields<Options>);
    if constexpr (requires { options.activity_regularizer; })
      saved.fields.read(options, activityField<Options>);
  }
  saved.fields.read(options, layerFields<Options>);
  saved.fields.takes("gptq_unpacked_column_size"); // of an EinsumDense; follows from the kernel's shape
  saved.fields.requireNothingLeft(saved.className);
  return options.layer();
}

template <> Layer made<InputOptions>(SavedObject &saved) {
  const auto options = saved.fields.all<InputOptions>(layerFields<InputOptions>);
  saved.fields.requireNothingLeft(saved.className);
  std::vector<int64_t> dims = options.batchShape.dims();
  if (dims.empty())
    throw Error(ErrorKind::value_error, "`batch_shape` of an InputLayer must begin with the batch. Received: ()");
  const int64_t batch = dims.front();
  dims.erase(dims.begin());
  return Input(
      Shape(std::move(dims)),
      {.batch_size = batch < 0 ? std::nullopt : std::optional(batch), .dtype = options.dtype, .name = options.name});
}

/// Consumes Keras constructor arguments that select a kernel and are absent from its configs.
void takeKernelHints(SavedObject &saved) {
  for (const char *hint : {"implementation", "use_cudnn"})
    saved.fields.takes(hint);
}
template <class Options> Layer madeRecurrent(SavedObject &saved) {
  takeKernelHints(saved);
  return made<Options>(saved);
}

/// The wrapped layer in a config.
Layer wrapped(SavedObject &saved, const char *key) {
  saved.fields.require(key);
  saved.fields.takes(key);
  return deserializeAny(saved.fields.config().get_object(key));
}

Layer madeRNN(SavedObject &saved) {
  auto args =
      saved.fields.all<RNNArgs>(std::tuple_cat(baseFields<RNNArgs>, activityField<RNNArgs>, runFields<RNNArgs>));
  const Layer cell = wrapped(saved, "cell");
  saved.fields.requireNothingLeft(saved.className);
  return RNN(cell, args);
}

Layer madeStacked(SavedObject &saved) {
  const auto args = saved.fields.all<LayerArgs>(std::tuple_cat(baseFields<LayerArgs>, activityField<LayerArgs>));
  saved.fields.require("cells");
  saved.fields.takes("cells");
  saved.fields.requireNothingLeft(saved.className);
  std::vector<Layer> cells;
  for (const Config &cell : saved.fields.config().get_list("cells"))
    cells.push_back(deserialize(cell));
  return StackedRNNCells(cells, args);
}

Layer madeBidirectional(SavedObject &saved) {
  auto args = saved.fields.all<BidirectionalArgs>(
      std::tuple_cat(baseFields<BidirectionalArgs>, activityField<BidirectionalArgs>));
  const Layer layer = wrapped(saved, "layer");
  if (saved.fields.takes("backward_layer") && !saved.fields.isNull("backward_layer"))
    args.backward_layer = wrapped(saved, "backward_layer");
  if (saved.fields.takes("merge_mode"))
    args.merge_mode = saved.fields.isNull("merge_mode")
                          ? std::nullopt
                          : std::optional<Choice<MergeMode>>(saved.fields.get<MergeMode>("merge_mode"));
  saved.fields.requireNothingLeft(saved.className);
  return Bidirectional(layer, args);
}

Layer madeTimeDistributed(SavedObject &saved) {
  const auto args = saved.fields.all<LayerArgs>(std::tuple_cat(baseFields<LayerArgs>, activityField<LayerArgs>));
  const Layer layer = wrapped(saved, "layer");
  saved.fields.requireNothingLeft(saved.className);
  return TimeDistributed(layer, args);
}

Layer madeSpectral(SavedObject &saved) {
  const auto args = saved.fields.all<LayerArgs>(std::tuple_cat(baseFields<LayerArgs>, activityField<LayerArgs>));
  const Layer layer = wrapped(saved, "layer");
  int64_t iterations = 1;
  saved.fields.readOne("power_iterations", iterations);
  saved.fields.requireNothingLeft(saved.className);
  return SpectralNormalization(layer, iterations, args);
}

constexpr Known catalogue[] = {
    {"Activation", made<ActivationOptions>},
    {"ActivityRegularization", made<ActivityRegularizationOptions>},
    {"AdaptiveAveragePooling1D", made<AdaptivePoolingOptions<AdaptiveAveragePooling1D>>},
    {"AdaptiveAveragePooling2D", made<AdaptivePoolingOptions<AdaptiveAveragePooling2D>>},
    {"AdaptiveAveragePooling3D", made<AdaptivePoolingOptions<AdaptiveAveragePooling3D>>},
    {"AdaptiveMaxPooling1D", made<AdaptivePoolingOptions<AdaptiveMaxPooling1D>>},
    {"AdaptiveMaxPooling2D", made<AdaptivePoolingOptions<AdaptiveMaxPooling2D>>},
    {"AdaptiveMaxPooling3D", made<AdaptivePoolingOptions<AdaptiveMaxPooling3D>>},
    {"Add", made<MergeOptions<Add>>},
    {"AdditiveAttention", made<AdditiveAttentionOptions>},
    {"AlphaDropout", made<AlphaDropoutOptions>},
    {"Attention", made<AttentionOptions>},
    {"Average", made<MergeOptions<Average>>},
    {"AveragePooling1D", made<PoolingOptions<AveragePooling1D>>},
    {"AveragePooling2D", made<PoolingOptions<AveragePooling2D>>},
    {"AveragePooling3D", made<PoolingOptions<AveragePooling3D>>},
    {"BatchNormalization", made<BatchNormalizationOptions>},
    {"Bidirectional", madeBidirectional},
    {"CategoryEncoding", made<CategoryEncodingOptions>},
    {"CenterCrop", made<CenterCropOptions>},
    {"Concatenate", made<ConcatenateOptions>},
    {"Conv1D", made<ConvOptions<Conv1D>>},
    {"Conv1DTranspose", made<ConvTransposeOptions<Conv1DTranspose>>},
    {"Conv2D", made<ConvOptions<Conv2D>>},
    {"Conv2DTranspose", made<ConvTransposeOptions<Conv2DTranspose>>},
    {"Conv3D", made<ConvOptions<Conv3D>>},
    {"Conv3DTranspose", made<ConvTransposeOptions<Conv3DTranspose>>},
    {"ConvLSTM1D", madeRecurrent<ConvLSTMOptions<ConvLSTM1D>>},
    {"ConvLSTM2D", madeRecurrent<ConvLSTMOptions<ConvLSTM2D>>},
    {"ConvLSTM3D", madeRecurrent<ConvLSTMOptions<ConvLSTM3D>>},
    {"Cropping1D", made<Cropping1DOptions>},
    {"Cropping2D", made<CroppingOptions<Cropping2D>>},
    {"Cropping3D", made<CroppingOptions<Cropping3D>>},
    {"CustomScaleLayer", made<CustomScaleOptions>},
    {"CutMix", made<CutMixOptions>},
    {"Dense", made<DenseOptions>},
    {"DepthwiseConv1D", made<DepthwiseConvOptions<DepthwiseConv1D>>},
    {"DepthwiseConv2D", made<DepthwiseConvOptions<DepthwiseConv2D>>},
    {"Discretization", made<DiscretizationOptions>},
    {"Dot", made<DotOptions>},
    {"Dropout", made<DropoutOptions>},
    {"ELU", made<ELUOptions>},
    {"EinsumDense", made<EinsumDenseOptions>},
    {"Embedding", made<EmbeddingOptions>},
    {"Flatten", made<FlattenOptions>},
    {"GRU", madeRecurrent<GRUOptions>},
    {"GRUCell", madeRecurrent<GRUCellOptions>},
    {"GaussianDropout", made<GaussianDropoutOptions>},
    {"GaussianNoise", made<GaussianNoiseOptions>},
    {"GlobalAveragePooling1D", made<GlobalPoolingOptions<GlobalAveragePooling1D>>},
    {"GlobalAveragePooling2D", made<GlobalPoolingOptions<GlobalAveragePooling2D>>},
    {"GlobalAveragePooling3D", made<GlobalPoolingOptions<GlobalAveragePooling3D>>},
    {"GlobalMaxPooling1D", made<GlobalPoolingOptions<GlobalMaxPooling1D>>},
    {"GlobalMaxPooling2D", made<GlobalPoolingOptions<GlobalMaxPooling2D>>},
    {"GlobalMaxPooling3D", made<GlobalPoolingOptions<GlobalMaxPooling3D>>},
    {"GroupNormalization", made<GroupNormalizationOptions>},
    {"GroupQueryAttention", made<GroupQueryAttentionOptions>},
    {"GroupedQueryAttention", made<GroupQueryAttentionOptions>},
    {"HashedCrossing", made<HashedCrossingOptions>},
    {"Hashing", made<HashingOptions>},
    {"Identity", made<IdentityOptions>},
    {"InputLayer", made<InputOptions>},
    {"IntegerLookup", made<IntegerLookupOptions>},
    {"LSTM", madeRecurrent<LSTMOptions>},
    {"LSTMCell", madeRecurrent<LSTMCellOptions>},
    {"LayerNormalization", made<LayerNormalizationOptions>},
    {"LayerScale", made<LayerScaleOptions>},
    {"LeakyReLU", made<LeakyReLUOptions>},
    {"Masking", made<MaskingOptions>},
    {"MaxPooling1D", made<PoolingOptions<MaxPooling1D>>},
    {"MaxPooling2D", made<PoolingOptions<MaxPooling2D>>},
    {"MaxPooling3D", made<PoolingOptions<MaxPooling3D>>},
    {"Maximum", made<MergeOptions<Maximum>>},
    {"Minimum", made<MergeOptions<Minimum>>},
    {"MixUp", made<MixUpOptions>},
    {"MultiHeadAttention", made<MultiHeadAttentionOptions>},
    {"Multiply", made<MergeOptions<Multiply>>},
    {"Normalization", made<NormalizationOptions>},
    {"PReLU", made<PReLUOptions>},
    {"Permute", made<PermuteOptions>},
    {"PositionEmbedding", made<PositionEmbeddingOptions>},
    {"RMSNormalization", made<RMSNormalizationOptions>},
    {"RNN", madeRNN},
    {"RandomBrightness", made<RandomBrightnessOptions>},
    {"RandomContrast", made<RandomContrastOptions>},
    {"RandomCrop", made<RandomCropOptions>},
    {"RandomFlip", made<RandomFlipOptions>},
    {"RandomRotation", made<RandomRotationOptions>},
    {"RandomShear", made<RandomShearOptions>},
    {"RandomTranslation", made<RandomTranslationOptions>},
    {"RandomZoom", made<RandomZoomOptions>},
    {"ReLU", made<ReLUOptions>},
    {"RepeatVector", made<RepeatVectorOptions>},
    {"Rescaling", made<RescalingOptions>},
    {"Reshape", made<ReshapeOptions>},
    {"Resizing", made<ResizingOptions>},
    {"ReversibleEmbedding", made<ReversibleEmbeddingOptions>},
    {"SeparableConv1D", made<SeparableConvOptions<SeparableConv1D>>},
    {"SeparableConv2D", made<SeparableConvOptions<SeparableConv2D>>},
    {"SimpleRNN", madeRecurrent<SimpleRNNOptions>},
    {"SimpleRNNCell", madeRecurrent<SimpleRNNCellOptions>},
    {"Softmax", made<SoftmaxOptions>},
    {"SpatialDropout1D", made<SpatialDropout1DOptions>},
    {"SpatialDropout2D", made<SpatialDropoutOptions<SpatialDropout2D>>},
    {"SpatialDropout3D", made<SpatialDropoutOptions<SpatialDropout3D>>},
    {"SpectralNormalization", madeSpectral},
    {"StackedRNNCells", madeStacked},
    {"StringLookup", made<StringLookupOptions>},
    {"Subtract", made<MergeOptions<Subtract>>},
    {"TextVectorization", made<TextVectorizationOptions>},
    {"TimeDistributed", madeTimeDistributed},
    {"UnitNormalization", made<UnitNormalizationOptions>},
    {"UpSampling1D", made<UpSampling1DOptions>},
    {"UpSampling2D", made<UpSampling2DOptions>},
    {"UpSampling3D", made<UpSampling3DOptions>},
    {"ZeroPadding1D", made<ZeroPadding1DOptions>},
    {"ZeroPadding2D", made<ZeroPaddingOptions<ZeroPadding2D>>},
    {"ZeroPadding3D", made<ZeroPaddingOptions<ZeroPadding3D>>},
};

/// Classes that Keras does not export, with their modules.
constexpr std::pair<const char *, const char *> ofApplications[] = {
    {"CustomScaleLayer", "keras.src.applications.inception_resnet_v2"},
    {"LayerScale", "keras.src.applications.convnext"}};

[[noreturn]] void refuseClass(const std::string &className) {
  if (className == "Lambda")
    throw Error(
        ErrorKind::value_error,
        "the layer is a Lambda, whose Python code cannot be read here. Save the model with a layer class in its "
        "place, and register a struct of that name: register_custom<T>(\"package\")");
  throw Error(ErrorKind::value_error,
              fmt::format("Could not locate class '{0}'. A layer of your own can take its place: "
                          "register_custom<{0}>(). {1}",
                          className, knownClasses(catalogue, className, "layers")));
}

} // namespace

Config serialize(const Layer &layer) {
  const std::string className = layer.class_name();
  if (const std::optional<std::string> registered = registeredNameOf(className)) {
    Config object = serializedObject("", className, layer.get_config());
    object.set_null("module");
    object.set("registered_name", *registered);
    return withMarkOfName(layer, std::move(object));
  }
  if (layer.impl()->model && layer.impl()->transparent)
    throw Error(ErrorKind::value_error,
                fmt::format("'{}' is a graph of layers, whose config is that of Model::to_json()", layer.name()));
  if (className == "Lambda")
    (void)layer.get_config(); // throws
  if (!findClass(catalogue, className))
    throw Error(
        ErrorKind::value_error,
        fmt::format("No config can hold an object of class {0}: give the struct get_config(Config &) and a static "
                    "from_config(const Config &), and register it with register_custom<{0}>(\"package\"), or with "
                    "register_custom<{0}>() if its class in Python has no package",
                    className));
  for (const auto &[name, module] : ofApplications)
    if (className == name) {
      Config object = serializedObject(module, className, layer.get_config());
      object.set("registered_name", className);
      return withMarkOfName(layer, std::move(object));
    }
  // Keras exports this class under a shorter name than its own.
  const std::string exported = className == "GroupedQueryAttention" ? "GroupQueryAttention" : className;
  return withMarkOfName(layer, serializedObject("keras.layers", exported, layer.get_config()));
}

Layer deserialize(const Config &config) {
  const bool isMarked = config.contains(markOfName);
  if (const std::string registered = registeredNameIn(config); !registered.empty())
    return withNameOfConfig(registeredLayer(registered, config.get_object("config")), isMarked);
  if (const std::string foreign = foreignClassIn(config); !foreign.empty())
    return withNameOfConfig(registeredLayer(foreign, config.get_object("config")), isMarked);
  SavedObject saved = savedObject(config);
  const Known *found = findClass(catalogue, saved.className);
  if (!found && isRegisteredLayer(saved.className)) // of a Keras module
    return withNameOfConfig(registeredLayer(saved.className, config.get_object("config")), isMarked);
  if (!found)
    refuseClass(saved.className);
  return withNameOfConfig(found->make(saved), isMarked);
}

} // namespace halftone::layers

bool halftone::detail::isLayerOfKeras(std::string_view className) {
  return findClass(layers::catalogue, className) != nullptr;
}
bool halftone::detail::isOfRandomImages(std::string_view className) {
  return className.starts_with("Random") || className == "MixUp" || className == "CutMix";
}
