// The module or saved plan that MODEL names, and the values with which a run of it begins.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include "Interpretation.h"
#include "runtime/Device.h"
#include "runtime/plan/Executable.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::tools {

/// A module or a saved plan: one of the two is set.
struct ModuleOrPlan {
  std::optional<ModuleFile> module;
  std::shared_ptr<const Executable> plan;
  std::string path;
  VariableTensors saved; // values of variables, by symbol, from the file

  const Signature &signature() const { return module ? module->signature : plan->signature; }
  std::vector<DeclaredVariable> variables() const;
};

/// Loads a model if the file's name ends in .keras, a saved plan if the file begins with its magic bytes, else a module.
/// Throws io_error and value_error.
ModuleOrPlan loadModuleOrPlan(const Arguments &arguments);

struct InitialValues {
  std::vector<Tensor> feeds;
  VariableTensors variables;
};

/// Feeds and variables from --input; other variables have the file's value, or initialValue(). Specs without a name stand, in order,
/// for the feeds that no spec names. If `fillFeeds`, a feed without a spec is random; else missing feeds are a
/// UsageError that names them all. UsageError too for a name that is no feed, path or symbol.
InitialValues readValues(const ModuleOrPlan &model, const std::vector<std::string> &inputs, uint64_t seed,
                         bool fillFeeds);

/// The device that --device names. Throws device_error with the reason, UsageError for a name that is no device.
Device deviceNamed(const Arguments &arguments);
/// The same, with the threads that --threads asks for. UsageError if code for --target cannot run on it.
std::shared_ptr<DeviceRuntime> openDevice(const Arguments &arguments);

/// The target that --target names, else the module's `halftone.target`, else that of --device. Throws as openDevice(), and
/// value_error if the command runs code and that of the module's target cannot run on the device.
std::string targetOf(const Arguments &arguments, const ModuleOrPlan &model);
/// The numerics that --numerics names, else the module's `halftone.numerics`, else the default of the command.
compiler::Numerics numericsOf(const Arguments &arguments, const ModuleOrPlan &model);

/// The options with which a command compiles the model.
compiler::CompileOptions compileOptions(const Arguments &arguments, const ModuleOrPlan &model);

/// Collects the texts of the stages for --dump-ir and emit.
struct StageTexts {
  std::map<compiler::Stage, std::string> texts;
  /// Makes `options` fill this object, which must outlive the compilation.
  void collect(compiler::CompileOptions &options);
  /// Writes DIR/0-graph.mlir ... DIR/5-plan.txt, DIR/6-target.s. Throws io_error.
  void write(const std::string &directory) const;
};

/// The saved plan, or the compiled module. Dumps stages and writes statistics as the arguments ask. Throws
/// NegativeAnswer when the plan has more standalone casts than allowed.
std::shared_ptr<const Executable> planOf(const Arguments &arguments, const ModuleOrPlan &model);

/// Writes to stderr: with -v the statistics, and without -q the reason why the cache could not be used.
void tellStatistics(const Arguments &arguments, const compiler::CompileStatistics &statistics);
/// Throws NegativeAnswer when there are too many casts. In strict numerics all of them count, since every op is a kernel.
void checkCastBudget(const Arguments &arguments, const std::vector<LedgerRow> &ledger);

} // namespace halftone::tools
