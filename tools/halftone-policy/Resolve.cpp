// resolve: prints the policy of each layer of a model and the key that decides it.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "Decision.h"
#include "runtime/base/PrintableText.h"
#include "runtime/policy/PathPattern.h"
#include <algorithm>
#include <fmt/format.h>

using nlohmann::ordered_json;

namespace halftone::tools {
namespace {

void printTable(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += fmt::format("{:<{}}", row[i], i + 1 < row.size() ? widths[i] + 2 : 0);
    print("{}\n", line);
  }
}

void printText(const Resolution &resolution, const std::string &noKey) {
  std::vector<std::vector<std::string>> rows{{"layer", "class", "policy", "compute", "variable", "key"}};
  for (const Decision &layer : resolution.layers)
    rows.push_back({printable(layer.path), printable(layer.className), layer.policy.name(),
                    std::string(name(layer.compute)), std::string(name(layer.variable)), layer.key.value_or(noKey)});
  printTable(rows);
  print("The loss is {}scaled.\n", resolution.lossScaling ? "" : "not ");
  for (const std::string &key : resolution.unusedKeys)
    print("Unused key: {}\n", key);
}

void printObject(const Resolution &resolution) {
  ordered_json result = jsonHead("resolve", "ok");
  result["loss_scaling"] = resolution.lossScaling;
  result["unused_keys"] = resolution.unusedKeys;
  result["layers"] = ordered_json::array();
  for (const Decision &layer : resolution.layers)
    result["layers"].push_back({{"path", layer.path},
                                {"class", layer.className},
                                {"key", layer.key ? ordered_json(*layer.key) : ordered_json()},
                                {"policy", layer.policy.name()},
                                {"compute", name(layer.compute)},
                                {"variable", name(layer.variable)}});
  printJson(result);
}

} // namespace

ExitCode resolve(const Arguments &arguments) {
  const PolicyScope global(PolicyArg(arguments.global, Where{}));
  PolicyChoice choice;
  if (!arguments.policy.empty())
    choice.policy = PolicyArg(arguments.policy, Where{}).get();
  if (!arguments.policyMap.empty())
    choice.map = DTypePolicyMap::load(arguments.policyMap);
  const RecordedModel model = readModel(arguments.subject);
  tell(arguments, fmt::format("{}: {}", arguments.subject, model.description));
  Resolution resolution = resolvePolicies(model, choice);
  if (!arguments.path.empty()) {
    const PathPattern pattern(arguments.path);
    std::erase_if(resolution.layers, [&](const Decision &layer) { return !pattern.matches(layer.path); });
  }
  if (arguments.json)
    printObject(resolution);
  else if (!arguments.quiet)
    printText(resolution, choice.policy ? "(--policy)" : choice.map ? "(default)" : "-");
  return yes;
}

} // namespace halftone::tools
