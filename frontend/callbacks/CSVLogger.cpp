// CSVLogger: one row per epoch, written when the epoch ends.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProcessRun.h"
#include "frontend/callbacks/Monitor.h"
#include "halftone/Callbacks.h"
#include "halftone/Error.h"
#include "runtime/policy/PythonText.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace halftone::callbacks {

struct CSVLogger::State {
  std::ofstream file;
  std::vector<std::string> keys;
  bool header = true;
};

/// The columns, as Keras orders them: sorted, with those that an epoch with validation will have.
static std::vector<std::string> columns(const Logs &logs) {
  std::vector<std::string> keys;
  for (const auto &[name, value] : logs)
    keys.push_back(name);
  std::sort(keys.begin(), keys.end());
  auto isValidation = [](const std::string &key) { return key.starts_with("val_"); };
  if (std::none_of(keys.begin(), keys.end(), isValidation))
    for (size_t i = 0, count = keys.size(); i < count; ++i)
      keys.push_back("val_" + keys[i]);
  return keys;
}

static std::string quoted(const std::string &text, char separator) {
  if (text.find_first_of(std::string("\"\r\n") + separator) == std::string::npos)
    return text;
  std::string result = "\"";
  for (char c : text)
    result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

/// ": No such file or directory", if the system gave a reason since errno was set to 0.
static std::string reason() { return errno ? fmt::format(": {}", std::strerror(errno)) : ""; }

CSVLogger::CSVLogger(std::string filename, CSVLoggerArgs args)
    : filename_(std::move(filename)), args_(args), state_(std::make_shared<State>()) {}

void CSVLogger::on_train_begin(const Logs &) {
  if (!detail::isFirstProcess())
    return;
  std::error_code ignored;
  bool present = args_.append && std::filesystem::is_regular_file(filename_, ignored) && // pipes have no size
                 std::filesystem::file_size(filename_, ignored) > 0;
  detail::held(state_).file.close(); // a run that failed has not closed it
  detail::held(state_).file.clear();
  errno = 0; // a stream need not set it
  detail::held(state_).file.open(filename_, args_.append ? std::ios::app : std::ios::trunc);
  detail::held(state_).header = !present;
  detail::held(state_).keys.clear();
  if (!detail::held(state_).file)
    throw Error(ErrorKind::io_error, fmt::format("{}: cannot be opened for writing{}", filename_, reason()));
}

void CSVLogger::on_epoch_end(int64_t epoch, Logs &logs) {
  if (!detail::isFirstProcess())
    return;
  if (detail::held(state_).keys.empty()) {
    detail::held(state_).keys = columns(logs);
    if (detail::held(state_).header) {
      detail::held(state_).file << "epoch";
      for (const std::string &key : detail::held(state_).keys)
        detail::held(state_).file << args_.separator << quoted(key, args_.separator);
      detail::held(state_).file << "\n";
    }
  }
  errno = 0;
  detail::held(state_).file << epoch;
  for (const std::string &key : detail::held(state_).keys)
    detail::held(state_).file << args_.separator << (logs.contains(key) ? pythonRepr(logs[key]) : "NA");
  detail::held(state_).file << "\n" << std::flush;
  if (!detail::held(state_).file)
    throw Error(ErrorKind::io_error, fmt::format("{}: cannot be written{}", filename_, reason()));
}

void CSVLogger::on_train_end(const Logs &) { detail::held(state_).file.close(); }

} // namespace halftone::callbacks
