// The module or saved plan named by MODEL, and the values with which a run of it starts.
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

/// A module or a saved plan; exactly one is set.
struct ModuleOrPlan {
  std::optional<ModuleFile> module;
  std::shared_ptr<const Executable> plan;
  std::string path;
  VariableTensors saved; // values of variables in the file, by symbol

  const Signature &signature() const { return module ? module->signature : plan->signature; }
  std::vector<DeclaredVariable> variables() const;
};

/// Loads a model if the file name ends in .keras, a saved plan if the file begins with its magic bytes, otherwise a
/// module.
/// Throws io_error and value_error.
ModuleOrPlan loadModuleOrPlan(const Arguments &arguments);

struct InitialValues {
  std::vector<Tensor> feeds;
  VariableTensors variables;
};

/// Values of feeds and variables from --input; other variables get the file's value, or initialValue(). Specs without a
/// name are assigned, in order, to the feeds that no spec names. If `fillFeeds`, feeds without a spec are random;
/// otherwise missing feeds are a UsageError that names them all. Also UsageError for a name that is not a feed, path or
/// symbol.
InitialValues readValues(const ModuleOrPlan &model, const std::vector<std::string> &inputs, uint64_t seed,
                         bool fillFeeds);

/// The device given by --device. Throws device_error with the reason, UsageError for a name that is not a device.
Device deviceNamed(const Arguments &arguments);
/// The same, with the number of threads given by --threads. UsageError if it cannot run code for --target.
std::shared_ptr<DeviceRuntime> openDevice(const Arguments &arguments);

/// The target given by --target, otherwise the module's `halftone.target`, otherwise the target of --device. Throws
/// like openDevice(), and value_error if the command runs code and the device cannot run the module's target.
std::string targetOf(const Arguments &arguments, const ModuleOrPlan &model);
/// The numerics given by --numerics, otherwise the module's `halftone.numerics`, otherwise the command's default.
compiler::Numerics numericsOf(const Arguments &arguments, const ModuleOrPlan &model);

/// The options for compiling the model.
compiler::CompileOptions compileOptions(const Arguments &arguments, const ModuleOrPlan &model);

/// Collects the texts of the stages for --dump-ir and emit.
struct StageTexts {
  std::map<compiler::Stage, std::string> texts;
  /// Makes the compilation fill this object, which must outlive it.
  void collect(compiler::CompileOptions &options);
  /// Writes DIR/0-graph.mlir ... DIR/5-plan.txt, DIR/6-target.s. Throws io_error.
  void write(const std::string &directory) const;
};

/// The saved plan, or the compiled module. Dumps stages and writes statistics if requested. Throws NegativeAnswer if
/// the plan has more standalone casts than allowed.
std::shared_ptr<const Executable> planOf(const Arguments &arguments, const ModuleOrPlan &model);

/// Writes to stderr: with -v the statistics, and without -q the reason if the cache or a pack could not be used.
void tellStatistics(const Arguments &arguments, const compiler::CompileStatistics &statistics);
/// Throws NegativeAnswer if there are too many casts. In strict numerics all casts count, since every op is a kernel.
void checkCastBudget(const Arguments &arguments, const std::vector<LedgerRow> &ledger);

} // namespace halftone::tools
