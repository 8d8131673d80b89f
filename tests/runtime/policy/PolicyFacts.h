// A policy in the format of the records from Keras.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Policy.h"
#include <nlohmann/json.hpp>
#include <string>

namespace halftone {

inline nlohmann::ordered_json describe(const DTypePolicy &p) {
  using Json = nlohmann::ordered_json;
  const auto mode = p.quantization_mode();
  Json result = {{"class_name", p.class_name()},
                 {"name", p.name()},
                 {"compute_dtype", name(p.compute_dtype())},
                 {"variable_dtype", name(p.variable_dtype())},
                 {"quantization_mode", mode ? Json(*mode) : Json()},
                 {"repr", p.repr()},
                 {"config", Json::parse(p.get_config().dump())},
                 {"serialized", Json::parse(dtype_policies::serialize(p).dump())}};
  const auto again = [&](auto make) { return make(p.get_config().get_string("mode"), std::string("float32")); };
  if (p.class_name() == "QuantizedFloat8DTypePolicy") {
    result["amax_history_length"] = p.get_config().get_int("amax_history_length");
  } else if (p.class_name() == "Int4DTypePolicy") {
    result["block_size"] =
        again([](const std::string &m, const std::string &s) { return Int4DTypePolicy(m, s); }).block_size();
  } else if (p.class_name() == "GPTQDTypePolicy") {
    const auto policy = again([](const std::string &m, const std::string &s) { return GPTQDTypePolicy(m, s); });
    result["weight_bits"] = policy.weight_bits();
    result["group_size"] = policy.group_size();
  } else if (p.class_name() == "AWQDTypePolicy") {
    const auto policy = again([](const std::string &m, const std::string &s) { return AWQDTypePolicy(m, s); });
    result["weight_bits"] = policy.weight_bits();
    result["group_size"] = policy.group_size();
  }
  return result;
}

/// {"ok": the result of `make`} or {"error", "message"}.
template <class Make> nlohmann::ordered_json recorded(Make make) {
  try {
    return {{"ok", make()}};
  } catch (const Error &error) {
    return {{"error", name(error.kind())}, {"message", error.message()}};
  }
}

/// "ValueError: message" of the error thrown; "" if none is.
template <class Function> std::string failureOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return std::string(name(error.kind())) + ": " + error.message();
  }
  return "";
}

} // namespace halftone
