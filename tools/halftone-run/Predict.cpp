// halftone-run predict: runs a module or plan once.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "ModuleOrPlan.h"
#include "PlanSession.h"
#include "UsageError.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace halftone::tools {
namespace {

struct Destination {
  std::string name, file;
  Tensor value;
};

/// The files named by --output: for the fetches in order, or for a fetch or variable by name.
std::vector<Destination> readDestinations(const Arguments &arguments, const ModuleOrPlan &model) {
  std::vector<Destination> destinations;
  const std::vector<Parameter> &fetches = model.signature().fetches;
  const std::vector<DeclaredVariable> variables = model.variables();
  std::set<std::string> taken;
  for (const std::string &output : arguments.outputs) {
    const size_t equals = output.find('=');
    Destination destination{equals == output.npos ? "" : output.substr(0, equals), output.substr(equals + 1), {}};
    if (!destination.file.ends_with(".npy"))
      throw UsageError(fmt::format("--output '{}': expected [NAME=]FILE.npy", output));
    if (equals == output.npos) {
      auto free = std::ranges::find_if(fetches, [&](const Parameter &fetch) { return !taken.contains(fetch.name); });
      if (free == fetches.end())
        throw UsageError(
            fmt::format("--output '{}': all {} fetches of {} have files", output, fetches.size(), model.path));
      destination.name = free->name;
    } else if (std::ranges::find(fetches, destination.name, &Parameter::name) == fetches.end()) {
      auto variable = std::ranges::find_if(variables, [&](const DeclaredVariable &candidate) {
        return destination.name == "@" + candidate.symbol || destination.name == candidate.symbol ||
               destination.name == candidate.path;
      });
      if (variable == variables.end())
        throw UsageError(
            fmt::format("--output '{}': {} has no fetch or variable '{}'", output, model.path, destination.name));
      destination.name = "@" + variable->symbol;
    }
    if (!taken.insert(destination.name).second)
      throw UsageError(fmt::format("--output '{}': '{}' already has a file", output, destination.name));
    destinations.push_back(std::move(destination));
  }
  return destinations;
}

} // namespace

ExitCode predict(const Arguments &arguments) {
  std::shared_ptr<DeviceRuntime> device = arguments.device == "interpreter" ? nullptr : openDevice(arguments);
  const ModuleOrPlan model = loadModuleOrPlan(arguments);
  const std::vector<Destination> destinations = readDestinations(arguments, model);
  InitialValues values = readValues(model, arguments.inputs, arguments.seed, false);

  std::vector<Tensor> fetches;
  if (arguments.device == "interpreter") {
    if (model.plan)
      throw UsageError(
          fmt::format("--device interpreter: {} is a saved plan, which has nothing to interpret", model.path));
    fetches =
        interpretModule(*model.module->module, model.module->stage, values.feeds, values.variables).valueOrThrow();
  } else {
    PlanSession session = PlanSession::open(planOf(arguments, model), device, values.variables).valueOrThrow();
    fetches = session.play(values.feeds).valueOrThrow();
    session.readVariables(values.variables).orThrow();
  }

  const std::vector<Parameter> &parameters = model.signature().fetches;
  for (const Destination &destination : destinations) {
    auto fetch = std::ranges::find(parameters, destination.name, &Parameter::name);
    const Tensor &value = fetch == parameters.end() ? values.variables.at(destination.name.substr(1))
                                                    : fetches[fetch - parameters.begin()];
    value.save_npy(destination.file);
    if (arguments.verbose)
      printError("halftone-run: wrote {} to {}\n", destination.name, destination.file);
  }
  if (arguments.json) {
    nlohmann::ordered_json object = jsonHead("predict", "ok");
    object["outputs"] = nlohmann::ordered_json::array();
    for (size_t i = 0; i < fetches.size(); ++i)
      object["outputs"].push_back(jsonOf(parameters[i].name, fetches[i]));
    for (const Destination &destination : destinations)
      object["files"][destination.name] = destination.file;
    printJson(object);
  } else if (destinations.empty() && !arguments.quiet) {
    for (size_t i = 0; i < fetches.size(); ++i)
      print("{}", summaryOf(parameters[i].name, fetches[i]));
  }
  return yes;
}

} // namespace halftone::tools
