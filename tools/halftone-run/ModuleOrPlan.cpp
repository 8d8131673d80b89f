// Loads modules and saved plans, and collects the values with which a run starts.
// SPDX-License-Identifier: Apache-2.0
#include "ModuleOrPlan.h"
#include "Branches.h"
#include "CompiledModule.h"
#include "InputSpec.h"
#include "KerasModel.h"
#include "Output.h"
#include "UsageError.h"
#include "compiler/passes/ModuleAttributes.h"
#include "frontend/graph/TraceCompile.h"
#include "halftone/Device.h"
#include "runtime/base/OpenFile.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/devices/Registry.h"
#include "runtime/plan/PlanFile.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone::tools {
namespace {

constexpr std::string_view planMagic = "HTPLAN\r\n";

/// The feed for a spec without a name: the first one without a value. Named specs must have been assigned before.
size_t nextFeed(const ModuleOrPlan &model, const std::vector<Tensor> &feeds, const std::string &input) {
  for (size_t i = 0; i < feeds.size(); ++i)
    if (!feeds[i].defined())
      return i;
  throw UsageError(fmt::format("--input '{}': all {} feeds of {} have values", input, feeds.size(), model.path));
}

std::string knownNames(const ModuleOrPlan &model) {
  std::vector<std::string> names;
  for (const Parameter &feed : model.signature().feeds)
    names.push_back(feed.name);
  for (const DeclaredVariable &variable : model.variables())
    names.push_back("@" + variable.symbol);
  return names.empty() ? "it takes no inputs" : fmt::format("expected one of {}", fmt::join(names, ", "));
}

} // namespace

std::vector<DeclaredVariable> ModuleOrPlan::variables() const {
  if (module)
    return module->variables;
  std::vector<DeclaredVariable> list;
  for (const VariableSlot &slot : plan->variables)
    list.push_back({slot.symbol, slot.path, slot.type, guessRole(slot)});
  return list;
}

ModuleOrPlan loadModuleOrPlan(const Arguments &arguments) {
  if (arguments.model.ends_with(".keras")) {
    checkBranches(arguments, false);
    return loadKerasModel(arguments);
  }
  const std::string &path = arguments.model;
  ModuleOrPlan model;
  model.path = path;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(ErrorKind::io_error, path + " is a directory; expected a .mlir module or a saved plan");
  std::string head(planMagic.size(), '\0');
  const bool isPlan = readInto(openFile(path).valueOrThrow(), head) == std::ssize(head) && head == planMagic;
  checkBranches(arguments, isPlan);
  if (isPlan)
    model.plan = std::make_shared<const Executable>(loadExecutable(path).valueOrThrow());
  else
    model.module = loadModule(path).valueOrThrow();
  return model;
}

InitialValues readValues(const ModuleOrPlan &model, const std::vector<std::string> &inputs, uint64_t seed,
                         bool fillFeeds) {
  const std::vector<Parameter> &feeds = model.signature().feeds;
  const std::vector<DeclaredVariable> variables = model.variables();
  InitialValues values;
  values.feeds.resize(feeds.size());
  std::vector<std::pair<std::string, InputSpec>> specs;
  for (const bool named : {true, false}) // named specs first
    for (const std::string &input : inputs)
      if (InputSpec spec = parseInputSpec(input); spec.name.empty() != named)
        specs.emplace_back(input, std::move(spec));
  for (const auto &[input, spec] : specs) {
    size_t feed = spec.name.empty() ? nextFeed(model, values.feeds, input)
                                    : std::ranges::find(feeds, spec.name, &Parameter::name) - feeds.begin();
    if (feed < feeds.size()) {
      if (values.feeds[feed].defined())
        throw UsageError(fmt::format("--input '{}': '{}' already has a value", input, feeds[feed].name));
      values.feeds[feed] = readInput(spec, feeds[feed], seed);
      continue;
    }
    auto variable = std::ranges::find_if(variables, [&](const DeclaredVariable &candidate) {
      return spec.name == candidate.symbol || spec.name == "@" + candidate.symbol || spec.name == candidate.path;
    });
    if (variable == variables.end())
      throw UsageError(
          isShape(spec.name)
              ? fmt::format("--input '{}': '{}' is a shape without a dtype; expected a type, as in {}xf32", input,
                            spec.name, spec.name)
              : fmt::format("--input '{}': {} has no '{}'; {}", input, model.path, spec.name, knownNames(model)));
    if (values.variables.contains(variable->symbol))
      throw UsageError(fmt::format("--input '{}': '{}' already has a value", input, spec.name));
    values.variables[variable->symbol] = readInput(spec, {spec.name, variable->type}, seed);
  }
  std::vector<std::string> missing;
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (values.feeds[i].defined())
      continue;
    missing.push_back(fmt::format("{} ({})", feeds[i].name, feeds[i].type.str()));
    if (fillFeeds)
      values.feeds[i] = randomTensor(feeds[i], seed);
  }
  if (!fillFeeds && !missing.empty())
    throw UsageError(fmt::format("no --input for {}", fmt::join(missing, ", ")));
  for (const DeclaredVariable &variable : variables)
    if (const auto saved = model.saved.find(variable.symbol); saved != model.saved.end())
      values.variables.emplace(variable.symbol, saved->second);
    else if (!values.variables.contains(variable.symbol))
      values.variables[variable.symbol] = initialValue(variable, seed);
  return values;
}

Device deviceNamed(const Arguments &arguments) {
  std::optional<Device> device = Device::find(arguments.device);
  if (!device && (arguments.device == "cuda" || arguments.device.starts_with("cuda:"))) {
    const std::string index = arguments.device.size() > 4 ? arguments.device.substr(5) : "0";
    if (index.empty() || index.size() > 4 || !std::ranges::all_of(index, [](char c) { return c >= '0' && c <= '9'; }))
      throw UsageError(fmt::format("--device '{}': expected cpu, cuda or cuda:<index>", arguments.device));
    device = Device::cuda(std::stoi(index)); // throws the reason
  }
  if (!device)
    throw UsageError(fmt::format("--device '{}': expected cpu, cuda or cuda:<index>", arguments.device));
  return *device;
}

std::shared_ptr<DeviceRuntime> openDevice(const Arguments &arguments) {
  const Device device = deviceNamed(arguments);
  std::shared_ptr<DeviceRuntime> runtime = device.kind() == Device::Kind::cpu && arguments.threads
                                               ? CpuDevice::create(*arguments.threads).valueOrThrow()
                                               : deviceRuntime(device).valueOrThrow();
  if (!arguments.target.empty())
    if (const Status status = detail::checkRunsOn(arguments.target, runtime->target()); !status.isOk())
      throw UsageError(fmt::format("--target {}: {}", arguments.target, status.message()));
  return runtime;
}

std::string targetOf(const Arguments &arguments, const ModuleOrPlan &model) {
  if (!arguments.target.empty())
    return arguments.target;
  const bool runs = arguments.command != "predict" || arguments.device != "interpreter";
  const std::string ofDevice = deviceRuntime(runs ? deviceNamed(arguments) : Device::cpu()).valueOrThrow()->target();
  if (!model.module)
    return ofDevice;
  const std::string name = compiler::Target::of(*model.module->module, ofDevice).valueOrThrow()->name;
  const bool onlyCompiles = arguments.command == "emit" || arguments.command == "warm";
  if (const Status status = detail::checkRunsOn(name, ofDevice); !onlyCompiles && !status.isOk())
    throw Error(ErrorKind::value_error, fmt::format("{}: attribute '{}': {}; --target selects another one", model.path,
                                                    compiler::Target::attribute.str(), status.message()));
  return name;
}

compiler::Numerics numericsOf(const Arguments &arguments, const ModuleOrPlan &model) {
  const bool isOfModule = model.module && (*model.module->module)->hasAttr(compiler::numericsAttribute);
  return isOfModule && !arguments.given.contains("--numerics")
             ? compiler::numericsOf(*model.module->module).valueOrThrow()
             : compiler::Numerics::strictIf(arguments.strict);
}

compiler::CompileOptions compileOptions(const Arguments &arguments, const ModuleOrPlan &model) {
  compiler::CompileOptions options;
  options.numerics = numericsOf(arguments, model);
  options.target = targetOf(arguments, model);
  options.threads = arguments.threads.value_or(0);
  options.cacheDirectory = arguments.cacheDirectory;
  options.verifyStages = true;
  options.locations = arguments.locations;
  options.timing = arguments.times;
  options.timesPasses = arguments.timingPasses;
  return options;
}

void StageTexts::collect(compiler::CompileOptions &options) {
  options.onStage = [this](compiler::Stage stage, std::string_view text) { texts[stage] = text; };
}

void StageTexts::write(const std::string &directory) const {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure)
    throw Error(ErrorKind::io_error, fmt::format("cannot create {}: {}", directory, failure.message()));
  for (const auto &[stage, text] : texts) {
    const char *suffix = stage == compiler::Stage::plan ? "txt" : stage == compiler::Stage::target ? "s" : "mlir";
    writeFile(fmt::format("{}/{}-{}.{}", directory, static_cast<int>(stage), name(stage), suffix), text);
  }
}

std::shared_ptr<const Executable> planOf(const Arguments &arguments, const ModuleOrPlan &model) {
  std::shared_ptr<const Executable> plan = model.plan;
  if (model.module) {
    compiler::CompileOptions options = compileOptions(arguments, model);
    StageTexts stages;
    if (!arguments.dumpDirectory.empty())
      stages.collect(options);
    StatusOr<CompiledModule> compiled = compileModule(*model.module->module, model.module->stage, options);
    if (!arguments.dumpDirectory.empty())
      stages.write(arguments.dumpDirectory);
    compiled.status().orThrow();
    tellStatistics(arguments, compiled->statistics);
    plan = compiled->executable;
  }
  checkCastBudget(arguments, plan->ledger);
  return plan;
}

void tellStatistics(const Arguments &arguments, const compiler::CompileStatistics &statistics) {
  if (!statistics.cacheWarning.empty() && !arguments.quiet)
    printError("halftone-run: compiled kernels are not cached on disk: {}\n", statistics.cacheWarning);
  if (!statistics.packWarning.empty() && !arguments.quiet)
    printError("halftone-run: {}\n", statistics.packWarning);
  if (arguments.verbose)
    printError("halftone-run: {} kernels in {:.2f} s: {} compiled, {} from memory, {} from disk, {} from packs; {} "
               "standalone casts\n",
               statistics.kernels, statistics.seconds, statistics.compiled, statistics.fromMemory, statistics.fromDisk,
               statistics.fromPacks, statistics.standaloneCasts);
}

void checkCastBudget(const Arguments &arguments, const std::vector<LedgerRow> &ledger) {
  std::string list;
  int64_t count = 0;
  for (const LedgerRow &row : ledger)
    if (!row.fused && ++count)
      list += fmt::format("\n  {}: {} > {} of {}", row.path.empty() ? "(no layer)" : row.path, name(row.from),
                          name(row.to), row.value);
  if (arguments.maxStandaloneCasts && count > *arguments.maxStandaloneCasts)
    throw NegativeAnswer(fmt::format("{} casts are standalone, but at most {} are allowed:{}", count,
                                     *arguments.maxStandaloneCasts, list));
}

} // namespace halftone::tools
