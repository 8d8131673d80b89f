// Layers of recorded rows that real Keras quantized: their construction and their inputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/LayerImpl.h"
#include "tests/frontend/RecordedJson.h"

namespace halftone::test {

/// The layer of a row in its own float dtype.
inline Layer layerOf(const Json &row) {
  Json config = row.at("config"), object;
  if (config.at("dtype").at("config").contains("source_name"))
    config["dtype"] = config.at("dtype").at("config").at("source_name");
  if (config.contains("quantization_config"))
    config["quantization_config"] = nullptr;
  object["class_name"] = row.at("layer");
  object["config"] = std::move(config);
  return layers::deserialize(ConfigAccess::make(std::move(object)));
}
inline QuantizationConfig configOf(const Json &row) {
  const std::string mode = row.at("mode");
  const bool activations = row.at("activations");
  if (mode == "int8")
    return quantizers::Int8QuantizationConfig(activations);
  if (mode == "float8")
    return quantizers::Float8QuantizationConfig();
  const std::optional<int64_t> block =
      row.at("block").is_null() ? std::nullopt : std::optional(row.at("block").get<int64_t>());
  return quantizers::Int4QuantizationConfig(block, activations);
}
inline Tensor inputOf(const Json &row) {
  return tensorOf(row.at("x"), row.at("layer") == "Embedding" ? "int32" : "float32");
}

/// The layer of a row, built, with the row's weights, before quantization.
inline Layer builtLayer(const Json &row) {
  const Layer layer = layerOf(row);
  std::vector<int64_t> dims = row.at("input").get<std::vector<int64_t>>();
  dims.insert(dims.begin(), -1);
  layer.impl()->build({Shape(dims)});
  std::vector<Tensor> floats;
  for (const Json &weight : row.at("floats"))
    floats.push_back(tensorOf(weight.at("value"), "float32"));
  layer.set_weights(floats);
  return layer;
}

} // namespace halftone::test
