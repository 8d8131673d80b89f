// ModelCheckpoint: saves the model during training.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProcessRun.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/callbacks/Monitor.h"
#include "frontend/callbacks/PythonFormat.h"
#include "frontend/io/SavedVariables.h"
#include "frontend/io/WeightsFile.h"
#include "halftone/Error.h"
#include "halftone/Saving.h"
#include "runtime/base/OpenFile.h"
#include <filesystem>
#include <fmt/format.h>
#include <functional>

namespace halftone::callbacks {

struct ModelCheckpoint::State {
  explicit State(const ModelCheckpointArgs &args)
      : monitor(args.monitor, args.mode, 0.0), best(args.initial_value_threshold) {}
  detail::Monitor monitor;
  std::optional<double> best;
  int64_t epoch = 0, batchesSinceSave = 0, lastBatch = -1;
};

namespace {

/// The text of a field such as "epoch:02d", looked up in the counts of fit() and in the logs.
std::string fieldText(const std::string &field, const Logs &counts, const Logs &logs) {
  const size_t colon = field.find(':');
  const std::string name = field.substr(0, colon), format = colon == field.npos ? "" : field.substr(colon + 1);
  return counts.contains(name) ? detail::pythonFormat(static_cast<int64_t>(counts[name]), format)
                               : detail::pythonFormat(logs[name], format);
}

/// Python's str.format() with named fields: {name}, {name:format}, {{ and }}.
std::string fileName(const std::string &pattern, const Logs &counts, const Logs &logs) {
  std::string text;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if ((c == '{' || c == '}') && at + 1 < pattern.size() && pattern[at + 1] == c) {
      text += c;
      ++at;
    } else if (c == '{') {
      const size_t end = pattern.find('}', at);
      if (end == pattern.npos)
        throw Error(ErrorKind::value_error, "expected '}' before end of string");
      text += fieldText(pattern.substr(at + 1, end - at - 1), counts, logs);
      at = end;
    } else if (c == '}') {
      throw Error(ErrorKind::value_error, "Single '}' encountered in format string");
    } else {
      text += c;
    }
  }
  return text;
}

std::string fileNameOrThrow(const std::string &pattern, const Logs &counts, const Logs &logs) {
  try {
    return fileName(pattern, counts, logs);
  } catch (const Error &error) {
    throw Error(error.kind(),
                fmt::format("Failed to format this callback filepath: \"{}\". Reason: {}", pattern, error.message()));
  }
}

} // namespace

ModelCheckpoint::ModelCheckpoint(std::string filepath, ModelCheckpointArgs args)
    : filepath_(std::move(filepath)), args_(std::move(args)), state_(std::make_shared<State>(args_)) {
  checkPath(filepath_).orThrow();
  if (args_.save_freq && *args_.save_freq < 1)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Unrecognized save_freq: {}. Expected a positive number of batches, or none for every epoch.",
                    *args_.save_freq));
  if (args_.save_weights_only)
    (void)detail::writtenFormatOf(filepath_);
  else if (!filepath_.ends_with(".keras") && !filepath_.ends_with(".ckpt") && !filepath_.ends_with(".safetensors"))
    throw Error(
        ErrorKind::value_error,
        fmt::format("The filepath provided must end in `.keras` (the model), or in `.ckpt` or `.safetensors` (a "
                    "Checkpoint). Received: filepath={}",
                    filepath_));
}

void ModelCheckpoint::on_epoch_begin(int64_t epoch, const Logs &) { detail::held(state_).epoch = epoch; }

void ModelCheckpoint::on_train_batch_end(int64_t batch, const Logs &logs) {
  if (!args_.save_freq)
    return;
  State &state = detail::held(state_);
  state.batchesSinceSave += batch <= state.lastBatch ? batch + 1 : batch - state.lastBatch; // restarts each epoch
  state.lastBatch = batch;
  if (state.batchesSinceSave < *args_.save_freq)
    return;
  state.batchesSinceSave = 0;
  save(state.epoch, batch, logs);
}

void ModelCheckpoint::on_epoch_end(int64_t epoch, Logs &logs) {
  if (!args_.save_freq)
    save(epoch, std::nullopt, logs);
}

void ModelCheckpoint::save(int64_t epoch, std::optional<int64_t> batch, const Logs &logs) {
  State &state = detail::held(state_);
  Logs counts;
  counts.set("epoch", static_cast<double>(epoch + 1));
  if (batch)
    counts.set("batch", static_cast<double>(*batch + 1));
  const std::string path = fileNameOrThrow(filepath_, counts, logs);
  const auto say = [&](const std::string &text) {
    if (args_.verbose > 0)
      detail::writeOutput(fmt::format("\nEpoch {}: {}\n", epoch + 1, text));
  };
  std::optional<double> value;
  if (args_.save_best_only)
    value = state.monitor.valueIn(logs, model(), "Saving the best model");
  const std::string best = state.best ? fmt::format("{:.5f}", *state.best) : "None";
  if (value && !state.monitor.isBetter(*value, state.best))
    return say(fmt::format("{} did not improve from {}", args_.monitor, best));
  say(value ? fmt::format("{} improved from {} to {:.5f}, saving model to {}", args_.monitor, best, *value, path)
            : fmt::format("saving model to {}", path));
  if (detail::isStateSplit(model())) // all processes hold a part of the state then
    write(path);
  else
    detail::writeInFirst([&] { write(path); });
  if (value)
    state.best = value;
}

void ModelCheckpoint::write(const std::string &path) const {
  std::error_code ignored; // if the folder is missing, writing the file reports it
  if (const std::filesystem::path folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, ignored);
  if (args_.save_weights_only)
    model().save_weights(path);
  else if (path.ends_with(".keras"))
    model().save(path);
  else
    Checkpoint(model()).save(path);
}

} // namespace halftone::callbacks
