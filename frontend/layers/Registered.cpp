// The registry of user layers that files may name.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Registered.h"
#include "frontend/base/ClassRegistry.h"
#include "frontend/layers/Fields.h"
#include "runtime/base/ConfigAccess.h"

namespace halftone {
using namespace detail;

namespace {

using Make = std::function<Layer(const Config &, const LayerArgs &)>;

ClassRegistry<Make> &registry() {
  static auto &layers = *new ClassRegistry<Make>({"layer", "call()", "register_custom"});
  return layers;
}

} // namespace

void register_layer(const std::string &registered_name, Make make) { registry().add(registered_name, std::move(make)); }

Layer detail::registeredLayer(const std::string &registeredName, const Config &config) {
  const Make make = registry().factoryOf(registeredName);
  FieldReader reader(config);
  LayerArgs args;
  reader.read(args, baseFields<LayerArgs>);
  reader.read(args, activityField<LayerArgs>);
  nlohmann::ordered_json own = nlohmann::ordered_json::object();
  for (const std::string &key : reader.left())
    own[key] = ConfigAccess::json(config).at(key);
  return make(ConfigAccess::make(std::move(own)), args);
}

bool detail::isRegisteredLayer(const std::string &registeredName) { return registry().has(registeredName); }

std::optional<std::string> detail::registeredNameOf(const std::string &className) {
  return registry().nameOf(className);
}

} // namespace halftone
