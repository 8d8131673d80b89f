// The command line of halftone-run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Difference.h"
#include "halftone/Model.h"
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mlir {
class TimingScope;
}

namespace halftone::tools {

struct Arguments {
  std::string command;         // "predict", "evaluate", "fit", "compare", "emit"; "" for --help or --version alone
  std::set<std::string> given; // the options of the command line, by their long names
  std::string model;
  // For a .keras model.
  Program program = Program::predict;
  std::optional<int64_t> batchSize;
  std::string policy, policyMap;  // "": those of the file
  std::string global = "float32"; // while the file is read
  std::string notice;             // the text of --help or --version, for stdout

  // For all commands.
  std::string device = "cpu";
  std::optional<int> threads;
  bool strict = false; // --numerics, or the default of the command
  uint64_t seed = 0;
  std::string cacheDirectory; // as in CompileOptions
  std::string dumpDirectory;  // "": no dumps
  bool locations = false;     // in dumped and emitted modules
  std::optional<int64_t> maxStandaloneCasts;
  std::string target; // "": that of the module, or of the device
  bool json = false, quiet = false, verbose = false;
  bool timing = false, timingPasses = false;
  mlir::TimingScope *times = nullptr; // if one of them is true, the scope for all times

  std::vector<std::string> inputs;  // predict, compare
  std::vector<std::string> outputs; // predict

  // For compare.
  std::string against = "interpreter";
  int64_t steps = 1;
  Tolerance tolerance;
  bool byLayer = false;

  // For evaluate and fit.
  std::vector<std::string> x, y; // one spec for each input and output
  std::string optimizer, loss;   // "": those of the file
  std::vector<std::string> metrics;
  int64_t epochs = 1; // fit, as all below
  double validationSplit = 0.0;
  std::vector<std::string> validationX, validationY; // specs, as x and y
  std::string resume, checkpoint, csv;               // files; "": none
  std::string distribute;                            // "": the process trains alone
  std::string save;                                  // "": the trained model is not saved

  // For emit.
  std::string stage = "target", format, output = "-";
};

/// The arguments of a command line. Throws UsageError.
Arguments parseArguments(int argc, char **argv);

/// For errors that come before the arguments are known: whether --json is among them, and the command.
bool asksForJson(int argc, char **argv);

} // namespace halftone::tools
