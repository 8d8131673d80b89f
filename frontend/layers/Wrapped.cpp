// Builds the components of layers.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Wrapped.h"
#include "halftone/Layers.h"
#include "halftone/Model.h"
#include <fmt/format.h>

namespace halftone::detail {

void buildPart(const BuildContext &context, const Layer &part, const Shape &input) {
  if (!part.built()) {
    part.impl()->madeInCall = context.layer().madeInCall; // it lives as long as the layer
    part.impl()->build({input});
  }
  context.layer().adopt(part);
}

Config serializeAny(const Layer &part) {
  if (part.impl()->model && part.impl()->transparent)
    return Config::parse(Model(part).to_json());
  return layers::serialize(part);
}

Layer deserializeAny(const Config &object) {
  const std::string className = object.get_string("class_name");
  const bool isGraph = className == "Sequential" || className == "Functional" || className == "Model";
  return isGraph ? Layer(Model::from_config(object)) : layers::deserialize(object);
}

Value onlyOutput(const Layer &layer, const Values &outputs) {
  if (outputs.size() != 1)
    throw Error(ErrorKind::value_error,
                fmt::format("layer '{}' has {} outputs: use outputs()", layer.name(), outputs.size()), layer.path(),
                layer.impl()->where);
  return outputs[0];
}

} // namespace halftone::detail
