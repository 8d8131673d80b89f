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
  std::string command; // "predict", "evaluate", "fit", "compare", "emit", "warm"; "" for --help or --version alone
  std::set<std::string> given; // options on the command line, by long name
  std::string model;
  // For a .keras model.
  Program program = Program::predict;
  std::optional<int64_t> batchSize;
  std::string policy, policyMap;  // "": the file's
  std::string global = "float32"; // while reading the file
  std::string notice;             // the text of --help or --version, for stdout

  // For all commands.
  std::string device = "cpu";
  std::optional<int> threads;
  bool strict = false; // --numerics, or the default of the command
  uint64_t seed = 0;
  std::string cacheDirectory; // see CompileOptions
  std::string dumpDirectory;  // "": no dumps
  bool locations = false;     // in dumped and emitted modules
  std::optional<int64_t> maxStandaloneCasts;
  std::string target; // "": the module's or the device's
  bool json = false, quiet = false, verbose = false;
  bool timing = false, timingPasses = false;
  mlir::TimingScope *times = nullptr; // the root scope if one of them is true

  std::vector<std::string> inputs;  // predict, compare
  std::vector<std::string> outputs; // predict

  // For compare.
  std::string against = "interpreter";
  int64_t steps = 1;
  Tolerance tolerance;
  bool byLayer = false;

  // For evaluate and fit.
  std::vector<std::string> x, y; // one spec per input and output
  std::string optimizer, loss;   // "": the file's
  std::vector<std::string> metrics;
  int64_t epochs = 1; // fit; also all fields below
  double validationSplit = 0.0;
  std::vector<std::string> validationX, validationY; // specs, like x and y
  std::string resume, checkpoint, csv;               // files; "": none
  std::string distribute;                            // "": trains in a single process
  std::string save;                                  // "": the trained model is not saved

  // For emit; `output` also for warm.
  std::string stage = "target", format, output = "-";

  // For warm, in place of `model`, `program` and `batchSize`.
  std::vector<std::string> models;
  std::vector<Program> programs; // empty: all that a model has
  std::vector<int64_t> batchSizes;
};

/// The arguments of a command line. Throws UsageError.
Arguments parseArguments(int argc, char **argv);

/// For errors before the arguments are parsed: whether --json is among them, and the command.
bool asksForJson(int argc, char **argv);

} // namespace halftone::tools
