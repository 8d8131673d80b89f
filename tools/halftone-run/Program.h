// What MODEL names, and the values a run of it starts from.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include "Interpretation.h"
#include "runtime/Device.h"
#include "runtime/plan/Executable.h"
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

/// A file that begins as saved plans do is one; any other is a module. Throws io_error and value_error.
Program loadProgram(const std::string &path);

struct ProgramValues {
  std::vector<Tensor> feeds;
  VariableTensors variables;
};

/// What --input gives, and initialValue() for all other variables. Unnamed specs are
/// the feeds that no spec names, in order. A feed without a spec is
/// random when `fillFeeds`, else a UsageError naming all that are missing; so are names that are no feed, path or symbol.
ProgramValues readValues(const Program &program, const std::vector<std::string> &inputs, uint64_t seed, bool fillFeeds);

/// The device that --device and --threads name. Throws device_error with the reason, UsageError for what is no device.
std::shared_ptr<DeviceRuntime> openDevice(const Arguments &arguments);

/// Creates --dump-ir's directory and writes one stage into it. Throws io_error.
void dumpStage(const std::string &directory, compiler::Stage stage, std::string_view text);

/// As the arguments say, with every stage dumped where --dump-ir asks for it.
compiler::CompileOptions compileOptions(const Arguments &arguments);

} // namespace halftone::tools
