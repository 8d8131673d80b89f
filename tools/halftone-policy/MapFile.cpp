// Reads a map entry by entry, so that one mistake does not hide the next.
// SPDX-License-Identifier: Apache-2.0
#include "MapFile.h"
#include "runtime/base/ConfigAccess.h"
#include "tools/shell/JsonFile.h"
#include <algorithm>
#include <fmt/format.h>

using nlohmann::ordered_json;

namespace halftone::tools {
namespace {

bool isNamed(const ordered_json &json, const char *className) {
  return json.is_object() && json.contains("class_name") && json["class_name"] == className;
}

/// The policy at `where` in the file. Adds a finding if there is none.
std::optional<DTypePolicy> policyAt(const std::string &where, const ordered_json &json, bool isDefault,
                                    std::vector<Finding> &findings) {
  const auto fail = [&](const char *code, const std::string &message) {
    findings.push_back({true, code, fmt::format("{}: {}", where, message)});
    return std::nullopt;
  };
  if (isDefault && isNamed(json, "DTypePolicyMap"))
    return fail("P015", "a map cannot be the default");
  try {
    if (json.is_string())
      return PolicyArg(json.get<std::string>(), Where{}).get();
    if (json.is_object())
      return dtype_policies::deserialize(ConfigAccess::make(json));
    if (!json.is_null())
      return fail("P006", json.dump() + " is not a policy");
    return dtype_policy();
  } catch (const Error &error) {
    try {
      if (json.is_string()) {
        (void)DTypePolicy(json.get<std::string>(), Where{});
        return fail("P013", fmt::format("'{}' is read as a quantization mode; write the policy as an object",
                                        json.get<std::string>()));
      }
    } catch (const Error &) { // not the name of a dtype either
    }
    const bool int8OverFloat16 = error.message().find("doesn't work well with compute_dtype") != std::string::npos;
    return fail(int8OverFloat16 ? "P007" : "P006", error.message());
  }
}

} // namespace

void MapFile::add(MapEntry entry) {
  const size_t index = entries.size();
  indices.emplace(entry.key, index);
  if (!entry.isLiteral && entry.pattern) {
    if (const std::optional<Ends> ends = endsOf(entry.key))
      patterns.add(*ends, index);
    else
      otherPatterns.push_back(index);
  }
  entries.push_back(std::move(entry));
}

const MapEntry *MapFile::find(const std::string &key) const {
  const auto found = indices.find(key);
  return found == indices.end() ? nullptr : &entries[found->second];
}

std::vector<const MapEntry *> MapFile::matching(const std::string &path) const {
  if (const MapEntry *exact = find(path))
    return {exact};
  return patternsMatching(path);
}

std::vector<const MapEntry *> MapFile::patternsMatching(const std::string &path) const {
  std::vector<size_t> candidates = patterns.within(path, path);
  candidates.insert(candidates.end(), otherPatterns.begin(), otherPatterns.end());
  std::ranges::sort(candidates);
  std::vector<const MapEntry *> found;
  for (size_t index : candidates)
    if (entries[index].pattern->matches(path))
      found.push_back(&entries[index]);
  return found;
}

MapFile readMapFile(const std::string &path) {
  const Config file = parseFile(path);
  const ordered_json &json = ConfigAccess::json(file);
  const auto fail = [&](const std::string &what) {
    throw Error(ErrorKind::value_error, fmt::format("{}: {}", path, what));
  };
  if (!isNamed(json, "DTypePolicyMap") || !json.contains("config") || !json["config"].is_object())
    fail("expected a DTypePolicyMap as Keras writes it: {\"class_name\", \"config\"}");
  const ordered_json &config = json["config"];
  if (!config.contains("policy_map") || !config["policy_map"].is_object())
    fail("the config has no object 'policy_map'");
  MapFile map;
  const ordered_json fallback = config.value("default_policy", ordered_json());
  map.fallback = policyAt("the default", fallback, true, map.findings);
  if (fallback.is_null() && !config["policy_map"].empty())
    map.findings.push_back({false, "P012",
                            "the default is null: Keras drops the entries' names when it writes such a map, and uses "
                            "the reader's global policy for them"});
  for (const auto &[key, value] : config["policy_map"].items()) {
    MapEntry entry{key, PathPattern::isLiteral(key), std::nullopt, std::nullopt};
    try {
      entry.pattern.emplace(key);
    } catch (const Error &error) {
      map.findings.push_back({true, "P003", error.message()});
    }
    entry.policy = policyAt(fmt::format("'{}'", key), value, false, map.findings);
    map.add(std::move(entry));
  }
  return map;
}

} // namespace halftone::tools
