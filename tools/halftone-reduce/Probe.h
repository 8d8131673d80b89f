// The interestingness test: does a module still fail?
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Reducer/Tester.h"
#include "runtime/base/Status.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::tools {

/// The command line's definition of a failure: a script, or a command and the symptoms of its failure.
struct Question {
  std::string script;                 // --test
  std::vector<std::string> arguments; // --test-arg
  std::string command, says;          // --command, --says
  std::optional<int> code;            // --exits
};

/// Runs the test through a shell and caches the answers: a module with the same text is not tested again. The shell
/// also shields against crashes, since mlir::Tester terminates if the program that it starts is killed.
class Probe {
public:
  /// value_error for a script that is not executable; io_error if the folder for the answers cannot be created.
  static StatusOr<std::unique_ptr<Probe>> create(const Question &question);
  Probe(const Probe &) = delete;
  Probe &operator=(const Probe &) = delete;
  ~Probe();

  /// The program and arguments of an mlir::Tester, for MLIR's pass. Valid during the lifetime of this object.
  const std::string &program() const { return program_; }
  const std::vector<std::string> &arguments() const { return arguments_; }

  /// Returns true if the module is valid and still fails.
  bool fails(mlir::ModuleOp module) const;
  /// Like fails(), without the cache.
  bool failsAgain(mlir::ModuleOp module) const;
  /// The reason why testing has stopped, after which every module counts as not failing: value_error with the script's
  /// output if the script exited with an unexpected code; runtime_error after a signal of interruption().
  Status fault() const;
  /// The exit code and the output of the program run last.
  std::string lastAnswer() const;
  int64_t tries() const;

  /// The signal that asked this process to terminate since the first call of create(): SIGHUP, SIGINT or SIGTERM; 0 if
  /// there was none. These signals do not end the process, so that it can remove its files. A signal that was ignored
  /// before stays ignored.
  static int interruption();

private:
  Probe() = default;
  std::string folder_, script_, program_ = "/bin/sh";
  std::vector<std::string> arguments_;
};

} // namespace halftone::tools
