// The program that MODEL names, and the values with which a run of it starts.
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
struct Program {
  std::optional<ModuleFile> module;
  std::shared_ptr<const Executable> plan;
  std::string path;

  const Signature &signature() const { return module ? module->signature : plan->signature; }
  std::vector<ProgramVariable> variables() const;
};

/// A file that begins like a saved plan is one; any other file is a module. Throws io_error and value_error.
Program loadProgram(const std::string &path);

struct ProgramValues {
  std::vector<Tensor> feeds;
  VariableTensors variables;
};

/// Feeds and variables from --input, and initialValue() for all other variables. Specs without a name stand for the
/// feeds that no spec names, in order. If `fillFeeds`, a feed without a spec is random; else it is a UsageError that
/// names all missing ones. A name that is no feed, path or symbol is a UsageError too.
ProgramValues readValues(const Program &program, const std::vector<std::string> &inputs, uint64_t seed, bool fillFeeds);

/// The device that --device and --threads name. Throws device_error with the reason, UsageError for a name that is no
/// device.
std::shared_ptr<DeviceRuntime> openDevice(const Arguments &arguments);

/// The target that --target names, else that of --device. Throws as openDevice().
std::string targetOf(const Arguments &arguments);

/// The options that the arguments ask for.
compiler::CompileOptions compileOptions(const Arguments &arguments);

/// The texts of the stages, kept for --dump-ir and emit.
struct StageTexts {
  std::map<compiler::Stage, std::string> texts;
  /// Lets `options` fill it; it must outlive the compilation.
  void collect(compiler::CompileOptions &options);
  /// DIR/0-graph.mlir ... DIR/5-plan.txt, DIR/6-target.s. Throws io_error.
  void write(const std::string &directory) const;
};

/// The saved plan, or the module compiled. Dumps stages and tells statistics as the arguments ask. Throws
/// NegativeAnswer when there are more standalone casts than allowed.
std::shared_ptr<const Executable> planOf(const Arguments &arguments, const Program &program);

/// Writes to stderr: with -v the statistics, and without -q the reason if the cache could not be used.
void tellStatistics(const Arguments &arguments, const compiler::CompileStatistics &statistics);
/// Throws NegativeAnswer. Strict numerics know no limit: there every op is a kernel.
void checkCastBudget(const Arguments &arguments, const std::vector<LedgerRow> &ledger);

} // namespace halftone::tools
