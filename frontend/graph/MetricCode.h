// What assignments to the state of metrics mean while a metric's own code is traced.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include <cstdint>
#include <string>

namespace halftone::detail {

/// While one lives, this thread traces the code of a metric. The innermost one counts, so that a user's metric may call one of
/// the library's, which sums over processes itself.
class MetricCode {
public:
  enum class Part : uint8_t { library, update, result }; // the library's code, or a method of a user's metric
  MetricCode(Part part, const std::string &metric);
  ~MetricCode();
  MetricCode(const MetricCode &) = delete;
  MetricCode &operator=(const MetricCode &) = delete;

  /// Refuse an assignment that the code may not make: any in result(), and one that does not add to a metric's variable in an
  /// update of a batch that processes share.
  static void requireMayAdd(const VariableImpl &variable);
  static void requireMayAssign(const VariableImpl &variable);
  /// Whether an amount that the code adds to the variable is the part of this process in a sum over all.
  static bool sumsOverProcesses(const VariableImpl &variable);

private:
  Part part_;
  const std::string &metric_; // the name, for errors
  const MetricCode *outer_;
};

} // namespace halftone::detail
