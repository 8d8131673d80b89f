// Compatibility fixtures: the files of a fixture and a recorded run of a plan, for their writer and their test.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Halftone.h"
#include "runtime/devices/CpuDevice.h"
#include "tools/halftone-run/PlanSession.h"
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace halftone::test {

using Json = nlohmann::ordered_json;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// The names of a fixture's files. Files of a program, "predict" or "train", begin with its name.
inline constexpr const char *fixtureFile = "fixture.json"; // facts about the model, and the digests of all other files
inline constexpr const char *configFile = "net.json";      // Model::to_json()
inline constexpr const char *valuesFile = "values.safetensors"; // data, predictions, losses, weights
inline constexpr const char *kerasFile = "net.keras", *h5File = "net.weights.h5", *weightsFile = "net.safetensors",
                            *checkpointFile = "net.ckpt";
inline constexpr std::string_view bytecodeEnding = ".mlirbc", planEnding = ".plan";
/// The feeds of each play, and the variables before the first play.
inline std::string givenFile(const std::string &program) { return program + ".given.safetensors"; }
/// The fetches of each play, and the variables after the last play, of the plan for `target`.
inline std::string resultsFile(const std::string &program, const std::string &target) {
  return program + "." + target + ".results.safetensors";
}

inline std::string contentsOf(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline const Tensor &valueOf(const NamedTensors &tensors, const std::string &name) {
  for (const auto &[each, tensor] : tensors)
    if (each == name)
      return tensor;
  throw std::out_of_range("no tensor " + name);
}

/// Seeds a model whose random values do not, or must not, matter.
inline void drawAnew() { set_random_seed(12); }

/// The losses of training on one batch after the other: row `i` of `targets`, (steps, samples, outputs), belongs to
/// step i.
inline std::vector<double> trainOnBatches(const Model &model, const Tensor &x, const Tensor &targets) {
  std::vector<double> losses;
  const Shape batch({targets.shape()[1], targets.shape()[2]});
  for (int64_t step = 0; step < targets.shape()[0]; ++step)
    losses.push_back(model.train_on_batch(x, targets.slice(step, step + 1).reshape(batch))["loss"]);
  return losses;
}

/// The losses of two epochs over shuffled batches.
inline std::vector<double> fitTwoEpochs(const Model &model, const Tensor &x, const Tensor &y, int64_t finished) {
  return model.fit(x, y, {.batch_size = 3, .epochs = finished + 2, .verbose = 0, .initial_epoch = finished})["loss"];
}

inline Json lossScaleOf(const Model &model) {
  const auto optimizer = model.loss_scale_optimizer();
  if (!optimizer)
    return nullptr;
  const optimizers::LossScaleState state = optimizer->state();
  return {{"scale", state.scale},
          {"good_steps", state.good_steps},
          {"skipped_steps", state.skipped_steps},
          {"last_fault", state.last_fault}};
}

/// Plays a plan on the feeds and variables of a givenFile(). Returns the contents of the resultsFile().
inline StatusOr<NamedTensors> play(const std::shared_ptr<const Executable> &plan, const NamedTensors &given,
                                   int threads) {
  StatusOr<std::shared_ptr<CpuDevice>> device = CpuDevice::create(threads);
  HALFTONE_RETURN_IF_ERROR(device.status());
  tools::VariableTensors variables;
  for (const VariableSlot &slot : plan->variables)
    variables[slot.symbol] = valueOf(given, "before/" + slot.symbol);
  StatusOr<tools::PlanSession> session = tools::PlanSession::open(plan, *device, variables);
  HALFTONE_RETURN_IF_ERROR(session.status());
  NamedTensors results;
  const auto plays = valueOf(given, "plays").item<int64_t>();
  for (int64_t i = 0; i < plays; ++i) {
    std::vector<Tensor> feeds;
    for (const Parameter &feed : plan->signature.feeds)
      feeds.push_back(valueOf(given, fmt::format("{}/{}", i, feed.name)));
    StatusOr<std::vector<Tensor>> fetches = session->play(feeds);
    HALFTONE_RETURN_IF_ERROR(fetches.status());
    for (size_t fetch = 0; fetch < fetches->size(); ++fetch)
      results.emplace_back(fmt::format("{}/{}", i, plan->signature.fetches[fetch].name), (*fetches)[fetch]);
  }
  HALFTONE_RETURN_IF_ERROR(session->readVariables(variables));
  for (const auto &[symbol, value] : variables)
    results.emplace_back("after/" + symbol, value);
  return results;
}

} // namespace halftone::test
