// Results on stdout, as text or as one JSON object; everything else on stderr.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include "halftone/Tensor.h"
#include "runtime/base/Status.h"
#include "tools/shell/Streams.h"
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace halftone::tools {

enum ExitCode { yes = 0, no = 1, badUsage = 2, badInput = 3, deviceMissing = 4, bug = 5 };

/// {"tool", "command", "version", "schema", "status"}
nlohmann::ordered_json jsonHead(std::string_view command, std::string_view status);
/// Prints the object on one line of stdout.
void printJson(const nlohmann::ordered_json &object);

/// Writes the error to stderr, and with --json also as an object to stdout; returns its exit code.
ExitCode reportError(const Error &error, std::string_view command, bool json);
/// Writes the message of a negative answer to stderr, and with --json also as an object with status "no" to stdout.
ExitCode reportNo(std::string_view message, std::string_view command, bool json);
ExitCode reportUsageError(std::string_view message, std::string_view command, bool json);

/// "y: 2x3xf32, 6 of 6 finite", and a line with the first elements.
std::string summaryOf(const std::string &name, const Tensor &tensor);
nlohmann::ordered_json jsonOf(const std::string &name, const Tensor &tensor);

/// Like halftone::writeFile(); "-" means stdout. Throws io_error.
void writeFile(const std::string &path, std::string_view bytes);

} // namespace halftone::tools
