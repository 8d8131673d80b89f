// A row of the fusion report: why a kernel holds its ops.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace halftone::compiler {

/// One launch of a module in stage kernel.
struct FusionRow {
  std::string kernel; // its symbol
  std::string site;   // LaunchOp's
  /// "op add [net/dense]: join producers": an op of this kernel, its layer path, and the rules that put it there. "clone ...": a cloned
  /// producer, which other kernels may compute too. "start add [net/dense]: <rule>: <reason>": why a rule left it to a later one to start
  /// the kernel with the op. "apart from "<site>": add [net/dense]: <rule>: <reason>": why the op, of one of the two kernels, did not join
  /// the other; without op if the rule asked for all of the kernel.
  std::vector<std::string> lines;
};

/// The rows as comments of MLIR: "// kernel @loop_...: <site>", then "//   " and a line each.
std::string fusionText(const std::vector<FusionRow> &rows);

} // namespace halftone::compiler
