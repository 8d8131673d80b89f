// A row of the fusion report.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace halftone::compiler {

/// How the kernel of one launch was formed.
struct FusionRow {
  std::string kernel; // its symbol
  std::string site;   // LaunchOp's
  /// The lines of the report. The first word gives the kind of line:
  /// - `op add [net/dense]: join producers`: an op that only this kernel computes, its layer path, and the rules
  ///   that were applied;
  /// - `clone ...`: a cloned producer, which other kernels may also compute;
  /// - `start add [net/dense]: <rule>: <reason>`: why a rule declined the op, which then started the kernel;
  /// - `store add [net/dense]: <rule>: <reason>`: why other kernels load the op's value instead of recomputing it;
  /// - `apart from "<site>": add [net/dense]: <rule>: <reason>`: why the op did not join the other of two kernels.
  ///   There is no op if the rule considered whole kernels.
  std::vector<std::string> lines;
};

/// The rows as MLIR comments: "// kernel @loop_...: <site>", then each line, prefixed by "//   ".
std::string fusionText(const std::vector<FusionRow> &rows);

} // namespace halftone::compiler
