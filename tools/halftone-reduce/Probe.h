// The question that decides what is kept: does a module still fail?
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Reducer/Tester.h"
#include "runtime/base/Status.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::tools {

/// What the command line says about failing: a script, or a command and the signs of its failure.
struct Question {
  std::string script;                 // --test
  std::vector<std::string> arguments; // --test-arg
  std::string command, says;          // --command, --says
  std::optional<int> code;            // --exits
};

/// Asks the question through the shell, and keeps the answers: a module whose text was asked about before is not asked
/// about again. A program that crashes does so below the shell, since mlir::Tester ends the process if the program that
/// it starts is killed.
class Probe {
public:
  /// value_error for a script that cannot be run; io_error if there is no folder for the answers.
  static StatusOr<std::unique_ptr<Probe>> create(const Question &question);
  Probe(const Probe &) = delete;
  Probe &operator=(const Probe &) = delete;
  ~Probe();

  /// The program and the arguments of an mlir::Tester, for MLIR's pass. Valid as long as this object.
  const std::string &program() const { return program_; }
  const std::vector<std::string> &arguments() const { return arguments_; }

  /// Whether the module is valid and still fails.
  bool fails(mlir::ModuleOp module) const;
  /// fails(), asked anew.
  bool failsAgain(mlir::ModuleOp module) const;
  /// Why there are no answers any more, and every module counts as one that does not fail: value_error with the script's
  /// output, if the script exited with a code that is no answer; runtime_error after a signal of interruption().
  Status fault() const;
  /// The exit code and the output of the last program that was asked.
  std::string lastAnswer() const;
  int64_t tries() const;

  /// The signal that asked this process to end since create() was called first: SIGHUP, SIGINT or SIGTERM; 0: none. These do
  /// not end the process, so that it can remove its files, unless it ignored them before.
  static int interruption();

private:
  Probe() = default;
  std::string folder_, script_, program_ = "/bin/sh";
  std::vector<std::string> arguments_;
};

} // namespace halftone::tools
