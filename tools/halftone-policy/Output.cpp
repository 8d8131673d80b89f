// Prints results and errors.
// SPDX-License-Identifier: Apache-2.0
#include "Output.h"
#include "halftone/Version.h"
#include <cstdio>
#include <fmt/format.h>

using nlohmann::ordered_json;

namespace halftone::tools {

static ordered_json errorObject(std::string_view kind, std::string_view message) {
  return {{"kind", kind}, {"message", message}, {"layer", nullptr}, {"at", nullptr}, {"diagnostics", nullptr}};
}

static void printErrorObject(std::string_view command, ordered_json error) {
  ordered_json head = jsonHead(command, "error");
  head["error"] = std::move(error);
  printJson(head);
}

ordered_json jsonHead(std::string_view command, std::string_view status) {
  return {{"tool", "halftone-policy"}, {"command", command}, {"version", version()}, {"schema", 1}, {"status", status}};
}

void printJson(const ordered_json &object) {
  fmt::print("{}\n", object.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

ExitCode reportError(const Error &error, std::string_view command, bool json) {
  fmt::print(stderr, "halftone-policy: {}\n", error.what());
  if (json)
    printErrorObject(command, errorObject(name(error.kind()), error.message()));
  return error.kind() == ErrorKind::internal_error ? bug : badInput;
}

ExitCode reportUsageError(std::string_view message, std::string_view command, bool json) {
  fmt::print(stderr, "halftone-policy: {}\nTry 'halftone-policy --help'.\n", message);
  if (json)
    printErrorObject(command, errorObject("UsageError", message));
  return badUsage;
}

} // namespace halftone::tools
