// The meaning of assignments to metric state while a metric's own code is traced.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include <cstdint>
#include <string>

namespace halftone::detail {

/// A scope in which this thread traces the code of a metric. The innermost scope applies, so that a user's metric may
/// call a library metric, which sums over processes itself.
class MetricCode {
public:
  enum class Part : uint8_t { library, update, result }; // the library's code, or a method of a user's metric
  MetricCode(Part part, const std::string &metric);
  ~MetricCode();
  MetricCode(const MetricCode &) = delete;
  MetricCode &operator=(const MetricCode &) = delete;

  /// Throw for an assignment that the code must not make: any assignment in result() and, in an update of a batch that
  /// processes share, an assignment that does not add to a metric's variable.
  static void requireMayAdd(const VariableImpl &variable);
  static void requireMayAssign(const VariableImpl &variable);
  /// Returns true if an amount that the code adds to the variable is this process's part of a sum over all processes.
  static bool sumsOverProcesses(const VariableImpl &variable);

private:
  Part part_;
  const std::string &metric_; // the name, for errors
  const MetricCode *outer_;
};

} // namespace halftone::detail
