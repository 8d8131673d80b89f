// Prints results and errors.
// SPDX-License-Identifier: Apache-2.0
#include "Output.h"
#include "halftone/Version.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/Convert.h"
#include "runtime/base/PrintableText.h"
#include "runtime/base/WriteFile.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>

using nlohmann::ordered_json;

namespace halftone::tools {
namespace {

constexpr int64_t shownValues = 10;

ExitCode exitCodeOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::device_error:
    return deviceMissing;
  case ErrorKind::internal_error:
    return bug;
  default:
    return badInput;
  }
}

std::string valueText(const Tensor &tensor, int64_t index) {
  const std::byte *data = TensorAccess::data(tensor);
  const DType dtype = tensor.dtype();
  if (dtype == DType::uint64) {
    uint64_t value = 0;
    std::memcpy(&value, data + index * 8, 8);
    return std::to_string(value);
  }
  if (dtype == DType::int64) {
    int64_t value = 0;
    std::memcpy(&value, data + index * 8, 8);
    return std::to_string(value);
  }
  const double value = elementAsDouble(dtype, data, index);
  return fmt::format("{:.{}g}", value, dtype == DType::float64 ? 17 : 9);
}

int64_t finiteCount(const Tensor &tensor) {
  int64_t count = 0;
  for (int64_t i = 0; i < tensor.size(); ++i)
    count += std::isfinite(elementAsDouble(tensor.dtype(), TensorAccess::data(tensor), i));
  return count;
}

ordered_json errorObject(std::string_view kind, std::string_view message) {
  return {{"kind", kind}, {"message", message}, {"layer", nullptr}, {"at", nullptr}, {"diagnostics", nullptr}};
}

} // namespace

ordered_json jsonHead(std::string_view command, std::string_view status) {
  return {{"tool", "halftone-run"}, {"command", command}, {"version", version()}, {"schema", 1}, {"status", status}};
}

void printJson(const ordered_json &object) {
  writeOut(object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

ExitCode reportError(const Error &error, std::string_view command, bool json) {
  printError("halftone-run: {}\n", error.what());
  if (std::string diagnostics = error.diagnostics(); !diagnostics.empty())
    printError("{}{}", diagnostics, diagnostics.ends_with('\n') ? "" : "\n");
  if (json) {
    ordered_json object = errorObject(name(error.kind()), error.message());
    if (!error.layer_path().empty())
      object["layer"] = error.layer_path();
    if (Where where = error.where(); *where.file)
      object["at"] = fmt::format("{}:{}", where.file, where.line);
    if (!error.diagnostics().empty())
      object["diagnostics"] = error.diagnostics();
    ordered_json head = jsonHead(command, "error");
    head["error"] = std::move(object);
    printJson(head);
  }
  return exitCodeOf(error.kind());
}

ExitCode reportUsageError(std::string_view message, std::string_view command, bool json) {
  printError("halftone-run: {}\nTry 'halftone-run --help'.\n", message);
  if (json) {
    ordered_json head = jsonHead(command, "error");
    head["error"] = errorObject("UsageError", message);
    printJson(head);
  }
  return badUsage;
}

ExitCode reportNo(std::string_view message, std::string_view command, bool json) {
  printError("halftone-run: {}\n", message);
  if (json) {
    ordered_json head = jsonHead(command, "no");
    head["message"] = message;
    printJson(head);
  }
  return no;
}

std::string summaryOf(const std::string &name, const Tensor &tensor) {
  std::string text = fmt::format("{}: {}, {} of {} finite\n ", printable(name), typeOf(tensor).str(),
                                 finiteCount(tensor), tensor.size());
  for (int64_t i = 0; i < std::min(tensor.size(), shownValues); ++i)
    text += " " + valueText(tensor, i);
  return text + (tensor.size() > shownValues ? " ...\n" : "\n");
}

ordered_json jsonOf(const std::string &name, const Tensor &tensor) {
  ordered_json first = ordered_json::array();
  for (int64_t i = 0; i < std::min(tensor.size(), shownValues); ++i) {
    const std::string text = valueText(tensor, i);
    const double value = elementAsDouble(tensor.dtype(), TensorAccess::data(tensor), i);
    if (tensor.dtype() == DType::bool_)
      first.push_back(value != 0);
    else if (!std::isfinite(value))
      first.push_back(text); // JSON has no NaN and no infinity
    else
      first.push_back(ordered_json::parse(text));
  }
  return {{"name", name},
          {"type", typeOf(tensor).str()},
          {"elements", tensor.size()},
          {"finite", finiteCount(tensor)},
          {"first", first}};
}

void writeFile(const std::string &path, std::string_view bytes) {
  if (path == "-")
    writeOut(bytes);
  else
    halftone::writeFile(path, {bytes}).orThrow();
}

} // namespace halftone::tools
