// Model::save_weights and Model::load_weights.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/WeightsFile.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/io/KerasWeights.h"
#include "frontend/io/NamedWeights.h"
#include "frontend/io/SavedVariables.h"
#include "halftone/Error.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/WriteFile.h"
#include <filesystem>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

WeightsFormat detail::weightsFormatOf(const std::string &path) {
  if (path.ends_with(".safetensors"))
    return WeightsFormat::safetensors;
  if (path.ends_with(".ckpt"))
    return WeightsFormat::checkpoint;
  if (path.ends_with(".weights.h5"))
    return WeightsFormat::hdf5;
  throw Error(ErrorKind::value_error, fmt::format("A weights file must end in `.weights.h5`, in `.safetensors` or, for "
                                                  "a Checkpoint, in `.ckpt`. Received: filepath={}",
                                                  path));
}
WeightsFormat detail::writtenFormatOf(const std::string &path) {
  if (!path.ends_with(".ckpt"))
    return weightsFormatOf(path);
  throw Error(ErrorKind::value_error, fmt::format("A Checkpoint writes files that end in `.ckpt`; a weights file must "
                                                  "end in `.weights.h5` or in `.safetensors`. Received: filepath={}",
                                                  path));
}

/// Reads the values of `variables`.
static FileValues valuesFrom(const Safetensors &contents, const std::vector<SavedVariable> &variables) {
  const MatchedValues matched = matchValues(contents, variables);
  std::vector<Tensor> values;
  std::vector<std::string> problems, converted;
  for (size_t i = 0; i < variables.size(); ++i) {
    const NamedTensor *value = matched.values[i];
    const std::string problem = value ? mismatch(variables[i], *value)
                                      : fmt::format("the file has no value for {}", quotedName(variables[i].name));
    values.push_back(problem.empty() ? fitted(variables[i], *value, converted) : Tensor());
    if (!problem.empty())
      problems.push_back(problem);
  }
  for (const NamedTensor *value : matched.left)
    if (kindIn(contents, value->first) == SavedKind::layer)
      problems.push_back(fmt::format("the model has no variable for {}", quotedName(value->first)));
  return {std::move(values), std::move(problems)};
}

void detail::requireMayWrite(const std::string &path, const SaveArgs &args) {
  checkPath(path).orThrow();
  std::error_code ignored;
  if (!args.overwrite && std::filesystem::exists(path, ignored))
    throw Error(ErrorKind::io_error, fmt::format("cannot write {}: the file exists, and overwrite=false", path));
}

void Model::save_weights(const std::string &filepath, const SaveArgs &args) const {
  const Model model = *this;
  const WeightsFormat format = writtenFormatOf(filepath);
  requireBuilt(model, "save_weights()");
  requireMayWrite(filepath, args);
  if (format == WeightsFormat::hdf5) { // includes the optimizer's state
    const H5Image image = weightsImage(model, filepath);
    return writeState(model, [&] { replaceFile(filepath, image.chunks()).orThrow(); });
  }
  writeState(model, [&] {
    Safetensors contents{.metadata = {{"format", "halftone"}}};
    addValues(savedWeights(model), contents);
    writeSafetensors(filepath, contents);
  });
}

/// Writes all values that were found in one transaction. value_error for problems, unless those weights are skipped
/// with a warning.
static void writeValues(const Model &model, const std::string &filepath, const std::vector<SavedVariable> &variables,
                        const FileValues &found, bool skipMismatch) {
  const auto &[values, problems] = found;
  if (!problems.empty() && !skipMismatch)
    throw Error(ErrorKind::value_error, fmt::format("Cannot load weights from '{}': {}", filepath, listed(problems)),
                model.name());
  std::vector<VariableHandle> handles;
  std::vector<Tensor> fitting;
  for (size_t i = 0; i < variables.size(); ++i)
    if (values[i].defined()) {
      handles.push_back(variables[i].variable.impl()->memory);
      fitting.push_back(values[i]);
    }
  writeTogether(handles, fitting).orThrow();
  if (!problems.empty())
    writeOutput(fmt::format("warning: weights from '{}' are skipped: {}\n", filepath, listed(problems)));
}

void Model::load_weights(const std::string &filepath, bool skip_mismatch) const {
  const Model model = *this;
  const WeightsFormat format = weightsFormatOf(filepath);
  requireBuilt(model, "load_weights()");
  if (format == WeightsFormat::hdf5)
    return readWeights(model, H5File(Descriptor::reading(filepath), filepath), skip_mismatch);
  const std::vector<SavedVariable> variables = savedWeights(model);
  writeValues(model, filepath, variables, valuesFrom(readSafetensors(filepath), variables), skip_mismatch);
}

void Model::load_weights(const std::string &filepath, const LoadWeightsArgs &args) const {
  const Model model = *this;
  if (args.names.empty())
    return load_weights(filepath, args.skip_mismatch);
  if (weightsFormatOf(filepath) != WeightsFormat::safetensors)
    throw Error(
        ErrorKind::value_error,
        fmt::format("`names` apply only to a file that ends in `.safetensors`. Received: filepath={}", filepath),
        model.name());
  requireBuilt(model, "load_weights()");
  const std::vector<SavedVariable> variables = savedWeights(model);
  writeValues(model, filepath, variables, valuesByNames(readSafetensors(filepath), variables, args.names),
              args.skip_mismatch);
}

} // namespace halftone
