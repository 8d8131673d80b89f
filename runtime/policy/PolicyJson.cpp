// Dtype policies as Keras's JSON objects.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/policy/PolicyRep.h"
#include <fmt/format.h>

using namespace halftone;

DTypePolicy halftone::policyFromConfig(const std::string &className, const Config &config) {
  if (className != "DTypePolicy" && className != "FloatDTypePolicy") {
    for (const char *quantized : {"QuantizedDTypePolicy", "QuantizedFloat8DTypePolicy", "Int4DTypePolicy",
                                  "TernaryDTypePolicy", "GPTQDTypePolicy", "AWQDTypePolicy", "DTypePolicyMap"})
      if (className == quantized)
        throw Error(
            ErrorKind::not_implemented_error,
            fmt::format("{} is not supported: this version of Halftone has the plain dtype policies only", className));
    throw Error(ErrorKind::value_error,
                fmt::format("'{}' is not the class of a dtype policy. Received: config={}", className, config.dump()));
  }
  for (const std::string &key : config.keys())
    if (key != "name")
      throw Error(ErrorKind::type_error,
                  fmt::format("{}.__init__() got an unexpected keyword argument '{}'", className, key));
  std::string name;
  const auto &json = ConfigAccess::json(config);
  if (!json.contains("name") || json["name"].is_null())
    name = dtype_policy().name();
  else if (json["name"].is_string())
    name = json["name"].get<std::string>();
  else
    throw Error(ErrorKind::type_error,
                fmt::format("'name' must be a string, such as 'mixed_float16'. Received: name={} (of type {})",
                            json["name"].dump(), ConfigAccess::kindOf(json["name"])));
  return PolicyAccess::make(PolicyAccess::plain(className, name));
}

DTypePolicy dtype_policies::get(const PolicyArg &identifier) { return identifier.get(); }
DTypePolicy dtype_policies::get(const Config &serialized) { return deserialize(serialized); }

Config dtype_policies::serialize(const DTypePolicy &policy) {
  const auto &rep = PolicyAccess::rep(policy);
  Config result;
  result.set("module", rep.isPlain() ? "keras" : "keras.dtype_policies");
  result.set("class_name", rep.className);
  result.set("config", rep.config());
  result.set_null("registered_name");
  return result;
}

DTypePolicy dtype_policies::deserialize(const Config &config) {
  const auto &json = ConfigAccess::json(config);
  if (!json.contains("class_name") || !json["class_name"].is_string() || !json.contains("config"))
    throw Error(ErrorKind::value_error, fmt::format("Unknown `config` as a `dict`, config={}", config.dump()));
  if (!json["config"].is_object())
    throw Error(ErrorKind::value_error,
                fmt::format("The `config` of a dtype policy must be an object; received config={}", config.dump()));
  return policyFromConfig(json["class_name"].get<std::string>(), config.get_object("config"));
}
