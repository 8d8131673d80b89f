// Prints results and errors.
// SPDX-License-Identifier: Apache-2.0
#include "Output.h"
#include "Commands.h"
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
  writeOut(object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

void tell(const Arguments &arguments, const std::string &what) {
  if (arguments.verbose)
    printError("halftone-policy: {}\n", what);
}

ExitCode reportError(const Error &error, std::string_view command, bool json) {
  printError("halftone-policy: {}\n", error.what());
  if (const std::string diagnostics = error.diagnostics(); !diagnostics.empty())
    printError("{}{}", diagnostics, diagnostics.ends_with('\n') ? "" : "\n");
  if (json) {
    ordered_json object = errorObject(name(error.kind()), error.message());
    if (!error.layer_path().empty())
      object["layer"] = error.layer_path();
    if (const Where where = error.where(); *where.file)
      object["at"] = fmt::format("{}:{}", where.file, where.line);
    if (!error.diagnostics().empty())
      object["diagnostics"] = error.diagnostics();
    printErrorObject(command, std::move(object));
  }
  return error.kind() == ErrorKind::internal_error ? bug
         : error.kind() == ErrorKind::device_error ? deviceMissing
                                                   : badInput;
}

ExitCode reportUsageError(std::string_view message, std::string_view command, bool json) {
  printError("halftone-policy: {}\nTry 'halftone-policy --help'.\n", message);
  if (json)
    printErrorObject(command, errorObject("UsageError", message));
  return badUsage;
}

} // namespace halftone::tools
