// Model::save(): writes config.json, metadata.json and the weights to one zip, atomically.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/KerasWeights.h"
#include "frontend/io/ModelReader.h"
#include "frontend/io/ModelWriter.h"
#include "frontend/io/SavedVariables.h"
#include "frontend/io/StoredZip.h"
#include "frontend/io/WeightsFile.h"
#include "frontend/layers/LayerImpl.h"
#include "halftone/Model.h"
#include "runtime/base/FileLimits.h"
#include <chrono>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

/// The text of config.json, within the limits of its reader: load_model() can read every file that save() writes.
static std::string configText(const Model &model) {
  std::string text = writeModel(model).dump();
  if (std::ssize(text) > maxJsonBytes)
    throw Error(ErrorKind::value_error,
                fmt::format("the config of the model '{}' has {} bytes; a file holds at most {} MiB of it",
                            model.name(), text.size(), maxJsonBytes >> 20),
                model.name());
  try {
    (void)Config::parse(text);
  } catch (const Error &error) {
    throw Error(error.kind(),
                fmt::format("a file cannot represent the config of the model '{}': {}", model.name(), error.message()),
                model.name());
  }
  return text;
}

void Model::save(const std::string &filepath, const SaveArgs &args) const {
  const Model model = *this;
  if (!filepath.ends_with(".keras"))
    throw Error(ErrorKind::value_error, fmt::format("Invalid filepath extension for saving. Please add a `.keras` "
                                                    "extension. Received: filepath={}",
                                                    filepath));
  requireMayWrite(filepath, args);
  requireBuilt(model, "save()");
  const std::string config = configText(model);
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  // The Keras version that defines this format. Keras itself does not read it.
  const std::string metadata =
      fmt::format(R"({{"keras_version": "3.15.1", "date_saved": "{:%Y-%m-%d@%H:%M:%S}"}})", fmt::gmtime(now));
  const H5Image weights = weightsImage(model, filepath);
  const std::vector<std::pair<std::string, std::string>> vocabularies = vocabularyFiles(model);
  std::vector<ZipMember> members{
      {"metadata.json", {metadata}}, {"config.json", {config}}, {"model.weights.h5", weights.chunks()}};
  for (const auto &[member, text] : vocabularies)
    members.push_back({member, {text}});
  writeState(model, [&] { writeStoredZip(filepath, members).orThrow(); });
}

std::string Model::to_json() const { return writeModel(*this).dump(); }

Model Model::from_config(const Config &config) {
  if (!config.contains("class_name"))
    throw Error(ErrorKind::value_error,
                "the config has no 'class_name': create a model from Config::parse(model.to_json()), since "
                "get_config() has only the model's arguments");
  const Layer layer = readLayer({ConfigAccess::json(config), ""});
  if (!layer.impl()->model)
    throw Error(ErrorKind::value_error, fmt::format("expected a model, found a layer of class {}", layer.class_name()));
  return Model(layer);
}

Model clone_model(const Model &model) { return Model::from_config(writeModel(model)); }

} // namespace halftone
