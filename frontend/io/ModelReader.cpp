// Creates Sequential models and single layers from configs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/ModelReader.h"
#include "frontend/base/PlacedError.h"
#include "frontend/layers/Fields.h"
#include "frontend/layers/LayerImpl.h"
#include "halftone/Layers.h"
#include "halftone/Model.h"
#include "runtime/base/StackRoom.h"
#include <algorithm>

namespace halftone::detail {

namespace {

/// A shape, with null for unknown extents; nullopt if the value is not a list of extents.
std::optional<Shape> shapeOf(const ConfigPlace &place) {
  std::vector<int64_t> dims;
  if (!place.json.is_array())
    return std::nullopt;
  for (const ConfigPlace &dim : place.elements()) {
    if (!dim.isNull() && (!dim.json.is_number_integer() || dim.integer() < 0))
      return std::nullopt;
    dims.push_back(dim.isNull() ? -1 : dim.integer());
  }
  return Shape(std::move(dims));
}

/// The shapes in a build_config: "input_shape" is a shape or a list of shapes, "shapes_dict" has them by name. Empty if
/// Keras recorded none.
std::vector<Shape> builtShapes(const ConfigPlace &build) {
  std::vector<Shape> shapes;
  const auto add = [&](auto &&self, const ConfigPlace &place) -> void {
    if (const std::optional<Shape> shape = shapeOf(place))
      return shapes.push_back(*shape);
    if (!place.json.is_array() || !std::ranges::all_of(place.json, [](const auto &each) { return each.is_array(); }))
      place.fail("a list of extents, integers from 0 or null");
    for (const ConfigPlace &each : place.elements()) // state shapes of a recurrent layer
      self(self, each);
  };
  if (build.isNull())
    return shapes;
  if (const ConfigPlace byName = build.at("shapes_dict"); !byName.isNull()) {
    for (const auto &[name, shape] : byName.members())
      add(add, shape);
    return shapes;
  }
  const ConfigPlace input = build.at("input_shape");
  if (input.isNull())
    return shapes;
  if (shapeOf(input)) {
    add(add, input);
    return shapes;
  }
  for (const ConfigPlace &each : input.elements())
    add(add, each);
  return shapes;
}

/// Builds the root model of the file if its layers do not define its input. All other models are built by their calls,
/// so paths equal those of the saved model.
void buildRoot(const Layer &layer, const ConfigPlace &place) {
  const std::vector<Shape> shapes = builtShapes(place.at("build_config"));
  if (!shapes.empty() && !layer.built())
    layer.impl()->build(shapes);
}

Layer readSequential(const ConfigPlace &place) {
  const ConfigPlace config = place.at("config");
  std::vector<Layer> layers;
  for (const ConfigPlace &each : config.at("layers").elements())
    layers.push_back(readLayer(each));
  if (const ConfigPlace shape = config.at("build_input_shape"); !shape.isNull() && !shapeOf(shape))
    shape.fail("a list of extents, integers from 0 or null");
  const LayerArgs args = readModelArgs(config);
  return Sequential(std::move(layers), {.name = args.name, .trainable = args.trainable});
}

Layer readAny(const ConfigPlace &place) {
  const std::string className = place.at("class_name").text();
  for (const char *key : {"module", "registered_name"})
    if (const ConfigPlace word = place.at(key); !word.isNull())
      (void)word.text();
  (void)place.at("config").object();
  const bool isMarked = place.json.contains(markOfName);
  if (className == "Functional" || (className == "Model" && !place.at("config").at("input_layers").isNull()))
    return withNameOfConfig(readFunctional(place), isMarked);
  const Layer layer = className == "Sequential" ? withNameOfConfig(readSequential(place), isMarked)
                                                : layers::deserialize(ConfigAccess::make(place.json));
  if (place.where.empty())
    buildRoot(layer, place);
  return layer;
}

} // namespace

LayerArgs readModelArgs(const ConfigPlace &config) {
  ConfigPlace::Json given = ConfigPlace::Json::object();
  for (const char *key : {"name", "trainable", "dtype"})
    if (const ConfigPlace value = config.at(key); !value.isNull())
      given[key] = value.json;
  return FieldReader(ConfigAccess::make(std::move(given))).all<LayerArgs>(baseFields<LayerArgs>);
}

Layer readLayer(const ConfigPlace &place) {
  requireStack("the config of a model");
  try {
    return readAny(place.object());
  } catch (const Error &error) {
    if (place.where.empty() || error.message().starts_with(place.where)) // already has the location of an inner layer
      throw;
    rethrowAt(place.where, error);
  }
}

} // namespace halftone::detail
