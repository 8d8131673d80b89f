// The command line of halftone-run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Difference.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class TimingScope;
}

namespace halftone::tools {

struct Arguments {
  std::string command; // "predict", "compare", "emit"; "" when only --help or --version was asked for
  std::string model;
  std::string notice; // the text of --help or --version, for stdout

  // All commands.
  std::string device = "cpu";
  std::optional<int> threads;
  bool strict = false;
  uint64_t seed = 0;
  std::string cacheDirectory; // as CompileOptions
  std::string dumpDirectory;  // "": none
  bool locations = false;     // in dumped and emitted modules
  std::optional<int64_t> maxStandaloneCasts;
  std::string target; // "": that of the device
  bool json = false, quiet = false, verbose = false;
  bool timing = false;
  mlir::TimingScope *times = nullptr; // with `timing`: where they go

  std::vector<std::string> inputs;  // predict, compare
  std::vector<std::string> outputs; // predict

  // compare
  std::string against = "interpreter";
  int64_t steps = 1;
  Tolerance tolerance;
  bool byLayer = false;

  // emit
  std::string stage = "target", format, output = "-";
};

/// Throws UsageError.
Arguments parseArguments(int argc, char **argv);

/// For errors found before the arguments are known: whether --json stands among them, and the command.
bool asksForJson(int argc, char **argv);

} // namespace halftone::tools
