// lint: what is wrong with a file of policies by path, as far as the file says.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "TextFile.h"
#include "halftone/Policy.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/policy/PathPattern.h"
#include <fmt/format.h>
#include <vector>

using nlohmann::ordered_json;

namespace halftone::tools {
namespace {

struct Finding {
  bool isError;
  const char *code;
  std::string message;
};

bool isNamed(const ordered_json &json, const char *className) {
  return json.is_object() && json.contains("class_name") && json["class_name"] == className;
}

/// What is wrong with one policy of the file, if anything.
std::optional<Finding> checkPolicy(const std::string &where, const ordered_json &json, bool isDefault) {
  if (isDefault && isNamed(json, "DTypePolicyMap"))
    return Finding{true, "P015", fmt::format("{}: a map cannot be the default", where)};
  try {
    if (json.is_string())
      (void)dtype_policies::get(PolicyArg(json.get<std::string>(), Where{}));
    else if (json.is_object())
      (void)dtype_policies::deserialize(ConfigAccess::make(json));
    else if (!json.is_null())
      return Finding{true, "P006", fmt::format("{}: {} is not a policy", where, json.dump())};
    return std::nullopt;
  } catch (const Error &error) {
    try {
      if (json.is_string()) {
        (void)DTypePolicy(json.get<std::string>(), Where{});
        return Finding{true, "P013",
                       fmt::format("{}: '{}' is read as a quantization mode; write the policy as an object", where,
                                   json.get<std::string>())};
      }
    } catch (const Error &) { // no plain name either
    }
    const bool int8OverFloat16 = error.message().find("doesn't work well with compute_dtype") != std::string::npos;
    return Finding{true, int8OverFloat16 ? "P007" : "P006", fmt::format("{}: {}", where, error.message())};
  }
}

std::vector<Finding> check(const ordered_json &config) {
  std::vector<Finding> findings;
  const auto note = [&](std::optional<Finding> finding) {
    if (finding)
      findings.push_back(std::move(*finding));
  };
  const ordered_json fallback = config.value("default_policy", ordered_json());
  note(checkPolicy("the default", fallback, true));
  if (fallback.is_null() && !config["policy_map"].empty())
    findings.push_back({false, "P012",
                        "the default is null: Keras forgets the entries' names when it writes such a "
                        "map, and takes the reader's global policy for them"});
  for (const auto &[key, value] : config["policy_map"].items()) {
    try {
      if (!PathPattern::isLiteral(key))
        (void)PathPattern(key);
    } catch (const Error &error) {
      findings.push_back({true, "P003", error.message()});
    }
    note(checkPolicy(fmt::format("'{}'", key), value, false));
  }
  return findings;
}

} // namespace

ExitCode lint(const Arguments &arguments) {
  const Config file = parseFile(arguments.subject);
  const ordered_json &json = ConfigAccess::json(file);
  const auto fail = [&](const std::string &what) {
    throw Error(ErrorKind::value_error, fmt::format("{}: {}", arguments.subject, what));
  };
  if (!isNamed(json, "DTypePolicyMap") || !json.contains("config") || !json["config"].is_object())
    fail("expected a DTypePolicyMap as Keras writes it: {\"class_name\", \"config\"}");
  const ordered_json &config = json["config"];
  if (!config.contains("policy_map") || !config["policy_map"].is_object())
    fail("the config has no object 'policy_map'");
  const PolicyScope global(PolicyArg(arguments.global, Where{}));
  const std::vector<Finding> findings = check(config);
  bool clean = true;
  ordered_json list = ordered_json::array();
  for (const auto &[isError, code, message] : findings) {
    clean &= !isError && !arguments.strict;
    list.push_back({{"code", code}, {"severity", isError ? "error" : "warning"}, {"message", message}});
    if (!arguments.json && !(arguments.quiet && !isError))
      fmt::print("{}: {} {}: {}\n", arguments.subject, isError ? "error" : "warning", code, message);
  }
  if (arguments.json) {
    ordered_json result = jsonHead("lint", clean ? "ok" : "no");
    result["file"] = arguments.subject;
    result["findings"] = std::move(list);
    printJson(result);
  }
  return clean ? yes : no;
}

} // namespace halftone::tools
