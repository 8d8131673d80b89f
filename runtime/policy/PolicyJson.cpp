// Dtype policies as Keras's JSON objects.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/policy/LegacyPolicy.h"
#include "runtime/policy/PolicyRep.h"
#include <algorithm>
#include <fmt/format.h>

using namespace halftone;

/// The string under `key` of a policy's config; nullopt for null or a missing key. Other values give Keras's error.
static std::optional<std::string> stringOrNull(const nlohmann::ordered_json &json, const char *key) {
  if (!json.contains(key) || json[key].is_null())
    return std::nullopt;
  if (!json[key].is_string())
    throw Error(ErrorKind::type_error,
                fmt::format("'name' must be a string, such as 'mixed_float16'. Received: {}={} (of type {})", key,
                            json[key].dump(), ConfigAccess::kindOf(json[key])));
  return json[key].get<std::string>();
}

static void checkArguments(const std::string &className, const Config &config,
                           std::initializer_list<std::string_view> known) {
  for (const std::string &key : config.keys())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw Error(ErrorKind::type_error,
                  fmt::format("{}.__init__() got an unexpected keyword argument '{}'", className, key));
}

static std::shared_ptr<PolicyAccess::Rep> quantizedFromConfig(const std::string &className, const Config &config) {
  QuantizedPolicyArgs args;
  const auto &json = ConfigAccess::json(config);
  const bool hasLength = className == "QuantizedFloat8DTypePolicy";
  if (hasLength)
    checkArguments(className, config, {"mode", "source_name", "amax_history_length"});
  else
    checkArguments(className, config, {"mode", "source_name"});
  if (!json.contains("mode"))
    throw Error(ErrorKind::type_error,
                fmt::format("{}.__init__() missing 1 required positional argument: 'mode'", className));
  if (!json["mode"].is_string())
    throw Error(ErrorKind::type_error,
                fmt::format("The mode of a {} must be a string. Received: mode={}", className, json["mode"].dump()));
  args.mode = json["mode"].get<std::string>();
  args.sourceName = stringOrNull(json, "source_name");
  auto made = PolicyAccess::quantized(className, args); // Keras checks the history length last
  if (!hasLength || !json.contains("amax_history_length"))
    return made;
  const auto &length = json["amax_history_length"];
  if (length.is_boolean())
    args.amaxHistoryLength = length.get<bool>();
  else if (length.is_number_integer())
    args.amaxHistoryLength = config.get_int("amax_history_length");
  else
    throw Error(
        ErrorKind::type_error,
        fmt::format("`amax_history_length` must be an integer. Received: amax_history_length={}", length.dump()));
  return PolicyAccess::quantized(className, args);
}

DTypePolicy halftone::policyFromConfig(const std::string &className, const Config &config) {
  for (const char *quantized :
       {"QuantizedDTypePolicy", "QuantizedFloat8DTypePolicy", "Int4DTypePolicy", "GPTQDTypePolicy", "AWQDTypePolicy"})
    if (className == quantized)
      return PolicyAccess::make(quantizedFromConfig(className, config));
  if (className == "DTypePolicyMap") {
    checkArguments(className, config, {"default_policy", "policy_map"});
    return PolicyAccess::make(PolicyAccess::map(config));
  }
  if (className == "Policy") {
    checkArguments(className, config, {"name", "loss_scale"});
    return PolicyAccess::make(legacyRep(config));
  }
  if (className != "DTypePolicy" && className != "FloatDTypePolicy")
    throw Error(ErrorKind::type_error,
                fmt::format("'{}' is not the class of a dtype policy. Received: config={}", className, config.dump()));
  checkArguments(className, config, {"name"});
  const std::optional<std::string> name = stringOrNull(ConfigAccess::json(config), "name");
  return PolicyAccess::make(PolicyAccess::plain(className, name ? *name : dtype_policy().name()));
}

FloatDTypePolicy FloatDTypePolicy::from_config(const Config &config) {
  return FloatDTypePolicy(PolicyAccess::handle(policyFromConfig("FloatDTypePolicy", config)));
}
QuantizedDTypePolicy QuantizedDTypePolicy::from_config(const Config &config) {
  return QuantizedDTypePolicy(PolicyAccess::handle(policyFromConfig("QuantizedDTypePolicy", config)));
}
QuantizedFloat8DTypePolicy QuantizedFloat8DTypePolicy::from_config(const Config &config) {
  return QuantizedFloat8DTypePolicy(PolicyAccess::handle(policyFromConfig("QuantizedFloat8DTypePolicy", config)));
}
Int4DTypePolicy Int4DTypePolicy::from_config(const Config &config) {
  return Int4DTypePolicy(PolicyAccess::handle(policyFromConfig("Int4DTypePolicy", config)));
}
GPTQDTypePolicy GPTQDTypePolicy::from_config(const Config &config) {
  return GPTQDTypePolicy(PolicyAccess::handle(policyFromConfig("GPTQDTypePolicy", config)));
}
AWQDTypePolicy AWQDTypePolicy::from_config(const Config &config) {
  return AWQDTypePolicy(PolicyAccess::handle(policyFromConfig("AWQDTypePolicy", config)));
}
DTypePolicyMap DTypePolicyMap::from_config(const Config &config) {
  return DTypePolicyMap(PolicyAccess::handle(policyFromConfig("DTypePolicyMap", config)));
}

DTypePolicy dtype_policies::get(const PolicyArg &identifier) { return identifier.get(); }
DTypePolicy dtype_policies::get(const Config &serialized) { return deserialize(serialized); }

Config dtype_policies::serialize(const DTypePolicy &policy) {
  const auto &rep = PolicyAccess::rep(policy);
  Config result;
  const bool isLegacy = rep.className == "Policy";
  result.set("module", rep.isPlain() ? "keras" : isLegacy ? "halftone.legacy" : "keras.dtype_policies");
  result.set("class_name", rep.className);
  result.set("config", rep.config());
  result.set_null("registered_name");
  return result;
}

DTypePolicy dtype_policies::deserialize(const Config &config) {
  const auto &json = ConfigAccess::json(config);
  if (!json.contains("class_name"))
    throw Error(ErrorKind::value_error, fmt::format("Unknown `config` as a `dict`, config={}", config.dump()));
  if (!json["class_name"].is_string())
    throw Error(ErrorKind::type_error,
                fmt::format("The `class_name` of a dtype policy must be a string; received config={}", config.dump()));
  const auto className = json["class_name"].get<std::string>();
  if (!json.contains("config") || json["config"].is_null())
    return policyFromConfig(className, Config());
  if (!json["config"].is_object())
    throw Error(ErrorKind::type_error,
                fmt::format("The `config` of a dtype policy must be an object; received config={}", config.dump()));
  return policyFromConfig(className, config.get_object("config"));
}
