// The command line of halftone-opt: mlir-opt's options and those of the stock pipeline.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/Compiler.h"
#include "llvm/Support/CommandLine.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::tools {

enum class Numerics { fast, strict };

/// Halftone's own options. The constructor first hides LLVM's options from --help and removes its --stop-after.
struct StockOptions {
  StockOptions();

  llvm::cl::OptionCategory category;
  llvm::cl::opt<compiler::Stage> startFrom, stopAfter;
  llvm::cl::opt<Numerics> numerics;
  llvm::cl::opt<std::string> target;
  llvm::cl::opt<int64_t> maxStandaloneCasts;
  llvm::cl::opt<std::string> castLedgerFile;
  llvm::cl::opt<bool> explainFusion;
  llvm::cl::opt<bool> checkPasses;

  /// Whether the options ask for the casts of stage kernel.
  bool reportsCasts() const;
  /// Whether the stock pipeline runs, and not named passes.
  bool runsStock() const;
  compiler::Stage last() const;
  bool isLate() const { return runsStock() && last() > compiler::Stage::kernel; }
  compiler::CompileOptions compileOptions() const;
  /// A message about options that contradict each other, or "".
  std::string contradiction() const;
};

/// If the command line asks for --help (or one of its variants) or --version, prints the text and returns true. Call it
/// after the options are declared.
bool printsNotice(const std::vector<std::string> &arguments, const std::string &header);

/// How often the command line gives an option of mlir-opt.
int timesGiven(llvm::StringRef option);

} // namespace halftone::tools
