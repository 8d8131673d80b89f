// Creates Sequential models, models of registered structs and single layers from configs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/ModelReader.h"
#include "frontend/base/PlacedError.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/Fields.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/Registered.h"
#include "frontend/training/ModelState.h"
#include "halftone/Layers.h"
#include "halftone/Model.h"
#include "runtime/base/StackRoom.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace halftone::detail {

namespace {

/// A shape, with null for unknown extents; nullopt if the value is not a list of extents.
std::optional<Shape> shapeOf(const ConfigNode &entry) {
  std::vector<int64_t> dims;
  if (!entry.json.is_array())
    return std::nullopt;
  for (const ConfigNode &dim : entry.elements()) {
    if (!dim.isNull() && (!dim.json.is_number_integer() || dim.integer() < 0))
      return std::nullopt;
    dims.push_back(dim.isNull() ? -1 : dim.integer());
  }
  return Shape(std::move(dims));
}

/// The shapes in a build_config: "input_shape" is a shape, a list of shapes, or an object of shapes, which is in order
/// of its keys; "shapes_dict" has them by argument. Empty if Keras recorded none.
std::vector<Shape> builtShapes(const ConfigNode &build) {
  std::vector<Shape> shapes;
  const auto add = [&](auto &&self, const ConfigNode &entry) -> void {
    if (const std::optional<Shape> shape = shapeOf(entry))
      return shapes.push_back(*shape);
    if (!entry.json.is_array() || !std::ranges::all_of(entry.json, [](const auto &each) { return each.is_array(); }))
      entry.fail("a list of extents, which are non-negative integers or null");
    for (const ConfigNode &each : entry.elements()) // state shapes of a recurrent layer
      self(self, each);
  };
  if (build.isNull())
    return shapes;
  if (const ConfigNode byName = build.at("shapes_dict"); !byName.isNull()) {
    for (const auto &[name, shape] : byName.members())
      add(add, shape);
    return shapes;
  }
  const ConfigNode input = build.at("input_shape");
  if (input.isNull())
    return shapes;
  if (shapeOf(input)) {
    add(add, input);
    return shapes;
  }
  if (input.json.is_object()) {
    const std::vector<std::pair<std::string, ConfigNode>> members = input.members();
    for (const auto &[name, shape] : std::map(members.begin(), members.end()))
      add(add, shape);
    return shapes;
  }
  for (const ConfigNode &each : input.elements())
    add(add, each);
  return shapes;
}

/// The Inputs for a call that creates the layers of a struct. Keras's files do not hold their dtypes, and Keras itself
/// then calls the model on floatx.
std::vector<Value> builtInputs(const std::vector<Shape> &shapes, const ConfigNode &dtypes) {
  std::vector<DType> given(shapes.size(), floatxDtype());
  if (!dtypes.isNull()) {
    given.clear();
    for (const ConfigNode &each : dtypes.elements())
      given.push_back(standardize_dtype(each.text()));
    if (given.size() != shapes.size())
      dtypes.fail("one dtype per input shape");
  }
  std::vector<Value> inputs;
  for (size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(symbolicInput(shapes[i], given[i], fmt::format("input_{}", i)));
  return inputs;
}

/// Builds the root model of the file if its layers do not define its input. All other models are built by their calls,
/// so paths equal those of the saved model.
void buildRoot(const Layer &layer, const ConfigNode &entry) {
  const ConfigNode build = entry.at("build_config");
  const std::vector<Shape> shapes = builtShapes(build);
  if (shapes.empty() || layer.built())
    return;
  if (layer.impl()->transparent)
    layer.impl()->build(shapes);
  else
    (void)layer.impl()->call(builtInputs(shapes, build.at(inputDTypesKey)), {});
}

Layer readSequential(const ConfigNode &entry) {
  const ConfigNode config = entry.at("config");
  std::vector<Layer> layers;
  for (const ConfigNode &each : config.at("layers").elements())
    layers.push_back(readLayer(each));
  if (const ConfigNode shape = config.at("build_input_shape"); !shape.isNull() && !shapeOf(shape))
    shape.fail("a list of extents, which are non-negative integers or null");
  const LayerArgs args = readModelArgs(config);
  return Sequential(std::move(layers), {.name = args.name, .trainable = args.trainable});
}

Layer readAny(const ConfigNode &entry) {
  const std::string className = entry.at("class_name").text();
  for (const char *key : {"module", "registered_name"})
    if (const ConfigNode word = entry.at(key); !word.isNull())
      (void)word.text();
  (void)entry.at("config").object();
  const bool isMarked = entry.json.contains(markOfName);
  if (className == "Functional" || (className == "Model" && !entry.at("config").at("input_layers").isNull()))
    return withNameOfConfig(readFunctional(entry), isMarked);
  const Layer layer = className == "Sequential" ? withNameOfConfig(readSequential(entry), isMarked)
                                                : layers::deserialize(ConfigAccess::make(entry.json));
  if (entry.where.empty()) {
    if (registeredNameOf(layer.class_name()) && !layer.impl()->model) // a subclass of keras.Model
      makeModel(*layer.impl());
    buildRoot(layer, entry);
  }
  return layer;
}

} // namespace

LayerArgs readModelArgs(const ConfigNode &config) {
  ConfigNode::Json given = ConfigNode::Json::object();
  for (const char *key : {"name", "trainable", "dtype"})
    if (const ConfigNode value = config.at(key); !value.isNull())
      given[key] = value.json;
  return FieldReader(ConfigAccess::make(std::move(given))).all<LayerArgs>(baseFields<LayerArgs>);
}

Layer readLayer(const ConfigNode &entry) {
  requireStack("the config of a model");
  try {
    return readAny(entry.object());
  } catch (const Error &error) {
    if (entry.where.empty() || error.message().starts_with(entry.where)) // already has the location of an inner layer
      throw;
    rethrowAt(entry.where, error);
  }
}

} // namespace halftone::detail
