// Reads layers from the nested configs of a saved model.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/LayerRecords.h"
#include "frontend/base/PlacedError.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/io/ConfigNode.h"
#include "frontend/io/ModelReader.h"
#include "frontend/layers/InitialZeros.h"
#include "frontend/layers/LayerImpl.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

using Json = nlohmann::ordered_json;

bool isObjectOf(const Json &json, const char *className) {
  return json.is_object() && json.contains("class_name") && json["class_name"] == className;
}

/// Returns true if the object is a layer config. Layers record whether they are trainable; initializers and losses do
/// not.
bool isLayer(const Json &json) {
  return json.is_object() && json.contains("class_name") && json.contains("config") && json["config"].is_object() &&
         json["config"].contains("trainable");
}

/// Returns true if the object is an operation of a functional model, such as x + 1.
bool isOperation(const Json &json) {
  const auto module = json.find("module");
  return module != json.end() && module->is_string() && module->get<std::string>().starts_with("keras.src.ops");
}

bool isFunctional(const ConfigNode &layer) {
  return layer.json["config"].contains("layers") && layer.json["config"].contains("input_layers");
}
bool isSequential(const ConfigNode &layer) { return isObjectOf(layer.json, "Sequential"); }

/// The class name without its package, for example "Residual" for "house>Residual".
std::string classOf(const ConfigNode &layer) {
  const std::string name = layer.at("class_name").text();
  return name.substr(name.find('>') + 1);
}

/// The layer's name. A custom layer whose config has no name gets an automatic one.
std::string nameOf(const ConfigNode &layer) {
  const ConfigNode name = layer.at("config").at("name"), outer = layer.at("name");
  if (name.json.is_null() && outer.json.is_null())
    return uniqueName(classOf(layer));
  const std::string text = name.json.is_null() ? outer.text() : name.text();
  if (text.empty() || text.find('/') != text.npos)
    throw Error(ErrorKind::value_error,
                fmt::format("{}: '{}' is not a layer name; expected a name without '/'", name.where, text));
  return text;
}

std::optional<DTypePolicy> policyOf(const ConfigNode &layer) {
  const ConfigNode dtype = layer.at("config").at("dtype");
  try {
    if (dtype.json.is_null())
      return std::nullopt;
    if (dtype.json.is_string())
      return PolicyArg(dtype.json.get<std::string>(), Where{}).get();
    if (dtype.json.is_object()) {
      const Json config = dtype.json.value("config", Json());
      if (isObjectOf(dtype.json, "DTypePolicy") && config.is_object() && config.value("name", Json()).is_null())
        return std::nullopt; // Keras writes this for a policy that a map took from the global policy
      return dtype_policies::deserialize(ConfigAccess::make(dtype.json));
    }
  } catch (const Error &error) {
    rethrowAt(dtype.where, error);
  }
  dtype.fail("a policy's name or object");
}

/// "softmax", also for {"class_name": "function", "config": "softmax"}.
std::string activationOf(const ConfigNode &layer) {
  const Json &json = layer.at("config").at("activation").json;
  const Json &name = json.is_object() && json.contains("config") ? json["config"] : json;
  return name.is_string() ? name.get<std::string>() : "";
}

/// Collects the layers of output_layers: ["head", 0, 0], or several such lists in a list or an object.
void collectOutputs(const Json &json, std::vector<std::string> &names) {
  if (json.is_array() && !json.empty() && json[0].is_string())
    names.push_back(json[0].get<std::string>());
  else if (json.is_array() || json.is_object())
    for (const Json &element : json)
      collectOutputs(element, names);
}

/// The layer at `node`, built for the shapes of its build_config if there are any; nullopt if it cannot be created, for
/// which load_model() reports the reason. value_error if two keys of the layer's map match the path of a sublayer.
std::optional<Layer> made(const ConfigNode &node, const std::string &name, const std::string &prefix, bool hasMap) {
  Json object = node.json;
  object["config"]["name"] = name; // an automatic name is assigned only once
  const InitialZeros zeros;
  try {
    if (prefix.empty())
      return readLayer({object, ""});
    const std::string path = prefix.substr(0, prefix.size() - 1);
    const NameScope scope = NameScope::ofLayer(path);
    return readLayer({object, ""});
  } catch (const Error &error) {
    if (hasMap && error.layer_path().starts_with(prefix + name + "/"))
      throw;
    return std::nullopt;
  }
}

class RecordCollector {
public:
  std::vector<LayerRecord> layers;

  /// Collects the sublayers of a model or layer. `prefix` is the prefix of the layer's own path.
  void parts(const ConfigNode &layer, const std::string &name, const std::string &prefix, bool isOutput) {
    if (isSequential(layer))
      return sequence(layer, name, prefix, isOutput);
    if (isFunctional(layer))
      return graph(layer, isOutput);
    const ConfigNode config = layer.at("config");
    for (const auto &[key, value] : config.json.items())
      if (key != "dtype")
        search({value, fmt::format("{}.{}", config.where, key)}, prefix + name + "/");
  }

private:
  void layer(const ConfigNode &node, const std::string &prefix, bool isOutput) {
    const std::string className = classOf(node);
    (void)node.at("config").object();
    if (className == "InputLayer")
      return;
    const std::string name = nameOf(node);
    if (!isSequential(node) && !isFunctional(node)) {
      LayerRecord record{prefix + name,  className, activationOf(node),
                         policyOf(node), isOutput,  !node.at("config").at("lora_rank").json.is_null()};
      const bool known = std::ranges::any_of(layers, [&](const LayerRecord &other) { // a shared layer appears twice
        return other.path == record.path && other.className == className && other.policy == record.policy;
      });
      if (known)
        return;
      const bool hasMap = record.policy && record.policy->as_map();
      const size_t index = layers.size();
      layers.push_back(std::move(record));
      parts(node, name, prefix, isOutput);
      const std::optional<Layer> layer = made(node, name, prefix, hasMap);
      if (!layer)
        return;
      layers[index].className = layer->class_name(); // GroupedQueryAttention, called GroupQueryAttention in files
      for (const Layer &part : computingLayers(*layer))
        if (std::ranges::find(layers, part.path(), &LayerRecord::path) == layers.end())
          layers.push_back({part.path(), part.class_name(), "", part.dtype_policy()});
      return;
    }
    parts(node, name, prefix, isOutput);
  }

  /// Collects a Sequential. If its input is recorded, it is built on creation, outside of any other model.
  void sequence(const ConfigNode &model, const std::string &name, const std::string &prefix, bool isOutput) {
    const std::vector<ConfigNode> nodes = model.at("config").at("layers").elements();
    const bool builtAlone = !nodes.empty() && knowsInput(nodes[0]);
    for (const ConfigNode &node : nodes)
      layer(node, (builtAlone ? "" : prefix) + name + "/", isOutput && &node == &nodes.back());
  }

  static bool knowsInput(const ConfigNode &first) {
    if (isObjectOf(first.object().json, "InputLayer"))
      return true;
    if (!first.at("config").json.is_object())
      return false;
    if (!isSequential(first))
      return isFunctional(first);
    const std::vector<ConfigNode> nodes = first.at("config").at("layers").elements();
    return !nodes.empty() && knowsInput(nodes[0]);
  }

  void graph(const ConfigNode &model, bool isOutput) {
    std::vector<std::string> outputs;
    if (isOutput)
      collectOutputs(model.at("config").at("output_layers").json, outputs);
    for (const ConfigNode &node : model.at("config").at("layers").elements())
      if (!isOperation(node.object().json)) {
        const ConfigNode outer = node.at("name"), name = outer.json.is_null() ? node.at("config").at("name") : outer;
        layer(node, "", name.json.is_string() && std::ranges::count(outputs, name.text()));
      }
  }

  /// Collects layers found among a layer's arguments: alone, in lists or by name.
  void search(const ConfigNode &node, const std::string &prefix) {
    if (isLayer(node.json))
      layer(node, prefix, false);
    else if (node.json.is_array())
      for (const ConfigNode &element : node.elements())
        search(element, prefix);
    else if (node.json.is_object() && !node.json.contains("class_name"))
      for (const auto &[key, value] : node.json.items())
        search({value, fmt::format("{}.{}", node.where, key)}, prefix);
  }
};

} // namespace

/// How the optimizer of a compile_config scales the loss.
static LossScaler scalerOf(const ConfigNode &optimizer) {
  if (isObjectOf(optimizer.json, "LossScaleOptimizer"))
    return LossScaler::given;
  const bool isObject = optimizer.json.is_object() && optimizer.json.contains("config");
  const Json &config = isObject ? optimizer.json["config"] : optimizer.json;
  return config.is_object() && !config.value("loss_scale_factor", Json()).is_null() ? LossScaler::factor
                                                                                    : LossScaler::none;
}

ModelRecord modelRecord(const Config &config) {
  const ConfigNode model{ConfigAccess::json(config), ""};
  ModelRecord record;
  record.className = classOf(model);
  (void)model.at("config").object();
  record.name = nameOf(model);
  if (!isSequential(model) && !isFunctional(model))
    record.policy = policyOf(model);
  const ConfigNode compile = model.at("compile_config");
  if (compile.json.is_object())
    record.scaler = scalerOf(compile.at("optimizer"));
  RecordCollector collector;
  collector.parts(model, record.name, "", true);
  record.layers = std::move(collector.layers);
  return record;
}

} // namespace halftone::detail
