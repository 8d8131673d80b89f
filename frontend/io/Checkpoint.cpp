// Checkpoints: safetensors files whose metadata hold the counters, the sequence of seeds and checksums.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/OptimizerImpl.h"
#include "frontend/RandomSeeds.h"
#include "frontend/io/RefuseFile.h"
#include "frontend/io/SavedVariables.h"
#include "halftone/Saving.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <charconv>
#include <limits>
#include <locale>
#include <sstream>
#include <zlib.h>

namespace halftone {
using namespace detail;

namespace {

// Keys of the metadata.
constexpr const char *formatKey = "format", *versionKey = "version", *epochKey = "epoch", *stepKey = "step",
                     *seedsKey = "seed_sequence", *sumKey = "crc32";
constexpr const char *formatName = "halftone checkpoint", *formatVersion = "1";
std::string sumKeyOf(const std::string &name) { return "crc32:" + name; }

uint32_t checksum(uint32_t start, const void *data, size_t size) {
  return static_cast<uint32_t>(crc32_z(start, static_cast<const Bytef *>(data), size));
}
std::string checksumOf(const Tensor &tensor) {
  return fmt::format("{:08x}",
                     checksum(0, TensorAccess::data(tensor), static_cast<size_t>(TensorAccess::bytes(tensor))));
}
/// Of the metadata but the checksum itself, and of the tensors' names, dtypes and shapes.
std::string checksumOfHeader(const Safetensors &contents) {
  uint32_t sum = 0;
  const auto add = [&](std::string_view text) {
    const uint64_t size = text.size(); // so that no text can pass for two
    sum = checksum(checksum(sum, &size, sizeof size), text.data(), text.size());
  };
  for (const auto &[key, value] : contents.metadata)
    if (key != sumKey) {
      add(key);
      add(value);
    }
  for (const auto &[name, tensor] : contents.tensors) {
    add(name);
    add(safetensorsName(tensor.dtype()));
    add(tensor.shape().str());
  }
  return fmt::format("{:08x}", sum);
}

std::string textOf(const std::mt19937_64 &seeds) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << seeds;
  return text.str();
}

void addPolicies(const Layer &layer, std::map<std::string, std::string> &metadata) {
  if (!layer.path().empty() && !layer.impl()->transparent)
    metadata.emplace("policy:" + layer.path(), layer.impl()->resolvedPolicy().name());
  for (const Layer &child : layer.layers())
    addPolicies(child, metadata);
}

/// A file whose checksums are right.
struct CheckpointFile {
  explicit CheckpointFile(const std::string &path) : path(path), contents(readSafetensors(path)) {
    if (text(formatKey) != formatName)
      refuseFile(path, "a checkpoint", "another safetensors file (load_weights() and load_safetensors() read those)");
    if (text(versionKey) != formatVersion)
      refuseFile(path, fmt::format("version {} of the format", formatVersion), quotedName(text(versionKey)));
    if (text(sumKey) != checksumOfHeader(contents))
      refuseFile(path, "a header with its checksum", "a damaged one");
    for (const auto &[name, tensor] : contents.tensors)
      if (text(sumKeyOf(name)) != checksumOf(tensor))
        refuseFile(path, fmt::format("the checksum of {}", quotedName(name)), "damaged data");
    epoch = count(epochKey);
    step = count(stepKey);
    std::istringstream state(text(seedsKey));
    state.imbue(std::locale::classic());
    state >> seeds;
    if (!state)
      refuseFile(path, "the state of a sequence of seeds", "another text");
  }

  std::string path;
  Safetensors contents;
  int64_t epoch = 0, step = 0;
  std::mt19937_64 seeds;

private:
  std::string text(const std::string &key) const {
    const auto found = contents.metadata.find(key);
    if (found == contents.metadata.end())
      refuseFile(path, fmt::format("a checkpoint, with the metadata {}", quotedName(key)), "none");
    return found->second;
  }
  int64_t count(const char *key) const {
    const std::string digits = text(key);
    int64_t value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0)
      refuseFile(path, fmt::format("a count as {}", quotedName(key)), quotedName(digits));
    return value;
  }
};

/// The values that a file gives to the variables of a model.
struct Restoring {
  std::vector<VariableHandle> variables;
  std::vector<Tensor> values;
  std::vector<std::string> converted;
};

/// Adds a new loss scale's values to those of the file.
void beginLossScale(const SavedVariable &saved, const Optimizer &optimizer, Restoring &restoring) {
  for (const auto &[variable, value] : initialLossScale(asLossScaleOptimizer(optimizer)))
    if (variable.impl() == saved.variable.impl()) {
      restoring.variables.push_back(variable.impl()->memory);
      restoring.values.push_back(value);
      restoring.converted.push_back(fmt::format("{}: begins anew, the file has none", saved.name));
    }
}

/// value_error that lists everything that does not fit.
Restoring valuesFor(const Model &model, const CompiledModel *compiled, const CheckpointFile &file) {
  const std::vector<SavedVariable> variables = savedState(model, compiled);
  const MatchedValues matched = matchValues(file.contents, variables);
  Restoring restoring;
  std::vector<std::string> problems;
  for (size_t i = 0; i < variables.size(); ++i) {
    const SavedVariable &saved = variables[i];
    const NamedTensor *value = matched.values[i];
    if (!value && saved.kind == SavedKind::loss_scale) {
      beginLossScale(saved, compiled->optimizer, restoring);
      continue;
    }
    const std::string problem =
        value ? misfit(saved, *value) : fmt::format("the file has no value for {}", quotedName(saved.name));
    if (!problem.empty()) {
      problems.push_back(problem);
      continue;
    }
    restoring.variables.push_back(saved.variable.impl()->memory);
    restoring.values.push_back(fitted(saved, *value, restoring.converted));
  }
  for (const NamedTensor *value : matched.left)
    if (kindIn(file.contents, value->first) == SavedKind::loss_scale)
      restoring.converted.push_back(
          fmt::format("{}: not used, the model's optimizer does not scale the loss", value->first));
    else
      problems.push_back(fmt::format("the model has no variable for {}{}", quotedName(value->first),
                                     compiled ? "" : ", since it is not compiled"));
  if (!problems.empty())
    throw Error(
        ErrorKind::value_error,
        fmt::format("Cannot restore '{}': {}. load_weights() reads the weights alone.", file.path, listed(problems)),
        model.name());
  return restoring;
}

} // namespace

Checkpoint::Checkpoint(const Model &model) : model_(model) {}

void Checkpoint::save(const std::string &path) const {
  requireBuilt(model_, "Checkpoint::save()");
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model_);
  const std::vector<SavedVariable> variables = savedState(model_, compiled.get());
  std::vector<VariableHandle> handles;
  for (const SavedVariable &saved : variables)
    handles.push_back(saved.variable.impl()->memory);
  std::vector<Tensor> values = readTogether(handles).valueOrThrow();
  Safetensors contents{.metadata = {{formatKey, formatName},
                                    {versionKey, formatVersion},
                                    {epochKey, std::to_string(stateOf(model_).finishedEpochs.load())},
                                    {stepKey, std::to_string(compiled ? compiled->optimizer.iterations() : 0)},
                                    {seedsKey, textOf(seedSequence())}}};
  addPolicies(model_, contents.metadata);
  for (size_t i = 0; i < variables.size(); ++i) {
    contents.metadata.emplace(classPathKey(variables[i].name), variables[i].classPath);
    contents.metadata.emplace(sumKeyOf(variables[i].name), checksumOf(values[i]));
    contents.tensors.emplace_back(variables[i].name, std::move(values[i]));
  }
  contents.metadata.emplace(sumKey, checksumOfHeader(contents));
  writeSafetensors(path, contents);
}

Checkpoint::Restored Checkpoint::restore(const std::string &path) const {
  requireBuilt(model_, "Checkpoint::restore()");
  const CheckpointFile file(path);
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model_);
  Restoring restoring = valuesFor(model_, compiled.get(), file);
  writeTogether(restoring.variables, restoring.values).orThrow();
  setSeedSequence(file.seeds);
  stateOf(model_).finishedEpochs = file.epoch;
  return {file.epoch, file.step, std::move(restoring.converted)};
}

} // namespace halftone
