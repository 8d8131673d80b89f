// lint: finds mistakes in a policy map, by itself or for a model.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "KeyChecks.h"
#include "LayerChecks.h"
#include "halftone/Device.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>

using nlohmann::ordered_json;

namespace halftone::tools {
namespace {

/// The CPU target that --device implies. device_error for a missing GPU, UsageError for a name that is not a device.
std::shared_ptr<const compiler::Target> targetOf(const std::string &device) {
  const std::string_view number = device.starts_with("cuda:") ? std::string_view(device).substr(5) : "0";
  int index = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
  if (device == "cuda" ||
      (device.starts_with("cuda:") && error == std::errc() && end == number.data() + number.size() && index >= 0))
    (void)Device::cuda(index); // throws the reason
  auto target = compiler::Target::find(device == "cpu" ? "host" : device);
  if (!target.isOk())
    throw UsageError(
        fmt::format("--device: expected cpu (this machine's), cuda or a CPU target; {}", target.status().message()));
  return *std::move(target);
}

void append(std::vector<Finding> &findings, std::vector<Finding> more) {
  std::ranges::move(more, std::back_inserter(findings));
}

} // namespace

ExitCode lint(const Arguments &arguments) {
  const std::shared_ptr<const compiler::Target> target = targetOf(arguments.device);
  const PolicyScope global(PolicyArg(arguments.global, Where{}));
  MapFile map = readMapFile(arguments.subject);
  std::vector<Finding> &findings = map.findings;
  tell(arguments, fmt::format("{}: {} keys", arguments.subject, map.entries.size()));
  if (arguments.model.empty()) {
    append(findings, checkKeys(map));
  } else {
    const RecordedModel model = readModel(arguments.model);
    tell(arguments, fmt::format("{}: {}; device {}", arguments.model, model.description, target->processor));
    append(findings, checkKeys(map, model));
    append(findings, checkLayers(map, model, *target));
  }
  bool clean = true;
  ordered_json list = ordered_json::array();
  for (const auto &[isError, code, message] : findings) {
    clean &= !isError && !arguments.strict;
    list.push_back({{"code", code}, {"severity", isError ? "error" : "warning"}, {"message", message}});
    if (!arguments.json && !(arguments.quiet && !isError))
      print("{}: {} {}: {}\n", arguments.subject, isError ? "error" : "warning", code, message);
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
