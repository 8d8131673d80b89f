// convert: writes a policy map with all defaults spelled out, or the Keras 3 policy for a TensorFlow 2.0 name.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "halftone/Legacy.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/WriteFile.h"
#include "runtime/policy/PolicyMapRep.h"
#include "tools/shell/OptionRules.h"
#include <filesystem>
#include <fmt/format.h>

using nlohmann::ordered_json;

namespace halftone::tools {
namespace {

/// The Keras 3 policy with the same dtypes; nullopt if there is none.
std::optional<DTypePolicy> successorOf(const std::string &name) {
  const legacy::Policy policy(name, {}, Where{});
  const std::optional<DType> compute = policy.compute_dtype(), variable = policy.variable_dtype();
  if (!compute)
    return std::nullopt;
  if (compute == variable)
    return DTypePolicy(halftone::name(*compute), Where{});
  for (const char *mixed : {"mixed_float16", "mixed_bfloat16"})
    if (const DTypePolicy candidate{mixed}; candidate.compute_dtype() == compute && variable == DType::float32)
      return candidate;
  return std::nullopt;
}

ExitCode convertName(const Arguments &arguments) {
  const Branch branches[] = {{"convert of a name", true, {"--global", "--verbose"}}};
  if (const std::string fault = unreadOption(branches, arguments.given); !fault.empty())
    throw UsageError(fault);
  const bool toStdout = arguments.output == "-";
  const std::optional<DTypePolicy> policy = successorOf(arguments.subject);
  if (!policy)
    printError("halftone-policy: Keras 3 has no equivalent of '{}'\n", arguments.subject);
  ordered_json result = jsonHead("convert", policy ? "ok" : "no");
  result["from"] = arguments.subject;
  if (!toStdout)
    result["to"] = arguments.output;
  result["policy"] = policy ? ConfigAccess::json(dtype_policies::serialize(*policy)) : ordered_json();
  if (policy && !toStdout)
    writeFile(arguments.output, {dtype_policies::serialize(*policy).dump() + "\n"}).orThrow();
  if (arguments.json)
    printJson(result);
  else if (policy && toStdout && !arguments.quiet)
    print("{}\n", dtype_policies::serialize(*policy).dump());
  return policy ? yes : no;
}

} // namespace

ExitCode convert(const Arguments &arguments) {
  if (!arguments.subject.ends_with(".json")) {
    if (arguments.subject.find_first_of("./") == std::string::npos)
      return convertName(arguments);
    std::error_code ignored;
    throw Error(ErrorKind::io_error, arguments.subject + (std::filesystem::exists(arguments.subject, ignored)
                                                              ? ": expected a file whose name ends in .json"
                                                              : ": no such file, and no policy has this name"));
  }
  const PolicyScope global(PolicyArg(arguments.global, Where{}));
  const DTypePolicyMap map = DTypePolicyMap::load(arguments.subject);
  ordered_json object = ConfigAccess::json(dtype_policies::serialize(map));
  object["config"] = ConfigAccess::json(dynamic_cast<const PolicyMapRep &>(PolicyAccess::rep(map)).explicitConfig());
  tell(arguments, fmt::format("{}: {} keys, default '{}'", arguments.subject, map.size(), map.default_policy().name()));
  const bool toStdout = arguments.output == "-";
  if (!toStdout)
    map.save(arguments.output);
  if (arguments.json) {
    ordered_json result = jsonHead("convert", "ok");
    result["from"] = arguments.subject;
    result["to"] = arguments.output;
    result["map"] = std::move(object);
    printJson(result);
  } else if (toStdout) {
    print("{}\n", object.dump(2));
  }
  return yes;
}

} // namespace halftone::tools
