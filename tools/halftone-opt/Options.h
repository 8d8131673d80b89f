// The command line of halftone-opt: mlir-opt's options, and those of the stock pipeline.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/Compiler.h"
#include "llvm/Support/CommandLine.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::tools {

enum class Numerics { fast, strict };

/// Our options. Before they are declared, LLVM's own options are hidden from --help, and its --stop-after is removed.
struct StockOptions {
  StockOptions();

  llvm::cl::OptionCategory category;
  llvm::cl::opt<compiler::Stage> startFrom, stopAfter;
  llvm::cl::opt<Numerics> numerics;
  llvm::cl::opt<std::string> target;
  llvm::cl::opt<int64_t> maxStandaloneCasts;
  llvm::cl::opt<std::string> castLedgerFile;
  llvm::cl::opt<bool> checkPasses;

  /// Whether the casts of the kernel stage are asked for.
  bool reportsCasts() const;
  /// Whether the stock pipeline runs, instead of passes that are named.
  bool runsStock() const;
  compiler::Stage last() const;
  bool isLate() const { return runsStock() && last() > compiler::Stage::kernel; }
  compiler::CompileOptions compileOptions() const;
  /// The options that contradict each other, or "".
  std::string contradiction() const;
};

/// Prints the text of --help (and its like) or --version. False if the command line asks for neither. The options must
/// be declared.
bool printsNotice(const std::vector<std::string> &arguments, const std::string &header);

/// How often an option of mlir-opt's was given.
int timesGiven(llvm::StringRef option);

} // namespace halftone::tools
