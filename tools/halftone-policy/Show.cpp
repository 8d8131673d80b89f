// show: prints the meaning of a policy's name, or the list of all names.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "halftone/Policy.h"
#include <fmt/format.h>

using nlohmann::ordered_json;

namespace halftone::tools {
namespace {

constexpr const char *plainNames[] = {"mixed_float16", "mixed_bfloat16", "float16",     "bfloat16",  "float32",
                                      "float64",       "float8_e4m3fn",  "float8_e5m2", "int8",      "int16",
                                      "int32",         "int64",          "uint8",       "uint16",    "uint32",
                                      "uint64",        "bool",           "string",      "complex64", "complex128"};
constexpr const char *quantizedNames[] = {"int8_from_mixed_bfloat16",       "int4_from_mixed_bfloat16",
                                          "int4/128_from_mixed_bfloat16",   "float8_from_mixed_bfloat16",
                                          "gptq/4/128_from_mixed_bfloat16", "awq/4/128_from_mixed_bfloat16"};

ordered_json describe(const DTypePolicy &policy) {
  const std::optional<std::string> mode = policy.quantization_mode();
  return {{"name", policy.name()},
          {"class", policy.class_name()},
          {"compute", name(policy.compute_dtype())},
          {"variable", name(policy.variable_dtype())},
          {"mode", mode ? ordered_json(*mode) : ordered_json()},
          {"keras", ordered_json::parse(dtype_policies::serialize(policy).dump())}};
}

void printRow(const DTypePolicy &policy) {
  print("{:<32} {:<14} {:<14} {}\n", policy.name(), name(policy.compute_dtype()), name(policy.variable_dtype()),
        policy.quantization_mode().value_or("-"));
}

} // namespace

ExitCode show(const Arguments &arguments) {
  ordered_json result = jsonHead("show", "ok");
  if (!arguments.subject.empty()) {
    // A plain dtype such as int8 is also the name of a policy, though a layer would parse the string as a mode.
    const bool plain = std::any_of(std::begin(plainNames), std::end(plainNames),
                                   [&](const char *name) { return arguments.subject == name; });
    const DTypePolicy policy =
        plain ? DTypePolicy(arguments.subject, Where{}) : dtype_policies::get(PolicyArg(arguments.subject, Where{}));
    if (arguments.json) {
      result["policy"] = describe(policy);
      printJson(result);
    } else if (!arguments.quiet) {
      print("{}\n  compute   {}\n  variable  {}\n  mode      {}\n  keras     {}\n", policy.repr(),
            name(policy.compute_dtype()), name(policy.variable_dtype()), policy.quantization_mode().value_or("-"),
            dtype_policies::serialize(policy).dump());
    }
    return yes;
  }
  result["policies"] = ordered_json::array();
  if (!arguments.json && !arguments.quiet)
    print("{:<32} {:<14} {:<14} {}\n", "name", "compute", "variable", "mode");
  const auto add = [&](const DTypePolicy &policy) {
    if (arguments.json)
      result["policies"].push_back(describe(policy));
    else if (!arguments.quiet)
      printRow(policy);
  };
  for (const char *name : plainNames)
    add(DTypePolicy(name));
  for (const char *name : quantizedNames)
    add(dtype_policies::get(name));
  if (arguments.json)
    printJson(result);
  else if (!arguments.quiet)
    print("Each mode combines with every source above, except int8 with a source that computes in float16: "
          "<mode>_from_<source>.\nModes: int8, float8, int4, int4/<block size>, gptq/<2|3|4|8>/<group "
          "size>, awq/4/<group size>.\n");
  return yes;
}

} // namespace halftone::tools
