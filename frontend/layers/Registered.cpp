// Keeps users' layers that files may name.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Registered.h"
#include "frontend/layers/Fields.h"
#include "halftone/Error.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/ForkGate.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <mutex>

namespace halftone {
using namespace detail;

namespace {

using Make = std::function<Layer(const Config &, const LayerArgs &)>;
std::mutex registryMutex;
std::map<std::string, Make> registry; // guarded by registryMutex

std::string classOf(const std::string &registeredName) { return registeredName.substr(registeredName.find('>') + 1); }

Make makerOf(const std::string &registeredName) {
  const ForkSafeLock lock(registryMutex);
  const auto found = registry.find(registeredName);
  if (found != registry.end())
    return found->second;
  std::vector<std::string> names;
  for (const auto &[name, make] : registry)
    names.push_back(name);
  const size_t end = registeredName.find('>');
  throw Error(
      ErrorKind::value_error,
      fmt::format("Could not locate class '{0}', which a user registered in Python as '{1}'. Before loading, "
                  "register a struct {0} with call() and a static from_config(): register_custom<{0}>(\"{2}\"). "
                  "Registered: [{3}]",
                  classOf(registeredName), registeredName, registeredName.substr(0, end), fmt::join(names, ", ")));
}

} // namespace

void register_layer(const std::string &registered_name, Make make) {
  const size_t end = registered_name.find('>');
  if (end == std::string::npos || end == 0 || end + 1 == registered_name.size())
    throw Error(
        ErrorKind::value_error,
        fmt::format("A layer is registered as \"package>Class\". Received: registered_name={}", registered_name));
  if (!make)
    throw Error(ErrorKind::value_error, "register_layer() needs a function that makes the layer");
  const ForkSafeLock lock(registryMutex);
  for (const auto &[name, existing] : registry)
    if (name != registered_name && classOf(name) == classOf(registered_name))
      throw Error(ErrorKind::value_error, fmt::format("The class '{}' is registered as '{}' already. Received: "
                                                      "registered_name={}",
                                                      classOf(name), name, registered_name));
  registry[registered_name] = std::move(make);
}

Layer detail::registeredLayer(const std::string &registeredName, const Config &config) {
  const Make make = makerOf(registeredName);
  FieldReader reader(config);
  LayerArgs args;
  reader.read(args, baseFields<LayerArgs>);
  reader.read(args, activityField<LayerArgs>);
  nlohmann::ordered_json own = nlohmann::ordered_json::object();
  for (const std::string &key : reader.left())
    own[key] = ConfigAccess::json(config).at(key);
  return make(ConfigAccess::make(std::move(own)), args);
}

std::optional<std::string> detail::registeredNameOf(const std::string &className) {
  const ForkSafeLock lock(registryMutex);
  for (const auto &[name, make] : registry)
    if (classOf(name) == className)
      return name;
  return std::nullopt;
}

} // namespace halftone
