// Layers from configs and to configs: the list of all that there are.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Fields.h"
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
  saved.fields.read(options, baseFields<Options>);
  saved.fields.read(options, activityField<Options>);
  saved.fields.read(options, layerFields<Options>);
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

constexpr Known catalogue[] = {
    {"Activation", made<ActivationOptions>},
    {"Add", made<AddOptions>},
    {"BatchNormalization", made<BatchNormalizationOptions>},
    {"Concatenate", made<ConcatenateOptions>},
    {"Dense", made<DenseOptions>},
    {"Dropout", made<DropoutOptions>},
    {"EinsumDense", made<EinsumDenseOptions>},
    {"Embedding", made<EmbeddingOptions>},
    {"Flatten", made<FlattenOptions>},
    {"GaussianNoise", made<GaussianNoiseOptions>},
    {"GroupNormalization", made<GroupNormalizationOptions>},
    {"InputLayer", made<InputOptions>},
    {"LayerNormalization", made<LayerNormalizationOptions>},
    {"Multiply", made<MultiplyOptions>},
    {"RMSNormalization", made<RMSNormalizationOptions>},
    {"ReLU", made<ReLUOptions>},
    {"Rescaling", made<RescalingOptions>},
    {"Reshape", made<ReshapeOptions>},
    {"Softmax", made<SoftmaxOptions>},
    {"UnitNormalization", made<UnitNormalizationOptions>},
};

} // namespace

Config serialize(const Layer &layer) {
  return serializedObject("keras.layers", layer.class_name(), layer.get_config());
}

Layer deserialize(const Config &config) {
  SavedObject saved = savedObject(config);
  const Known *found =
      std::ranges::find_if(catalogue, [&](const Known &known) { return known.className == saved.className; });
  if (found == std::end(catalogue)) {
    std::string names;
    for (const Known &known : catalogue)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", known.className);
    throw Error(ErrorKind::value_error,
                fmt::format("Could not locate class '{}'. The layers are: {}", saved.className, names));
  }
  return found->make(saved);
}

} // namespace halftone::layers
