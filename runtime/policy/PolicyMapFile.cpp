// Policy maps as Keras JSON objects and as files.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/StackRoom.h"
#include "runtime/base/WriteFile.h"
#include "runtime/policy/PolicyMapRep.h"
#include <fmt/format.h>

using namespace halftone;
using Json = nlohmann::ordered_json;

static Json serialized(const DTypePolicy &policy) { return ConfigAccess::json(dtype_policies::serialize(policy)); }

Config PolicyMapRep::config() const {
  requireStack("maps of policies");
  if (!given.empty())
    return explicitConfig();
  // Keras's config: without a default, entries take their names from the global policy of the program that loads them.
  const auto entries = items();
  Json map = ConfigAccess::object(entries.size());
  for (const auto &[key, policy] : entries) {
    Json entry = serialized(policy);
    for (const char *name : {"name", "source_name"})
      if (entry["config"].contains(name))
        entry["config"][name] = nullptr;
    ConfigAccess::append(map, key, std::move(entry));
  }
  Json config = ConfigAccess::object();
  config["default_policy"] = nullptr;
  config["policy_map"] = std::move(map);
  return ConfigAccess::make(std::move(config));
}

Config PolicyMapRep::explicitConfig() const {
  requireStack("maps of policies");
  const auto &text = PolicyAccess::text(given);
  const auto entries = items();
  Json config = ConfigAccess::object(), map = ConfigAccess::object(entries.size());
  for (const auto &[key, policy] : entries)
    ConfigAccess::append(map, key, serialized(policy));
  config["default_policy"] = text ? Json(*text) : serialized(fallback);
  config["policy_map"] = std::move(map);
  return ConfigAccess::make(std::move(config));
}

/// A policy from its object, its name, or null (the global policy).
static PolicyArg policyFromJson(const Json &json, const char *failure) {
  if (json.is_null())
    return {};
  if (json.is_string())
    return PolicyArg(json.get<std::string>(), Where{});
  if (json.is_object())
    return dtype_policies::deserialize(ConfigAccess::make(json));
  throw Error(ErrorKind::value_error, fmt::format("{} Received: {}", failure, json.dump()));
}

std::shared_ptr<PolicyAccess::Rep> PolicyAccess::map(const Config &config) {
  const Json &json = ConfigAccess::json(config);
  const Json null;
  const auto given = json.find("default_policy");
  const auto result = PolicyMapRep::make(policyFromJson(given == json.end() ? null : *given,
                                                        "Cannot interpret `dtype` argument. Expected a string or an "
                                                        "instance of DTypePolicy."));
  const auto entries = json.find("policy_map");
  if (entries == json.end())
    throw Error(ErrorKind::key_error, "The config of a DTypePolicyMap has no 'policy_map'");
  if (entries->is_null())
    return result;
  if (!entries->is_object())
    throw Error(ErrorKind::type_error,
                fmt::format("If specified, `policy_map` must be a dict. Received: policy_map={} of type {}",
                            entries->dump(), ConfigAccess::kindOf(*entries)));
  for (const auto &[key, value] : entries->items())
    try {
      result->insert(key,
                     policyFromJson(value, "Cannot interpret the assigned value by `keras.dtype_policies.get`.").get());
    } catch (const Error &error) {
      throw Error(error.kind(), fmt::format("In the DTypePolicyMap's entry '{}': {}", key, error.message()));
    }
  return result;
}

DTypePolicyMap DTypePolicyMap::load(const std::string &json_path) {
  const std::string text = readFile(json_path, detail::maxJsonBytes).valueOrThrow();
  try {
    const DTypePolicy policy = dtype_policies::deserialize(Config::parse(text));
    if (std::optional<DTypePolicyMap> map = policy.as_map())
      return *map;
    throw Error(ErrorKind::value_error, fmt::format("expected a DTypePolicyMap, found a {}", policy.class_name()));
  } catch (const Error &error) {
    throw Error(error.kind(), fmt::format("{}: {}", json_path, error.message()));
  }
}

void DTypePolicyMap::save(const std::string &json_path) const {
  const auto *map = dynamic_cast<const PolicyMapRep *>(rep_.get());
  const Json object = {{"module", "keras.dtype_policies"},
                       {"class_name", "DTypePolicyMap"},
                       {"config", ConfigAccess::json(map ? map->explicitConfig() : get_config())},
                       {"registered_name", nullptr}};
  std::string text;
  try {
    text = object.dump(2) + "\n";
  } catch (const Json::type_error &) {
    throw Error(ErrorKind::value_error, fmt::format("Cannot write the policy map '{}': a key is not UTF-8", json_path));
  }
  if (std::ssize(text) > detail::maxJsonBytes)
    throw Error(ErrorKind::value_error,
                fmt::format("Cannot write the policy map '{}': it has {} bytes; a file holds at most {}", json_path,
                            text.size(), detail::maxJsonBytes));
  writeFile(json_path, {text}).orThrow();
}
