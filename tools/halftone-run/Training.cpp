// Loads a .keras model and its training or evaluation data.
// SPDX-License-Identifier: Apache-2.0
#include "Training.h"
#include "InputSpec.h"
#include "KerasModel.h"
#include "ModuleOrPlan.h"
#include "UsageError.h"
#include "runtime/devices/CpuDevice.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::tools {

Tensors tensorsOf(const char *option, const std::vector<std::string> &specs, uint64_t seed) {
  std::vector<Tensor> tensors;
  for (const std::string &text : specs) {
    const InputSpec spec = parseInputSpec(text);
    const std::string name = fmt::format("{} {}", option, tensors.size());
    if (isShape(spec.name))
      throw UsageError(fmt::format("{} '{}': '{}' is a shape without a dtype; expected a type, as in {}xf32", option,
                                   text, spec.name, spec.name));
    if (!spec.name.empty())
      throw UsageError(fmt::format("{} '{}': the tensors have no names and are given in order", option, text));
    if (spec.source == InputSpec::Source::npy)
      tensors.push_back(Tensor::load_npy(spec.text));
    else if (spec.type)
      tensors.push_back(readInput(spec, {name, *spec.type}, seed));
    else
      throw UsageError(fmt::format("{} '{}': expected a type, as in 2x3xf32=random", option, text));
  }
  return Tensors(tensors);
}

TrainingTask openTraining(const Arguments &arguments) {
  if (!arguments.model.ends_with(".keras"))
    throw UsageError(fmt::format("{} needs a .keras model; '{}' is not one", arguments.command, arguments.model));
  const bool recompiles = !arguments.loss.empty();
  if (!recompiles && (!arguments.optimizer.empty() || !arguments.metrics.empty()))
    throw UsageError("--optimizer and --metric need --loss: the three replace those in the file");
  set_default_device(deviceNamed(arguments));
  if (arguments.threads)
    sharedCpuDevice().valueOrThrow()->setThreads(*arguments.threads).orThrow();
  set_random_seed(static_cast<int64_t>(arguments.seed & INT64_MAX));
  const Model model = openKerasModel(arguments, !recompiles);
  if (recompiles)
    model.compile({.optimizer = arguments.optimizer.empty() ? "rmsprop" : arguments.optimizer.c_str(),
                   .loss = Loss(arguments.loss),
                   .metrics = std::vector<Metric>(arguments.metrics.begin(), arguments.metrics.end()),
                   .numerics = arguments.strict ? Numerics::strict : Numerics::fast});
  return {model, tensorsOf("--x", arguments.x, arguments.seed), tensorsOf("--y", arguments.y, arguments.seed)};
}

nlohmann::ordered_json jsonOf(const Logs &logs) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto &[name, value] : logs)
    if (std::isfinite(value))
      object[name] = value;
    else
      object[name] = fmt::format("{}", value);
  return object;
}

} // namespace halftone::tools
