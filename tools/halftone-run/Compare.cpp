// halftone-run compare: compares compiled code with the interpreter or with a file.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "Comparison.h"
#include "CompiledModule.h"
#include "ModuleOrPlan.h"
#include "PlanSession.h"
#include "UsageError.h"
#include "runtime/base/PrintableText.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

using nlohmann::ordered_json;

namespace halftone::tools {
namespace {

std::string ulpText(int64_t ulp) { return ulp == std::numeric_limits<int64_t>::max() ? "inf" : std::to_string(ulp); }

ordered_json measuresOf(const Difference &difference) {
  ordered_json object = {{"elements", difference.elements}, {"unequal", difference.unequal}};
  if (std::isfinite(difference.maxAbs))
    object["max_abs"] = difference.maxAbs;
  else
    object["max_abs"] = "inf"; // JSON has no infinity
  if (difference.maxUlp != std::numeric_limits<int64_t>::max())
    object["max_ulp"] = difference.maxUlp;
  else
    object["max_ulp"] = "inf";
  if (!difference.firstUnequal.empty())
    object["first"] = difference.firstUnequal;
  return object;
}

std::string rule(const Arguments &arguments, const ModuleOrPlan &model) {
  if (arguments.tolerance.given())
    return arguments.tolerance.str();
  if (arguments.against != "interpreter")
    return "bit for bit";
  return fmt::format("{} numerics", numericsOf(arguments, model).name());
}

void printTable(const Comparison &comparison) {
  std::vector<std::array<std::string, 5>> rows = {{"output", "shape", "max |d|", "max ulp", "worst layer"}};
  for (const OutputComparison &output : comparison.outputs)
    rows.push_back({printable(output.name), Shape(output.type.shape).str(),
                    fmt::format("{:.1e}", output.difference.maxAbs), ulpText(output.difference.maxUlp),
                    output.worstLayer.empty() ? "-" : printable(output.worstLayer)});
  std::array<size_t, 5> widths{};
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  for (const auto &row : rows)
    print("{:<{}}  {:<{}}  {:<{}}  {:<{}}  {}\n", row[0], widths[0], row[1], widths[1], row[2], widths[2], row[3],
          widths[3], row[4]);
}

void printText(const Arguments &arguments, const ModuleOrPlan &model, const Comparison &comparison) {
  printTable(comparison);
  for (const OutputComparison &output : comparison.outputs)
    if (!output.difference.agrees())
      print("{}: {} of {} elements differ, first {}\n", printable(output.name), output.difference.unequal,
            output.difference.elements, output.difference.firstUnequal);
  for (const LaunchComparison &launch : comparison.launches)
    if (!launch.difference.agrees())
      print("launch {} of step {}, {} ({}): {} of {} elements differ, first {}\n", launch.index, launch.step,
            printable(launch.kernel), printable(launch.site), launch.difference.unequal, launch.difference.elements,
            launch.difference.firstUnequal);
    else if (arguments.verbose)
      printError("halftone-run: launch {} of step {}, {} ({}): max |d| {:.1e}, max ulp {}\n", launch.index, launch.step,
                 printable(launch.kernel), printable(launch.site), launch.difference.maxAbs,
                 ulpText(launch.difference.maxUlp));
  const bool same =
      std::ranges::all_of(comparison.outputs, [](const auto &row) { return row.difference.maxUlp == 0; }) &&
      std::ranges::all_of(comparison.launches, [](const auto &row) { return row.difference.maxUlp == 0; });
  if (!comparison.agrees())
    print("differs beyond {}\n", rule(arguments, model));
  else
    print("agrees {}\n", same ? "bit for bit" : "within " + rule(arguments, model));
}

void printObject(const Comparison &comparison) {
  ordered_json object = jsonHead("compare", comparison.agrees() ? "ok" : "no");
  object["outputs"] = ordered_json::array();
  for (const OutputComparison &output : comparison.outputs) {
    ordered_json row = {{"name", output.name}, {"type", output.type.str()}};
    row.update(measuresOf(output.difference));
    if (!output.worstLayer.empty())
      row["worst_layer"] = output.worstLayer;
    object["outputs"].push_back(std::move(row));
  }
  for (const LaunchComparison &launch : comparison.launches) {
    ordered_json row = {
        {"step", launch.step}, {"index", launch.index}, {"kernel", launch.kernel}, {"site", launch.site}};
    row.update(measuresOf(launch.difference));
    object["launches"].push_back(std::move(row));
  }
  printJson(object);
}

/// Compares a fetch of the last run with the tensor in a file: [NAME=]FILE.npy.
Comparison compareWithFile(const Arguments &arguments, const ModuleOrPlan &model, InitialValues &values,
                           std::shared_ptr<DeviceRuntime> device) {
  const std::vector<Parameter> &fetches = model.signature().fetches;
  const size_t equals = arguments.against.find('=');
  const std::string file = arguments.against.substr(equals + 1);
  auto fetch = equals == arguments.against.npos
                   ? fetches.begin()
                   : std::ranges::find(fetches, arguments.against.substr(0, equals), &Parameter::name);
  if (fetch == fetches.end())
    throw UsageError(fmt::format("--against '{}': {} has no such fetch", arguments.against, model.path));
  const Tensor expected = Tensor::load_npy(file);
  if (TensorType type = {expected.dtype(), expected.shape().dims()}; type != fetch->type)
    throw Error(ErrorKind::value_error, fmt::format("{}: expected {} as fetch '{}' is, got {}", file, fetch->type.str(),
                                                    fetch->name, type.str()));
  PlanSession session = PlanSession::open(planOf(arguments, model), device, values.variables).valueOrThrow();
  std::vector<Tensor> results;
  for (int64_t i = 0; i < arguments.steps; ++i)
    results = session.play(values.feeds).valueOrThrow();
  ModuleFile scratch = parseModule("func.func @main() { return }", "").valueOrThrow(); // provides a context for types
  const Difference difference = differenceOf(toData(scratch.context.get(), results[fetch - fetches.begin()]),
                                             toData(scratch.context.get(), expected), arguments.tolerance);
  Comparison comparison;
  comparison.outputs.push_back({fetch->name, fetch->type, difference, {}});
  return comparison;
}

Comparison compareWithMeaning(const Arguments &arguments, const ModuleOrPlan &model, InitialValues &values,
                              std::shared_ptr<DeviceRuntime> device) {
  CompareOptions options{compileOptions(arguments, model), arguments.tolerance, arguments.byLayer, arguments.steps};
  StageTexts stages;
  if (!arguments.dumpDirectory.empty())
    stages.collect(options.compile);
  StatusOr<Comparison> comparison =
      compareWithInterpreter(*model.module, values.feeds, values.variables, std::move(device), options);
  if (!arguments.dumpDirectory.empty())
    stages.write(arguments.dumpDirectory);
  comparison.status().orThrow();
  tellStatistics(arguments, comparison->statistics);
  checkCastBudget(arguments, comparison->ledger);
  return *std::move(comparison);
}

} // namespace

ExitCode compare(const Arguments &arguments) {
  const bool isFile = arguments.against.ends_with(".npy");
  if (!isFile && arguments.against != "interpreter")
    throw UsageError(fmt::format("--against '{}': expected interpreter or [NAME=]FILE.npy", arguments.against));
  std::shared_ptr<DeviceRuntime> device = openDevice(arguments);
  const ModuleOrPlan model = loadModuleOrPlan(arguments);
  if (model.plan && !isFile)
    throw UsageError(
        fmt::format("{} is a saved plan, which has nothing to interpret; expected a module, or --against FILE.npy",
                    arguments.model));
  InitialValues values = readValues(model, arguments.inputs, arguments.seed, true);
  Comparison comparison =
      isFile ? compareWithFile(arguments, model, values, device) : compareWithMeaning(arguments, model, values, device);
  if (arguments.json)
    printObject(comparison);
  else if (!arguments.quiet)
    printText(arguments, model, comparison);
  return comparison.agrees() ? yes : no;
}

} // namespace halftone::tools
