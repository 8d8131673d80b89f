// halftone-run warm: compiles programs and writes their kernels into one file, a kernel pack.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "KerasModel.h"
#include "ModuleOrPlan.h"
#include "UsageError.h"
#include "compiler/codegen/KernelCache.h"
#include "frontend/training/Trainer.h"
#include "runtime/plan/KernelPack.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace halftone::tools {
namespace {

/// The code of all programs compiled so far.
struct Collected {
  int64_t programs = 0;
  std::map<std::string, KernelCode> kernels; // and their cores, by key

  void compile(const Arguments &arguments, const ModuleOrPlan &program) {
    const std::shared_ptr<const Executable> plan = planOf(arguments, program);
    kernels.insert(plan->kernels.begin(), plan->kernels.end());
    ++programs;
  }
};

/// Compiles the selected programs of the .keras file `arguments.model`.
void compileModel(const Arguments &arguments, Collected &collected) {
  const Model model = openKerasModel(arguments, true);
  std::vector<Program> programs = arguments.programs;
  if (programs.empty() && detail::compiledIfAny(model))
    programs = {Program::predict, Program::test, Program::train};
  else if (programs.empty())
    programs = {Program::predict};
  std::vector<int64_t> batchSizes = arguments.batchSizes;
  if (batchSizes.empty())
    batchSizes = {usualBatch};
  for (const Program program : programs)
    for (const int64_t batchSize : batchSizes) {
      ModuleOrPlan loaded;
      loaded.path = arguments.model;
      loaded.module = moduleOf(model, arguments, program, batchSize);
      collected.compile(arguments, loaded);
    }
}

} // namespace

ExitCode warm(const Arguments &arguments) {
  if (arguments.output == "-")
    throw UsageError("-o -: a kernel pack is written to a file");
  Collected collected;
  for (const std::string &path : arguments.models) {
    Arguments ofFile = arguments;
    ofFile.model = path;
    if (path.ends_with(".keras")) {
      compileModel(ofFile, collected);
      continue;
    }
    const ModuleOrPlan module = loadModuleOrPlan(ofFile);
    if (module.plan)
      throw UsageError(
          fmt::format("{} is a saved plan, which holds its kernels; expected a .keras file or a module", path));
    collected.compile(ofFile, module);
  }
  const auto cores = std::ranges::count_if(collected.kernels, [](const auto &entry) { return entry.second.isCore(); });
  const int64_t kernels = std::ssize(collected.kernels) - cores;
  const int64_t bytes = saveKernelPack(arguments.output, compiler::codeId(), collected.kernels).valueOrThrow();
  if (arguments.json) {
    nlohmann::ordered_json object = jsonHead("warm", "ok");
    object["programs"] = collected.programs;
    object["kernels"] = kernels;
    object["cores"] = cores;
    object["bytes"] = bytes;
    object["file"] = arguments.output;
    printJson(object);
  } else if (!arguments.quiet) {
    print("{}: {} programs, {} kernels, {} cores, {} bytes\n", arguments.output, collected.programs, kernels, cores,
          bytes);
  }
  return yes;
}

} // namespace halftone::tools
