// CSVLogger: one row per epoch, written at the end of the epoch.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProcessRun.h"
#include "frontend/callbacks/Monitor.h"
#include "halftone/Callbacks.h"
#include "halftone/Error.h"
#include "runtime/base/WriteFile.h"
#include "runtime/policy/PythonText.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace halftone::callbacks {

struct CSVLogger::State {
  GrowingFile file;
  std::vector<std::string> keys;
  bool header = true;
};

/// The columns in Keras's order, sorted, including those of epochs with validation.
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

CSVLogger::CSVLogger(std::string filename, CSVLoggerArgs args)
    : filename_(std::move(filename)), args_(args), state_(std::make_shared<State>()) {}

void CSVLogger::on_train_begin(const Logs &) {
  if (!detail::isFirstProcess())
    return;
  std::error_code ignored;
  bool present = args_.append && std::filesystem::is_regular_file(filename_, ignored) && // pipes have no size
                 std::filesystem::file_size(filename_, ignored) > 0;
  State &state = detail::held(state_);
  state.file = GrowingFile::open(filename_, args_.append).valueOrThrow(); // closes a file that a failed run left open
  state.header = !present;
  state.keys.clear();
}

void CSVLogger::on_epoch_end(int64_t epoch, Logs &logs) {
  if (!detail::isFirstProcess())
    return;
  State &state = detail::held(state_);
  std::string text;
  if (state.keys.empty()) {
    state.keys = columns(logs);
    if (state.header) {
      text += "epoch";
      for (const std::string &key : state.keys)
        text += args_.separator + quoted(key, args_.separator);
      text += "\n";
    }
  }
  text += fmt::to_string(epoch);
  for (const std::string &key : state.keys)
    text += args_.separator + (logs.contains(key) ? pythonRepr(logs[key]) : "NA");
  state.file.append(text + "\n").orThrow();
}

void CSVLogger::on_train_end(const Logs &) { detail::held(state_).file = GrowingFile(); }

} // namespace halftone::callbacks
