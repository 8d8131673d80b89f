// Registries of user initializers, regularizers and constraints, and the serialization of functions by name.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassRegistry.h"
#include "runtime/base/ConfigAccess.h"

namespace halftone {

namespace detail {

template <> ClassRegistry<std::function<Initializer(const Config &)>> &registryOf<Initializer>() {
  static auto &registry = *new ClassRegistry<std::function<Initializer(const Config &)>>(
      {"initializer", "operator()", "register_initializer"});
  return registry;
}
template <> ClassRegistry<std::function<Regularizer(const Config &)>> &registryOf<Regularizer>() {
  static auto &registry = *new ClassRegistry<std::function<Regularizer(const Config &)>>(
      {"regularizer", "operator()", "register_regularizer"});
  return registry;
}
template <> ClassRegistry<std::function<Constraint(const Config &)>> &registryOf<Constraint>() {
  static auto &registry = *new ClassRegistry<std::function<Constraint(const Config &)>>(
      {"constraint", "operator()", "register_constraint"});
  return registry;
}

Config savedFunction(const std::string &registeredName) {
  return ConfigAccess::make({{"module", "builtins"},
                             {"class_name", "function"},
                             {"config", registeredName},
                             {"registered_name", "function"}});
}
std::string functionIn(const Config &config) {
  const nlohmann::ordered_json &json = ConfigAccess::json(config);
  const auto kind = json.find("class_name"), name = json.find("config");
  const bool isFunction = kind != json.end() && *kind == "function" && name != json.end() && name->is_string();
  return isFunction ? name->get<std::string>() : "";
}

Config customConfig(const CustomObject &object, const char *what) {
  if (!object.get_config)
    throw Error(ErrorKind::value_error,
                fmt::format("{} that is a function cannot be saved: a config cannot hold functions", what));
  Config config;
  object.get_config(config);
  return config;
}

} // namespace detail

void register_initializer(const std::string &registered_name, std::function<Initializer(const Config &)> make) {
  detail::registryOf<Initializer>().add(registered_name, std::move(make));
}
void register_regularizer(const std::string &registered_name, std::function<Regularizer(const Config &)> make) {
  detail::registryOf<Regularizer>().add(registered_name, std::move(make));
}
void register_constraint(const std::string &registered_name, std::function<Constraint(const Config &)> make) {
  detail::registryOf<Constraint>().add(registered_name, std::move(make));
}

} // namespace halftone
