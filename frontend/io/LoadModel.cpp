// load_model(): creates a model from config.json and returns it once it has its weights and is compiled.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/PlacedError.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Devices.h"
#include "frontend/io/CompileConfig.h"
#include "frontend/io/KerasArchive.h"
#include "frontend/io/KerasWeights.h"
#include "frontend/io/ModelReader.h"
#include "frontend/layers/CalibratedKernel.h"
#include "frontend/layers/InitialZeros.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/Trainer.h"
#include "halftone/Model.h"
#include "runtime/base/OpenFile.h"
#include <filesystem>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

constexpr const char *weightsMember = "model.weights.h5";

/// An upper bound on the bytes of the weights and any optimizer's state: Keras keeps at most six 8-byte numbers per
/// weight, and those of a loss scale's inner optimizer twice.
int64_t maxWeightBytes(const Layer &model) {
  constexpr int64_t minAllowed = int64_t{64} << 20, maxBytesPerElement = 128;
  int64_t bytes = minAllowed;
  for (const Variable &variable : model.variables())
    bytes += maxBytesPerElement * variable.impl()->shape.elements();
  return bytes;
}

void refuseOtherFormats(const std::string &path) {
  checkPath(path).orThrow();
  std::error_code ignored;
  const std::string ending = std::filesystem::path(path).extension();
  if (ending == ".h5" || ending == ".hdf5" || std::filesystem::is_directory(path, ignored))
    throw Error(ErrorKind::io_error,
                fmt::format("{}: expected a .keras file; Keras converts {}: keras.models.load_model(...).save("
                            "\"model.keras\")",
                            path, ending.empty() ? "a SavedModel" : "an .h5 file of a whole model"));
}

void compileAsSaved(const Model &model, const Config &config, const LoadArgs &args) {
  const ConfigNode root{ConfigAccess::json(config), ""};
  std::optional<CompileArgs> compile = readCompileConfig(root.at("compile_config"), stateOf(model).outputNames);
  if (!compile)
    return;
  compile->device = args.device;
  compile->numerics = args.numerics;
  model.compile(*compile);
}

/// Truncates a message that quotes a long value of a file.
std::string shortened(const std::string &message) {
  constexpr size_t most = 2000;
  return message.size() <= most ? message : message.substr(0, most) + " ...";
}

/// The model of a config, whose weights the caller sets next. The weights of an unbuilt model are not kept as zeros.
Model modelOf(const Config &config) {
  {
    const InitialZeros zeros;
    if (Model model = Model::from_config(config); model.built())
      return model;
  }
  return Model::from_config(config);
}

/// Prefixes every error except environment errors with the file and the member.
template <class F> auto within(const std::string &path, const char *member, F make) {
  try {
    return make();
  } catch (const Error &error) {
    rethrowAt(fmt::format("{}: {}", path, member),
              Error(error.kind(), shortened(error.message()), error.layer_path(), error.where()));
  }
}

} // namespace

Model load_model(const std::string &filepath, const LoadArgs &args) { return loadModel(filepath, args, {}); }

Model detail::loadModel(const std::string &filepath, const LoadArgs &args,
                        const std::function<void(const Model &)> &prepare) {
  refuseOtherFormats(filepath);
  const KerasArchive archive(filepath);
  const Config config = archive.json("config.json");
  const DeviceScope device(args.device.value_or(default_device()));
  const Model model = within(filepath, "config.json", [&] { return modelOf(config); });
  std::optional<H5File> weights;
  if (model.built()) {
    weights.emplace(archive.data(weightsMember, maxWeightBytes(model)), fmt::format("{}: {}", filepath, weightsMember));
    readWeights(model, *weights, false);
    dequantizeCalibrated(model);
  }
  readVocabularies(model, weights ? &*weights : nullptr, filepath,
                   [&](const std::string &member) { return archive.text(member); });
  if (prepare)
    prepare(model);
  if (args.compile)
    within(filepath, "config.json", [&] { compileAsSaved(model, config, args); });
  if (const std::shared_ptr<CompiledModel> compiled = weights ? compiledIfAny(model) : nullptr) {
    CallTransaction transaction;
    compiled->optimizer.impl()->build(model.trainable_variables());
    if (readOptimizer(compiled->optimizer, *weights)) // otherwise the optimizer has no state yet
      transaction.commit();
  }
  return model;
}

} // namespace halftone
